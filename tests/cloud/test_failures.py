"""Stores that refuse, hesitate or break off: one line with the address, and nothing half written."""

import http.server
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from tests.cloud.conftest import frame_of, written
from uqcli.stores import limits
from uqcli.stores.objects import StoredObject, _Ranges


def failed(done, address, *words):
    """Exit 3 and one line that names the address."""
    assert done.code == 3, done.err
    assert len(done.err.splitlines()) == 1
    assert done.out == b""
    assert f"'{address}'" in done.err
    for word in words:
        assert word in done.err


@pytest.fixture
def model(uqcli, bucket):
    rows = bucket.put("a.csv", written(frame_of(400), ".csv"))
    assert uqcli("boundary", rows, "--precision", "0.6", "-q", "-o", f"{bucket}/b.json").code == 0
    return f"{bucket}/b.json"


@pytest.mark.parametrize("place", ["", "/", "/day=*/", "/a.csv", "/*/*.csv"])
def test_missing_buckets(uqcli, bucket, place):
    address = f"s3://nowhere{place}"
    failed(uqcli("tce", address), address, "there is no")


def test_missing_keys(uqcli, bucket, model):
    for key in ("none.csv", "none/", "none"):
        failed(uqcli("tce", f"{bucket}/{key}"), f"{bucket}/{key}", "there is no such object")
    failed(uqcli("tce", f"{bucket}/none*.csv"), f"{bucket}/none*.csv", "no file matches")
    failed(uqcli("show", f"{bucket}/none.json"), f"{bucket}/none.json", "there is no such object")
    failed(uqcli("apply", f"{bucket}/none.json", f"{bucket}/a.csv"), f"{bucket}/none.json")


@pytest.mark.parametrize("name", ["s3://", "s3://b//a.csv", "s3:///a.csv", "s3://b*/a.csv"])
def test_addresses_that_are_none(uqcli, bucket, name):
    failed(uqcli("tce", name), name, "address")


@pytest.mark.parametrize("place", ["s3://nowhere/o.json", "{bucket}", "{bucket}/out/", "https://x.org/o"])
def test_places_that_cannot_be_written_are_refused_before_the_work(uqcli, bucket, place):
    place = place.format(bucket=bucket)
    rows = bucket.put("a.csv", b"no rows, which would be said later")
    failed(uqcli("boundary", rows, "--precision", "0.6", "-o", place), place)


@pytest.fixture
def answering(monkeypatch, bucket, impatient):
    """A server in the place of the store that has one answer for all."""
    servers = []
    monkeypatch.setattr(limits, "ATTEMPTS", 1)

    def serve(code):
        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.send_response(code)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer  # noqa: N815  the library's names

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


ANSWERS = {403: "access is denied", 500: "an internal error", 503: "an internal error", 301: "region"}


@pytest.mark.parametrize("code", ANSWERS)
def test_stores_that_refuse(uqcli, bucket, answering, tmp_path, code):
    (tmp_path / "a.csv").write_bytes(written(frame_of(400), ".csv"))
    answering(code)
    for place in (f"{bucket}/a.csv", f"{bucket}/day=*/"):
        failed(uqcli("tce", place), place, ANSWERS[code])
    failed(uqcli("show", f"{bucket}/b.json"), f"{bucket}/b.json", ANSWERS[code])
    line = ("boundary", tmp_path / "a.csv", "--precision", "0.6", "-q", "-o")
    failed(uqcli(*line, f"{bucket}/b.json"), f"{bucket}/b.json", ANSWERS[code])


