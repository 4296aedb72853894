"""Tests of what a store is asked for: once, in parallel, again if it is busy, and in vain."""

from collections import Counter

import polars as pl
import pytest

from tests.cloud import server
from tests.cloud.conftest import VARIABLES, file_bytes, frame_of, uncertainty_line
from uqcli.stores import limits

OBJECTS = 40
HEAD, GET = ("HEAD", "object"), ("GET", "object")


@pytest.fixture
def folder(tmp_path):
    """Write many files of few rows."""

    def write(suffix, rows=30):
        folder = tmp_path / f"rows{suffix}"
        folder.mkdir()
        for number in range(OBJECTS):
            (folder / f"{number:02}{suffix}").write_bytes(file_bytes(frame_of(rows, number), suffix))
        return folder

    return write


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl.gz", ".arrow"])
@pytest.mark.parametrize("named", ["folder", "pattern", "names"])
def test_each_small_object_takes_two_requests(uqcli, store, folder, suffix, named):
    files = folder(suffix)
    local = uqcli("tce", files, "--json", "--bootstrap", "0")
    store.put_folder(files, "bucket", "rows/")
    store.delay = 0.01
    names = sorted(f"s3://bucket/{key}" for key in store.objects["bucket"])
    inputs = {"folder": ["s3://bucket/rows"], "pattern": ["s3://bucket/rows/*"], "names": names}[named]
    outcome = uqcli("tce", *inputs, "--json", "--bootstrap", "0")
    assert (outcome.code, outcome.err) == (0, "")
    if named == "folder":
        assert outcome.out == local.out
    asked_for_names = OBJECTS if named == "names" else 0  # whether each is an object or a folder
    assert store.requests[GET] == OBJECTS
    assert store.requests[HEAD] - OBJECTS - asked_for_names in (0, 1)
    assert 1 < store.most_in_flight <= limits.MAX_PARALLEL


def test_memory_bounds_the_requests_in_flight_and_what_is_kept(uqcli, store, folder):
    files = folder(".csv", rows=600)
    store.put_folder(files, "bucket", "rows/")
    store.delay = 0.01
    expected = uqcli("tce", files, "--json", "--bootstrap", "0").out
    memory = 4 * sum(map(len, store.objects["bucket"].values()))  # of which a half holds rows
    for size, parallel in ((f"{memory}", 1), ("3.2MB", 3), ("1GB", limits.MAX_PARALLEL)):
        store.requests, store.most_in_flight = Counter(), 0
        outcome = uqcli("tce", "s3://bucket/rows", "--json", "--bootstrap", "0", "--memory", size)
        assert outcome.out == expected
        assert store.most_in_flight <= parallel
        assert store.requests[GET] <= 2 * OBJECTS


def test_an_object_that_is_no_digest_of_itself_is_looked_at_twice(uqcli, store, folder, monkeypatch):
    """Parts that are uploaded one by one, and keys of one's own, make other ETags."""
    monkeypatch.setattr(server, "etag_of", lambda content: f'"{len(content):032}-2"')
    store.put_folder(folder(".csv"), "bucket", "rows/")
    assert uqcli("tce", "s3://bucket/rows", "-q", "--bootstrap", "0").code == 0
    assert store.requests[HEAD] - 2 * OBJECTS in (0, 1)


def test_an_object_that_is_replaced_before_it_arrives_is_an_error(uqcli, store):
    rows, other, longer = (file_bytes(frame_of(*drawn), ".csv") for drawn in ((400, 7), (400, 8), (900, 8)))
    for replacement in (other, longer):
        store.objects["bucket"]["a.csv"] = rows

        def replace(method, path, replacement=replacement):
            if method == "GET" and "/a.csv" in path:
                store.objects["bucket"]["a.csv"] = replacement

        store.refuse = replace
        outcome = uqcli("tce", "s3://bucket/a.csv")
        assert outcome.code == 3
        assert "'s3://bucket/a.csv' was replaced while it was read" in outcome.err


def busy_for(store, times, *, code="SlowDown"):
    """Let the store refuse the first requests for each path and method."""
    left = Counter()

    def refuse(method, path):
        left[method, path.partition("?")[0]] += 1
        return (503, code) if left[method, path.partition("?")[0]] <= times else None

    store.refuse = refuse


