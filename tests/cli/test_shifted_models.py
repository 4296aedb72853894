"""Boundaries and calibrators for a target whose class mix differs."""

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
def mixes(tmp_path):
    frame(6000, 0.5, 1).write_parquet(tmp_path / "source.parquet")
    target = frame(6000, 0.15, 2)
    target.write_parquet(tmp_path / "labelled.parquet")
    target.drop("label").write_parquet(tmp_path / "target.parquet")
    return tmp_path


@pytest.fixture
def weights(uqcli, mixes):
    outcome = uqcli("shift", "source.parquet", "--target", "target.parquet", "-q", "-o", "s.json")
    assert outcome.code == 0, outcome.err
    saved = json.loads((mixes / "s.json").read_text())
    assert saved["target_prior"][1] == pytest.approx(0.15, abs=0.03)
    return saved["weights"]


def test_class_shares_of_both_sides_have_intervals_and_a_figure(uqcli, mixes):
    arguments = ("shift", "source.parquet", "--target", "target.parquet", "-o", "s.json")
    outcome = uqcli(*arguments, "--json", "--plot", "s.svg", "--report", "s.html")
    shares = outcome.json["metrics"]["class_shares"]
    saved = json.loads((mixes / "s.json").read_text())
    for number, name in enumerate("01"):
        source, target = shares[name]["source"], shares[name]["target"]
        assert source["low"] < source["value"] == saved["source_prior"][number] < source["high"]
        assert [target["low"], target["high"]] == saved["target_interval"][number]
        assert target["low"] < target["value"] == saved["target_prior"][number] < target["high"]
    assert shares["1"]["target"]["high"] < shares["1"]["source"]["low"]
    assert "<!-- prior -->" in (mixes / "s.svg").read_text()
    assert "<figure" in (mixes / "s.html").read_text()
    gate = ("--fail-if", "class_shares.1.target.high < 0.3")
    assert uqcli(*arguments, "-q", *gate).code == 6
    given = ("--estimator", "known", "--prior", "0.7,0.3", "--json", "--plot", "k.png")
    known = uqcli("shift", "source.parquet", *given).json["metrics"]["class_shares"]
    assert known["1"]["target"] == {"value": pytest.approx(0.3), "low": None, "high": None}


def test_no_interval_from_fewer_than_ten_unlabelled_rows_a_class(uqcli, mixes):
    target = pl.read_parquet(mixes / "target.parquet")
    for rows, there in ((19, False), (20, True)):
        target.head(rows).write_parquet(mixes / "few.parquet")
        arguments = ("shift", "source.parquet", "--target", "few.parquet", "--bootstrap", "200", "--json")
        found = uqcli(*arguments).json
        assert isinstance(found["metrics"]["weights"]["1"], dict) is there
        assert any("fewer than 10" in note for note in found["notes"]) is not there


def test_precision_is_kept_in_the_target_exactly(uqcli, mixes):
    known = ("--estimator", "known", "--prior", "0.85,0.15", "-q", "-o", "s.json")
    assert uqcli("shift", "source.parquet", *known).code == 0
    weights = json.loads((mixes / "s.json").read_text())["weights"]
    for name, more in (("plain", ()), ("shifted", ("--shift", "s.json"))):
        arguments = ("--precision", "0.8", "--score-bins", "50", "-q", "-o", f"{name}.json")
        assert uqcli("boundary", "source.parquet", *arguments, *more).code == 0
    saved = json.loads((mixes / "shifted.json").read_text())
    fit, (negative, positive) = saved["fit"], map(Fraction, weights)
    hits = positive * fit["true_positives"]
    misses = negative * (fit["selected"] - fit["true_positives"])
    assert hits / (hits + misses) >= Fraction("0.8")
    assert saved["target"]["precision"] == pytest.approx(float(hits / (hits + misses)))
    results = uqcli("evaluate", "plain.json", "shifted.json", "labelled.parquet", "--json").json["results"]
    plain, shifted = (each["metrics"]["precision"]["value"] for each in results)
    assert plain < shifted - 0.1
    assert shifted == pytest.approx(0.8, abs=0.1)
    on_source = uqcli("evaluate", "shifted.json", "source.parquet", "--shift", "s.json", "--json").json
    there = on_source["metrics"]["target_precision"]
    assert there["low"] <= there["value"] <= there["high"]
    assert there["value"] == pytest.approx(saved["target"]["precision"])
    assert "on target data" in on_source["notes"][1]
    assert uqcli("shift", "source.parquet", *known, "--bootstrap", "0").code == 0
    without = uqcli("evaluate", "shifted.json", "source.parquet", "--shift", "s.json", "--json").json
    assert without["metrics"]["target_precision"] == {"value": there["value"], "low": None, "high": None}
    assert "no draws" in without["notes"][1]
    gate = ("--fail-if", "target_precision.low > 1")
    assert uqcli("evaluate", "shifted.json", "source.parquet", "--shift", "s.json", "-q", *gate).code == 6


def test_recall_and_false_positive_rate_do_not_change(uqcli, mixes, weights):
    for asked in (("--recall", "0.6"), ("--max-fpr", "0.05")):
        saved = []
        for more in ((), ("--shift", "s.json")):
            outcome = uqcli("boundary", "source.parquet", *asked, "--score-bins", "20", *more, "--json")
            saved.append(outcome.json["thresholds"])
        assert saved[0] == saved[1]


def test_what_cannot_be_shifted_is_refused(uqcli, mixes, weights):
    for asked in (("--max-selected", "10%"), ("--gain", "1", "--cost", "1")):
        assert uqcli("boundary", "source.parquet", *asked, "--shift", "s.json").code == 2
    one = ("--estimator", "known", "--prior", "1,0", "-q", "-o", "one.json")
    assert uqcli("shift", "source.parquet", *one).code == 0
    assert uqcli("boundary", "source.parquet", "--precision", "0.8", "--shift", "one.json").code == 2
    assert uqcli("calibrate", "source.parquet", "--shift", "one.json").code == 2
    assert uqcli("boundary", "source.parquet", "--precision", "0.8", "--shift", "nowhere.json").code == 3


def test_calibrated_probabilities_hold_in_the_target(uqcli, mixes, weights):
    losses = {}
    for name, more in (("plain", ()), ("shifted", ("--shift", "s.json"))):
        arguments = ("--method", "platt", "--bootstrap", "0", "-q", "-o", f"{name}.json")
        assert uqcli("calibrate", "source.parquet", *arguments, *more).code == 0
        report = uqcli("evaluate", f"{name}.json", "labelled.parquet", "--json").json
        losses[name] = report["metrics"]["after"]["log_loss"]
    assert losses["shifted"] < losses["plain"] - 0.05
    names = ("a.parquet", "b.parquet")
    for model, name in zip(("plain", "shifted"), names, strict=True):
        uqcli("apply", f"{model}.json", "target.parquet", "-o", name, "-q")
    plain, shifted = (pl.read_parquet(mixes / name)["calibrated"].to_numpy() for name in names)
    odds = plain / (1 - plain) * weights[1] / weights[0]
    np.testing.assert_allclose(shifted, odds / (1 + odds), atol=1e-12)


def test_histograms_state_the_bound_of_the_corrected_probabilities(uqcli, mixes, weights):
    arguments = ("--method", "histogram", "--bootstrap", "0", "--shift", "s.json", "--json")
    notes = uqcli("calibrate", "source.parquet", *arguments).json["notes"]
    assert any("Theorem 4" in note for note in notes)
