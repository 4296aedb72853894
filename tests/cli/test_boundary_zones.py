"""Tests of zones: rows that a rule flags, leaves for review, or clears."""

import json

import numpy as np
import polars as pl
import pytest

ROWS = 3000


def rows(seed, size=ROWS):
    """Draw rows with scores of two decimals and an uncertainty that matters."""
    random = np.random.default_rng(seed)
    score, uncertainty = random.random(size).round(2), random.random(size).round(2)
    label = random.random(size) < score ** (1 + 2 * uncertainty)
    return pl.DataFrame({"score": score, "uncertainty": uncertainty, "label": label.astype(int)})


@pytest.fixture
def files(tmp_path):
    """Write a calibration set and a test set."""
    rows(1).write_csv(tmp_path / "fit.csv")
    rows(2).write_csv(tmp_path / "test.csv")
    return rows(2)


LIMITS = {
    "smooth, rows": ("--review", "200"),
    "smooth, share": ("--review", "5%"),
    "smooth, misses": ("--miss", "0.3"),
    "exact, rows": ("--review", "200", "--algorithm", "vw-dpmt"),
    "exact, misses": ("--miss", "0.3", "--algorithm", "vw-dpmt"),
    "single threshold": ("--review", "5%", "--algorithm", "st"),
    "all scores": ("--miss", "0.3", "--algorithm", "vw-dpmt", "--score-bins", "all"),
}


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("limit", LIMITS)
def test_apply_and_evaluate_count_what_the_rule_says(uqcli, files, tmp_path, limit):
    outcome = uqcli("boundary", "fit.csv", "--precision", "0.8", *LIMITS[limit], "--json", "-o", "rule.json")
    rule = json.loads((tmp_path / "rule.json").read_text())
    assert rule["format_version"] == 2
    assert outcome.json["review_thresholds"] == rule["review_thresholds"]
    applied = {}
    for name in ("fit", "test"):
        report = uqcli("apply", "rule.json", f"{name}.csv", "--json", "-o", "applied.csv").json
        applied[name] = pl.read_csv(tmp_path / "applied.csv")
        frame = applied[name]
        assert frame.columns == ["score", "uncertainty", "label", "decision", "zone"]
        assert (frame["decision"] == (frame["zone"] == "flag")).all()
        assert report["metrics"]["selected"] == frame["decision"].sum()
        assert report["metrics"]["reviewed"] == (frame["zone"] == "review").sum()
    on_fit = counts(applied["fit"])
    fit = rule["fit"]
    assert on_fit == (fit["selected"], fit["true_positives"], fit["reviewed"], fit["caught"])
    kind, value = LIMITS[limit][:2]
    if kind == "--review":
        budget = int(value[:-1]) * ROWS // 100 if value.endswith("%") else int(value)
        assert 0 < fit["reviewed"] <= budget
    else:
        assert fit["positives"] - fit["caught"] <= float(value) * fit["positives"]
    metrics = uqcli("evaluate", "rule.json", "test.csv", "--json").json["metrics"]
    selected, true_positives, reviewed, caught = counts(applied["test"])
    positives = applied["test"]["label"].sum()
    assert (metrics["selected"], metrics["true_positives"]) == (selected, true_positives)
    assert metrics["reviewed"] == reviewed
    assert metrics["review_share"]["value"] == reviewed / ROWS
    assert metrics["caught"]["value"] == caught / positives
    assert metrics["miss"]["value"] == pytest.approx(1 - caught / positives, abs=1e-12)
    assert metrics["miss"]["low"] <= metrics["miss"]["value"] <= metrics["miss"]["high"]


def counts(frame):
    """Return flagged rows, true positives, reviewed rows, and positives flagged or reviewed."""
    flagged, reviewed = frame.filter(pl.col("zone") == "flag"), frame.filter(pl.col("zone") == "review")
    hits = flagged["label"].sum()
    return flagged.height, hits, reviewed.height, hits + reviewed["label"].sum()


@pytest.mark.thorough
def test_flags_are_those_of_the_boundary_without_a_review(uqcli, files, tmp_path):
    for algorithm in ("smooth", "vw-dpmt"):
        common = ("boundary", "fit.csv", "--precision", "0.8", "--algorithm", algorithm, "-q")
        assert uqcli(*common, "-o", "plain.json").code == 0
        assert uqcli(*common, "--review", "5%", "-o", "zones.json").code == 0
        plain, zones = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("plain", "zones"))
        assert plain["thresholds"] == zones["thresholds"]
        assert plain["expected"] == zones["expected"]


