"""Tests of the state of ``watch`` in a store: no update of another run is lost, and none counts twice."""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.test_watch import rows
from tests.cloud.conftest import file_bytes, frame_of
from uqcli.stores import limits

STATE = "s3://bucket/watch.json"
LINE = ("watch", "s3://bucket/b.json", "--state", STATE)


@pytest.fixture
def watched(uqcli, store, tmp_path, monkeypatch):
    """Put a rule and three batches into the store; return what a local state of some batches holds."""
    monkeypatch.chdir(tmp_path)
    for number in range(3):
        batch = file_bytes(frame_of(600, number), ".csv")
        store.objects["bucket"][f"{number}.csv"] = batch
        (tmp_path / f"{number}.csv").write_bytes(batch)
    assert uqcli("boundary", "0.csv", "--precision", "0.6", "-q", "-o", "b.json").code == 0
    store.objects["bucket"]["b.json"] = (tmp_path / "b.json").read_bytes()

    def local(*numbers):
        (tmp_path / "watch.json").unlink(missing_ok=True)
        for number in numbers:
            assert uqcli("watch", "b.json", f"{number}.csv", "--state", "watch.json", "-q").code == 0
        return json.loads((tmp_path / "watch.json").read_bytes())["batches"]

    return local


def batches_of(store):
    return json.loads(store.objects["bucket"]["watch.json"])["batches"]


def test_batches_add_up_as_in_a_file(uqcli, store, watched):
    assert uqcli(*LINE).code == 2  # nothing to see yet
    for number in (1, 2, 1):
        outcome = uqcli(*LINE, f"s3://bucket/{number}.csv", "--json")
        assert (outcome.code, outcome.err) == (0, "")
    assert outcome.json["added"] == []
    assert batches_of(store) == watched(1, 2)
    outcome = uqcli(*LINE)
    assert (outcome.code, outcome.err) == (0, "")
    assert sorted(store.objects["bucket"]) == ["0.csv", "1.csv", "2.csv", "b.json", "watch.json"]


def test_the_store_of_moto_takes_conditions_too(uqcli, bucket, tmp_path):
    first = bucket.put("rows.csv", file_bytes(frame_of(600), ".csv"))
    more = bucket.put("more.csv", file_bytes(frame_of(600, 8), ".csv"))
    assert uqcli("boundary", first, "--precision", "0.6", "-q", "-o", tmp_path / "b.json").code == 0
    for added in (first, more):
        outcome = uqcli("watch", tmp_path / "b.json", added, "--state", f"{bucket}/w.json", "-q")
        assert (outcome.code, outcome.err) == (0, "")
    assert len(json.loads(bucket.get("w.json"))["batches"]) == 2


def faster(store, states):
    """Let other runs write states just before this one does; the last stays."""
    states = iter(states)

    def refuse(method, path):
        if method == "PUT" and path.endswith("watch.json") and (state := next(states, None)) is not None:
            store.objects["bucket"]["watch.json"] = state

    store.refuse = refuse


def states_with(uqcli, store, *numbers):
    """Return the bytes of the state after each of some batches, and begin anew."""
    states = []
    for number in numbers:
        assert uqcli(*LINE, f"s3://bucket/{number}.csv", "-q").code == 0
        states.append(store.objects["bucket"]["watch.json"])
    del store.objects["bucket"]["watch.json"]
    return states


@pytest.mark.parametrize("piped", [False, True], ids=["object", "pipe"])
def test_a_run_counts_again_on_what_a_faster_one_wrote(uqcli, store, watched, piped):
    one, two = states_with(uqcli, store, 0, 1)
    faster(store, [one, two])
    batch = "-" if piped else "s3://bucket/2.csv"
    outcome = uqcli(*LINE, batch, "--json", stdin=store.objects["bucket"]["2.csv"] if piped else b"")
    assert (outcome.code, outcome.err) == (0, "")
    assert batches_of(store) == watched(0, 1, 2)


