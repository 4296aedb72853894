"""Tests of ``apply --top``: a daily capacity, filled by the order of the nested rules."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit
from tests.oracles.capacity import first_rows

DAYS = [f"2026-03-{day:02}" for day in range(1, 11)]


def rows(seed, size=6000):
    """Draw rows with many equal scores."""
    random = np.random.default_rng(seed)
    score, uncertainty = random.random(size).round(2), random.random(size).round(1)
    label = random.random(size) < score ** (1.5 + uncertainty)
    return pl.DataFrame({"score": score, "uncertainty": uncertainty, "label": label.astype(int)})


def write_files():
    """Fit a rule of several uncertainty bins, and write ten days in three files."""
    rows(1).write_csv("fit.csv")
    fit("boundary fit.csv --precision 0.6 --uncertainty-bins 4 -o rule.json")
    day = np.random.default_rng(5).choice(DAYS, 6000)
    frame = rows(2).with_columns(day=pl.Series(day))
    for index, (start, stop) in enumerate(((0, 1000), (1000, 1001), (1001, 6000))):
        frame[start:stop].write_csv(f"part-{index}.csv")
    frame.write_parquet("all.parquet")
    return json.loads(Path("rule.json").read_text())


@pytest.fixture
def rule(prepared):
    return prepared(write_files)


def flagged_in(path):
    frame = pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)
    return set(np.flatnonzero(frame["decision"].fill_null(value=False).to_numpy()).tolist())


def expected(rule, frame, limit, per=None):
    groups = frame[per].to_list() if per else [""] * frame.height
    columns = zip(groups, frame["score"].to_list(), frame["uncertainty"].to_list(), strict=True)
    return first_rows(list(columns), rule["uncertainty_edges"], rule["nested"], limit)


def test_ten_days_of_200_are_those_of_a_sort_in_memory(uqcli, rule, tmp_path):
    frame = pl.read_parquet(tmp_path / "all.parquet")
    wanted = expected(rule, frame, 200, "day")
    assert len(wanted) == 2000
    outcome = uqcli("apply", "rule.json", "all.parquet", "--top", "200", "--per", "day", "-o", "a.parquet")
    assert "The 200 highest-ranked rows of each of 10 groups are flagged." in outcome.out.decode()
    parts = [f"part-{index}.csv" for index in range(3)]
    uqcli("apply", "rule.json", *parts, "--top", "200", "--per", "day", "-q", "-o", "b.csv")
    assert flagged_in(tmp_path / "a.parquet") == wanted == flagged_in(tmp_path / "b.csv")
    report = uqcli(
        "apply", "rule.json", "all.parquet", "--top", "200", "--per", "day", "-o", "c.csv", "--json"
    ).json
    assert report["metrics"]["selected"] == 2000
    assert (report["parameters"]["top"], report["parameters"]["per"]) == (200, "day")


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("limit", [1, 37, 6000, 10_000])
def test_a_number_of_all_rows_may_come_from_standard_input(uqcli, rule, tmp_path, limit):
    frame = pl.read_parquet(tmp_path / "all.parquet")
    stdin = frame.write_csv().encode()
    outcome = uqcli("apply", "rule.json", "-", "--top", str(limit), "--only-selected", stdin=stdin)
    written = pl.read_csv(outcome.out)
    wanted = sorted(expected(rule, frame, limit))
    assert written.drop("decision").rows() == frame[wanted].rows()


def test_a_single_threshold_takes_the_highest_scores(uqcli, rule, tmp_path):
    options = ("--precision", "0.6", "--algorithm", "st", "-q", "-o", "st.json")
    assert uqcli("boundary", "fit.csv", *options).code == 0
    assert "nested" not in json.loads((tmp_path / "st.json").read_text())
    frame = pl.read_parquet(tmp_path / "all.parquet")
    uqcli("apply", "st.json", "all.parquet", "--top", "50", "-q", "-o", "out.parquet")
    order = np.argsort(-frame["score"].to_numpy(), kind="stable")
    assert flagged_in(tmp_path / "out.parquet") == set(order[:50].tolist())


def test_unusable_rows_are_not_flagged_and_have_no_day_of_their_own(uqcli, rule, tmp_path):
    frame = pl.read_parquet(tmp_path / "all.parquet").with_columns(
        score=pl.when(pl.int_range(pl.len()) % 5 == 0).then(None).otherwise("score"),
        day=pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise("day"),
    )
    frame.write_parquet(tmp_path / "gaps.parquet")
    options = ("apply", "rule.json", "gaps.parquet", "--top", "20", "--per", "day", "-o")
    refused = uqcli(*options, "x.parquet")
    assert refused.code == 3
    assert "column 'score' has 1200 null" in refused.err
    usable = (pl.int_range(pl.len()) % 5 > 0) & (pl.int_range(pl.len()) % 7 > 0)
    kept = frame.with_row_index("position").filter(usable)
    wanted = {kept["position"][index] for index in expected(rule, kept, 20, "day")}
    uqcli(*options, "keep.parquet", "--on-invalid", "keep", "-q")
    assert flagged_in(tmp_path / "keep.parquet") == wanted
    kept_rows = pl.read_parquet(tmp_path / "keep.parquet")
    assert kept_rows["decision"].null_count() == 6000 - kept.height
    uqcli(*options, "drop.parquet", "--on-invalid", "drop", "-q")
    dropped = pl.read_parquet(tmp_path / "drop.parquet")
    assert dropped.height == kept.height
    assert dropped["decision"].sum() == len(wanted)


def test_without_usable_rows_the_header_is_written(uqcli, rule, tmp_path):
    frame = pl.read_parquet(tmp_path / "all.parquet")
    frame.head(0).write_csv(tmp_path / "none.csv")
    for options in ((), ("--per", "day"), ("--only-selected",)):
        outcome = uqcli("apply", "rule.json", "none.csv", "--top", "5", *options, "-o", "out.csv")
        assert outcome.code == 0, outcome.err
        assert (tmp_path / "out.csv").read_text().strip() == ",".join([*frame.columns, "decision"])
    frame.head(50).with_columns(score=pl.lit(None, dtype=pl.Float64)).write_parquet(tmp_path / "gaps.parquet")
    for handling, written in (("drop", 0), ("keep", 50)):
        options = ("--per", "day", "--on-invalid", handling, "-q", "-o", "out.parquet")
        assert uqcli("apply", "rule.json", "gaps.parquet", "--top", "5", *options).code == 0
        decision = pl.read_parquet(tmp_path / "out.parquet")["decision"]
        assert (len(decision), decision.null_count()) == (written, written)


def test_the_report_says_how_many_rows_are_flagged(uqcli, rule, tmp_path):
    rows(3, 40).with_columns(day=pl.lit("a")).write_csv(tmp_path / "few.csv")
    said = {
        ("--top", "1"): "The highest-ranked row is flagged, whatever the thresholds.",
        ("--top", "50"): "All usable rows are flagged, since there are fewer than 50.",
        ("--top", "50", "--per", "day"): "The 50 highest-ranked rows of 1 group are flagged; 1 has fewer.",
    }
    for options, sentence in said.items():
        assert sentence in uqcli("apply", "rule.json", "few.csv", *options, "-o", "x.csv").out.decode()
    certify = ("--precision", "0.5", "--certify", "0.5", "-q", "-o", "certified.json")
    assert uqcli("boundary", "fit.csv", *certify).code == 0
    outcome = uqcli("apply", "certified.json", "few.csv", "--top", "5", "-o", "x.csv")
    assert "No certificate is about them." in outcome.out.decode()


@pytest.mark.covering("thorough", every=3, also=["fit0-several thresholds and no order of rows"])
@pytest.mark.parametrize(
    ("fit", "found"),
    [
        (("--algorithm", "vw-dpmt"), "several thresholds and no order of rows"),
        (("--review", "5%"), "--top with a rule of a review"),
        (("--by", "uncertainty", "--min-group", "100"), "--top with a rule of groups"),
    ],
)
def test_rules_that_do_not_order_rows_are_refused(uqcli, rule, tmp_path, fit, found):
    options = ("--precision", "0.6", *fit, "-q", "-o", "other.json")
    assert uqcli("boundary", "fit.csv", *options).code == 0
    outcome = uqcli("apply", "other.json", "all.parquet", "--top", "5", "-o", "out.csv")
    assert outcome.code == 2
    assert found in outcome.err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--per", "day"), "--per is given without --top"),
        (("--top", "0"), "--top"),
        (("--top", "2.5"), "--top"),
        (("--top", "9" * 20), "--top"),
    ],
)
def test_impossible_options_are_refused(uqcli, rule, options, found):
    outcome = uqcli("apply", "rule.json", "all.parquet", *options)
    assert outcome.code == 2
    assert found in outcome.err


def test_an_unknown_column_of_days_names_the_nearest(uqcli, rule):
    outcome = uqcli("apply", "rule.json", "all.parquet", "--top", "5", "--per", "dat")
    assert outcome.code == 3
    assert "which has score, uncertainty, label, day; name one of them with --per" in outcome.err


@pytest.mark.parametrize(
    "nested", [[[0.5]], [[0.5, 0.5, 0.5, 0.5], [0.6, 0.5, 0.5, 0.5]], [[0.5, 0.5, 0.5, None], [None] * 4]]
)
def test_nested_rules_that_are_not_nested_are_refused(uqcli, rule, tmp_path, nested):
    edited = {key: value for key, value in rule.items() if key != "digest"}
    edited |= {"nested": nested, "uqcli_version": "0.2.0"}
    (tmp_path / "edited.json").write_text(json.dumps(edited))
    outcome = uqcli("show", "edited.json")
    assert outcome.code == 5
    assert "nested rules" in outcome.err
