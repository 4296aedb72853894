"""Tests of boundaries and calibrators for target data with other class priors."""

import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest


def frame(rows, positives, seed):
    random = np.random.default_rng(seed)
    label = random.random(rows) < positives
    score = 1 / (1 + np.exp(-random.normal(np.where(label, 1.2, -1.2), 1.3)))
    return pl.DataFrame({"score": score, "uncertainty": random.random(rows), "label": label.astype(int)})


@pytest.fixture
def target_files(tmp_path):
    frame(6000, 0.5, 1).write_parquet(tmp_path / "source.parquet")
    target = frame(6000, 0.15, 2)
    target.write_parquet(tmp_path / "labelled.parquet")
    target.drop("label").write_parquet(tmp_path / "target.parquet")
    return tmp_path


@pytest.fixture
def weights(uqcli, target_files):
    outcome = uqcli("shift", "source.parquet", "--target", "target.parquet", "-q", "-o", "s.json")
    assert outcome.code == 0, outcome.err
    content = json.loads((target_files / "s.json").read_text())
    assert content["target_prior"][1] == pytest.approx(0.15, abs=0.03)
    return content["weights"]


@pytest.mark.usefixtures("real_figures")
def test_class_priors_of_source_and_target_have_intervals_and_a_figure(uqcli, target_files):
    arguments = ("shift", "source.parquet", "--target", "target.parquet", "-o", "s.json")
    outcome = uqcli(*arguments, "--json", "--plot", "s.svg", "--report", "s.html")
    shares = outcome.json["metrics"]["class_shares"]
    content = json.loads((target_files / "s.json").read_text())
    for class_index, name in enumerate("01"):
        source, target = shares[name]["source"], shares[name]["target"]
        assert source["low"] < source["value"] == content["source_prior"][class_index] < source["high"]
        assert [target["low"], target["high"]] == content["target_interval"][class_index]
        assert target["low"] < target["value"] == content["target_prior"][class_index] < target["high"]
    assert shares["1"]["target"]["high"] < shares["1"]["source"]["low"]
    assert "<!-- share of rows (prior) -->" in (target_files / "s.svg").read_text()
    assert "<figure" in (target_files / "s.html").read_text()
    check = ("--fail-if", "class_shares.1.target.high < 0.3")
    assert uqcli(*arguments, "-q", *check).code == 6
    options = ("--estimator", "known", "--prior", "0.7,0.3", "--json", "--plot", "k.png")
    known_shares = uqcli("shift", "source.parquet", *options).json["metrics"]["class_shares"]
    assert known_shares["1"]["target"] == {"value": pytest.approx(0.3), "low": None, "high": None}


def test_fewer_than_ten_unlabelled_rows_per_class_give_no_interval(uqcli, target_files):
    target = pl.read_parquet(target_files / "target.parquet")
    for rows, has_interval in ((19, False), (20, True)):
        target.head(rows).write_parquet(target_files / "few.parquet")
        arguments = ("shift", "source.parquet", "--target", "few.parquet", "--bootstrap", "200", "--json")
        report = uqcli(*arguments).json
        assert isinstance(report["metrics"]["weights"]["1"], dict) is has_interval
        assert any("fewer than 10" in note for note in report["notes"]) is not has_interval


