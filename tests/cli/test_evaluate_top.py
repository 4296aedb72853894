"""Tests of ``evaluate --top``: it measures exactly the rows that ``apply --top`` flags."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.cli.conftest import fit
from tests.cli.test_top import rows

DAYS = [f"2026-{month:02}-{day:02}" for month in (3, 4) for day in range(1, 13)]
PARTS = [f"part-{index}.csv" for index in range(3)]
TOP = ("--top", "20", "--per", "day")
COUNTS = ("selected", "true_positives", "rows", "positives")


def write_files():
    """Fit a rule of several uncertainty bins and one of a threshold, and write rows with equal scores."""
    rows(1, 3000).write_csv("fit.csv")
    fit("boundary fit.csv --precision 0.6 --uncertainty-bins 4 -o rule.json")
    fit("boundary fit.csv --precision 0.6 --algorithm st -o st.json")
    random = np.random.default_rng(5)
    frame = rows(2, 3000).with_columns(
        day=pl.Series(random.choice(DAYS, 3000)),
        team=pl.Series(random.choice(["north", "south", "west"], 3000)),
        gain=pl.Series(random.integers(1, 9, 3000)),
    )
    for name, (start, stop) in zip(PARTS, ((0, 1000), (1000, 1001), (1001, 3000)), strict=True):
        frame[start:stop].write_csv(name)
    frame.write_parquet("all.parquet")


@pytest.fixture
def files(prepared):
    prepared(write_files)


def applied(uqcli, rule, inputs, *options):
    """Return the rows with the decisions of ``apply``."""
    outcome = uqcli("apply", rule, *inputs, *options, "-q", "-o", "applied.parquet")
    assert outcome.code == 0, outcome.err
    frame = pl.read_parquet("applied.parquet")
    decision, label = pl.col("decision").fill_null(value=False), pl.col("label").cast(pl.Int64)
    return frame.with_columns(decision, label)  # of CSV, labels are texts


def evaluated(uqcli, *words):
    outcome = uqcli("evaluate", *words, "--json")
    assert outcome.code == 0, outcome.err
    return outcome.json


def counted(frame):
    """Count the labelled rows of ``apply``, by definition."""
    frame = frame.filter(pl.col("label").is_not_null())
    flagged = frame.filter("decision")
    counts = flagged.height, flagged["label"].sum(), frame.height, frame["label"].sum()
    return dict(zip(COUNTS, counts, strict=True))


def counts_of(metrics):
    return {name: metrics[name] for name in COUNTS}


@pytest.mark.parametrize(
    "options", [TOP, ("--top", "7", "--per", "team"), ("--top", "333"), ("--top", "9999")]
)
@pytest.mark.parametrize("rule", ["rule.json", "st.json"])
def test_the_rows_are_those_that_apply_flags(uqcli, files, rule, options):
    frame = applied(uqcli, rule, PARTS, *options)
    report = evaluated(uqcli, rule, *PARTS, *options)
    metrics = report["metrics"]
    assert counts_of(metrics) == counted(frame)
    precision, recall = (
        frame.filter("decision")["label"].mean(),
        metrics["true_positives"] / metrics["positives"],
    )
    assert (metrics["precision"]["value"], metrics["recall"]["value"]) == (precision, recall)
    whole = evaluated(uqcli, rule, "all.parquet", *options)
    assert whole["metrics"] == metrics
    assert metrics["promise_broken"] is None


def test_threads_change_no_byte(uqcli, files):
    line = ("evaluate", "rule.json", *PARTS, *TOP, "--by", "team", "--json", "--threads")
    one, two = (uqcli(*line, threads) for threads in ("1", "2"))
    assert (one.code, one.out) == (two.code, two.out)


def test_of_different_scores_the_order_of_rows_changes_no_byte(uqcli, files):
    frame = pl.read_parquet("all.parquet").with_columns(
        pl.col("score") + pl.int_range(pl.len()) / 1e7, pl.col("uncertainty") * 0
    )
    reports = []
    for seed in (None, 1):
        ordered = frame if seed is None else frame.sample(fraction=1, shuffle=True, seed=seed)
        ordered.write_parquet("rows.parquet")
        reports.append(uqcli("evaluate", "st.json", "rows.parquet", *TOP, "--by", "team", "--json").out)
    assert reports[0] == reports[1]
    assert json.loads(reports[0])["metrics"]["capacity"]["ties"] == 0


@pytest.mark.parametrize("limit", [1, 20, 130])
def test_a_score_alone_has_the_ranks_of_pandas(uqcli, files, limit):
    frame = pd.read_parquet("all.parquet")
    rank = frame.groupby("day")["score"].rank(method="first", ascending=False)
    first, last = frame[rank <= limit], rank == limit
    at_cut = frame[last].set_index("day")["score"]
    left = frame[rank > limit]
    ties = int((left["score"] == left["day"].map(at_cut)).sum())
    metrics = evaluated(uqcli, "all.parquet", "--top", str(limit), "--per", "day")["metrics"]
    assert counts_of(metrics) == {
        "selected": len(first),
        "true_positives": first["label"].sum(),
        "rows": len(frame),
        "positives": frame["label"].sum(),
    }
    by_day = first.groupby("day").size()
    assert metrics["capacity"] == {
        "groups": len(DAYS),
        "min": by_day.min(),
        "median": by_day.median(),
        "max": by_day.max(),
        "ties": ties,
    }
    same = evaluated(uqcli, "st.json", "all.parquet", "--top", str(limit), "--per", "day")["metrics"]
    assert counts_of(same) == counts_of(metrics)
    assert same["precision"] == metrics["precision"]


def test_intervals_are_those_of_days_whose_flagged_rows_are_known(uqcli, files):
    frame = applied(uqcli, "rule.json", ["all.parquet"], *TOP)
    frame.with_columns(flag=pl.col("decision").cast(pl.Float64)).write_parquet("flags.parquet")
    pl.DataFrame({"flag": [0.0, 1.0] * 50, "label": [0, 1] * 50}).write_csv("known.csv")
    fit("boundary known.csv --score flag --precision 0.9 --algorithm st -o flag.json")
    known = evaluated(uqcli, "flag.json", "flags.parquet", "--cluster", "day")["metrics"]
    metrics = evaluated(uqcli, "rule.json", "all.parquet", *TOP)["metrics"]
    names = (*COUNTS, "precision", "recall", "fpr", "clusters", "clusters_flagged", "clusters_positive")
    assert {name: metrics[name] for name in names} == {name: known[name] for name in names}
    by_team = evaluated(uqcli, "rule.json", "all.parquet", *TOP, "--cluster", "team")
    assert by_team["metrics"]["clusters"] == 3
    assert counts_of(by_team["metrics"]) == counts_of(metrics)
    assert (by_team["parameters"]["cluster"], by_team["parameters"]["per"]) == ("team", "day")
    as_days = evaluated(uqcli, "rule.json", "all.parquet", *TOP, "--day", "day")
    assert as_days["metrics"] == metrics
    assert as_days["parameters"]["day"] == "day"


def test_groups_and_amounts_are_those_of_the_flagged_rows(uqcli, files):
    frame = applied(uqcli, "rule.json", ["all.parquet"], *TOP)
    options = (*TOP, "--by", "team", "--gain", "gain", "--cost", "2")
    report = evaluated(uqcli, "rule.json", "all.parquet", *options)
    assert [group["name"] for group in report["groups"]] == ["north", "south", "west"]
    for group in report["groups"]:
        mine = frame.filter(pl.col("team") == group["name"])
        assert counts_of(group["metrics"]) == counted(mine)
        assert not group["tested"]
    flagged = frame.filter("decision")
    worth = flagged.select(pl.when(pl.col("label") == 1).then("gain").otherwise(-2).sum()).item()
    assert report["metrics"]["value"]["value"] == worth
    assert evaluated(uqcli, "rule.json", "all.parquet", *TOP, "--by", "day")["metrics"][
        "by_group"
    ].keys() == {*DAYS}


def test_two_rules_are_compared_at_the_same_capacity(uqcli, files):
    report = evaluated(uqcli, "rule.json", "st.json", "all.parquet", *TOP)
    for result in report["results"]:
        frame = applied(uqcli, result["artifact"], ["all.parquet"], *TOP)
        assert counts_of(result["metrics"]) == counted(frame)
    said = uqcli("evaluate", "rule.json", "st.json", "all.parquet", *TOP).out.decode()
    assert "Flagged are the 20 highest-ranked rows of each of 24 days, whatever the thresholds." in said


def test_of_two_rules_the_one_that_finds_more_for_the_same_work_is_named(uqcli, files):
    random = np.random.default_rng(3)
    score, uncertainty = random.random(6000), random.random(6000)
    label = (random.random(6000) < np.where(uncertainty < 0.5, score, 0.1)).astype(int)
    frame = pl.DataFrame({"score": score, "uncertainty": uncertainty, "label": label})
    frame[:3000].write_csv("fit.csv")
    frame[3000:].with_columns(day=pl.Series(np.resize(DAYS, 3000))).write_csv("new.csv")
    fit("boundary fit.csv --precision 0.6 --uncertainty-bins 2 -o two.json")
    fit("boundary fit.csv --precision 0.5 --algorithm st -o one.json")
    found = [
        result["metrics"] for result in evaluated(uqcli, "one.json", "two.json", "new.csv", *TOP)["results"]
    ]
    more = found[1]["true_positives"] - found[0]["true_positives"]
    for order in (("one.json", "two.json"), ("two.json", "one.json")):
        said = uqcli("evaluate", *order, "new.csv", *TOP, "--report", "page.html").out.decode()
        assert f"Use two.json: it finds {more} more positives in as many alerts." in said
        assert "two.json finds more" in Path("page.html").read_text()


def test_unusable_rows_and_those_without_a_label_are_ranked_as_apply_ranks_them(uqcli, files):
    number = pl.int_range(pl.len())
    frame = pl.read_parquet("all.parquet").with_columns(
        score=pl.when(number % 5 == 0).then(None).otherwise("score"),
        day=pl.when(number % 7 == 0).then(None).otherwise("day"),
        label=pl.when(number % 3 == 0).then(None).otherwise("label"),
    )
    frame.write_parquet("gaps.parquet")
    refused = uqcli("evaluate", "rule.json", "gaps.parquet", *TOP)
    assert refused.code == 3
    assert "column 'score' has 600 null" in refused.err
    decided = applied(uqcli, "rule.json", ["gaps.parquet"], *TOP, "--on-invalid", "drop")
    metrics = evaluated(uqcli, "rule.json", "gaps.parquet", *TOP, "--on-invalid", "drop")["metrics"]
    assert counts_of(metrics) == counted(decided)
    labels = frame.with_row_index("id").select("id", "label").drop_nulls()
    labels.write_parquet("labels.parquet")
    whole = pl.read_parquet("all.parquet").with_row_index("id")
    whole.drop("label").write_parquet("rows.parquet")
    whole.write_parquet("whole.parquet")
    decided = applied(uqcli, "rule.json", ["whole.parquet"], *TOP)
    joined = decided.drop("label").join(labels, on="id", how="left")
    options = ("--labels", "labels.parquet", "--on", "id")
    metrics = evaluated(uqcli, "rule.json", "rows.parquet", *TOP, *options)["metrics"]
    assert counts_of(metrics) == counted(joined)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_times_are_ranked_by_their_date(uqcli, files, ending):
    times = pl.datetime_range(pl.datetime(2024, 9, 1), pl.datetime(2024, 12, 1), "36m", eager=True)[:3000]
    frame = pl.read_parquet("all.parquet").with_columns(day=times).with_columns(date=pl.col("day").dt.date())
    frame.write_parquet("rows.parquet")
    frame.with_columns(pl.col("day").dt.to_string("%Y-%m-%d %H:%M:%S")).write_csv("rows.csv")
    line = ("rule.json", f"rows.{ending}", "--top", "5", "--per")
    by_time, by_date = (evaluated(uqcli, *line, per) for per in ("day", "date"))
    assert by_time["metrics"] == by_date["metrics"]
    assert by_time["metrics"]["capacity"]["groups"] == frame["date"].n_unique()
    assert " of 75 days" in uqcli("evaluate", *line, "day").out.decode()


def test_rows_without_a_usable_one_are_refused(uqcli, files):
    frame = pl.read_parquet("all.parquet")
    frame.head(0).write_csv("none.csv")
    frame.head(9).with_columns(score=pl.lit(None, dtype=pl.Float64)).write_parquet("gaps.parquet")
    for line in (("none.csv",), ("gaps.parquet", "--on-invalid", "drop")):
        for options in (TOP, ("--top", "5")):
            outcome = uqcli("evaluate", *line, *options)
            assert (outcome.code, "no rows to work on" in outcome.err) == (3, True)


def test_standard_input_is_read_twice(uqcli, files):
    stdin = pl.read_parquet("all.parquet").write_csv().encode()
    outcome = uqcli("evaluate", "rule.json", "-", *TOP, "--json", stdin=stdin)
    assert outcome.json["metrics"] == evaluated(uqcli, "rule.json", "all.parquet", *TOP)["metrics"]


def test_the_answer_is_in_the_first_line(uqcli, files):
    lines = uqcli("evaluate", "all.parquet", *TOP).out.decode().splitlines()
    assert lines[0].startswith("Precision is 84 % (95 % interval 73 to 89 %)")
    assert lines[0].endswith(") among the 20 highest-ranked rows of each of 24 days.")
    assert lines[1].startswith("Flags 480 of 3,000 rows (16 %) in 24 days and finds ")
    said = uqcli("evaluate", "rule.json", "all.parquet", "--top", "130", "--per", "day").out.decode()
    frame = pl.read_parquet("all.parquet")
    fewer = sum(size < 130 for size in frame.group_by("day").len()["len"])
    assert f"{fewer} of 24 days have fewer than 130 rows." in said
    assert "uqcli apply rule.json NEW.parquet -o applied.csv --top 130 --per day" in said
    few = uqcli("evaluate", "all.parquet", "--top", "1", "--per", "team").out.decode()
    assert ": the highest-ranked row of each of 3 groups." in few.splitlines()[0]
    assert (
        "All usable rows are flagged, since there are fewer than 9,999."
        in uqcli("evaluate", "all.parquet", "--top", "9999").out.decode()
    )
    page = uqcli("evaluate", "rule.json", "all.parquet", *TOP, "-q", "--report", "page.html")
    assert page.code == 0, page.err
    assert "20 highest-ranked rows of each of 24 days" in Path("page.html").read_text()


def test_a_score_without_a_rule_has_no_file(uqcli, files):
    report = evaluated(uqcli, "all.parquet", "--score", "uncertainty", *TOP)
    assert report["results"][0]["artifact"] is None
    assert report["source"]["columns"]["score"] == "uncertainty"
    assert (report["parameters"]["top"], report["parameters"]["per"]) == (20, "day")
    assert not any("--top flags" in note for note in report["notes"])
    of_rule = evaluated(uqcli, "rule.json", "all.parquet", *TOP)
    assert any("is not tested: --top flags the first rows" in note for note in of_rule["notes"])


def test_a_target_that_is_not_tested_fails_no_test_of_ci(uqcli, files):
    outcome = uqcli("evaluate", "rule.json", "all.parquet", *TOP, "-q", "--report", "r.xml")
    assert outcome.code == 0
    suite = Path("r.xml").read_text()
    assert 'failures="0"' in suite
    assert "precision &gt;= 60 % is not tested: --top flags the first rows" in suite


def test_the_rows_of_the_fit_are_cautioned(uqcli, files):
    same = "has the same counts here as on its calibration set"
    assert same in uqcli("evaluate", "rule.json", "fit.csv", "--top", "5", "--verbose").out.decode()
    assert same not in uqcli("evaluate", "rule.json", "all.parquet", "--top", "5", "--verbose").out.decode()


def test_a_configured_column_of_days_has_no_effect_alone(uqcli, files, monkeypatch):
    plain = uqcli("evaluate", "rule.json", "all.parquet", "--json").json
    monkeypatch.setenv("UQCLI_EVALUATE_PER", "day")
    configured = uqcli("evaluate", "rule.json", "all.parquet", "--json").json
    assert configured["metrics"] == plain["metrics"]
    assert "per" not in configured["parameters"]
    assert (
        uqcli("evaluate", "rule.json", "all.parquet", "--top", "5", "--json").json["parameters"]["per"]
        == "day"
    )


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("rule.json", "--per", "day"), "--per is given without --top"),
        (("rule.json", "--top", "0"), "--top"),
        (("rule.json", *TOP, "--audit", "team"), "--top and --audit cannot be combined"),
        (("rule.json", *TOP, "--sampling-weight", "gain"), "--top and --sampling-weight cannot be combined"),
        (("rule.json", *TOP, "--unlabelled", "all.parquet"), "--top and --unlabelled cannot be combined"),
        (("rule.json", *TOP, "--weight", "gain"), "--top with a column of row counts ('gain')"),
        (("rule.json", "--top", "20", "--per", "label"), "--per and --label both name the column 'label'"),
        (("rule.json", *TOP, "--engine", "spark"), "--top with --engine spark"),
        (("groups.json", *TOP), "--top with a rule of groups"),
        (("calibrator.json", *TOP), "--top with a rule file of kind calibrator"),
    ],
)
def test_what_ranks_no_rows_is_refused(uqcli, files, options, found):
    fit("boundary all.parquet --precision 0.6 --by team --min-group 100 -o groups.json")
    fit("calibrate fit.csv --method beta -o calibrator.json")
    outcome = uqcli("evaluate", "all.parquet", *options)
    assert outcome.code == 2, outcome.err
    assert found in outcome.err


def test_an_unknown_column_of_days_names_the_nearest(uqcli, files):
    outcome = uqcli("evaluate", "all.parquet", "--top", "5", "--per", "dat")
    assert outcome.code == 3
    assert "which has score, uncertainty, label, day, team, gain; name one of them with --per" in outcome.err
