"""Tests of ``--min-specificity``: the same rules as with ``--max-fpr``, and their own promise."""

import json

import numpy as np
import polars as pl
import pytest

import uqcli as api
from uqcli.sklearn import BoundaryClassifier


def rows(seed, size=3000):
    random = np.random.default_rng(seed)
    score, uncertainty = random.random((2, size))
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": uncertainty,
            "label": (random.random(size) < score**2).astype(int),
            "region": random.choice(["north", "south"], size),
        }
    )


@pytest.fixture
def files(tmp_path):
    """Write a calibration set, a test set, and rows where more negatives have high scores."""
    rows(1).write_parquet(tmp_path / "fit.parquet")
    rows(2).write_parquet(tmp_path / "test.parquet")
    worse = rows(3).with_columns(label=pl.when(pl.col("score") > 0.8).then(0).otherwise("label"))
    worse.write_parquet(tmp_path / "worse.parquet")


OPTIONS = {
    "default": (),
    "algorithms": ("--algorithm", "all", "--score-bins", "20"),
    "bins": ("--uncertainty-bins", "auto"),
    "overall": ("--by", "region"),
    "each": ("--by", "region", "--bound", "each"),
    "compared": ("--compare",),
    "certified": ("--certify", "0.1"),
    "shifted": ("--shift", "w.json"),
    "by day": ("--cluster", "region", "--algorithm", "st"),
}


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("name", OPTIONS)
def test_rules_are_those_of_the_false_positive_rate(uqcli, files, name):
    if name == "shifted":
        prior = ("--estimator", "known", "--prior", "0.8,0.2", "-q", "-o", "w.json")
        assert uqcli("shift", "fit.parquet", *prior).code == 0
    found = uqcli("boundary", "fit.parquet", "--min-specificity", "0.9", *OPTIONS[name], "--json")
    mirrored = uqcli("boundary", "fit.parquet", "--max-fpr", "0.1", *OPTIONS[name], "--json")
    assert found.code == mirrored.code == 0
    for key in ("metrics", "thresholds", "uncertainty_edges", "algorithm", "feasible", "groups", "verdict"):
        assert found.json.get(key) == mirrored.json.get(key), key
    if name == "certified":
        certificates = found.json["certificate"], mirrored.json["certificate"]
        assert certificates[0].pop("specificity") == 1 - certificates[1].pop("fpr") == 0.9
        assert certificates[0] == certificates[1]


def test_several_bounds_make_a_table_and_a_file_each(uqcli, files, tmp_path):
    outcome = uqcli("boundary", "fit.parquet", "--min-specificity", "0.9,0.95", "-o", "r{}.json")
    assert outcome.code == 0
    assert "specificity >= 95 %" in outcome.out.decode()
    assert json.loads((tmp_path / "r0.95.json").read_text())["constraint"]["value"] == "0.95"


@pytest.mark.parametrize(("file", "broken", "more"), [("test", 0, ()), ("worse", 1, ("--by", "region"))])
def test_evaluate_measures_and_tests_the_specificity(uqcli, files, file, broken, more):
    for name, option, value in (("s", "--min-specificity", "0.9"), ("f", "--max-fpr", "0.1")):
        assert uqcli("boundary", "fit.parquet", option, value, "-q", "-o", f"{name}.json").code == 0
    report = uqcli("evaluate", "s.json", f"{file}.parquet", *more, "--json").json
    mirrored = uqcli("evaluate", "f.json", f"{file}.parquet", *more, "--json").json
    for metrics in (report["metrics"], *(group["metrics"] for group in report.get("groups", ()))):
        rate, specificity = metrics["fpr"], metrics["specificity"]
        assert specificity == {"value": 1 - rate["value"], "low": 1 - rate["high"], "high": 1 - rate["low"]}
    assert report["metrics"]["promise_broken"] == mirrored["metrics"]["promise_broken"] == broken
    assert "specificity" not in mirrored["metrics"]
    assert "specificity >= 90 %" in report["notes"][0]
    gate = ("--fail-if", "specificity.low < 0.999")
    assert uqcli("evaluate", "s.json", f"{file}.parquet", "-q", *gate).code == 6


