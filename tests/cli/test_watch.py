"""Tests of ``uqcli watch``: its state, its batches and days, its alarms, and what it counts."""

import errno
import json
import os
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit

FIRST_DAY = date(2026, 1, 1)


def rows(seed, size=600, rate=1.0, **more):
    """Draw rows whose positive rate is the score times ``rate``."""
    random = np.random.default_rng(seed)
    score, uncertainty = random.random(size).round(3), random.random(size).round(3)
    label = (random.random(size) < score * rate).astype(int)
    return pl.DataFrame({"score": score, "uncertainty": uncertainty, "label": label, **more})


def write_files():
    """Write a rule, batches that keep its promise, and batches that break it."""
    rows(0, 4000).write_csv("fit.csv")
    for number in range(3):
        rows(number + 1).write_csv(f"kept{number}.csv")
    for number in range(6):
        rows(number + 10, 1500, 0.6).write_csv(f"broken{number}.csv")
    fit("boundary fit.csv --precision 0.8 -o rule.json")


@pytest.fixture
def files(prepared):
    prepared(write_files)


def days(count, rate_of_day=lambda day: 1.0, size=150):
    """Draw rows of some days."""
    return pl.concat(
        [
            rows(
                100 + day, size, rate_of_day(day), day=[(FIRST_DAY + timedelta(days=day)).isoformat()] * size
            )
            for day in range(count)
        ]
    )


WATCH = ("watch", "rule.json")
STATE = ("--state", "state.json")


def state_of(tmp_path):
    return json.loads((tmp_path / "state.json").read_text())


def test_batches_add_up_and_a_rerun_counts_once(uqcli, files, tmp_path):
    for number in range(3):
        assert uqcli(*WATCH, f"kept{number}.csv", *STATE, "-q").code == 0
    before = (tmp_path / "state.json").read_bytes()
    outcome = uqcli(*WATCH, "kept1.csv", *STATE)
    assert outcome.code == 0
    assert b"was counted before" in outcome.out
    assert (tmp_path / "state.json").read_bytes() == before
    assert uqcli(*WATCH, "kept1.csv", *STATE, "--strict").code == 2
    (promise,) = state_of(tmp_path)["promises"]
    together = pl.concat([pl.read_csv(tmp_path / f"kept{number}.csv") for number in range(3)])
    together.write_csv(tmp_path / "together.csv")
    measured = uqcli("evaluate", "rule.json", "together.csv", "--json").json["metrics"]
    assert (promise["successes"], promise["trials"]) == (measured["true_positives"], measured["selected"])
    assert [len(batch["digest"]) for batch in state_of(tmp_path)["batches"]] == [64] * 3


def test_an_alarm_is_saved_and_stays_until_it_is_acknowledged(uqcli, files, tmp_path):
    for number in range(6):
        line = (*WATCH, f"broken{number}.csv", *STATE)
        outcome = uqcli(*line, "--report", "r.xml", "--report", "r.prom", "--report", "r.json")
        if outcome.code:
            break
    assert outcome.code == 6
    assert number >= 2  # which dependence between rows of a batch needs
    assert outcome.err.startswith("alarm: the rule misses precision >= ")
    assert len(outcome.err.splitlines()) == 1
    (promise,) = state_of(tmp_path)["promises"]
    assert promise["alarmed_at"] == state_of(tmp_path)["batches"][number]["digest"]
    assert "<failure" in (tmp_path / "r.xml").read_text()
    assert 'uqcli_up{command="watch",run="r",artifact="rule.json"} 1' in (tmp_path / "r.prom").read_text()
    assert "error" not in json.loads((tmp_path / "r.json").read_text())
    assert uqcli(*WATCH, "kept1.csv", *STATE, "-q").code == 6
    assert uqcli(*WATCH, *STATE, "--acknowledge", "-q").code == 0
    assert state_of(tmp_path)["acknowledged"] == number + 2
    assert uqcli(*WATCH, "kept2.csv", *STATE, "-q").code == 0
    (promise,) = state_of(tmp_path)["promises"]
    counts = state_of(tmp_path)["batches"][-1]["counts"][0]
    assert (promise["successes"], promise["trials"]) == (counts["successes"], counts["trials"])


def test_a_forgotten_batch_counts_no_more(uqcli, files, tmp_path):
    assert uqcli(*WATCH, "kept0.csv", *STATE, "-q").code == 0
    before = (tmp_path / "state.json").read_bytes()
    assert uqcli(*WATCH, "kept1.csv", *STATE, "-q").code == 0
    digest = state_of(tmp_path)["batches"][1]["digest"]
    assert uqcli(*WATCH, *STATE, "--forget", digest, "-q").code == 0
    assert (tmp_path / "state.json").read_bytes() == before
    assert uqcli(*WATCH, *STATE, "--forget", digest).code == 2


def test_a_failed_check_leaves_the_state_as_it_was(uqcli, files, tmp_path):
    assert uqcli(*WATCH, "kept0.csv", *STATE, "-q").code == 0
    before = (tmp_path / "state.json").read_bytes()
    assert uqcli(*WATCH, "broken0.csv", *STATE, "-q", "--fail-if", "trials > 1").code == 6
    assert (tmp_path / "state.json").read_bytes() == before


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize(
    "option", [("--delta", "0.05"), ("--run-length", "20"), ("--bound", "0.7"), ("--day", "d")]
)
def test_the_options_of_a_state_cannot_change(uqcli, files, tmp_path, option):
    assert uqcli(*WATCH, "kept0.csv", *STATE, "-q").code == 0
    outcome = uqcli(*WATCH, "kept1.csv", *STATE, *option)
    assert outcome.code == 2
    assert "expected the same" in outcome.err