@pytest.mark.parametrize("small", [True, False], ids=["small", "large"])
def test_a_busy_store_is_waited_for(uqcli, store, short_limits, monkeypatch, tmp_path, small):
    monkeypatch.setattr(limits, "ATTEMPTS", 1)
    monkeypatch.setattr(limits, "THROTTLED_SECONDS", (0.01, 0.01, 0.01))
    if not small:
        monkeypatch.setattr(limits, "SMALL_BYTES", 1)
        monkeypatch.setattr(limits, "MAX_PUT_BYTES", 0)
    rows = file_bytes(frame_of(2000), ".parquet")
    (tmp_path / "a.parquet").write_bytes(rows)
    store.objects["bucket"]["a.parquet"] = rows
    local = uqcli("boundary", tmp_path / "a.parquet", "--precision", "0.6", "-q", "-o", tmp_path / "b.json")
    assert local.code == 0
    busy_for(store, 2)
    line = ("boundary", "s3://bucket/a.parquet", "--precision", "0.6", "-q", "-o", "s3://bucket/b.json")
    outcome = uqcli(*line)
    assert outcome.code == 0, outcome.err
    assert store.objects["bucket"]["b.json"] == (tmp_path / "b.json").read_bytes()
    busy_for(store, 9)
    outcome = uqcli(*line)
    assert outcome.code == 3
    assert "the store is busy, and was asked again for 0.03 seconds (HTTP 503" in outcome.err


REFUSALS = [
    ((403, "InvalidAccessKeyId"), "access is denied (HTTP 403 InvalidAccessKeyId); check the credentials"),
    ((403, "SignatureDoesNotMatch"), "access is denied (HTTP 403 SignatureDoesNotMatch)"),
    ((400, "ExpiredToken"), "access is denied (HTTP 400 ExpiredToken)"),
    ((500, "InternalError"), "the store reports an internal error (HTTP 500 InternalError)"),
    ((400, "QuotaExceeded"), "HTTP 400 QuotaExceeded"),
    ((404, "NoSuchBucket"), "there is no such bucket (HTTP 404 NoSuchBucket)"),
]


@pytest.mark.parametrize(("refusal", "message"), REFUSALS)
def test_errors_say_the_status_and_the_code_of_the_store(
    uqcli, store, short_limits, monkeypatch, tmp_path, refusal, message
):
    monkeypatch.setattr(limits, "ATTEMPTS", 1)
    store.refuse = lambda method, path: refusal if method == "PUT" else None
    outcome = uqcli(*uncertainty_line(tmp_path / "members.csv", 9), "-o", "s3://bucket/o.csv")
    assert outcome.code == 3
    assert f"cannot write 's3://bucket/o.csv': {message}" in outcome.err


def test_missing_credentials_are_named(uqcli, store, short_limits, monkeypatch, tmp_path):
    store.refuse = lambda method, path: (403, "AccessDenied")
    monkeypatch.setattr(limits, "ATTEMPTS", 1)
    monkeypatch.setenv("HOME", str(tmp_path))
    missing = "no credentials found in the environment or in '~/.aws'"
    assert missing not in uqcli("tce", "s3://bucket/a.csv").err
    for name in VARIABLES:
        if "KEY" in name:
            monkeypatch.delenv(name)
    outcome = uqcli("tce", "s3://bucket/a.csv")
    assert (outcome.code, len(outcome.err.splitlines())) == (3, 1)
    assert f"access is denied (HTTP 403 AccessDenied); {missing}" in outcome.err
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(
        "[default]\naws_access_key_id=a\naws_secret_access_key=b\n"
    )
    assert missing not in uqcli("tce", "s3://bucket/a.csv").err


def test_a_write_without_a_length_names_the_setting(uqcli, store, monkeypatch, tmp_path):
    line = uncertainty_line(tmp_path / "members.csv", 9)
    assert uqcli(*line, "-o", "s3://bucket/o.csv").code == 0
    monkeypatch.delenv("AWS_REQUEST_CHECKSUM_CALCULATION")
    outcome = uqcli(*line, "-o", "s3://bucket/o.csv")
    assert outcome.code == 3
    assert (
        "without a length (HTTP 411 MissingContentLength); set AWS_REQUEST_CHECKSUM_CALCULATION"
        in outcome.err
    )


@pytest.mark.covering("thorough", every=2, also=[".parquet"])
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl", ".arrow"])
@pytest.mark.parametrize("small", [True, False], ids=["small", "large"])
def test_the_output_has_the_same_bytes_wherever_the_input_is(
    uqcli, store, tmp_path, suffix, small, monkeypatch
):
    """From many rows on polars writes Parquet, with row groups of its own."""
    frame = frame_of(140_000).with_columns(text=pl.lit("a text that repeats"))
    store.objects["bucket"][f"a{suffix}"] = file_bytes(frame, suffix)
    (tmp_path / f"a{suffix}").write_bytes(store.objects["bucket"][f"a{suffix}"])
    rule, output = tmp_path / "b.json", tmp_path / "o.parquet"
    assert uqcli("boundary", tmp_path / f"a{suffix}", "--precision", "0.6", "-q", "-o", rule).code == 0
    assert uqcli("apply", rule, tmp_path / f"a{suffix}", "-q", "-o", output).code == 0
    monkeypatch.setattr(limits, "SMALL_BYTES", 1 << 30 if small else 1)
    outcome = uqcli("apply", rule, f"s3://bucket/a{suffix}", "-q", "-o", tmp_path / "stored.parquet")
    assert (outcome.code, outcome.err) == (0, "")
    assert (tmp_path / "stored.parquet").read_bytes() == output.read_bytes()