def test_nobody_is_there(uqcli, bucket, impatient, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    failed(uqcli("tce", f"{bucket}/a.csv"), f"{bucket}/a.csv", "the connection failed")


@pytest.mark.parametrize(
    ("suffix", "stall"),
    [
        *((each, False) for each in (".csv", ".csv.gz", ".csv.zst", ".jsonl", ".parquet", ".arrow")),
        (".csv", True),
    ],
)
def test_answers_that_break_off(uqcli, bucket, model, impatient, proxied, monkeypatch, suffix, stall):
    monkeypatch.setattr(limits, "ATTEMPTS", 1)
    rows = bucket.put(f"rows{suffix}", written(frame_of(20_000), suffix))
    bucket.put("o.csv", b"old")
    word = "no answer within 1 seconds" if stall else "the connection failed or was cut"
    with proxied(down=50_000, stall=stall):
        failed(uqcli("apply", model, rows, "-q", "-o", f"{bucket}/o.csv"), rows, word)
    assert bucket.get("o.csv") == b"old"
    assert not [key for key in bucket.listed() if ".uqcli" in key]


def test_an_object_that_is_shorter_than_was_said(bucket):
    class Short:
        def size(self):
            return 100

        def read_at(self, size, start):
            return b"x" * min(size, 60 - start)

    with pytest.raises(Exception, match=r"'s3://b/k' ends after 60 bytes; expected 100 bytes"):
        _Ranges(Short(), "s3://b/k").readall()


@pytest.mark.parametrize("again", [b"", b"score"], ids=["gone", "another"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl.gz", ".parquet", ".arrow"])
def test_objects_replaced_while_they_are_read(uqcli, bucket, model, monkeypatch, suffix, again):
    rows = bucket.put(f"rows{suffix}", written(frame_of(2000), suffix))
    bucket.put("o.csv", b"old")
    opened = StoredObject._handle
    times = iter(range(100))

    def later(self):
        if self.name == rows and next(times) == 2:  # looked at, opened for the rows, and looked at again
            if again:
                bucket.put(f"rows{suffix}", again)
            else:
                bucket.client.delete_object(Bucket=bucket.name, Key=f"rows{suffix}")
        return opened(self)

    monkeypatch.setattr(StoredObject, "_handle", later)
    done = uqcli("apply", model, rows, "-q", "-o", f"{bucket}/o.csv")
    failed(done, rows, "was replaced while it was read" if again else "there is no such object")
    assert bucket.get("o.csv") == b"old"


def test_objects_replaced_between_two_readings(uqcli, bucket, monkeypatch):
    rows = bucket.put("rows.csv", written(frame_of(2000), ".csv"))
    monkeypatch.setattr("uqcli.engines.local.count.cached.KEPT_BYTES", 0)
    monkeypatch.setattr("uqcli.engines.local.check.batches.LocalBatches.rest", replacing(bucket))
    done = uqcli("boundary", rows, "--precision", "0.6")
    failed(done, rows, "was replaced while it was read")


def replacing(bucket):
    from uqcli.engines.local.check.batches import LocalBatches

    rest = LocalBatches.rest

    def replaced(self, start):
        bucket.put("rows.csv", written(frame_of(2000, seed=8), ".csv"))
        return rest(self, start)

    return replaced


@pytest.mark.parametrize("most_put", [0, 1 << 22], ids=["copied", "put"])
def test_uploads_that_break_off(uqcli, bucket, impatient, proxied, monkeypatch, most_put):
    monkeypatch.setattr(limits, "ATTEMPTS", 1)
    monkeypatch.setattr(limits, "MOST_PUT", most_put)
    bucket.put("o.csv", b"old")
    place = f"{bucket}/o.csv"
    with proxied(up=20_000):
        done = uqcli("simulate", "posterior", "--rows", "9999", "-q", "-o", place)
    failed(done, place, "the connection failed or was cut")
    assert bucket.get("o.csv") == b"old"
    assert bucket.listed() == ["o.csv"]


def test_an_upload_that_does_not_arrive_whole_is_not_copied(uqcli, bucket, monkeypatch):
    def half(path, store, waiting, kind):
        with store.open_output_stream(waiting, compression=None) as sink:
            sink.write(path.read_bytes()[:10])

    monkeypatch.setattr(limits, "MOST_PUT", 0)
    monkeypatch.setattr("uqcli.stores.upload._send", half)
    bucket.put("o.csv", b"old")
    place = f"{bucket}/o.csv"
    failed(uqcli("simulate", "posterior", "--rows", "99", "-q", "-o", place), place, "10 of")
    assert bucket.listed() == ["o.csv"]
    assert bucket.get("o.csv") == b"old"


def test_a_pyarrow_without_the_store(uqcli, bucket, monkeypatch):
    import pyarrow.fs

    monkeypatch.delattr(pyarrow.fs, "AzureFileSystem", raising=False)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "a")
    done = uqcli("tce", "az://container/a.csv")
    assert (done.code, len(done.err.splitlines())) == (7, 1)
    assert "az://" in done.err


STOPPED = """
import sys
from uqcli.stores import limits
from uqcli.__main__ import main
limits.MOST_PUT = {most_put}
sys.argv = ["uqcli", *{arguments}]
main()
"""


def stopped(proxy, arguments, most_put=0):
    """A process that is told to stop once the proxy keeps back what it waits for."""
    code = textwrap.dedent(STOPPED.format(most_put=most_put, arguments=arguments))
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    assert proxy.reached.wait(30)
    time.sleep(0.2)
    process.terminate()
    start = time.monotonic()
    _, errors = process.communicate(timeout=30)
    assert time.monotonic() - start < 8
    assert process.returncode == 143
    return errors.decode()


def test_terminated_while_reading(bucket, model, proxied):
    rows = bucket.put("rows.csv", written(frame_of(20_000), ".csv"))
    bucket.put("o.csv", b"old")
    with proxied(down=50_000, stall=True) as proxy:
        errors = stopped(proxy, ["apply", model, rows, "-o", f"{bucket}/o.csv"])
    assert errors == "error: terminated; no output file was changed\n"
    assert bucket.get("o.csv") == b"old"


@pytest.mark.parametrize("most_put", [0, 1 << 22], ids=["copied", "put"])
def test_terminated_while_writing(bucket, proxied, most_put):
    bucket.put("o.csv", b"old")
    place = f"{bucket}/o.csv"
    with proxied(up=20_000, stall=True) as proxy:
        errors = stopped(proxy, ["simulate", "posterior", "--rows", "9999", "-q", "-o", place], most_put)
    said = f"may be written: '{place}'" if most_put else "no output file was changed"
    assert errors == f"error: terminated; {said}\n"
    assert bucket.get("o.csv") == b"old"
    assert bucket.listed() == ["o.csv"]
