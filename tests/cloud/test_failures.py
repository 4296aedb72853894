"""Tests of stores that refuse, stall or disconnect: one line names the address, and files stay whole."""

import http.server
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from tests.cloud.conftest import file_bytes, frame_of, uncertainty_line
from tests.hang import HANGS_AFTER
from uqcli.stores import limits
from uqcli.stores.bucket import StoredObject, _Ranges


def assert_failed(outcome, address, *phrases):
    """Require exit code 3 and one line that names the address."""
    assert outcome.code == 3, outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert outcome.out == b""
    assert f"'{address}'" in outcome.err
    for phrase in phrases:
        assert phrase in outcome.err


@pytest.fixture
def rule(uqcli, bucket):
    rows = bucket.put("a.csv", file_bytes(frame_of(400), ".csv"))
    assert uqcli("boundary", rows, "--precision", "0.6", "-q", "-o", f"{bucket}/b.json").code == 0
    return f"{bucket}/b.json"


@pytest.mark.parametrize("address", ["", "/", "/day=*/", "/a.csv", "/*/*.csv"])
def test_missing_buckets_are_errors(uqcli, bucket, address):
    address = f"s3://nowhere{address}"
    assert_failed(uqcli("tce", address), address, "there is no")


def test_missing_keys_are_errors(uqcli, bucket, rule):
    for key in ("none.csv", "none/", "none"):
        assert_failed(uqcli("tce", f"{bucket}/{key}"), f"{bucket}/{key}", "there is no such object")
    assert_failed(uqcli("tce", f"{bucket}/none*.csv"), f"{bucket}/none*.csv", "no file matches")
    assert_failed(uqcli("show", f"{bucket}/none.json"), f"{bucket}/none.json", "there is no such object")
    assert_failed(uqcli("apply", f"{bucket}/none.json", f"{bucket}/a.csv"), f"{bucket}/none.json")


@pytest.mark.parametrize("name", ["s3://", "s3://b//a.csv", "s3:///a.csv", "s3://b*/a.csv"])
def test_invalid_addresses_are_errors(uqcli, bucket, name):
    assert_failed(uqcli("tce", name), name, "address")


@pytest.mark.parametrize("address", ["s3://nowhere/o.json", "{bucket}", "{bucket}/out/", "https://x.org/o"])
def test_unwritable_addresses_are_refused_before_the_work(uqcli, bucket, address):
    address = address.format(bucket=bucket)
    rows_address = bucket.put("a.csv", b"no rows, which would be said later")
    assert_failed(uqcli("boundary", rows_address, "--precision", "0.6", "-o", address), address)


@pytest.fixture
def answer_all_requests_with(monkeypatch, bucket, short_limits):
    """Replace the store by a server with one answer to all requests."""
    servers = []
    monkeypatch.setattr(limits, "ATTEMPTS", 1)

    def serve(code):
        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.send_response(code)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer  # noqa: N815  names of http.server

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


ANSWERS = {
    403: "access is denied (HTTP 403 AccessDenied)",
    500: "an internal error (HTTP 500)",
    503: "the store is busy, and was asked again for 0.01 seconds (HTTP 503)",
    301: "region",
}


@pytest.mark.parametrize("code", ANSWERS)
def test_refused_requests_are_errors(uqcli, bucket, answer_all_requests_with, tmp_path, code):
    (tmp_path / "a.csv").write_bytes(file_bytes(frame_of(400), ".csv"))
    answer_all_requests_with(code)
    for address in (f"{bucket}/a.csv", f"{bucket}/day=*/"):
        assert_failed(uqcli("tce", address), address, ANSWERS[code])
    assert_failed(uqcli("show", f"{bucket}/b.json"), f"{bucket}/b.json", ANSWERS[code])
    line = ("boundary", tmp_path / "a.csv", "--precision", "0.6", "-q", "-o")
    assert_failed(uqcli(*line, f"{bucket}/b.json"), f"{bucket}/b.json", ANSWERS[code])


