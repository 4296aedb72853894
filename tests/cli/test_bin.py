"""Tests of ``uqcli bin``: grids, their sums, and boundaries on grids."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.oracles import binning as oracle
from tests.oracles.single_precision import edge, fixed_edge
from uqcli.base.choices import Binning


def grid_of(uqcli, *arguments):
    outcome = uqcli("bin", *arguments, "-q", "-o", "-")
    assert outcome.code == 0, outcome.err
    return outcome.json


@pytest.mark.parametrize("binning", ["shared", "equi-weight", "equi-span"])
def test_counts_equal_those_of_the_oracle(uqcli, data, frame, binning):
    grid = grid_of(uqcli, data, "--binning", binning, "--score-bins", 7, "--uncertainty-bins", 4)
    rows = frame.select("score", "uncertainty", "label").rows()
    edges, cells = oracle.grid([(s, u, y, 1) for s, u, y in rows], binning, 4, 7)
    assert grid["uncertainty_edges"] == edges
    assert grid["score_edges"] == [row_edges for row_edges, _ in cells]
    assert grid["count"] == [[n for n, _ in row] for _, row in cells]
    assert grid["positives"] == [[p for _, p in row] for _, row in cells]


@pytest.mark.parametrize(
    "constraint", [["--precision", "0.7"], ["--recall", "0.6"], ["--max-selected", "7%"]]
)
def test_a_boundary_on_the_grid_finds_the_same_positives_as_on_the_rows(uqcli, data, frame, constraint):
    """On rows, uqcli raises thresholds to the lowest score of a positive row."""
    grid_options = ["--score-bins", "30", "--uncertainty-bins", "2", "--binning", "equi-weight"]
    assert uqcli("bin", data, *grid_options, "-q", "-o", "g.json").code == 0
    constraint = [*constraint, "--algorithm", "smooth"]
    rows = uqcli("boundary", data, *constraint, *grid_options, "-q", "-o", "-").json
    grid = uqcli("boundary", "--grid", "g.json", *constraint, "-q", "-o", "-").json
    assert rows["fit"]["true_positives"] == grid["fit"]["true_positives"]
    assert rows["fit"]["selected"] <= grid["fit"]["selected"]
    edges = [-np.inf, *rows["uncertainty_edges"], np.inf]
    selected = 0
    for low, high, threshold, grid_threshold in zip(
        edges[:-1], edges[1:], rows["thresholds"], grid["thresholds"], strict=True
    ):
        in_bin = frame.filter((pl.col("uncertainty") >= low) & (pl.col("uncertainty") < high))
        flagged = in_bin.filter(pl.col("score") >= (np.inf if grid_threshold is None else grid_threshold))
        raised = flagged.filter(pl.col("label") == 1)["score"].min()
        assert threshold == (None if raised is None else edge(raised, in_bin["score"].to_list()))
        selected += in_bin.filter(pl.col("score") >= (np.inf if threshold is None else threshold)).height
    assert selected == rows["fit"]["selected"]


def test_every_column_of_the_table_has_a_header(uqcli, data):
    """Uncertainty bins with their own score edges have no common lower score."""
    for options in ((), ("--binning", "quantile"), ("--uncertainty-bins", "1")):
        assert uqcli("bin", data, "--score-bins", "5", *options, "--report", "r.md", "-q").code == 0
        for table in Path("r.md").read_text().split("\n## ")[1:]:
            lines = [line for line in table.splitlines() if line.startswith("|")]
            assert len({line.count("|") for line in lines}) == 1, lines


def test_what_no_boundary_on_a_grid_meets_is_not_answered_by_a_command_that_needs_rows(uqcli, data):
    assert uqcli("bin", data, "--score-bins", "3", "-q", "-o", "g.json").code == 0
    for source, is_proposed in ((("--grid", "g.json"), False), ((data, "--score-bins", "3"), True)):
        outcome = uqcli("boundary", *source, "--precision", "0.9999", "--algorithm", "smooth")
        assert (outcome.code, "boundary without a bound" in outcome.err) == (4, is_proposed)


def test_merged_grids_equal_the_grid_of_all_rows(uqcli, data, frame, tmp_path):
    expected = grid_of(uqcli, data, "--score-bins", 12)
    (tmp_path / "whole.json").write_text(json.dumps(expected))
    names = []
    for day, rows in enumerate((frame[:100], frame[100:130], frame[130:])):
        rows.write_parquet(tmp_path / f"{day}.parquet")
        names.append(f"day{day}.json")
        outcome = uqcli("bin", f"{day}.parquet", "--edges", "whole.json", "-q", "-o", names[-1])
        assert outcome.code == 0, outcome.err
    assert grid_of(uqcli, "--merge", *names) == expected
    assert grid_of(uqcli, data, "--edges", "whole.json") == expected


def test_incompatible_grids_are_not_merged(uqcli, data, tmp_path):
    for bins in ("5", "6"):
        assert uqcli("bin", data, "--score-bins", bins, "-q", "-o", f"{bins}.json").code == 0
    assert uqcli("bin", "--merge", "5.json", "6.json").code == 2
    assert uqcli("bin", "--merge").code == 2
    assert uqcli("bin", "--merge", "5.json", "--score-bins", "5").code == 2
    assert uqcli("boundary", "--grid", "5.json", "--precision", "0.5", "--score-bins", "5").code == 2
    assert uqcli("boundary", data, "--grid", "5.json", "--precision", "0.5").code == 2
    assert uqcli("boundary", "--grid", "5.json", "--precision", "0.5", "--algorithm", "hr").code == 2
    assert uqcli("boundary", "--grid", "5.json", "--precision", "0.5", "--algorithm", "st").code == 2
    assert uqcli("evaluate", "5.json", data).code == 5


def test_apply_adds_the_bins_of_the_grid(uqcli, data, frame, tmp_path):
    grid = grid_of(uqcli, data, "--score-bins", 5)
    (tmp_path / "g.json").write_text(json.dumps(grid))
    assert uqcli("apply", "g.json", data, "-o", "o.parquet").code == 0
    result = pl.read_parquet("o.parquet")
    rows_per_cell = np.zeros((3, 5), dtype=int)
    np.add.at(rows_per_cell, (result["uncertainty_bin"].to_numpy(), result["score_bin"].to_numpy()), 1)
    assert rows_per_cell.tolist() == grid["count"]
    assert result.drop("uncertainty_bin", "score_bin").equals(frame)


@pytest.mark.parametrize("binning", [b for b in Binning if not b.cuts_uncertainty])
def test_binnings_of_the_score_have_no_uncertainty_edges(uqcli, data, frame, binning):
    grid = grid_of(uqcli, data, "--binning", binning)
    edges = grid["score_edges"][0]
    assert grid["uncertainty_edges"] == []
    assert edges == sorted(edges)
    assert sum(grid["count"][0]) == len(frame)
    assert sum(grid["positives"][0]) == frame["label"].sum()
    if binning is Binning.EQUISPACED:
        assert edges == [fixed_edge(b / 10, frame["score"].to_list()) for b in range(1, 10)]
    if binning is Binning.QUANTILE:
        assert edges == oracle.moved(oracle.equi_weight_edges, frame["score"].to_list(), 10)
    if binning in (Binning.PAVA, Binning.PAVA_BC):
        rates = [p / n for p, n in zip(grid["positives"][0], grid["count"][0], strict=True)]
        assert binning is Binning.PAVA_BC or rates == sorted(set(rates))


def test_equispaced_needs_probabilities(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,label\n1.5,1\n0.2,0\n")
    assert uqcli("bin", "d.csv", "--binning", "equispaced").code == 3


def test_report_shows_positive_rates_and_errors(uqcli, data):
    report = uqcli("bin", data, "--score-bins", 10, "--json").json
    assert report["metrics"]["rows"] == 400
    for name in ("ist", "mist"):
        errors, cumulative = report["ece_at"][name], report["cumulative_ece_at"][name]
        assert len(errors) == 10
        np.testing.assert_allclose(cumulative[0], np.mean(errors))
        np.testing.assert_allclose(cumulative[-1], errors[-1])
    assert report["metrics"]["mist_ece"] < report["metrics"]["ist_ece"]
    text = uqcli("bin", data, "--score-bins", 10, "--verbose").out.decode()
    assert re.search(r"score bins +below \S+ +\S+ to \S+ +from \S+\s", text)
    assert "positive rate (number" in text
    assert "MIST" in text


def test_all_algorithms_are_compared(uqcli, data, tmp_path):
    report = uqcli(
        "boundary", data, "--precision", "0.7", "--algorithm", "all", "--json", "-o", "b.json"
    ).json
    true_positives = {row["algorithm"]: row["metrics"]["true_positives"] for row in report["algorithms"]}
    assert set(true_positives) == {"vw-dpmt", "ew-dpmt", "mist", "gmt", "hr", "st", "smooth"}
    artifact = json.loads((tmp_path / "b.json").read_text())
    assert artifact["fit"]["true_positives"] == max(true_positives.values())
    single = uqcli("boundary", data, "--precision", "0.7", "--algorithm", "gmt", "--json").json
    assert single["metrics"]["true_positives"] == true_positives["gmt"]


@pytest.mark.thorough
def test_all_algorithms_are_compared_at_a_recall(uqcli, data):
    recall = uqcli("boundary", data, "--recall", "0.7", "--algorithm", "all", "--json").json
    assert [row["algorithm"] for row in recall["algorithms"] if row["obstacle"]] == ["ew-dpmt", "gmt", "hr"]
    repeated = uqcli("boundary", data, "--recall", "0.7", "--algorithm", "all", "--json").json
    assert repeated == recall


def test_hr_recalibrates_the_score_when_applied(uqcli, tmp_path):
    score = np.linspace(0, 1, 200)
    uncertainty = np.tile([0.0, 1.0], 100)
    label = score + 0.4 * uncertainty > 0.7
    pl.DataFrame({"score": score, "uncertainty": uncertainty, "label": label}).write_csv(tmp_path / "d.csv")
    options = ["--precision", "1", "--algorithm", "hr", "-q", "-o", "hr.json"]
    assert uqcli("boundary", "d.csv", *options).code == 0
    artifact = json.loads((tmp_path / "hr.json").read_text())
    assert artifact["recalibration"] == {"coefficient": 0.39, "low": 0.0, "high": 1.0}
    assert artifact["fit"]["recall"] == 1.0
    metrics = uqcli("evaluate", "hr.json", "d.csv", "--json").json["metrics"]
    assert metrics["selected"] == artifact["fit"]["selected"]
    (tmp_path / "n.csv").write_text("score\n0.5\n")
    assert uqcli("apply", "hr.json", "n.csv").code == 3


def test_contradictory_grids_and_overflowing_sums_are_refused(uqcli, data, tmp_path):
    grid = grid_of(uqcli, data, "--score-bins", 2)

    def write_changed(name, **keys):
        content = grid | keys
        del content["digest"]  # as in version 0.2
        (tmp_path / name).write_text(json.dumps(content))
        return name

    huge = [[2 * 10**9, 0]] + [[0, 0]] * 2
    empty = [[0, 0]] * 3
    for name in (
        write_changed("huge.json", count=[[10**30, 0], *huge[1:]], positives=empty),
        write_changed("zero.json", count=empty, positives=empty),
        write_changed("span.json", binning="equi-span"),
        write_changed("more.json", positives=[[10**6, 0], *empty[1:]]),
        write_changed("ragged.json", count=[[1], [1, 2], [1, 2]]),
    ):
        assert uqcli("show", name).code == 5
        assert uqcli("boundary", "--grid", name, "--precision", "0.5").code == 5
    summable = write_changed("half.json", count=huge, positives=empty)
    assert uqcli("show", summable, "-q").code == 0
    assert uqcli("bin", "--merge", summable, summable).code == 3
    other_positive = write_changed("other.json", parameters=grid["parameters"] | {"positive": "no"})
    assert uqcli("bin", "--merge", write_changed("same.json"), other_positive).code == 2


def test_rows_of_weight_zero_are_absent_from_hr(uqcli, tmp_path):
    rows = "score,uncertainty,label,w\n0.2,0,0,1\n0.6,1,1,2\n0.55,0.2,0,1\n0.9,0.5,1,1\n"
    (tmp_path / "a.csv").write_text(rows)
    (tmp_path / "b.csv").write_text(rows + "0.5,99,0,0\n0.5,-99,1,0\n")
    options = ["--precision", "0.9", "--algorithm", "hr", "--weight", "w", "-q", "-o", "-"]
    without, with_zero_weights = (uqcli("boundary", name, *options).json for name in ("a.csv", "b.csv"))
    for key in ("thresholds", "recalibration", "fit"):
        assert without[key] == with_zero_weights[key]


def test_a_perfect_score_with_a_budget_selects_only_positives(uqcli, tmp_path):
    score = np.linspace(0, 1, 3000)
    uncertainty = np.resize([0.0, 1.0, 2.0], 3000)
    pl.DataFrame({"score": score, "uncertainty": uncertainty, "label": score > 0.7}).write_parquet(
        "p.parquet"
    )
    report = uqcli(
        "boundary",
        "p.parquet",
        "--max-selected",
        "10%",
        "--algorithm",
        "vw-dpmt",
        "--score-bins",
        "all",
        "--json",
    ).json
    assert report["metrics"]["true_positives"] == report["metrics"]["selected"] == 300
    assert report["thresholds"][0] is None


def test_errors_are_compared_with_those_of_calibrated_scores(uqcli, tmp_path):
    """Errors expected on the page are those of calibrated probabilities, for any number of rows per cell."""

    def errors_in(page):
        lines = re.findall(r"^\| [\d-]+ \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", page, flags=re.MULTILINE)
        return np.array(lines, dtype=float)

    random = np.random.default_rng(0)
    score = random.uniform(0.2, 0.8, 20_000)
    columns = {"score": score, "uncertainty": random.random(20_000), "label": random.random(20_000) < score}
    pl.DataFrame(columns).write_parquet(tmp_path / "right.parquet")
    for bins, tolerance in (("500", 0.1), ("10", 0.5)):  # the mean over few cells has a large error
        assert uqcli("bin", "right.parquet", "--score-bins", bins, "-q", "--report", "r.md").code == 0
        expected_errors = errors_in((tmp_path / "r.md").read_text())[:, 2]
        label, score_bin = (
            columns["label"],
            np.minimum((score - 0.2) / 0.6 * int(bins), int(bins) - 1).astype(int),
        )
        uncertainty_bin = np.minimum(columns["uncertainty"] * 3, 2).astype(int)
        cell = uncertainty_bin * int(bins) + score_bin
        cell_error = np.abs(np.bincount(cell, label - score) / np.maximum(np.bincount(cell), 1))
        by_bin = cell_error.reshape(3, -1).mean(axis=0)
        assert expected_errors[0] == pytest.approx(by_bin.mean(), rel=tolerance)
        assert expected_errors[len(expected_errors) // 2] == pytest.approx(
            by_bin[len(by_bin) // 2 :].mean(), rel=tolerance
        )
