"""What ``uqcli watch`` tests with several targets or classes, and after an acknowledgement or forgetting."""

import json
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta

from tests.cli.conftest import fit
from tests.cli.test_watch import STATE, WATCH, rows, state_of

FIRST_DAY = date(2026, 1, 1)


def write_files():
    """Write rules of one target, of two, and of two groups."""
    frame = rows(0, 4000, region=["a", "b"] * 2000)
    frame.write_csv("fit.csv")
    fit("boundary fit.csv --precision 0.8 -o rule.json")
    fit("boundary fit.csv --precision 0.7 --recall 0.3 -o pair.json")
    fit("boundary fit.csv --precision 0.7 --by region --bound each -o groups.json")
    days(12, 0.5).write_csv("bad.csv")
    days(12, 0.5, first=12).write_csv("worse.csv")


def days(number, rate, first=0, size=150):
    return pl.concat(
        [
            rows(
                first + day,
                size,
                rate,
                region=["a", "b"] * (size // 2),
                day=[(FIRST_DAY + timedelta(days=first + day)).isoformat()] * size,
            )
            for day in range(number)
        ]
    )


@pytest.fixture(autouse=True)
def files(prepared):
    prepared(write_files)


@pytest.mark.parametrize(("rule", "targets"), [("rule", 1), ("pair", 2), ("groups", 2)])
def test_the_risk_is_divided_over_the_targets(uqcli, rule, targets):
    outcome = uqcli("watch", f"{rule}.json", "bad.csv", "--day", "day", "--run-length", "30", "--json")
    assert len(outcome.json["metrics"]["promises"]) == targets
    notes = " ".join(outcome.json["notes"])
    several = f" for each of {targets} targets" if targets > 1 else ""
    assert f"An alarm needs evidence of {100 * targets}{several}." in notes
    assert f"A change alarm needs evidence of {30 * targets}." in notes
    for metrics in outcome.json["metrics"]["promises"].values():
        assert metrics["alarm"] == (metrics["e_value"] >= 100 * targets)


def test_new_batches_ring_after_an_acknowledgement(uqcli, tmp_path):
    line = ("--day", "day", *STATE, "-q")
    first = uqcli(*WATCH, "bad.csv", *line)
    assert first.code == 6
    assert uqcli(*WATCH, *STATE, "--acknowledge", "-q").code == 0
    again = uqcli(*WATCH, "worse.csv", *line)
    assert again.code == 6
    (promise,) = state_of(tmp_path)["promises"]
    assert "2026-01-13" < promise["alarmed_at"] <= "2026-01-24"
    alone = uqcli(*WATCH, "worse.csv", "--day", "day", "--json")
    counts = alone.json["metrics"]
    assert (promise["successes"], promise["trials"]) == (counts["successes"], counts["trials"])
    assert alone.json["promises"][0]["name"] == promise["name"]


def test_a_forgotten_batch_that_was_acknowledged_takes_no_other_with_it(uqcli, tmp_path):
    for name in ("bad.csv", "worse.csv"):
        assert uqcli(*WATCH, name, "--day", "day", *STATE, "-q").code in (0, 6)
        if name == "bad.csv":
            assert uqcli(*WATCH, *STATE, "--acknowledge", "-q").code == 0
    (before,) = state_of(tmp_path)["promises"]
    assert uqcli(*WATCH, *STATE, "--forget", "2026-01-03", "-q").code == 6
    state = state_of(tmp_path)
    assert (state["acknowledged"], len(state["batches"])) == (11, 23)
    assert state["promises"] == [before]
    assert uqcli(*WATCH, *STATE, "--forget", "2026-01-15", "-q").code == 6
    state = state_of(tmp_path)
    (after,) = state["promises"]
    assert (state["acknowledged"], len(state["batches"])) == (11, 22)
    counted = [batch["counts"][0]["trials"] for batch in state["batches"][11:]]
    assert after["trials"] == sum(counted) < before["trials"]


def test_a_target_below_what_was_expected_is_the_limit_itself(uqcli, tmp_path):
    expected = json.loads((tmp_path / "pair.json").read_text())["expected"]
    report = uqcli("watch", "pair.json", "bad.csv", "--day", "day", "--json").json
    bounds = {name: metrics["bound"] for name, metrics in report["metrics"]["promises"].items()}
    assert expected["recall"]["low"] > 0.3
    assert expected["precision"]["low"] < 0.7
    assert bounds == {"precision": pytest.approx(expected["precision"]["low"]), "recall": 0.3}


def test_the_coverage_of_each_class_has_its_part_of_the_risk(uqcli, tmp_path):
    random = np.random.default_rng(3)
    probability = random.dirichlet(np.ones(3), 900)
    label = (probability.cumsum(axis=1) > random.random((900, 1))).argmax(axis=1)
    names = np.array(list("xyz"))
    columns = {f"p_{name}": probability[:, index] for index, name in enumerate(names)}
    pl.DataFrame({"label": names[label], **columns}).write_csv("sets.csv")
    line = ("--proba", "p_*", "--alpha", "0.1", "--mode", "label-conditional", "-q", "-o", "sets.json")
    assert uqcli("conformal", "sets.csv", *line).code == 0
    report = uqcli("watch", "sets.json", "sets.csv", "--json").json
    for index, name in enumerate(names):
        n = int((label == index).sum())
        kept = -(-9 * (n + 1) // 10)
        # a third of .01, of which half is for the bound and half for the alarm
        least = beta.ppf(0.01 / 3 / 2, kept, n + 1 - kept)
        assert report["metrics"]["promises"][f"coverage[{name}]"]["bound"] == pytest.approx(least, abs=1e-9)
    assert "An alarm needs evidence of 600 for each of 3 targets." in " ".join(report["notes"])


@pytest.mark.parametrize(("outside", "is_said"), [(10, False), (11, True)])
def test_a_caution_counts_rows_outside_from_one_in_a_hundred_on(uqcli, tmp_path, outside, is_said):
    reference = json.loads((tmp_path / "rule.json").read_text())["reference"]
    middle = (reference["lowest"]["score"] + reference["highest"]["score"]) / 2
    score = [reference["highest"]["score"] + 1] * outside + [middle] * (1000 - outside)
    pl.DataFrame({"score": score, "uncertainty": [0.5] * 1000}).write_csv("new.csv")
    report = uqcli(*WATCH, "new.csv", "--json").json
    assert any("outside the range of the calibration set" in note for note in report["notes"]) == is_said
