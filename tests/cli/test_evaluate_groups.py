"""Tests of ``uqcli evaluate --by``: each group as if it were the whole file, and the test of the worst."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from uqcli.base.wording import percent
from uqcli.estimates.proportion import holm

RULES = {
    "boundary": ("boundary", "fit.csv", "--precision", "0.7"),
    "boundary by recall": ("boundary", "fit.csv", "--recall", "0.6"),
    "boundary by false positives": ("boundary", "fit.csv", "--max-fpr", "0.1"),
    "boundary by specificity": ("boundary", "fit.csv", "--min-specificity", "0.9"),
    "calibrator": ("calibrate", "fit.csv", "--method", "isotonic"),
    "sets": ("conformal", "fit.csv", "--alpha", "0.2", "--no-randomize"),
}


def rows(seed, size=1500):
    """Draw rows whose positive rate differs between groups, one of which is small."""
    random = np.random.default_rng(seed)
    group = random.choice(["10", "9", "2"], size, p=[0.6, 0.3, 0.1])
    probability = random.random(size)
    right = np.where(group == "9", probability**4, probability)
    return pl.DataFrame(
        {
            "score": probability,
            "uncertainty": random.random(size),
            "label": (random.random(size) < right).astype(int),
            "region": group,
            "weight": random.integers(0, 4, size),
        }
    )


@pytest.fixture
def files(tmp_path):
    """Write a calibration set and a test set."""
    rows(1).write_csv(tmp_path / "fit.csv")
    test = rows(2)
    test.write_csv(tmp_path / "test.csv")
    return test


@pytest.mark.covering("thorough", every=5)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_metrics_of_a_group_are_those_of_its_rows_alone(uqcli, files, tmp_path, rule, weighted):
    weight = ("--weight", "weight") if weighted else ()
    assert uqcli(*RULES[rule], *weight, "-q", "-o", "rule.json").code == 0
    report = uqcli("evaluate", "rule.json", "test.csv", "--by", "region", "--json").json
    assert [group["name"] for group in report["groups"]] == ["2", "9", "10"]
    for group in report["groups"]:
        files.filter(pl.col("region") == group["name"]).write_csv(tmp_path / "part.csv")
        alone = uqcli("evaluate", "rule.json", "part.csv", "--json").json["metrics"]
        for name, value in group["metrics"].items():
            if name != "promise_broken":
                assert value == alone[name], name
        assert report["metrics"]["by_group"][group["name"]] == group["metrics"]
    overall = uqcli("evaluate", "rule.json", "test.csv", "--json").json["metrics"]
    assert {name: report["metrics"][name] for name in overall} == overall


def test_the_worst_group_is_tested_exactly_for_all_groups(uqcli, files):
    assert uqcli("boundary", "fit.csv", "--precision", "0.7", "-q", "-o", "rule.json").code == 0
    outcome = uqcli("evaluate", "rule.json", "test.csv", "--by", "region", "--json")
    groups = {group["name"]: group for group in outcome.json["groups"]}
    assert not groups["2"]["tested"]
    p_values = {
        name: binomtest(
            groups[name]["metrics"]["true_positives"], groups[name]["metrics"]["selected"], 0.7, "less"
        ).pvalue
        for name in ("9", "10")
    }
    expected = holm(p_values)
    for name, p_value in expected.items():
        assert groups[name]["p"] == pytest.approx(p_value, rel=1e-9)
    worst = min(expected, key=expected.get)
    assert outcome.json["worst_group"] == worst == "9"
    assert outcome.json["metrics"]["worst_group"]["p"] == groups[worst]["p"]
    text = uqcli("evaluate", "rule.json", "test.csv", "--by", "region").out.decode()
    assert "1 of 2 tested groups misses precision >= 70 %: region = 9 (" in text
    assert "corrected for 2 groups" in text
    assert "too small to test" in text
    assert "2 (" in text.split("too small to test")[1]
    failed = uqcli(
        "evaluate", "rule.json", "test.csv", "--by", "region", "-q", "--fail-if", "groups_below > 0"
    )
    assert failed.code == 6


def test_a_detectable_rate_is_detected_with_its_power(uqcli, files):
    assert uqcli("boundary", "fit.csv", "--precision", "0.7", "-q", "-o", "rule.json").code == 0
    groups = uqcli("evaluate", "rule.json", "test.csv", "--by", "region", "--json").json["groups"]
    for group in groups:
        if group["tested"]:
            trials, rate = group["metrics"]["selected"], group["detectable"]
            random = np.random.default_rng(0)
            draws = random.binomial(trials, rate, 4000)
            rejected = {
                k: binomtest(int(k), trials, 0.7, "less").pvalue <= 0.05 / 2 for k in set(draws.tolist())
            }
            assert np.mean([rejected[k] for k in draws.tolist()]) == pytest.approx(0.8, abs=0.03)


@pytest.mark.thorough
def test_groups_have_a_table_a_figure_and_claims(uqcli, files, tmp_path):
    assert uqcli("boundary", "fit.csv", "--precision", "0.7", "-q", "-o", "rule.json").code == 0
    reports = ("--report", "r.html", "--report", "r.xml")
    assert uqcli("evaluate", "rule.json", "test.csv", "--by", "region", "-q", *reports).code == 0
    page = (tmp_path / "r.html").read_text()
    assert "a group misses the target" in page
    assert 'aria-label="Precision by region' in page
    assert "region = 9: precision &gt;= 70 %" in (tmp_path / "r.xml").read_text()


@pytest.mark.parametrize(
    ("rule", "name"), [("boundary by false positives", "FPR"), ("boundary by specificity", "specificity")]
)
def test_the_table_of_groups_has_the_rate_that_is_tested(uqcli, files, rule, name):
    assert uqcli(*RULES[rule], "-q", "-o", "rule.json").code == 0
    line = ("evaluate", "rule.json", "test.csv", "--by", "region")
    first, *_ = uqcli(*line, "--json").json["groups"]
    rate = first["metrics"]["fpr"]["value"]
    header, cells = (
        next(text for text in uqcli(*line).out.decode().splitlines() if text.startswith(start)).split()
        for start in ("region", "2 ")
    )
    assert header[-2:] == [name, "p"]
    assert percent(rate if name == "FPR" else 1 - rate) in " ".join(cells[-5:-1])


@pytest.mark.parametrize(
    ("parts", "tested_in"),
    [(("--by", "region"), "groups"), (("--by", "region", "--audit", "region"), "groups and segments")],
)
def test_of_several_bounds_the_tested_one_is_named(uqcli, files, parts, tested_in):
    bounds = ("--precision", "0.7", "--recall", "0.1", "--max-fpr", "0.4")
    assert uqcli("boundary", "fit.csv", *bounds, "-q", "-o", "rule.json").code == 0
    run = uqcli("evaluate", "rule.json", "test.csv", *parts, "--json")
    assert (
        f"only precision >= 70 % is tested in {tested_in}; "
        "false-positive rate <= 40 % and recall >= 10 % are tested on all rows together."
    ) in run.json["notes"]


def test_groups_of_two_rules_are_refused(uqcli, files):
    assert uqcli("boundary", "fit.csv", "--precision", "0.7", "-q", "-o", "rule.json").code == 0
    outcome = uqcli("evaluate", "rule.json", "rule.json", "test.csv", "--by", "region")
    assert outcome.code == 2
    assert "--by with 2 rule files; expected one rule file" in outcome.err
    outcome = uqcli("evaluate", "rule.json", "test.csv", "--by", "nothing")
    assert outcome.code == 3
    assert "no column 'nothing'" in outcome.err


def test_dates_are_in_order(uqcli, files, tmp_path):
    assert uqcli("boundary", "fit.csv", "--precision", "0.7", "-q", "-o", "rule.json").code == 0
    day = pl.date(2026, 9, 28) + pl.duration(days=pl.int_range(pl.len()) % 5)
    files.with_columns(day=day).sample(fraction=1, shuffle=True, seed=1).write_parquet(
        tmp_path / "days.parquet"
    )
    report = uqcli("evaluate", "rule.json", "days.parquet", "--by", "day", "--json").json
    names = [group["name"] for group in report["groups"]]
    assert names == [f"2026-09-{day}" for day in (28, 29, 30)] + ["2026-10-01", "2026-10-02"]


def without_labels(frame, share=0.3):
    """Leave the labels of a share of rows out, at random."""
    return frame.with_columns(
        label=pl.when(pl.Series(np.random.default_rng(3).random(len(frame)) > share)).then("label")
    )


def test_groups_with_missing_labels_are_tested_on_their_labelled_flagged_rows(uqcli, files, tmp_path):
    without_labels(files).write_csv(tmp_path / "some.csv")
    assert uqcli("boundary", "fit.csv", "--precision", "0.7", "-q", "-o", "rule.json").code == 0
    line = ("evaluate", "rule.json", "some.csv", "--by", "region", "--on-invalid", "drop")
    report = uqcli(*line, "--json").json
    labelled = without_labels(files).drop_nulls("label")
    labelled.write_csv(tmp_path / "labelled.csv")
    alone = uqcli("evaluate", "rule.json", "labelled.csv", "--by", "region", "--json").json
    for group, other in zip(report["groups"], alone["groups"], strict=True):
        assert (group["tested"], group["p"]) == (other["tested"], other["p"])
    assert report["worst_group"] == "9"
    assert report["metrics"]["groups_below"] == alone["metrics"]["groups_below"] == 1
    assert any("labels were given at random among the flagged" in note for note in report["notes"])
    assert uqcli(*line, "-q", "--fail-if", "groups_below > 0").code == 6


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("gate", ["groups_below > 0", "groups_below < 0", "worst_group.p < 0.05"])
@pytest.mark.parametrize("case", ["labels are missing", "too small to test"])
def test_a_gate_on_groups_of_which_none_is_tested_fails_and_says_why(uqcli, files, tmp_path, case, gate):
    options = ("--recall", "0.6") if case == "labels are missing" else ("--precision", "0.7")
    assert (
        uqcli(
            "boundary", "fit.csv", *options, "--by", "region", "--bound", "each", "-q", "-o", "rule.json"
        ).code
        == 0
    )
    rows = without_labels(files) if case == "labels are missing" else files[:150]
    rows.write_csv(tmp_path / "new.csv")
    line = ("evaluate", "rule.json", "new.csv", "--by", "region", "--on-invalid", "drop")
    report = uqcli(*line, "--json").json
    assert report["metrics"]["groups_below"] is None
    assert report["metrics"]["promise_broken"] is None
    outcome = uqcli(*line, "-q", "--fail-if", gate)
    assert outcome.code == 6
    assert "is undefined" in outcome.err
    text = " ".join(uqcli(*line, "--verbose").out.decode().split())
    assert f"is tested in no group: without a rule of their own; {case}" in text
    assert "none is large enough" not in text
