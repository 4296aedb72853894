"""Tests of ``uqcli boundary --precision S --recall R``."""

import json

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def files(tmp_path):
    """Write a calibration set and a test set."""
    for seed, name in enumerate(("fit", "test")):
        random = np.random.default_rng(seed)
        score, uncertainty = random.random(2000).round(3), random.random(2000).round(2)
        label = (random.random(2000) < score ** (1 + uncertainty)).astype(int)
        pl.DataFrame({"score": score, "uncertainty": uncertainty, "label": label}).write_csv(
            tmp_path / f"{name}.csv"
        )


@pytest.mark.covering("thorough", every=100, also=["st"])
@pytest.mark.parametrize("algorithm", ["smooth", "vw-dpmt", "st", "all"])
def test_the_rule_is_that_of_the_precision_if_it_has_the_recall(uqcli, files, tmp_path, algorithm):
    common = ("boundary", "fit.csv", "--precision", "0.8", "--algorithm", algorithm, "-q")
    assert uqcli(*common, "-o", "one.json").code == 0
    one = json.loads((tmp_path / "one.json").read_text())
    recall = one["fit"]["recall"]
    assert uqcli(*common, "--recall", f"{recall - 0.001:.6f}", "-o", "both.json").code == 0
    both = json.loads((tmp_path / "both.json").read_text())
    assert (both["thresholds"], both["fit"]) == (one["thresholds"], one["fit"])
    if algorithm == "all":
        return
    outcome = uqcli(*common, "--recall", f"{recall + 0.001:.6f}", "--json", "-o", "both.json")
    assert outcome.code == 4
    assert outcome.json["metrics"]["recall_at_best_precision"] == recall
    assert f"the highest recall at precision 0.8 is {recall:.3f}" in outcome.err


def test_evaluate_tests_both_bounds(uqcli, files, tmp_path):
    assert (
        uqcli("boundary", "fit.csv", "--precision", "0.7", "--recall", "0.3", "-q", "-o", "r.json").code == 0
    )
    frame = pl.read_csv(tmp_path / "test.csv")
    frame.with_columns(pl.col("score") / 2).write_csv(tmp_path / "low.csv")
    report = uqcli("evaluate", "r.json", "low.csv", "--json").json
    assert report["metrics"]["promise_broken"] == 1
    assert any("misses recall >= 0.3 (significant)" in note for note in report["notes"])
    kept = uqcli("evaluate", "r.json", "test.csv", "--json").json
    assert kept["metrics"]["promise_broken"] == 0


@pytest.mark.parametrize(
    "more",
    [("--shift", "w.json"), ("--review", "5%"), ("--by", "label"), ("--max-fpr", "0.1"), ("--recall", "1.2")],
)
def test_impossible_options_are_refused(uqcli, files, more):
    assert uqcli("boundary", "fit.csv", "--precision", "0.7", "--recall", "0.3", *more).code == 2