def test_an_unreachable_store_is_an_error(uqcli, bucket, short_limits, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert_failed(uqcli("tce", f"{bucket}/a.csv"), f"{bucket}/a.csv", "the connection failed")


@pytest.mark.covering("faults", every=7)
@pytest.mark.parametrize(
    ("suffix", "stall"),
    [
        *((suffix, False) for suffix in (".csv", ".csv.gz", ".csv.zst", ".jsonl", ".parquet", ".arrow")),
        (".csv", True),
    ],
)
def test_interrupted_downloads_are_errors(
    uqcli, bucket, rule, short_limits, proxied, monkeypatch, suffix, stall
):
    monkeypatch.setattr(limits, "ATTEMPTS", 1)
    rows = bucket.put(f"rows{suffix}", file_bytes(frame_of(20_000), suffix))
    bucket.put("o.csv", b"old")
    message = "no answer within 1 seconds" if stall else "the connection failed or was cut"
    with proxied(down=50_000, stall=stall):
        assert_failed(uqcli("apply", rule, rows, "-q", "-o", f"{bucket}/o.csv"), rows, message)
    assert bucket.get("o.csv") == b"old"
    assert not [key for key in bucket.key_names() if ".uqcli" in key]


def test_an_object_shorter_than_announced_is_an_error(bucket):
    class Short:
        def size(self):
            return 100

        def read_at(self, size, start):
            return b"x" * min(size, 60 - start)

    with pytest.raises(Exception, match=r"'s3://b/k' ends after 60 bytes; expected 100 bytes"):
        _Ranges(Short(), "s3://b/k").readall()


@pytest.mark.covering("faults", every=8)
@pytest.mark.parametrize("replacement", [b"", b"score"], ids=["gone", "another"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl.gz", ".parquet", ".arrow"])
def test_objects_replaced_while_they_are_read_are_errors(
    uqcli, bucket, rule, monkeypatch, suffix, replacement
):
    rows = bucket.put(f"rows{suffix}", file_bytes(frame_of(2000), suffix))
    bucket.put("o.csv", b"old")
    monkeypatch.setattr(limits, "SMALL_BYTES", 1)
    open_handle = StoredObject._handle
    accesses = iter(range(100))

    def replace_later(self):
        if self.name == rows and next(accesses) == 3:  # the size, facts, rows, facts again
            if replacement:
                bucket.put(f"rows{suffix}", replacement)
            else:
                bucket.client.delete_object(Bucket=bucket.name, Key=f"rows{suffix}")
        return open_handle(self)

    monkeypatch.setattr(StoredObject, "_handle", replace_later)
    outcome = uqcli("apply", rule, rows, "-q", "-o", f"{bucket}/o.csv")
    assert_failed(
        outcome, rows, "was replaced while it was read" if replacement else "there is no such object"
    )
    assert bucket.get("o.csv") == b"old"


def test_objects_replaced_between_two_reads_are_errors(uqcli, bucket, monkeypatch):
    rows = bucket.put("rows.csv", file_bytes(frame_of(2000), ".csv"))
    monkeypatch.setattr(limits, "SMALL_BYTES", 1)
    monkeypatch.setattr("uqcli.engines.local.count.cached.cached_bytes", lambda: 0)
    monkeypatch.setattr("uqcli.engines.local.check.batches.LocalBatches.remaining", replace_then_read(bucket))
    outcome = uqcli("boundary", rows, "--precision", "0.6")
    assert_failed(outcome, rows, "was replaced while it was read")


def replace_then_read(bucket):
    from uqcli.engines.local.check.batches import LocalBatches

    read_the_rest = LocalBatches.remaining

    def replace_then_rest(self, start, work):
        bucket.put("rows.csv", file_bytes(frame_of(2000, seed=8), ".csv"))
        return read_the_rest(self, start, work)

    return replace_then_rest


@pytest.mark.parametrize("max_put", [0, 1 << 22], ids=["copied", "put"])
def test_interrupted_uploads_keep_the_old_object(
    uqcli, bucket, short_limits, proxied, tmp_path, monkeypatch, max_put
):
    monkeypatch.setattr(limits, "ATTEMPTS", 1)
    monkeypatch.setattr(limits, "MAX_PUT_BYTES", max_put)
    bucket.put("o.csv", b"old")
    address = f"{bucket}/o.csv"
    with proxied(up=20_000):
        outcome = uqcli(*uncertainty_line(tmp_path / "members.csv", 9999), "-o", address)
    assert_failed(outcome, address, "the connection failed or was cut")
    assert bucket.get("o.csv") == b"old"
    assert bucket.key_names() == ["o.csv"]


def test_an_incomplete_upload_is_not_copied(uqcli, bucket, tmp_path, monkeypatch):
    def write_ten_bytes(path, store, waiting, kind):
        with store.open_output_stream(waiting, compression=None) as sink:
            sink.write(path.read_bytes()[:10])

    monkeypatch.setattr(limits, "MAX_PUT_BYTES", 0)
    monkeypatch.setattr("uqcli.stores.upload._send", write_ten_bytes)
    bucket.put("o.csv", b"old")
    address = f"{bucket}/o.csv"
    line = uncertainty_line(tmp_path / "members.csv", 99)
    assert_failed(uqcli(*line, "-o", address), address, "10 of")
    assert bucket.key_names() == ["o.csv"]
    assert bucket.get("o.csv") == b"old"


def test_a_store_that_pyarrow_lacks_is_named(uqcli, bucket, monkeypatch):
    import pyarrow.fs

    monkeypatch.delattr(pyarrow.fs, "AzureFileSystem", raising=False)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "a")
    outcome = uqcli("tce", "az://container/a.csv")
    assert (outcome.code, len(outcome.err.splitlines())) == (7, 1)
    assert "az://" in outcome.err


TERMINATED_SCRIPT = """
import sys
from uqcli.stores import limits
from uqcli.__main__ import main
limits.MAX_PUT_BYTES = {max_put}
sys.argv = ["uqcli", *{arguments}]
main()
"""


def errors_when_terminated(proxy, arguments, max_put=0):
    """Run a process, terminate it when the proxy stalls, and return its standard error."""
    code = textwrap.dedent(TERMINATED_SCRIPT.format(max_put=max_put, arguments=arguments))
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    assert proxy.reached.wait(30)
    time.sleep(0.2)
    process.terminate()
    _, errors = process.communicate(timeout=HANGS_AFTER)
    assert process.returncode == 143
    return errors.decode()


def test_termination_while_reading_changes_no_object(bucket, rule, proxied):
    rows = bucket.put("rows.csv", file_bytes(frame_of(20_000), ".csv"))
    bucket.put("o.csv", b"old")
    with proxied(down=50_000, stall=True) as proxy:
        errors = errors_when_terminated(proxy, ["apply", rule, rows, "-o", f"{bucket}/o.csv"])
    assert errors == "error: terminated; no output file was changed\n"
    assert bucket.get("o.csv") == b"old"


@pytest.mark.covering("faults", every=2)
@pytest.mark.parametrize("max_put", [0, 1 << 22], ids=["copied", "put"])
def test_termination_while_writing_reports_the_object(bucket, proxied, tmp_path, max_put):
    bucket.put("o.csv", b"old")
    address = f"{bucket}/o.csv"
    with proxied(up=20_000, stall=True) as proxy:
        line = uncertainty_line(tmp_path / "members.csv", 9999)
        errors = errors_when_terminated(proxy, [*line, "-o", address], max_put)
    message = f"may be written: '{address}'" if max_put else "no output file was changed"
    assert errors == f"error: terminated; {message}\n"
    assert bucket.get("o.csv") == b"old"
    assert bucket.key_names() == ["o.csv"]