def test_states_of_other_rules_or_edited_ones_are_refused(uqcli, files, tmp_path):
    assert uqcli(*WATCH, "kept0.csv", *STATE, "-q").code == 0
    assert uqcli("boundary", "fit.csv", "--precision", "0.7", "-q", "-o", "other.json").code == 0
    assert uqcli("watch", "other.json", "kept1.csv", *STATE).code == 2
    edited = (tmp_path / "state.json").read_text().replace('"acknowledged": 0', '"acknowledged": 1')
    (tmp_path / "state.json").write_text(edited)
    assert uqcli(*WATCH, "kept1.csv", *STATE).code == 5
    assert uqcli("watch", "rule.json", "kept1.csv", "--state", "rule.json").code in (2, 5)
    assert uqcli("apply", "state.json", "kept1.csv").code == 5


@pytest.mark.parametrize("kind", ["calibrator_platt", "grid_quantile", "shift_known", "state_batches"])
def test_rules_that_promise_nothing_are_refused_whatever_is_asked(uqcli, files, kind):
    rule = Path(__file__).parents[1] / "saved" / "0.4.0" / f"{kind}.json"
    pl.read_csv("kept0.csv").with_row_index("customer").write_csv("customers.csv")
    pl.read_csv("kept0.csv").drop("label").write_csv("unlabelled.csv")
    for options in ((), ("--cluster", "customer"), ("--day", "customer"), STATE, ("--bound", "0.5")):
        for name in ("customers.csv", "unlabelled.csv"):
            outcome = uqcli("watch", rule, name, *options)
            assert (outcome.code, "kind boundary or conformal" in outcome.err) == (5, True), (options, name)


def test_days_count_once_when_they_are_mature(uqcli, files, tmp_path):
    days(10).write_csv(tmp_path / "ten.csv")
    days(20).write_parquet(tmp_path / "twenty.parquet")
    line = ("--day", "day", "--matured", "4", *STATE)
    report = uqcli(*WATCH, "ten.csv", *line, "--json").json
    assert report["added"] == [(FIRST_DAY + timedelta(days=day)).isoformat() for day in range(6)]
    assert report["metrics"]["young_rows"] == 4 * 150
    report = uqcli(*WATCH, "twenty.parquet", *line, "--json").json
    assert len(report["added"]) == 10
    assert uqcli(*WATCH, "ten.csv", *line, "--json").json["added"] == []
    saved = state_of(tmp_path)
    assert [batch["day"] for batch in saved["batches"]] == [
        (FIRST_DAY + timedelta(days=day)).isoformat() for day in range(16)
    ]
    assert saved["source"]["rows"] == 16 * 150


def test_a_day_whose_labels_change_is_an_error_unless_it_is_replaced(uqcli, files, tmp_path):
    days(10).write_csv(tmp_path / "ten.csv")
    late = days(10).with_columns(label=pl.when(pl.col("day") == "2026-01-02").then(1).otherwise("label"))
    late.write_csv(tmp_path / "late.csv")
    line = ("--day", "day", "--matured", "4", *STATE, "-q")
    assert uqcli(*WATCH, "ten.csv", *line).code == 0
    before = (tmp_path / "state.json").read_bytes()
    outcome = uqcli(*WATCH, "late.csv", *line)
    assert outcome.code == 2
    assert "2026-01-02 is counted already" in outcome.err
    assert (tmp_path / "state.json").read_bytes() == before
    assert uqcli(*WATCH, "late.csv", *line, "--replace").code == 0
    assert len(state_of(tmp_path)["batches"]) == 6
    assert (tmp_path / "state.json").read_bytes() != before


def test_dates_beside_other_keys_are_refused(uqcli, files, tmp_path):
    rows(3, 50, day=["2026-01-01"] * 49 + ["soon"]).write_csv(tmp_path / "days.csv")
    outcome = uqcli(*WATCH, "days.csv", "--day", "day")
    assert outcome.code == 3
    assert "has 'soon' beside '2026-01-01'" in outcome.err
    days(3).write_csv(tmp_path / "days.csv")
    assert uqcli(*WATCH, "days.csv", "--day", "day", *STATE, "-q").code == 0
    rows(3, 50, day=["7"] * 50).write_csv(tmp_path / "numbers.csv")
    outcome = uqcli(*WATCH, "numbers.csv", "--day", "day", *STATE)
    assert (outcome.code, "has '7', and the state counts '2026-01-01'" in outcome.err) == (3, True)


