"""Tests of ``--day``: rows of one day depend on each other, and rules keep how much."""

import datetime
import json

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from uqcli.base.errors import DataError
from uqcli.boundary.expected import moved
from uqcli.engines import open as engines
from uqcli.estimates.dependence import unit_sums
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.survey import proportion_interval
from uqcli.rules.codec import load
from uqcli.watch.promises import promises_of

DAYS = 40
BOUNDARY = ("boundary", "rows.parquet", "--precision", "0.6", "--uncertainty-bins", "1")


def draw_days(days=DAYS, rows=100, effect=0.7):
    """Draw rows whose log-odds move together on each day."""
    random = np.random.default_rng(days)
    day = np.repeat(np.arange(days), rows)
    value = random.normal(-1, 1.5, len(day))
    label = random.random(len(day)) < expit(value + random.normal(0, effect, days)[day])
    dates = [datetime.date(2026, 1, 1) + datetime.timedelta(int(index)) for index in day]
    return pl.DataFrame(
        {
            "score": expit(value),
            "uncertainty": random.random(len(day)),
            "label": label.astype(int),
            "day": dates,
            "when": [
                datetime.datetime.combine(date, datetime.time(number % 24))
                for number, date in enumerate(dates)
            ],
        }
    )


@pytest.fixture
def rows(tmp_path):
    frame = draw_days()
    frame.write_parquet(tmp_path / "rows.parquet")
    return frame


def by_day(rows, rule):
    """Return the flagged rows, those of them that are positive, and all positive rows of each day."""
    flagged = pl.col("score") >= rule["thresholds"][0]
    sums = [flagged, flagged & (pl.col("label") == 1), pl.col("label")]
    counts = rows.group_by("day").agg(
        *(column.cast(pl.Int64).sum().alias(str(i)) for i, column in enumerate(sums))
    )
    return [counts[name].to_numpy() for name in "012"]


def test_expected_ranges_are_those_of_days_around_the_centre_of_rows(uqcli, rows, tmp_path):
    alone = uqcli(*BOUNDARY, "--json", "-o", "alone.json").json["metrics"]["expected"]
    report = uqcli(*BOUNDARY, "--day", "day", "--json", "-o", "rule.json").json
    rule = json.loads((tmp_path / "rule.json").read_text())
    flagged, hits, positives = by_day(rows, rule)
    for name, trials in (("precision", flagged), ("recall", positives)):
        found, centre = report["metrics"]["expected"][name], alone[name]["value"]
        own = proportion_interval(hits, trials, 0.9)
        range_ = moved(Estimate(value=own.value, low=own.low, high=own.high), centre, int(trials.sum()))
        assert found == {"value": centre, "low": range_.low, "high": range_.high} == rule["expected"][name]
        assert found["high"] - found["low"] > 1.5 * (alone[name]["high"] - alone[name]["low"])
    assert (
        rule["parameters"]["day"] == report["parameters"]["day"] == rule["source"]["columns"]["day"] == "day"
    )
    assert "in 40 days" in " ".join(report["notes"])
    shown = uqcli(*BOUNDARY, "--day", "day").out.decode()
    assert "allowing for differences between days)" in shown
    assert "90 % ranges by day" in uqcli("show", "rule.json").out.decode()