def test_what_a_slower_attempt_said_is_forgotten(uqcli, store, watched):
    batch = b"score,uncertainty,label\n0.9,0.1,1\n0.8,,0\n" + b"0.9,0.1,1\n0.8,0.2,0\n" * 40
    store.objects["bucket"]["2.csv"] = batch
    expected = uqcli("watch", "s3://bucket/b.json", "s3://bucket/2.csv", "--on-invalid", "drop", "--json")
    (one,) = states_with(uqcli, store, 1)
    faster(store, [one])
    outcome = uqcli(*LINE, "s3://bucket/2.csv", "--on-invalid", "drop", "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["source"]["read"] == expected.json["source"]["read"]
    assert outcome.json["cautions"] == list(dict.fromkeys(outcome.json["cautions"]))


def test_faster_runs_without_end_are_an_error(uqcli, store, watched, tmp_path):
    states = states_with(uqcli, store, 0, 1)
    store.requests.clear()
    faster(store, states * 5)
    outcome = uqcli(*LINE, "s3://bucket/2.csv", "--report", tmp_path / "r.md")
    assert (outcome.code, outcome.out) == (3, b"")
    assert outcome.err == (
        f"error: the state '{STATE}' was written by other runs 6 times while this one counted; "
        "expected one run at a time; run it again later\n"
    )
    assert store.objects["bucket"]["watch.json"] == states[1]
    assert store.requests["PUT", "object"] == limits.STATE_ATTEMPTS
    assert "Error (exit code 3)" in (tmp_path / "r.md").read_text()


def test_an_answer_that_is_lost_counts_once(uqcli, store, watched, monkeypatch):
    """The store writes the state, says that it is busy, and refuses the same request when it comes again."""
    put, lost = type(store)._put, iter([True])

    def put_and_lose(self, objects, key, headers, body):
        answer = put(self, objects, key, headers, body)
        return (503, {}, b"") if key == "watch.json" and next(lost, False) else answer

    monkeypatch.setattr(type(store), "_put", put_and_lose)
    outcome = uqcli(*LINE, "s3://bucket/1.csv", "--json")
    assert (outcome.code, len(outcome.json["added"])) == (0, 1)
    assert batches_of(store) == watched(1)


def test_an_alarm_is_saved_and_acknowledged(uqcli, store, watched):
    rows(0, 4000).write_csv("fit.csv")
    assert uqcli("boundary", "fit.csv", "--precision", "0.8", "-q", "-o", "s3://bucket/b.json").code == 0
    for number in range(6):
        broken = rows(10 + number, 1500, 0.6)
        store.objects["bucket"][f"bad{number}.csv"] = file_bytes(broken, ".csv")
        code = uqcli(*LINE, f"s3://bucket/bad{number}.csv", "-q").code
    assert code == uqcli(*LINE, "-q").code == 6
    assert uqcli(*LINE, "--acknowledge", "-q").code == 0
    assert uqcli(*LINE, "-q").code == 0


def test_a_job_without_a_disk_can_watch(store, watched):
    """No file of the process may have a byte."""
    variables = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-m", "uqcli", *LINE, "s3://bucket/1.csv"],
        env=variables, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert len(batches_of(store)) == 1


def test_python_keeps_its_state_in_the_store(store, watched):
    import numpy as np

    from uqcli import load

    rule = load("s3://bucket/b.json")
    random = np.random.default_rng(0)
    for _ in range(2):
        score = random.random(300)
        label = (random.random(300) < score).astype(int)
        rule.watch(score, label, uncertainty=random.random(300), state=STATE)
    assert len(batches_of(store)) == 2


def test_without_the_extra_the_error_names_it(uqcli, store, watched, monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    outcome = uqcli(*LINE, "s3://bucket/1.csv")
    assert outcome.code == 7
    assert 'pip install "uqcli[cloud]"' in outcome.err


@pytest.mark.parametrize(
    ("refusal", "message"),
    [
        ((403, "AccessDenied"), "access is denied (HTTP 403 AccessDenied)"),
        ((503, "SlowDown"), "the store is busy, and was asked again for 0.01 seconds (HTTP 503 SlowDown)"),
        ((400, "QuotaExceeded"), "HTTP 400 QuotaExceeded"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_refusals_name_the_state(uqcli, store, watched, short_limits, refusal, message, method):
    store.refuse = lambda used, path: refusal if used == method and path.endswith("watch.json") else None
    outcome = uqcli(*LINE, "s3://bucket/1.csv")
    doing = "read" if method == "GET" else "write"
    assert (outcome.code, outcome.out) == (3, b"")
    assert outcome.err.startswith(f"error: cannot {doing} '{STATE}': {message}")
    assert ("(environment or role, no profile)" in outcome.err) == (refusal[0] == 403)
    assert "watch.json" not in store.objects["bucket"]


def test_an_empty_state_is_refused_as_an_empty_file_is(uqcli, store, watched):
    store.objects["bucket"]["watch.json"] = b""
    (Path.cwd() / "watch.json").write_bytes(b"")
    for line in (LINE, (*LINE[:-1], "watch.json")):
        for batches in (["1.csv"], []):
            outcome = uqcli(*line, *batches)
            assert (outcome.code, outcome.out) == (5, b"")
            assert outcome.err == (
                f"error: the state file '{line[-1]}' is empty; expected a state that uqcli watch wrote; "
                "restore it, or remove it to begin anew\n"
            )
    assert store.objects["bucket"]["watch.json"] == b""


@pytest.mark.parametrize("share", [0.5, 0.99])
def test_a_damaged_state_is_to_be_restored(uqcli, store, watched, share):
    (whole,) = states_with(uqcli, store, 1)
    damaged = whole[: int(share * len(whole))]
    for content in (damaged, whole.replace(b'"successes": ', b'"successes": 1')):
        store.objects["bucket"]["watch.json"] = content
        outcome = uqcli(*LINE, "2.csv")
        assert (outcome.code, outcome.out) == (5, b"")
        assert outcome.err.endswith(
            "expected the state of a watch; restore it, or name another --state FILE\n"
        )
        assert store.objects["bucket"]["watch.json"] == content


def test_a_busy_store_is_waited_for_as_long_as_the_docs_say(uqcli, store, watched, monkeypatch):
    waits = (0.01, 0.02, 0.04, 0.08, 0.16)
    monkeypatch.setattr(limits, "THROTTLED_SECONDS", waits)
    for method in ("GET", "PUT"):
        for times, code in ((len(waits), 0), (len(waits) + 1, 3)):
            store.objects["bucket"].pop("watch.json", None)
            refusals = iter([(503, "SlowDown")] * times)
            store.refuse = lambda used, path, method=method, refusals=refusals: (
                next(refusals, None) if used == method and path.endswith("watch.json") else None
            )
            outcome = uqcli(*LINE, "1.csv", "--json")
            assert outcome.code == code, outcome.err
            assert next(refusals, None) is None
            assert ("asked again for 0.31 seconds (HTTP 503 SlowDown)" in outcome.err) == (code == 3)


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_store_that_does_not_answer_is_named(uqcli, store, watched, short_limits, monkeypatch, method):
    serve, sent = store.serve, []

    def silent(request):
        if request.command == method and "watch.json" in request.path:
            sent.append(request.command)
            time.sleep(1.5)
            request.close_connection = True
        else:
            serve(request)

    monkeypatch.setattr(store, "serve", silent)
    outcome = uqcli(*LINE, "1.csv")
    doing = "read" if method == "GET" else "write"
    assert outcome.code == 3
    assert outcome.err == (
        f"error: cannot {doing} '{STATE}': no answer within 1 seconds; check the network and the endpoint\n"
    )
    assert len(sent) == limits.ATTEMPTS


@pytest.mark.parametrize("strict", [False, True])
def test_two_runs_that_count_the_same_batch_do_not_both_report_it(uqcli, store, watched, strict):
    (theirs,) = states_with(uqcli, store, 1)
    options = ["--strict"] if strict else []
    faster(store, [theirs])
    outcome = uqcli(*LINE, "1.csv", "--json", *options)
    again = uqcli(*LINE, "1.csv", "--json", *options)
    assert (outcome.code, outcome.out, outcome.err) == (again.code, again.out, again.err)
    assert outcome.code == 2 if strict else outcome.json["added"] == []
    assert store.objects["bucket"]["watch.json"] == theirs