@pytest.mark.parametrize("text", ["31/01/2026", "1/31/2026", "31-01-2026 08:00"])
def test_dates_that_do_not_sort_as_texts_are_refused(uqcli, files, tmp_path, text):
    rows(3, 50, day=["09/02/2026"] * 49 + [text]).write_csv(tmp_path / "days.csv")
    outcome = uqcli(*WATCH, "days.csv", "--day", "day")
    assert outcome.code == 3
    assert "these texts do not sort as their days do" in outcome.err


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ([9, 10, 11], ["9", "10", "11"]),
        ([9.0, 10.0, 11.5], ["9", "10", "11.5"]),
        (["2026-W09", "2026-W10", "2026-W11"], ["2026-W09", "2026-W10", "2026-W11"]),
        (["20260331", "20260401", "20260402"], ["2026-03-31", "2026-04-01", "2026-04-02"]),
        (["2026-03-31 23:59", "2026-03-31 01:02", "2026-04-01"], ["2026-03-31", "2026-04-01"]),
    ],
)
def test_any_key_that_sorts_is_a_day(uqcli, files, tmp_path, keys, names):
    pl.concat([rows(3 + n, 50, day=[key] * 50) for n, key in enumerate(keys[::-1])]).write_parquet(
        "d.parquet"
    )
    line = (*WATCH, "d.parquet", "--day", "day", *STATE, "--json")
    assert uqcli(*line, "--matured", "1").json["added"] == names[:-1]
    assert [batch["day"] for batch in state_of(tmp_path)["batches"]] == names[:-1]


def test_a_mistyped_date_lets_no_day_mature_and_a_missing_day_is_told(uqcli, files, tmp_path):
    frame = days(14).filter(pl.col("day") != (FIRST_DAY + timedelta(days=5)).isoformat())
    stray = frame[:2].with_columns(day=pl.lit("2103-01-01"))
    pl.concat([frame, stray]).write_csv("days.csv")
    report = uqcli(*WATCH, "days.csv", "--day", "day", "--matured", "10", *STATE, "--json").json
    assert report["added"] == [(FIRST_DAY + timedelta(days=day)).isoformat() for day in range(4)]
    told = {notice["key"]: notice["text"] for notice in report["notices"]}
    assert told["stray-days"].startswith("2103-01-01 is far from the other days")
    assert told["missing-days"] == f"no row is of {(FIRST_DAY + timedelta(days=5)).isoformat()}."