@pytest.mark.parametrize(
    "bound",
    [
        ("--precision", "0.6"),
        ("--recall", "0.5"),
        ("--precision", "0.55", "--recall", "0.3"),
        ("--max-fpr", "0.1"),
        ("--min-specificity", "0.9"),
        ("--precision", "0.6", "--miss", "0.1"),
        ("--precision", "0.5", "--certify", "0.2"),
        ("--max-selected", "10%"),
    ],
)
def test_a_rule_keeps_the_dependence_of_what_is_watched(uqcli, rows, tmp_path, bound):
    command = (
        "boundary",
        "rows.parquet",
        *bound,
        "--uncertainty-bins",
        "1",
        "--day",
        "when",
        "-q",
        "-o",
        "rule.json",
    )
    assert uqcli(*command).code == 0
    rule = load(str(tmp_path / "rule.json"))
    watched = promises_of(rule, "0.5" if bound[0] == "--max-selected" else None, 0)
    assert list(rule.dependence.promises) == [promise.name for promise in watched]
    assert rule.dependence.column == "when"
    flagged, hits, positives = by_day(rows, json.loads((tmp_path / "rule.json").read_text()))
    negatives = rows.group_by("day").agg(pl.len())["len"].to_numpy().sum() - positives.sum()
    expected = {"precision": (hits, flagged), "recall": (hits, positives)}
    for name, sums in rule.dependence.promises.items():
        if name in expected:
            known = unit_sums(*expected[name])
            assert (sums.units, sums.n, sums.n2, sums.q) == pytest.approx(
                (known.units, known.n, known.n2, known.q)
            )
        trials = {"fpr": negatives, "specificity": negatives, "miss": positives.sum()}.get(name, sums.n)
        assert sums.n == trials


def test_sums_over_days_are_free_of_format_order_and_engine(uqcli, rows, tmp_path):
    rows.sample(fraction=1, shuffle=True, seed=1).write_csv(tmp_path / "rows.csv")
    command = ("--precision", "0.6", "--day", "when", "-q", "-o")
    assert uqcli("boundary", "rows.parquet", *command, "a.json").code == 0
    assert uqcli("boundary", "rows.csv", *command, "b.json").code == 0
    assert uqcli("boundary", "rows.parquet", *command, "c.json", "--engine", "spark").code == 0
    first = (tmp_path / "a.json").read_bytes()
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "c.json").read_bytes() == first


def test_days_of_times_are_their_dates(uqcli, rows):
    reports = [
        uqcli(*BOUNDARY, option, column, "--json").json["metrics"]
        for option, column in (("--day", "when"), ("--day", "day"), ("--cluster", "day"))
    ]
    assert reports[0] == reports[1] == reports[2]
    assert uqcli(*BOUNDARY, "--cluster", "when", "--json").json["metrics"] != reports[0]
    rows.with_columns(hour=pl.lit(7)).write_parquet("rows.parquet")
    refused = uqcli(*BOUNDARY, "--day", "hour")
    assert (refused.code, "dates such as 2026-03-31" in refused.err) == (3, True)
    both = uqcli(*BOUNDARY, "--day", "day", "--cluster", "day")
    assert (both.code, "--cluster and --day cannot be combined" in both.err) == (2, True)


def test_a_rule_is_evaluated_by_its_own_days(uqcli, rows):
    assert uqcli(*BOUNDARY, "--day", "when", "-q", "-o", "rule.json").code == 0
    command = ("evaluate", "rule.json", "rows.parquet", "--json")
    report = uqcli(*command).json
    assert uqcli(*command, "--day", "when").json == report
    assert report["parameters"]["day"] == "when"
    assert report["metrics"]["clusters"] == DAYS
    assert "in 40 days" in uqcli(*command[:-1]).out.decode()
    groups = uqcli(*command, "--by", "day").json["metrics"]["by_group"]
    assert {(group["clusters"], group["precision"]["low"]) for group in groups.values()} == {(1, None)}


@pytest.mark.parametrize(("days", "sentence"), [(8, "has no interval: 8 days"), (15, "15 or more")])
def test_few_days_have_no_range_or_a_caution(uqcli, tmp_path, days, sentence):
    draw_days(days).write_parquet(tmp_path / "rows.parquet")
    report = uqcli(*BOUNDARY, "--day", "day", "--json").json
    sentence = sentence.replace("15 or more", "15 days have flagged rows, 20 or more are reliable")
    assert any(sentence in note for note in report["notes"])
    expected = report["metrics"]["expected"]
    assert (expected["precision"]["low"] is None, expected["recall"]["low"] is None) == (days == 8,) * 2
    assert expected["precision"]["value"] is not None


