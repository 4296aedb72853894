"""A figure that nothing computed is null in the JSON report, and every check on it fails."""

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit


def rows(size, seed=0):
    random = np.random.default_rng(seed)
    score = random.random(size)
    return pl.DataFrame(
        {
            "score": score,
            "p_a": 1 - score,
            "p_b": score,
            "name": np.where(random.random(size) < score, "b", "a"),
            "uncertainty": random.random(size),
            "label": (random.random(size) < score).astype(int),
            "region": random.choice(["N", "S"], size),
            "w": random.choice([0.5, 1.5], size),
        }
    )


def write_files():
    """Fit rules, and write rows of which too few, or none of a kind or with a label, can test them."""
    frame = rows(800)
    frame.write_csv("fit.csv")
    fit("boundary fit.csv --precision 0.7 --algorithm st -o precision.json")
    fit("boundary fit.csv --recall 0.6 --algorithm st -o recall.json")
    fit("boundary fit.csv --precision 0.7 --by region --bound each -o groups.json")
    fit("boundary fit.csv --precision 0.7 --review 20% --algorithm st -o zones.json")
    fit("calibrate fit.csv --method platt --bootstrap 0 -o map.json")
    fit("conformal fit.csv --proba p_* --label name --alpha 0.1 --mode label-conditional -o sets.json")
    few = rows(30, seed=1)
    few.write_csv("few.csv")
    few.with_columns(label=pl.lit(0), name=pl.lit("a")).write_csv("negatives.csv")
    few.with_columns(score=pl.lit(0.001)).write_csv("cleared.csv")
    few[:1].write_csv("one.csv")
    wide = rows(1500, seed=2)
    wide.with_columns(label=pl.when(pl.col("score") > 0.6).then("label")).write_csv("reviewed.csv")


RUNS = {
    "groups too small": "evaluate precision.json few.csv --by region",
    "groups of a rule by group": "evaluate groups.json few.csv",
    "groups, labels of flagged rows": "evaluate recall.json reviewed.csv --by region --on-invalid drop",
    "no positive": "evaluate recall.json negatives.csv",
    "nothing flagged": "evaluate precision.json cleared.csv",
    "zones": "evaluate zones.json reviewed.csv --on-invalid drop",
    "two rules": "evaluate precision.json recall.json reviewed.csv --on-invalid drop",
    "segments too small": "evaluate precision.json few.csv --audit region",
    "segments of tce": "tce few.csv --audit region",
    "groups of tce": "tce few.csv --by region",
    "tce of negatives": "tce negatives.csv",
    "tce of a row": "tce one.csv",
    "sampling weights": "evaluate precision.json few.csv --sampling-weight w",
    "tce by sampling weight": "tce few.csv --sampling-weight w --by region",
    "calibrator": "evaluate map.json negatives.csv --bootstrap 0",
    "sets of one class": "evaluate sets.json one.csv --label name",
    "watch, nothing flagged": "watch precision.json cleared.csv",
    "sample without labels": "sample precision.json few.csv --for precision --plan 0.001",
}
NEEDS_A_TEST = {
    "groups too small": ["groups_below", "worst_group.p", "worst_group.precision"],
    "groups of a rule by group": ["groups_below", "promise_broken"],
    "groups, labels of flagged rows": ["groups_below", "worst_group.p", "promise_broken", "recall"],
    "segments too small": ["segments.deviating", "segments.p"],
    "segments of tce": ["segments.deviating", "segments.p"],
    "groups of tce": ["worst_group.tce"],
    "nothing flagged": ["precision", "promise_broken"],
    "watch, nothing flagged": ["alarm", "change_alarm", "e_value", "change"],
}
"""Figures that count or sum up tests, of runs in which no test was made."""


def nulls(metrics, prefix=""):
    """Iterate over the paths of null metrics; an estimate whose value is null counts once, with its ends."""
    for name, value in metrics.items():
        if value is None or (isinstance(value, dict) and "value" in value and value["value"] is None):
            yield f"{prefix}{name}"
        if isinstance(value, dict):
            yield from nulls(value, f"{prefix}{name}.")


@pytest.mark.covering("thorough", every=9)
@pytest.mark.parametrize("run", RUNS)
def test_what_nothing_computed_is_null_and_fails_its_checks(uqcli, prepared, run):
    prepared(write_files)
    line = RUNS[run].split()
    outcome = uqcli(*line, "--json")
    assert outcome.code == 0, outcome.err
    paths = list(nulls(outcome.json["metrics"]))
    assert set(NEEDS_A_TEST.get(run, [])) <= set(paths)
    for path in paths:
        for condition in ("< -1e9", "> 1e9"):
            checked = uqcli(*line, "-q", "--fail-if", f"{path} {condition}")
            assert checked.code == 6, path
            assert f"{path} is undefined" in checked.err