def test_a_full_disk_leaves_the_state_as_it_was(uqcli, files, tmp_path, monkeypatch):
    def fsync(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert uqcli(*WATCH, "kept0.csv", *STATE, "-q").code == 0
    before = state_of(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fsync)
        for state, left in (
            (STATE[1], "the file there is as it was"),
            ("new.json", "nothing was left there"),
        ):
            outcome = uqcli(*WATCH, "kept1.csv", "--state", state, "-q")
            assert outcome.code == 3
            assert f"cannot write '{state}': No space left on device; {left}; free some space" in outcome.err
        (tmp_path / "gates.xml").write_text("<testsuites/>")
        outcome = uqcli("evaluate", WATCH[1], "kept1.csv", "-q", "--report", "gates.xml")
        assert outcome.code == 3
        left = "the file there, if any, gives this error or is as it was"
        assert f"cannot write 'gates.xml': No space left on device; {left}; free some space" in outcome.err
    assert state_of(tmp_path) == before
    assert uqcli(*WATCH, "kept1.csv", *STATE, "-q").code == 0


def test_a_maturity_beyond_the_calendar_is_refused(uqcli, files, tmp_path):
    for matured, day in (("999999999", "2026-01-01"), ("9999999999", "2026-01-01"), ("40", "0001-01-02")):
        rows(3, 50, day=[day] * 50).write_csv(tmp_path / "days.csv")
        outcome = uqcli(*WATCH, "days.csv", "--day", "day", "--matured", matured)
        assert (outcome.code, f"--matured {matured} with days up to {day}" in outcome.err) == (2, True)
    rows(3, 50, day=["9999-12-31"] * 50).write_csv(tmp_path / "days.csv")
    assert uqcli(*WATCH, "days.csv", "--day", "day").code == 0


@pytest.mark.usefixtures("real_figures")
def test_a_change_is_found_and_dated(uqcli, files, tmp_path):
    days(150, lambda day: 1.0 if day < 120 else 0.7).write_csv(tmp_path / "days.csv")
    outcome = uqcli(*WATCH, "days.csv", "--day", "day", *STATE, "--report", "w.html", "--plot", "w.png")
    assert outcome.code == 6
    assert "no longer meets precision >= 7" in outcome.err
    assert " since about 2026-05-0" in outcome.err
    (promise,) = state_of(tmp_path)["promises"]
    assert "2026-05-01" < promise["changed_at"] < "2026-05-25"
    assert (tmp_path / "w.png").read_bytes().startswith(b"\x89PNG")
    assert "target no longer met" in (tmp_path / "w.html").read_text()


def test_rows_since_a_change_have_their_own_rate(uqcli, files, tmp_path):
    frame = days(60, lambda day: 1.0 if day < 40 else 0.6)
    frame.write_csv(tmp_path / "days.csv")
    (promise,) = uqcli(*WATCH, "days.csv", "--day", "day", *STATE, "--json").json["promises"]
    frame.filter(pl.col("day") >= promise["worse_since"]).write_csv(tmp_path / "since.csv")
    measured = uqcli("evaluate", "rule.json", "since.csv", "--json").json["metrics"]
    assert promise["rate_since"] == measured["precision"]["value"]


def test_rows_without_labels_are_not_counted_and_say_so(uqcli, files, tmp_path):
    days(3).rename({"label": "outcome"}).write_csv(tmp_path / "days.csv")
    for options in (STATE, ("--day", "day", "--matured", "1")):
        outcome = uqcli(*WATCH, "days.csv", *options)
        assert (outcome.code, "no column 'label'" in outcome.err) == (3, True)
    assert not (tmp_path / "state.json").exists()


def test_a_missing_day_column_names_its_option(uqcli, files):
    outcome = uqcli(*WATCH, "kept0.csv", "--day", "nope")
    assert (outcome.code, outcome.err.endswith("name one of them with --day\n")) == (3, True)


def test_a_watch_without_a_mature_day_has_a_figure(uqcli, files, tmp_path):
    days(3).write_csv(tmp_path / "days.csv")
    outcome = uqcli(*WATCH, "days.csv", "--day", "day", "--matured", "90", *STATE, "--plot", "w.png")
    assert (outcome.code, (tmp_path / "w.png").exists()) == (0, True)


@pytest.mark.thorough
def test_rows_of_groups_without_a_target_are_stated(uqcli, files, tmp_path):
    frame = rows(4, 3000).with_columns(region=pl.Series(["a", "b", "c"] * 1000))
    frame.write_csv(tmp_path / "groups.csv")
    frame.with_columns(pl.col("region").replace("c", "new")).write_csv(tmp_path / "new.csv")
    line = ("--precision", "0.7", "--by", "region", "--bound", "each", "-q", "-o", "g.json")
    assert uqcli("boundary", "groups.csv", *line).code == 0
    assert b"groups without a target" not in uqcli("watch", "g.json", "groups.csv").out
    assert (
        b"1,000 rows are of groups without a target of their own." in uqcli("watch", "g.json", "new.csv").out
    )


def test_a_shortened_digest_is_forgotten(uqcli, files, tmp_path):
    for number in range(2):
        assert uqcli(*WATCH, f"kept{number}.csv", *STATE, "-q").code == 0
    digest = state_of(tmp_path)["batches"][0]["digest"]
    assert uqcli(*WATCH, *STATE, "--forget", digest[:11]).code == 2
    assert uqcli(*WATCH, *STATE, "--forget", digest[:12]).code == 0
    assert len(state_of(tmp_path)["batches"]) == 1


@pytest.mark.parametrize("option", [("--acknowledge",), ("--forget", "2026-01-01")])
def test_nothing_is_taken_back_from_an_empty_state_which_stays(uqcli, files, tmp_path, option):
    (tmp_path / "empty.json").touch()
    for more in (option, ("kept0.csv",)):
        refused = uqcli(*WATCH, "--state", "empty.json", *more)
        assert (refused.code, "'empty.json' is empty" in refused.err) == (5, True)
        assert (tmp_path / "empty.json").read_bytes() == b""
    assert uqcli(*WATCH, "--state", "none.json", *option).code == 2
    assert [path.name for path in tmp_path.glob("none*")] == []


@pytest.mark.parametrize(
    "more",
    [("missing.csv",), ("plain.csv",), ("days.csv", "--fail-if", "batches > 0"), ("days.csv", "--strict")],
)
def test_a_failed_acknowledgement_leaves_the_state_as_it_was(uqcli, files, tmp_path, more):
    days(3).write_csv("days.csv")
    rows(9).write_csv("plain.csv")
    assert uqcli(*WATCH, "days.csv", "--day", "day", *STATE, "-q").code == 0
    before = (tmp_path / "state.json").read_bytes()
    assert uqcli(*WATCH, *STATE, "--acknowledge", *more).code in {2, 3, 6}
    assert (tmp_path / "state.json").read_bytes() == before


@pytest.mark.parametrize("option", [("--acknowledge",), ("--forget", "2026-01-01")])
def test_nothing_is_taken_back_from_a_state_that_is_not_there(uqcli, files, tmp_path, option):
    outcome = uqcli(*WATCH, "--state", "typo.json", *option)
    assert (outcome.code, "'typo.json' has no batches" in outcome.err) == (2, True)
    assert not (tmp_path / "typo.json").exists()


PROMISES = {
    "fpr": (("--max-fpr", "0.1"), {"fpr"}),
    "specificity": (("--min-specificity", "0.9"), {"specificity"}),
    "recall": (("--recall", "0.7"), {"recall"}),
    "pair": (("--precision", "0.7", "--recall", "0.3"), {"precision", "recall"}),
    "miss": (("--precision", "0.8", "--miss", "0.3"), {"precision", "miss"}),
    "certified": (("--precision", "0.7", "--certify", "0.1"), {"precision"}),
}


@pytest.mark.covering("thorough", every=100, also=["miss", "specificity"])
@pytest.mark.parametrize("kind", PROMISES)
def test_each_promise_counts_its_trials(uqcli, files, kind):
    options, names = PROMISES[kind]
    assert uqcli("boundary", "fit.csv", *options, "-q", "-o", "r.json").code == 0
    report = uqcli("watch", "r.json", "kept0.csv", "--json").json
    promises = report["metrics"]["promises"]
    measured = uqcli("evaluate", "r.json", "kept0.csv", "--json").json["metrics"]
    assert set(promises) == names
    for name, promise in promises.items():
        assert promise["rate"]["value"] == pytest.approx(measured[name]["value"], abs=1e-12)
        assert promise["rate"]["low"] <= promise["rate"]["value"] <= promise["rate"]["high"]
    if kind == "certified":
        assert report["promises"][0]["origin"] == "certified"
        assert promises["precision"]["bound"] == 0.7


def test_an_uncertified_rule_is_watched_at_what_was_expected(uqcli, files, tmp_path):
    report = uqcli(*WATCH, "kept0.csv", "--json").json
    low = json.loads((tmp_path / "rule.json").read_text())["expected"]["precision"]["low"]
    assert report["metrics"]["bound"] == pytest.approx(low)
    assert report["promises"][0]["origin"] == "lower end of what was expected of target 0.8"
    assert uqcli(*WATCH, "kept0.csv", "--bound", "0.75", "--json").json["metrics"]["bound"] == 0.75
    assert uqcli("boundary", "fit.csv", "--max-selected", "9%", "-q", "-o", "share.json").code == 0
    assert uqcli("watch", "share.json", "kept0.csv").code == 2
    assert uqcli("watch", "share.json", "kept0.csv", "--bound", "0.7").code == 0


@pytest.mark.thorough
def test_groups_are_watched_each_at_their_part_of_the_risk(uqcli, files, tmp_path):
    frame = rows(4, 3000).with_columns(region=pl.Series(["a", "b", "c"] * 1000))
    frame.write_csv(tmp_path / "groups.csv")
    line = ("--precision", "0.7", "--by", "region", "--bound", "each", "-q", "-o", "g.json")
    assert uqcli("boundary", "groups.csv", *line).code == 0
    rows(5, 3000, 0.5).with_columns(region=pl.Series(["a", "b", "c"] * 1000)).write_csv(tmp_path / "new.csv")
    outcome = uqcli("watch", "g.json", "new.csv", "--json")
    assert outcome.code == 6
    promises = outcome.json["metrics"]["promises"]
    assert set(promises) == {"precision[a]", "precision[b]", "precision[c]"}
    by_group = uqcli("evaluate", "g.json", "new.csv", "--json").json["groups"]
    for group in by_group:
        if group["name"] in "abc":
            trials = promises[f"precision[{group['name']}]"]["trials"]
            assert trials == group["metrics"]["selected"]
    two = pl.read_csv(tmp_path / "new.csv").filter(pl.col("region") != "c")
    two.write_csv(tmp_path / "two.csv")
    shown = uqcli("watch", "g.json", "two.csv").out.decode().splitlines()[0]
    assert shown.endswith("(1 more alarm below).")


@pytest.mark.parametrize("mode", ["marginal", "label-conditional"])
def test_prediction_sets_are_watched_below_their_average_coverage(uqcli, tmp_path, mode):
    random = np.random.default_rng(3)
    probability = random.dirichlet(np.ones(3), 3000)
    label = (probability.cumsum(axis=1) > random.random((3000, 1))).argmax(axis=1)
    names = np.array(list("xyz"))
    frame = pl.DataFrame(
        {"label": names[label], **{f"p_{name}": probability[:, i] for i, name in enumerate("xyz")}}
    )
    frame[:1500].write_csv(tmp_path / "fit.csv")
    frame[1500:].write_csv(tmp_path / "new.csv")
    line = ("--proba", "p_*", "--alpha", "0.1", "--mode", mode, "-q", "-o", "sets.json")
    assert uqcli("conformal", "fit.csv", *line).code == 0
    outcome = uqcli("watch", "sets.json", "new.csv", "--json")
    assert outcome.code == 0
    promises = outcome.json["metrics"]["promises"]
    assert set(promises) == ({"coverage"} if mode == "marginal" else {f"coverage[{name}]" for name in "xyz"})
    assert all(0.8 < promise["bound"] < 0.9 for promise in promises.values())
    coverage = uqcli("evaluate", "sets.json", "new.csv", "--json").json["metrics"]["coverage"]["value"]
    covered = sum(promise["successes"] for promise in promises.values())
    assert covered / 1500 == pytest.approx(coverage)


FEED = """
import sys
from uqcli.cli.app import run
sys.exit(run(["watch", "rule.json", *sys.argv[1:], "--state", "state.json", "-q"]))
"""


@pytest.mark.faults
def test_two_processes_that_feed_one_state_lose_nothing(uqcli, files, tmp_path):
    for number in range(8):
        rows(30 + number).write_csv(tmp_path / f"part{number}.csv")
    runs = [
        subprocess.Popen([sys.executable, "-c", FEED, f"part{number}.csv"], cwd=tmp_path)
        for number in (0, 1, 2, 3, 4, 5, 6, 7, 3, 5)
    ]
    assert {run.wait() for run in runs} == {0}
    saved = state_of(tmp_path)
    assert len(saved["batches"]) == 8
    assert saved["source"]["rows"] == 8 * 600
    assert uqcli("show", "state.json").code == 0


def test_rows_without_labels_are_compared_with_the_calibration_rows(uqcli, files, tmp_path):
    reference = json.loads((tmp_path / "rule.json").read_text())["reference"]
    like, other = rows(60, 3000).drop("label"), rows(61, 3000).drop("label")
    like.write_csv(tmp_path / "like.csv")
    other.with_columns(pl.col("score") ** 2 * 1.1).write_parquet(tmp_path / "other.parquet")
    report = uqcli(*WATCH, "like.csv", "--json").json
    metrics = report["metrics"]
    edges = np.array(reference["score_edges"][0])
    count = np.bincount(np.searchsorted(edges, like["score"], side="right"), minlength=10)
    assert len(reference["score_edges"]) == 1
    old = np.array(reference["count"][0])
    shares = [(counts + 0.5) / (counts.sum() + 5) for counts in (old, count)]
    psi = ((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum()
    assert metrics["psi"] == pytest.approx(psi)
    assert metrics["drift_p"] > 0.01
    assert metrics["flagged"]["low"] <= metrics["flagged"]["value"] <= metrics["flagged"]["high"]
    moved = uqcli(*WATCH, "other.parquet", "--json").json["metrics"]
    assert moved["drift_p"] < 1e-6
    assert moved["outside_range"] == (other["score"] ** 2 * 1.1 > reference["highest"]["score"]).mean()
    assert not moved["flagged"]["low"] <= moved["flagged"]["value"] <= moved["flagged"]["high"]
    assert uqcli(*WATCH, "like.csv", "--label", "label").code == 3


@pytest.mark.thorough
@pytest.mark.parametrize("bound", ["--precision", "--recall"])
def test_recall_is_not_watched_by_labels_of_flagged_rows(uqcli, files, tmp_path, bound):
    assert uqcli("boundary", "fit.csv", bound, "0.6", "-q", "-o", "rule.json").code == 0
    assert uqcli("apply", "rule.json", "kept0.csv", "-q", "-o", "decided.csv").code == 0
    decided = pl.read_csv(tmp_path / "decided.csv")
    decided.with_columns(label=pl.when("decision").then("label")).drop("decision").write_csv(
        tmp_path / "reviewed.csv"
    )
    outcome = uqcli(*WATCH, "reviewed.csv", *STATE, "--on-invalid", "drop", "-q")
    assert outcome.code == (0 if bound == "--precision" else 3), outcome.err
    assert ("only 0 of the unflagged rows have one" in outcome.err) == (bound == "--recall")
    assert (tmp_path / "state.json").exists() == (bound == "--precision")


def test_the_second_line_says_what_is_tested_in_place_of_the_target(uqcli, tmp_path):
    random = np.random.default_rng(5)
    score = random.random(3000)
    frame = pl.DataFrame({"score": score, "label": (random.random(3000) < score).astype(int)})
    frame.write_csv(tmp_path / "rows.csv")
    fit = ("boundary", "rows.csv", "--precision", "0.7", "--algorithm", "st", "-q", "-o", "rule.json")
    assert uqcli(*fit).code == 0
    low = json.loads((tmp_path / "rule.json").read_text())["expected"]["precision"]["low"]
    assert low < 0.7
    second = uqcli("watch", "rule.json", "rows.csv").out.decode().splitlines()[1]
    assert (
        "It is not the target of 70 %, which a rule without a certificate may miss from the start" in second
    )
    assert "To get an alarm below the target itself, add --bound 0.7" in second
    itself = uqcli("watch", "rule.json", "rows.csv", "--bound", "0.7").out.decode()
    assert "lower end" not in itself
    alarmed = uqcli("watch", "rule.json", "rows.csv", "--bound", "0.99", "--report", "page.html")
    assert alarmed.code == 6
    assert alarmed.out.decode().splitlines()[1].startswith("Stop relying on the rule: ")
    page = (tmp_path / "page.html").read_text()
    assert '<p class="action">Next: Stop relying on the rule: ' in page


def test_a_rate_is_below_the_target_and_misses_it_by_its_interval(uqcli, tmp_path):
    rows(0, 4000).drop("uncertainty").write_csv(tmp_path / "fit.csv")
    fit = ("boundary", "fit.csv", "--precision", "0.7", "--algorithm", "st", "-q", "-o", "rule.json")
    assert uqcli(*fit).code == 0
    low = json.loads((tmp_path / "rule.json").read_text())["expected"]["precision"]["low"]
    between = round((low + 0.7) / 2, 3)
    for alerts, rate, is_below, is_missed in (
        (1000, 0.699, True, False),
        (100_000, 0.6998, True, False),
        (100_000, between, True, True),
    ):
        positive = round(alerts * rate)
        frame = pl.DataFrame({"score": [0.99] * 2, "label": [1, 0], "weight": [positive, alerts - positive]})
        frame.write_csv(tmp_path / "new.csv")
        outcome = uqcli("watch", "rule.json", "new.csv", "--weight", "weight")
        assert outcome.code == 0
        shown = " ".join(outcome.out.decode().split())
        assert ("below the target of 70 %, from" in shown) == is_below
        assert ("Test the rule with uqcli evaluate, since it is below its target." in shown) == is_missed


def fed(uqcli, *names):
    """Feed batches to the state, and return the report on the last one."""
    for name in names:
        outcome = uqcli(*WATCH, name, *STATE, "--json")
        assert outcome.code == 0, outcome.err
    return outcome.json


def test_a_batch_is_known_by_its_rows(uqcli, files, tmp_path):
    frame = rows(1)
    frame.sample(fraction=1, shuffle=True, seed=1).write_parquet("shuffled.parquet")
    (tmp_path / "parts").mkdir()
    frame[:100].write_csv("parts/a.csv")
    frame[100:].write_csv("parts/b.csv")
    first = fed(uqcli, "kept0.csv")
    assert len(first["added"]) == 1
    assert "with other labels" not in " ".join(first["notes"])  # nothing was counted before
    state = (tmp_path / "state.json").read_bytes()
    for name in ("shuffled.parquet", "parts"):
        assert fed(uqcli, name)["known"] == [state_of(tmp_path)["batches"][0]["digest"]]
        assert (tmp_path / "state.json").read_bytes() == state
    assert len(fed(uqcli, "kept1.csv")["added"]) == 1
    outcome = uqcli(*WATCH, "kept0.csv", *STATE, "--label", "uncertainty")
    assert outcome.code == 3  # the uncertainty is no label


def test_labels_that_arrive_later_replace_the_batch(uqcli, files, tmp_path):
    frame = rows(1).with_row_index("id")
    frame.drop("label").write_csv("rows.csv")
    frame.select("id", "label")[:200].write_csv("early.csv")
    frame.select("id", "label").write_csv("late.csv")
    frame.select("id", label=1 - pl.col("label")).write_csv("other.csv")
    line = (*WATCH, "rows.csv", *STATE, "--on", "id", "--json")
    first = uqcli(*line, "--labels", "early.csv").json
    assert uqcli(*line, "--labels", "early.csv").json["known"] == first["added"]
    late = uqcli(*line, "--labels", "late.csv").json
    assert (late["replaced"], late["added"]) == (first["added"], [])
    assert "were counted before with other labels" in " ".join(late["notes"])
    saved = state_of(tmp_path)
    assert (len(saved["batches"]), saved["source"]["rows"]) == (1, 600)
    outcome = uqcli(*line, "--labels", "other.csv")
    assert (outcome.code, "have other labels now, and no more of them" in outcome.err) == (2, True)
    assert state_of(tmp_path) == saved
    assert uqcli(*line, "--labels", "other.csv", "--replace").json["replaced"] == [
        saved["batches"][0]["digest"]
    ]


def test_the_state_says_how_many_rows_it_counts(uqcli, files, tmp_path):
    days(10).write_csv("ten.csv")
    line = (*WATCH, "ten.csv", "--day", "day", *STATE, "-q")
    assert uqcli(*line).code == 0
    assert state_of(tmp_path)["source"]["rows"] == 1500
    assert uqcli(*WATCH, *STATE, "--forget", "2026-01-03", "-q").code == 0
    assert state_of(tmp_path)["source"]["rows"] == 1350
    assert uqcli(*line).code == 0
    assert state_of(tmp_path)["source"]["rows"] == 1500
    days(10)[:1400].write_csv("ten.csv")  # the last day has lost rows
    assert uqcli(*line).code == 2
    assert uqcli(*line, "--replace").code == 0
    assert state_of(tmp_path)["source"]["rows"] == 1400


def test_days_are_taken_again_after_one_of_them_is_forgotten(uqcli, files, tmp_path):
    frame = days(6).with_columns(customer=pl.int_range(pl.len()) % 700)
    frame.write_csv("days.csv")
    frame.filter(pl.col("day") != "2026-01-02").write_csv("rest.csv")
    line = ("--day", "day", "--cluster", "customer", *STATE)
    assert uqcli(*WATCH, "days.csv", *line, "-q").code == 0
    before = state_of(tmp_path)
    assert uqcli(*WATCH, *STATE, "--forget", "2026-01-02", "-q").code == 0
    assert uqcli(*WATCH, "rest.csv", *line, "--json").json["added"] == []
    assert uqcli(*WATCH, "days.csv", *line, "--json").json["added"] == ["2026-01-02"]
    after = state_of(tmp_path)
    assert sorted(after["batches"], key=lambda batch: batch["day"]) == before["batches"]
    assert "released" not in after
    late = frame.with_columns(label=pl.when(pl.col("day") == "2026-01-05").then(1).otherwise("label"))
    late.write_csv("late.csv")
    assert uqcli(*WATCH, "late.csv", *line).code == 2


def test_all_rows_of_a_customers_first_batch_count(uqcli, files, tmp_path):
    frame = days(4).with_columns(customer=pl.int_range(pl.len()) % 150)  # the same customers every day
    frame.write_csv("days.csv")
    frame.filter(pl.col("day") == "2026-01-01").write_csv("first.csv")
    outcome = uqcli(*WATCH, "days.csv", "--day", "day", "--cluster", "customer", "--json")
    flagged = uqcli("evaluate", "rule.json", "first.csv", "--json").json["metrics"]["selected"]
    assert outcome.json["metrics"]["trials"] >= flagged
    assert any("and not in later ones" in note for note in outcome.json["notes"])


def test_a_cluster_of_dates_is_a_day(uqcli, files, tmp_path):
    days(30).write_csv("days.csv")
    by_day = uqcli(*WATCH, "days.csv", "--day", "day", "--json")
    for options in (("--cluster", "day"), ("--cluster", "day", "--day", "day")):
        assert uqcli(*WATCH, "days.csv", *options, "--json").out == by_day.out
    line = (*WATCH, "days.csv", "--cluster", "day", *STATE, "-q")
    assert [uqcli(*line).code, uqcli(*line).code] == [0, 0]
    assert state_of(tmp_path)["parameters"]["day"] == "day"


def test_rows_of_a_day_that_go_together_count_as_fewer(uqcli, files, tmp_path):
    """Half of the days have twice the usual positives, and the others few."""
    days(60, lambda day: 1.1 if day % 2 else 0.75).write_csv("together.csv")
    days(60).write_csv("apart.csv")
    used = {}
    for name in ("together", "apart"):
        report = uqcli(*WATCH, f"{name}.csv", "--day", "day", "--json").json
        metrics = report["metrics"]
        used[name] = metrics["design_effect"]["used"]
        assert metrics["promises"]["precision"]["design_effect"] == metrics["design_effect"]
        assert 1 <= metrics["design_effect"]["value"] < used[name]
        assert -1 <= metrics["lag_correlation"] <= 1
    assert used["together"] > 2 * used["apart"]
    shown = uqcli(*WATCH, "together.csv", "--day", "day").out.decode()
    trials, effective = metrics["trials"], round(metrics["trials"] / used["apart"])
    assert "Rows from the same day may be alike" in shown
    shown = uqcli(*WATCH, "apart.csv", "--day", "day").out.decode()
    assert (
        f"Rows from the same day may be alike: {trials:,} alerts are taken for {effective:,} independent "
        "ones, the fewest that 60 days leave possible." in " ".join(shown.split())
    )


def test_one_file_without_days_is_taken_as_independent_rows_and_says_so(uqcli, files, tmp_path):
    days(60).write_csv("days.csv")
    report = uqcli(*WATCH, "days.csv", "--json").json
    assert "design_effect" not in report["metrics"]
    shown = uqcli(*WATCH, "days.csv").out.decode()
    assert "Rows are taken as independent: --day day takes rows of a day together." in shown
    assert "Rows are taken as independent." in uqcli(*WATCH, "kept0.csv").out.decode()


@pytest.mark.parametrize("name", ["days.csv", "plain.csv"])
def test_the_only_batch_of_a_state_is_no_evidence_yet_whenever_it_is_given(uqcli, files, tmp_path, name):
    days(30, lambda day: 0.4).write_csv("days.csv")
    days(30, lambda day: 0.4).drop("day").write_csv("plain.csv")
    first, again = (uqcli(*WATCH, name, *STATE, "--json") for _ in range(2))
    assert (first.code, again.code) == (0, 0)
    assert {**first.json["metrics"], "added": 0} == again.json["metrics"]
    assert "the evidence starts with the second batch" in uqcli(*WATCH, name, *STATE).out.decode()


def test_other_days_than_those_of_the_rule_need_no_caution(uqcli, files, tmp_path):
    frame = days(40).with_columns(week=pl.col("day").str.to_date().dt.strftime("%G-W%V"))
    frame.write_csv("days.csv")
    assert uqcli("boundary", "days.csv", "--precision", "0.8", "--day", "day", "-q", "-o", "d.json").code == 0
    for column in ("day", "week"):
        report = uqcli("watch", "d.json", "days.csv", "--day", column, "--json").json
        assert not any("give it again" in note for note in report["notes"])
    assert "give it again" in str(uqcli("watch", "d.json", "days.csv", "--json").json)


def test_the_state_alone_is_a_report_and_stays_as_it_is(uqcli, files, tmp_path):
    assert uqcli(*WATCH, *STATE).code == 2  # which does not exist
    assert not (tmp_path / "state.json").exists()
    seen = fed(uqcli, "kept0.csv", "kept1.csv")
    before = (tmp_path / "state.json").read_bytes()
    alone = uqcli(*WATCH, *STATE, "--json").json
    for name in ("trials", "successes", "rate", "e_value", "change", "batches"):
        assert alone["metrics"][name] == seen["metrics"][name]
    assert (alone["added"], alone["known"]) == ([], [])
    assert uqcli(*WATCH, *STATE, "-q").code == 0
    assert (tmp_path / "state.json").read_bytes() == before
    shown = uqcli(*WATCH, *STATE).out.decode()
    assert "Wrote" not in shown
    newest = seen["added"][0][:12]
    assert f"The newest batch, {newest}, alone: " in shown
    again = uqcli(*WATCH, "kept1.csv", *STATE).out.decode().splitlines()[0]
    assert again.startswith(f"Batch {newest} was counted before: nothing new. No alarm: ")


def test_a_standing_alarm_is_exit_6_of_the_state_alone_too(uqcli, files, tmp_path):
    days(20).with_columns(label=pl.col("score").rank("ordinal") % 40 == 0).write_csv("wrong.csv")
    assert uqcli(*WATCH, "wrong.csv", "--day", "day", *STATE, "-q").code == 6
    before = (tmp_path / "state.json").read_bytes()
    alone = uqcli(*WATCH, *STATE)
    assert alone.code == 6
    assert alone.out.decode().startswith("Alarm: ")
    assert (tmp_path / "state.json").read_bytes() == before


def test_a_day_that_comes_late_is_not_called_the_newest(uqcli, files):
    rows = days(12)
    late = rows["day"].unique().sort()[3]
    rows.filter(pl.col("day") != late).write_csv("in_time.csv")
    rows.filter(pl.col("day") == late).write_csv("late.csv")
    by_day = ("--day", "day", *STATE)
    assert "The newest day, " in uqcli(*WATCH, "in_time.csv", *by_day).out.decode()
    shown = uqcli(*WATCH, "late.csv", *by_day).out.decode()
    assert f"The day counted last, {late}, alone: " in shown
    assert "newest" not in shown