@pytest.mark.thorough
def test_the_order_of_rows_and_the_format_change_nothing(uqcli, files, tmp_path):
    frame = rows(1)
    frame.sample(fraction=1, shuffle=True, seed=5).write_parquet(tmp_path / "shuffled.parquet")
    for name in ("fit.csv", "shuffled.parquet"):
        assert (
            uqcli("boundary", name, "--precision", "0.8", "--miss", "0.2", "-q", "-o", f"{name}.json").code
            == 0
        )
    assert (tmp_path / "fit.csv.json").read_bytes() == (tmp_path / "shuffled.parquet.json").read_bytes()


def test_two_rules_with_a_review_are_compared_on_what_they_catch(uqcli, files, tmp_path):
    common = ("boundary", "fit.csv", "--precision", "0.8", "--review", "5%", "-q")
    assert uqcli(*common, "--algorithm", "st", "-o", "one.json").code == 0
    assert uqcli(*common, "-o", "two.json").code == 0
    report = uqcli("evaluate", "one.json", "two.json", "test.csv", "--json").json
    first, second = (result["metrics"]["caught"]["value"] for result in report["results"])
    difference = report["metrics"]["difference"]
    assert difference["caught"]["value"] == pytest.approx(second - first)
    assert difference["caught"]["low"] <= second - first <= difference["caught"]["high"]


def test_a_limit_that_new_rows_exceed_is_a_broken_promise(uqcli, files, tmp_path):
    assert (
        uqcli("boundary", "fit.csv", "--precision", "0.5", "--miss", "0.02", "-q", "-o", "rule.json").code
        == 0
    )
    rows(3).with_columns(pl.col("score") / 3).write_csv(tmp_path / "worse.csv")
    report = uqcli("evaluate", "rule.json", "worse.csv", "--json", "--report", "cases.xml").json
    assert report["metrics"]["promise_broken"] == 1
    assert any("misses at most 2 % of positives missed" in note for note in report["notes"])
    assert "at most 2 % of positives missed" in (tmp_path / "cases.xml").read_text()


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--recall", "0.8", "--review", "5%"), "--review with --recall"),
        (("--gain", "5", "--cost", "1", "--miss", "0.1"), "--miss with --gain and --cost"),
        (("--precision", "0.8", "--review", "5%", "--miss", "0.1"), "--review and --miss"),
        (("--precision", "0.8", "--review", "5%", "--algorithm", "mist"), "--review with --algorithm mist"),
        (("--precision", "0.8", "--miss", "0.1", "--shift", "w.json"), "--miss and --shift"),
        (("--precision", "0.8", "--review", "0"), "--review '0'"),
        (("--precision", "0.8", "--miss", "1.5"), "--miss is '1.5'"),
    ],
)
def test_impossible_options_are_refused(uqcli, files, options, found):
    outcome = uqcli("boundary", "fit.csv", *options, "-o", "rule.json")
    assert outcome.code == 2
    assert found in outcome.err


def test_an_infeasible_boundary_reviews_nothing(uqcli, files, tmp_path):
    rows(1).with_columns(pl.lit(0.5).alias("score")).write_csv(tmp_path / "same.csv")
    outcome = uqcli(
        "boundary", "same.csv", "--precision", "0.99", "--review", "5%", "--json", "-o", "rule.json"
    )
    assert outcome.code == 4
    assert outcome.json["review_thresholds"] is None
    assert outcome.json["metrics"]["caught"] is None
    assert not (tmp_path / "rule.json").exists()


@pytest.mark.thorough
def test_a_saved_grid_and_several_bounds_have_zones(uqcli, files, tmp_path):
    assert uqcli("bin", "fit.csv", "--binning", "shared", "-q", "-o", "grid.json").code == 0
    assert (
        uqcli(
            "boundary", "--grid", "grid.json", "--precision", "0.8", "--review", "5%", "-q", "-o", "g.json"
        ).code
        == 0
    )
    fit = json.loads((tmp_path / "g.json").read_text())["fit"]
    assert 0 < fit["reviewed"] <= ROWS // 20
    assert (
        uqcli("boundary", "fit.csv", "--precision", "0.7,0.8", "--review", "5%", "-q", "-o", "b{}.json").code
        == 0
    )
    assert json.loads((tmp_path / "b0.7.json").read_text())["review_thresholds"]


def test_an_older_program_would_refuse_the_rule(uqcli, files, tmp_path):
    assert (
        uqcli("boundary", "fit.csv", "--precision", "0.8", "--review", "5%", "-q", "-o", "rule.json").code
        == 0
    )
    rule = json.loads((tmp_path / "rule.json").read_text())
    for change in ({"format_version": 1}, {"format_version": 3}, {"review_thresholds": [0.0]}):
        (tmp_path / "changed.json").write_text(json.dumps({**rule, **change}))
        assert uqcli("apply", "changed.json", "test.csv", "-o", "out.csv").code == 5
