"""Tests of ``--audit``: segments of ``uqcli tce`` and ``uqcli evaluate``."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, binomtest

import uqcli as library
from tests.oracles import audit as oracle
from uqcli.estimates.proportion import holm

COLUMNS = "city,device,age"


def rows(seed, size=3000):
    """Draw rows with true probabilities but for one segment; some values are missing."""
    random = np.random.default_rng(seed)
    score = random.beta(1, 2, size)
    city = random.choice(["Rome", "Oslo", "Bern"], size, p=[0.5, 0.4, 0.1])
    device = random.choice(["web", "app"], size)
    rate = np.where((city == "Oslo") & (device == "app"), score * 0.6, score)
    age = random.integers(18, 80, size)
    return pl.DataFrame(
        {
            "score": score,
            "label": (random.random(size) < rate).astype(int),
            "city": [None if row % 50 == 0 else text for row, text in enumerate(city.tolist())],
            "device": device,
            "age": [None if row % 30 == 0 else number for row, number in enumerate(age.tolist())],
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


def by_definition(listed):
    return {frozenset(row["segment"].items()): row for row in listed}


def named(definition, names):
    """Give the quartiles of the oracle the names of the report."""
    return frozenset(
        (column, names[value] if column == "age" and value is not None else value)
        for column, value in definition
    )


def quartile_names(ages):
    known = sorted(age for age in ages if age is not None)
    edges = [known[i * len(known) // 4] for i in (1, 2, 3)]
    middle = [f"{low} to below {high}" for low, high in pairwise(edges)]
    return [f"below {edges[0]}", *middle, f"{edges[-1]} and above"]


@pytest.mark.thorough
def test_segments_of_scores_are_tested_row_by_row(uqcli, files):
    report = uqcli("tce", "test.csv", "--audit", COLUMNS, "--json").json
    result = by_definition(report["audit"])
    score, label = files["score"].to_list(), files["label"].to_list()
    columns = {name: files[name].to_list() for name in COLUMNS.split(",")}
    names = quartile_names(columns["age"])
    expected = {named(definition, names): members for definition, members in oracle.segments(columns).items()}
    assert result.keys() == expected.keys()
    p_values = {}
    for definition, members in expected.items():
        row = result[definition]
        positives = sum(label[member] for member in members)
        assert (row["rows"], row["observed"]) == (len(members), positives)
        assert row["expected"] == pytest.approx(sum(score[member] for member in members))
        exact = oracle.two_sided([score[member] for member in members], positives)
        assert row["p"] == pytest.approx(exact, rel=0.05)
        p_values["|".join(map(str, sorted(definition)))] = row["p"]
        interval = binomtest(positives, len(members)).proportion_ci(1 - 0.05 / len(expected), "exact")
        assert row["gap"]["low"] == pytest.approx(interval.low - row["expected"] / row["rows"], abs=1e-9)
    adjusted = holm(p_values)
    for definition, row in result.items():
        assert row["p_holm"] == adjusted["|".join(map(str, sorted(definition)))]
    order = [row["p_holm"] for row in report["audit"]]
    assert order == sorted(order)
    deviating = sum(p <= 0.05 for p in order)
    assert deviating > 0
    metrics = report["metrics"]["segments"]
    assert (metrics["tested"], metrics["deviating"], metrics["p"]) == (len(expected), deviating, order[0])
    plain = uqcli("tce", "test.csv", "--json").json
    assert {name: report["metrics"][name] for name in plain["metrics"]} == plain["metrics"]
    assert report["bins"] == plain["bins"]


RULES = {
    "precision": (("boundary", "fit.csv", "--precision", "0.6"), Fraction(6, 10), False),
    "recall": (("boundary", "fit.csv", "--recall", "0.8"), Fraction(8, 10), False),
    "false positives": (("boundary", "fit.csv", "--max-fpr", "0.1"), Fraction(1, 10), True),
    "true negatives": (("boundary", "fit.csv", "--min-specificity", "0.9"), Fraction(9, 10), False),
    "share": (("boundary", "fit.csv", "--max-selected", "20%"), Fraction(2, 10), True),
}


@pytest.mark.parametrize("rule", RULES)
def test_segments_of_a_rule_are_tested_by_its_target(uqcli, files, rule):
    command, bound, upper = RULES[rule]
    assert uqcli(*command, "--algorithm", "st", "-q", "-o", "rule.json").code == 0
    report = uqcli("evaluate", "rule.json", "test.csv", "--audit", "city,device", "--json").json
    threshold = uqcli("show", "rule.json", "--json").json["thresholds"][0]
    flagged, positive = files["score"] >= threshold, files["label"] == 1
    trials, success = {
        "precision": (flagged, positive),
        "recall": (positive, flagged),
        "false positives": (~positive, flagged),
        "true negatives": (~positive, ~flagged),
        "share": (flagged | ~flagged, flagged),
    }[rule]
    assert report["audit"]
    for row in report["audit"]:
        inside = np.ones(len(files), dtype=bool)
        for column, value in row["segment"].items():
            inside &= files[column].fill_null("").to_numpy() == (value or "")
        counted = inside & trials.to_numpy()
        observed = int((counted & success.to_numpy()).sum())
        assert (row["rows"], row["observed"]) == (int(counted.sum()), observed)
        assert row["expected"] == pytest.approx(float(bound) * row["rows"])
        tail = (
            binom.sf(observed - 1, row["rows"], float(bound))
            if upper
            else binom.cdf(observed, row["rows"], float(bound))
        )
        assert row["p"] == pytest.approx(tail, rel=1e-9)


@pytest.mark.parametrize(("rule", "units"), [("recall", "positives"), ("false positives", "negatives")])
def test_the_rows_of_a_segment_are_named_by_what_the_target_counts(uqcli, files, tmp_path, rule, units):
    assert uqcli(*RULES[rule][0], "--algorithm", "st", "-q", "-o", "rule.json").code == 0
    score = pl.col("score") ** (2 if rule == "recall" else 0.3)
    web = pl.when(pl.col("device") == "web").then(score).otherwise("score")
    files.with_columns(score=web).write_csv(tmp_path / "web.csv")
    line = ("evaluate", "rule.json", "web.csv", "--audit", "device")
    worst = uqcli(*line, "--json").json["audit"][0]
    shown = " ".join(uqcli(*line).out.decode().split())
    assert f"device = web. {100 * worst['observed'] / worst['rows']:.3g} %" in shown
    assert f"of its {worst['rows']:,} {units} are flagged" in shown
    assert f"segment {units} flagged target" in shown


def test_segments_of_calibrators_and_sets(uqcli, files):
    assert uqcli("calibrate", "fit.csv", "--method", "platt", "-q", "-o", "map.json").code == 0
    assert uqcli("conformal", "fit.csv", "--alpha", "0.2", "-q", "-o", "sets.json").code == 0
    assert uqcli("apply", "map.json", "test.csv", "-q", "-o", "mapped.parquet").code == 0
    report = uqcli("evaluate", "map.json", "test.csv", "--audit", COLUMNS, "--json").json
    alone = uqcli("tce", "mapped.parquet", "--score", "calibrated", "--audit", COLUMNS, "--json").json
    assert report["audit"] == alone["audit"]
    assert uqcli("apply", "sets.json", "test.csv", "-q", "-o", "sets.csv").code == 0
    covered = pl.read_csv("sets.csv").select(
        "city", covered=pl.when(pl.col("label") == 1).then("in_1").otherwise("in_0")
    )
    report = uqcli("evaluate", "sets.json", "test.csv", "--audit", "city", "--json").json
    for row in report["audit"]:
        city = row["segment"]["city"]
        part = covered.filter(pl.col("city").eq_missing(pl.lit(city, dtype=pl.String)))["covered"]
        assert (row["rows"], row["observed"]) == (len(part), int(part.sum()))
        assert row["expected"] == pytest.approx(0.8 * row["rows"])


@pytest.mark.thorough
def test_order_files_formats_and_weights_change_nothing(uqcli, files, tmp_path):
    first = uqcli("tce", "test.csv", "--audit", COLUMNS, "--json").json
    shuffled = files.sample(fraction=1, shuffle=True, seed=3)
    shuffled.head(1000).write_parquet(tmp_path / "a.parquet")
    shuffled.tail(2000).write_parquet(tmp_path / "b.parquet")
    parts = uqcli("tce", "a.parquet", "b.parquet", "--audit", COLUMNS, "--json").json
    assert (parts["audit"], parts["metrics"]) == (first["audit"], first["metrics"])
    weighted = uqcli("tce", "test.csv", "--weight", "weight", "--audit", COLUMNS, "--json").json
    repeated = files[np.repeat(np.arange(len(files)), files["weight"].to_numpy())]
    repeated.write_csv(tmp_path / "repeated.csv")
    assert uqcli("tce", "repeated.csv", "--audit", COLUMNS, "--json").json["audit"] == weighted["audit"]


@pytest.mark.thorough
def test_a_terminal_a_page_and_a_gate_name_the_worst_segment(uqcli, files, tmp_path):
    outcome = uqcli("tce", "test.csv", "--audit", COLUMNS, "--report", "r.html")
    text = outcome.out.decode()
    assert "city = Oslo, device = app" in text.split(" deviate: ")[1]
    assert "p < 0.0001, corrected" in text
    assert uqcli("tce", "test.csv", "--audit", COLUMNS, "-q", "--report", "r.xml").code == 0
    assert "no segment of city, device, age deviates" in (tmp_path / "r.xml").read_text()
    page = (tmp_path / "r.html").read_text()
    assert "a segment deviates" in page
    assert 'aria-label="Segments by deviation: city, device, age' in page
    gate = ("--fail-if", "segments.deviating > 0")
    assert uqcli("tce", "test.csv", "--audit", COLUMNS, "-q", *gate).code == 6
    assert uqcli("tce", "test.csv", "--audit", "age", "-q", *gate).code in (0, 6)


def test_silence_says_what_would_have_been_shown(uqcli, tmp_path):
    random = np.random.default_rng(5)
    score = random.random(500)
    frame = pl.DataFrame({"score": score, "label": (random.random(500) < score).astype(int)})
    frame.with_columns(kind=pl.Series(random.choice(list("abc"), 500))).write_csv(tmp_path / "d.csv")
    text = uqcli("tce", "d.csv", "--audit", "kind").out.decode()
    assert "None of 3 segments deviates significantly. In half of them, a deviation of " in text
    frame.head(40).with_columns(kind=pl.lit("a")).write_csv(tmp_path / "small.csv")
    outcome = uqcli("tce", "small.csv", "--audit", "kind", "--json").json
    assert (outcome["audit"], outcome["metrics"]["segments"]["p"]) == ([], None)
    assert "No segment has 50 rows, so none was tested." in outcome["notes"]


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (("tce", "test.csv", "--audit", "town"), 3, "name one of them with --audit"),
        (("tce", "test.csv", "--audit", "city,city"), 2, "expected different column names"),
        (("tce", "test.csv", "--audit", "label"), 2, "is the score, the label or the weight"),
        (("tce", "test.csv", "--proba", "p_*", "--audit", "city"), 2, "--audit with --proba"),
        (("tce", "test.csv", "--audit", "city", "--engine", "spark"), 2, "--audit with --engine spark"),
        (("evaluate", "rule.json", "rule.json", "test.csv", "--audit", "city"), 2, "one rule file"),
        (("evaluate", "count.json", "test.csv", "--audit", "city"), 2, "expected a target of precision"),
    ],
)
def test_what_cannot_be_audited_is_refused(uqcli, files, command, code, message):
    assert (
        uqcli("boundary", "fit.csv", "--precision", "0.6", "--algorithm", "st", "-q", "-o", "rule.json").code
        == 0
    )
    count = ("--max-selected", "50", "--algorithm", "st")
    assert uqcli("boundary", "fit.csv", *count, "-q", "-o", "count.json").code == 0
    outcome = uqcli(*command)
    assert (outcome.code, outcome.out) == (code, b"")
    assert message in outcome.err


def test_python_gives_the_same(uqcli, files):
    report = uqcli("tce", "test.csv", "--audit", COLUMNS, "--json").json
    columns = {name: files[name] for name in COLUMNS.split(",")}
    measured = library.calibration_error(files["score"], files["label"], audit=columns)
    assert [segment.payload() for segment in measured.segments] == report["audit"]
    assert (
        uqcli("boundary", "fit.csv", "--precision", "0.6", "--algorithm", "st", "-q", "-o", "rule.json").code
        == 0
    )
    report = uqcli("evaluate", "rule.json", "test.csv", "--audit", COLUMNS, "--json").json
    rule = library.Boundary.load("rule.json")
    evaluation = rule.evaluate(files["score"], files["label"], audit=columns)
    assert [segment.payload() for segment in evaluation.segments] == report["audit"]