def test_watch_counts_negatives_and_raises_an_alarm(uqcli, files):
    assert uqcli("boundary", "fit.parquet", "--min-specificity", "0.9", "-q", "-o", "s.json").code == 0
    kept = uqcli("watch", "s.json", "test.parquet", "--json")
    assert (kept.code, list(kept.json["metrics"]["promises"])) == (0, ["specificity"])
    measured = uqcli("evaluate", "s.json", "test.parquet", "--json").json["metrics"]["specificity"]["value"]
    assert kept.json["metrics"]["rate"]["value"] == pytest.approx(measured)
    assert kept.json["metrics"]["bound"] == 0.9
    alarm = uqcli("watch", "s.json", "worse.parquet")
    assert alarm.code == 6
    assert "specificity >= 90 %" in alarm.out.decode() + alarm.err


@pytest.mark.thorough
def test_a_rule_is_shown_applied_and_exported(uqcli, files):
    line = ("--min-specificity", "0.9", "--certify", "0.1", "-q", "-o", "s.json")
    assert uqcli("boundary", "fit.parquet", *line).code == 0
    shown = uqcli("show", "s.json", "--verbose").out.decode()
    assert "Certified: specificity is at least 90 % on new data" in " ".join(shown.split())
    assert "negative rows were not flagged" in " ".join(shown.split())
    assert uqcli("apply", "s.json", "test.parquet", "-o", "out.csv").code == 0
    exported = uqcli("export", "s.json", "--to", "sql", "--check", "test.parquet", "-o", "s.sql")
    assert exported.code == 0
    assert (
        uqcli("boundary", "fit.parquet", "--min-specificity", "0.9", "-q", "--report", "page.html").code == 0
    )


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--min-specificity", "1.5"), "min-specificity is '1.5'; expected a decimal number of at least 0"),
        (("--min-specificity", "high"), "min-specificity is 'high'"),
        (
            ("--min-specificity", "0.9", "--recall", "0.5", "--review", "5%"),
            "--min-specificity and --recall and --review cannot be",
        ),
        (
            ("--min-specificity", "0.9", "--gain", "1", "--cost", "1"),
            "cannot be combined; expected one bound",
        ),
        (("--min-specificity", "0.9", "--review", "5%"), "--review with --min-specificity"),
        (("--min-specificity", "0.9", "--margin", "1"), "--margin with --min-specificity"),
        (("--min-specificity", "0.9", "--algorithm", "gmt"), "does not apply"),
        (
            ("--max-selected", "9", "--certify", "0.1"),
            "--recall, --max-fpr, --min-specificity or --max-omission",
        ),
    ],
)
def test_conflicts_and_bad_values_are_refused(uqcli, files, options, found):
    outcome = uqcli("boundary", "fit.parquet", *options)
    assert (outcome.code, outcome.out) == (2, b"")
    assert found in outcome.err


def test_an_option_excludes_constraints_of_a_configuration(uqcli, files, tmp_path):
    (tmp_path / "uqcli.toml").write_text("[boundary]\nmin-specificity = 0.9\n")
    assert uqcli("boundary", "fit.parquet", "-q", "-o", "s.json").code == 0
    assert uqcli("boundary", "fit.parquet", "--max-fpr", "0.2", "-q", "-o", "f.json").code == 0
    kinds = [json.loads((tmp_path / f"{name}.json").read_text())["constraint"]["kind"] for name in "sf"]
    assert kinds == ["min-specificity", "max-fpr"]


def test_python_takes_the_same_bound():
    frame = rows(1)
    columns = {name: frame[name].to_numpy() for name in ("score", "label", "uncertainty")}
    found = api.find_boundary(**columns, min_specificity="0.9")
    assert found.thresholds == api.find_boundary(**columns, max_fpr="0.1").thresholds
    table, label = frame.select("score", "uncertainty").to_numpy(), columns["label"]
    model = BoundaryClassifier(min_specificity=0.9, uncertainty_column=1).fit(table, label)
    assert model.get_params()["min_specificity"] == 0.9
    assert model.boundary_.thresholds == found.thresholds
    assert (model.predict(table) == found.decide(columns["score"], columns["uncertainty"])).all()