def test_the_precision_bound_is_met_exactly_on_target_data(uqcli, target_files):
    known = ("--estimator", "known", "--prior", "0.85,0.15", "-q", "-o", "s.json")
    assert uqcli("shift", "source.parquet", *known).code == 0
    weights = json.loads((target_files / "s.json").read_text())["weights"]
    for name, options in (("plain", ()), ("shifted", ("--shift", "s.json"))):
        arguments = ("--precision", "0.8", "--score-bins", "50", "-q", "-o", f"{name}.json")
        assert uqcli("boundary", "source.parquet", *arguments, *options).code == 0
    content = json.loads((target_files / "shifted.json").read_text())
    fit, (negative, positive) = content["fit"], map(Fraction, weights)
    hits = positive * fit["true_positives"]
    false_alerts = negative * (fit["selected"] - fit["true_positives"])
    assert hits / (hits + false_alerts) >= Fraction("0.8")
    assert content["target"]["precision"] == pytest.approx(float(hits / (hits + false_alerts)))
    results = uqcli("evaluate", "plain.json", "shifted.json", "labelled.parquet", "--json").json["results"]
    plain, shifted = (result["metrics"]["precision"]["value"] for result in results)
    assert plain < shifted - 0.1
    assert shifted == pytest.approx(0.8, abs=0.1)
    on_source = uqcli("evaluate", "shifted.json", "source.parquet", "--shift", "s.json", "--json").json
    target_precision = on_source["metrics"]["target_precision"]
    assert target_precision["low"] <= target_precision["value"] <= target_precision["high"]
    assert target_precision["value"] == pytest.approx(content["target"]["precision"])
    assert "on target data" in on_source["notes"][1]
    assert uqcli("shift", "source.parquet", *known, "--bootstrap", "0").code == 0
    without_draws = uqcli("evaluate", "shifted.json", "source.parquet", "--shift", "s.json", "--json").json
    assert without_draws["metrics"]["target_precision"] == {
        "value": target_precision["value"],
        "low": None,
        "high": None,
    }
    assert "no draws" in without_draws["notes"][1]
    check = ("--fail-if", "target_precision.low > 1")
    assert uqcli("evaluate", "shifted.json", "source.parquet", "--shift", "s.json", "-q", *check).code == 6


@pytest.mark.thorough
def test_recall_and_false_positive_rate_do_not_change(uqcli, target_files, weights):
    for bound in (("--recall", "0.6"), ("--max-fpr", "0.05"), ("--min-specificity", "0.95")):
        thresholds = []
        for options in ((), ("--shift", "s.json")):
            outcome = uqcli("boundary", "source.parquet", *bound, "--score-bins", "20", *options, "--json")
            thresholds.append(outcome.json["thresholds"])
        assert thresholds[0] == thresholds[1]


def test_constraints_and_weights_that_cannot_be_shifted_are_refused(uqcli, target_files, weights):
    for bound in (("--max-selected", "10%"), ("--gain", "1", "--cost", "1")):
        assert uqcli("boundary", "source.parquet", *bound, "--shift", "s.json").code == 2
    one_class = ("--estimator", "known", "--prior", "1,0", "-q", "-o", "one.json")
    assert uqcli("shift", "source.parquet", *one_class).code == 0
    assert uqcli("boundary", "source.parquet", "--precision", "0.8", "--shift", "one.json").code == 2
    assert uqcli("calibrate", "source.parquet", "--shift", "one.json").code == 2
    assert uqcli("boundary", "source.parquet", "--precision", "0.8", "--shift", "nowhere.json").code == 3


def test_shifted_calibrators_are_calibrated_on_target_data(uqcli, target_files, weights):
    losses = {}
    for name, options in (("plain", ()), ("shifted", ("--shift", "s.json"))):
        arguments = ("--method", "platt", "--bootstrap", "0", "-q", "-o", f"{name}.json")
        assert uqcli("calibrate", "source.parquet", *arguments, *options).code == 0
        report = uqcli("evaluate", f"{name}.json", "labelled.parquet", "--json").json
        losses[name] = report["metrics"]["after"]["log_loss"]
    assert losses["shifted"] < losses["plain"] - 0.05
    names = ("a.parquet", "b.parquet")
    for rule, name in zip(("plain", "shifted"), names, strict=True):
        uqcli("apply", f"{rule}.json", "target.parquet", "-o", name, "-q")
    plain, shifted = (pl.read_parquet(target_files / name)["calibrated"].to_numpy() for name in names)
    odds = plain / (1 - plain) * weights[1] / weights[0]
    np.testing.assert_allclose(shifted, odds / (1 + odds), atol=1e-12)


def test_histograms_state_the_bound_of_the_corrected_probabilities(uqcli, target_files, weights):
    arguments = ("--method", "histogram", "--bootstrap", "0", "--shift", "s.json", "--json")
    notes = uqcli("calibrate", "source.parquet", *arguments).json["notes"]
    assert any("Theorem 4" in note for note in notes)