def test_few_alerts_have_a_range(uqcli, rows):
    report = uqcli("boundary", "rows.parquet", "--precision", "0.97", "--day", "day", "--json").json
    assert report["metrics"]["selected"] < 30
    precision = report["metrics"]["expected"]["precision"]
    assert precision["low"] < 0.97 < precision["value"] <= precision["high"]


def test_a_range_is_never_dropped_without_a_word(uqcli, rows):
    notes = " ".join(uqcli(*BOUNDARY[:4], "--algorithm", "mist", "--day", "day", "--json").json["notes"])
    assert "Recall has no range" in notes
    highest = pl.col("score") == pl.col("score").max()  # most resamples without it have no boundary
    rows.with_columns(label=highest.cast(pl.Int64)).write_parquet("one.parquet")
    one = uqcli("boundary", "one.parquet", "--precision", "0.97", "--day", "day", "--json").json
    assert "have no range by day" in " ".join(one["notes"])
    share = uqcli("boundary", "rows.parquet", "--max-selected", "10%", "--day", "day", "--json").json
    assert "The share of new days has no range." in " ".join(share["notes"])
    for option, value in (("--margin", "1"), ("--grid", "grid.json"), ("--algorithm", "hr")):
        inputs = () if option == "--grid" else ("rows.parquet",)
        refused = uqcli("boundary", *inputs, "--precision", "0.6", "--day", "day", option, value)
        assert (refused.code, "--day with" in refused.err or "--day and" in refused.err) == (2, True)


def advice_of(uqcli, *command):
    """Return the sentence on flagged rows that are alike; None if there is none."""
    notes = uqcli(*command, "--json").json["notes"]
    return next((note for note in notes if "are alike, so the ranges are" in note), None)


@pytest.mark.thorough
@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_rows_of_a_day_that_are_alike_need_a_caution(uqcli, rows, tmp_path, ending):
    writer = {"parquet": "write_parquet", "csv": "write_csv"}[ending]
    getattr(rows.with_columns(seen=pl.col("day"), amount_date=pl.lit(None)), writer)(tmp_path / f"a.{ending}")
    command = ("boundary", f"a.{ending}", "--precision", "0.6")
    sums = by_day(rows, uqcli(*command, "--json").json)
    known = unit_sums(sums[1], sums[0])
    advice = advice_of(uqcli, *command)
    assert advice.startswith("flagged rows from the same day are alike")
    assert f"{(known.q / known.n) ** 0.5:.2g} times too narrow" in advice
    assert advice.endswith(" Add --day day.")
    assert uqcli(*command, "-q", "-o", "rule.json").code == 0
    assert advice_of(uqcli, "evaluate", "rule.json", f"a.{ending}").endswith(" Add --day day.")
    for more in (("--margin", "1"), ("--algorithm", "hr")):
        assert advice_of(uqcli, *command, *more).endswith(" times too narrow.")
    audited = advice_of(uqcli, "evaluate", "rule.json", f"a.{ending}", "--audit", "uncertainty")
    assert audited.endswith(" Add --day day.")
    assert advice_of(uqcli, *command, "--day", "day") is None
    assert advice_of(uqcli, *command, "--engine", "spark") is None
    rule = load(str(tmp_path / "rule.json"))
    assert not rule.known_doubts
    found = uqcli("overview", f"a.{ending}").out.decode()
    assert "Flagged rows from the same day are alike, so the ranges are by day (--day day)" in found
    assert "--day day" in next(line for line in found.splitlines() if "Next: " in line)
    targets = uqcli("overview", f"a.{ending}", "--json").json
    by_days = uqcli("boundary", f"a.{ending}", "--day", "day", "--uncertainty-bins", "1", "--json").json
    assert targets["parameters"]["day"] == "day"
    assert targets["metrics"]["prevalence"]["low"] is None  # an interval of independent rows
    assert targets["targets"] == by_days["targets"]


def test_days_that_are_alike_are_only_named_if_memory_is_short(uqcli, rows, monkeypatch):
    def require(data, need):
        if need is engines.CLUSTERED:
            raise DataError("too many rows", remedy="draw some")

    monkeypatch.setattr("uqcli.overview.run.require_memory", require)
    report = uqcli("overview", "rows.parquet", "--json").json
    assert "day" not in report["parameters"]
    assert report["metrics"]["prevalence"]["low"] is None
    assert report["notes"][1].endswith("times too narrow.")  # no option, since it would be refused


def test_the_alert_rate_of_a_rule_by_day_has_no_range_of_independent_rows(uqcli, rows, tmp_path):
    rows.filter(pl.col("score") > 0.5).write_parquet(tmp_path / "busy.parquet")
    for options, has_range in (((), True), (("--day", "day"), False)):
        fitted = uqcli("boundary", "rows.parquet", "--max-selected", "20%", *options, "-q", "-o", "rule.json")
        assert fitted.code == 0
        notes = uqcli("apply", "rule.json", "busy.parquet", "-o", "out.csv", "--json").json["notes"]
        assert any("% range is" in note for note in notes) == has_range, notes


def test_only_customers_that_are_alike_need_a_caution(uqcli, tmp_path):
    random, frame = np.random.default_rng(0), draw_days(60, 30, 1.5)
    frame = frame.select(
        "score",
        "uncertainty",
        "label",
        account=pl.Series(random.integers(0, 60, len(frame))),
        visit=pl.Series([f"2026-01-{day:02}" for day in random.integers(1, 29, len(frame))]),
        tag=pl.format("k{}", "day"),
    )
    frame.write_parquet(tmp_path / "rows.parquet")
    assert advice_of(uqcli, *BOUNDARY) is None
    frame = frame.rename({"account": "tag", "tag": "customer no"})
    frame.write_parquet(tmp_path / "rows.parquet")
    assert advice_of(uqcli, *BOUNDARY).endswith(" Add --cluster 'customer no'.")


def test_advice_is_about_the_first_rows_of_all_inputs(uqcli, rows, tmp_path, monkeypatch):
    monkeypatch.setattr("uqcli.boundary.dependent_columns._FIRST_ROWS", len(rows))
    first = advice_of(uqcli, *BOUNDARY)
    noise = rows.with_columns(label=(pl.col("score") > 0.5).cast(pl.Int64))
    pl.concat([rows, noise]).write_csv(tmp_path / "both.csv")
    uqcli(*BOUNDARY, "-q", "-o", "rule.json")
    seen = [
        advice_of(uqcli, "evaluate", "rule.json", *inputs)
        for inputs in (("rows.parquet",), ("both.csv",), ("rows.parquet", "both.csv"))
    ]
    assert seen == [first] * 3
    half = len(rows) // 2
    rows[:half].write_csv(tmp_path / "1.csv")
    rows[half:].write_parquet(tmp_path / "2.parquet")
    assert advice_of(uqcli, "evaluate", "rule.json", "1.csv", "2.parquet", "both.csv") == first


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical], ids=str)
def test_advice_on_days_is_the_same_for_texts(uqcli, rows, dtype):
    rows.drop("when").write_parquet("rows.parquet")
    advice = advice_of(uqcli, *BOUNDARY)
    rows.drop("when").with_columns(pl.col("day").dt.to_string().cast(dtype)).write_parquet("rows.parquet")
    assert advice is not None
    assert advice_of(uqcli, *BOUNDARY) == advice


def test_a_certificate_speaks_of_days(uqcli, tmp_path):
    draw_days(150, 40, effect=0.1).write_parquet(tmp_path / "rows.parquet")
    options = ("--day", "day", "--certify", "0.3", "-o", "rule.json")
    report = uqcli("boundary", "rows.parquet", "--precision", "0.4", *options, "--json").json
    assert (report["certificate"]["cluster"], report["certificate"]["days"]) == ("day", True)
    shown = uqcli("show", "rule.json", "--verbose").out.decode()
    said = " ".join([*report["notes"], shown])
    assert "of new days with an alert" in said
    assert "a day with many alerts counts once" in said
    assert "cluster" not in said
