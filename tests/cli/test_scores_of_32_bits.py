"""Tests that rules decide alike on 32-bit scores, on the same as text, and on columns of either width."""

import json
import re
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

ROWS = 700
FORMATS = ("narrow.parquet", "text.csv", "wide.parquet")
"""32-bit columns, their shortest texts, and these texts as 64-bit columns."""


def write_rows(digits):
    """Write the same rows in all formats; numbers have a few digits, or None for all of 32 bits."""
    random = np.random.default_rng(0 if digits is None else digits)

    def numbers():
        drawn = random.random(ROWS)
        return (drawn if digits is None else drawn.round(digits)).astype(np.float32)

    score, uncertainty = numbers(), numbers()
    frame = pl.DataFrame(
        {
            "score": score,
            "uncertainty": uncertainty,
            "label": (random.random(ROWS) < score * (1.2 - 0.4 * uncertainty)).astype(np.int64),
            "team": random.choice(["a", "b"], ROWS),
        }
    )
    frame.write_parquet("narrow.parquet")
    frame.write_csv("text.csv")
    texts = [pl.col(name).cast(pl.String).cast(pl.Float64) for name in ("score", "uncertainty")]
    frame.with_columns(texts).write_parquet("wide.parquet")


@pytest.fixture(params=[1, None], ids=["one digit", "all digits"])
def rows(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows(request.param)


@pytest.fixture
def narrow_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows(None)


BOUNDARIES = {
    "one threshold": "--algorithm st --precision 0.7",
    "smooth": "--precision 0.7 --uncertainty-bins 4",
    "every score": "--algorithm vw-dpmt --precision 0.7 --score-bins all --uncertainty-bins 2",
    "mist": "--algorithm mist --recall 0.5",
    "equal span": "--algorithm vw-dpmt --binning equi-span --precision 0.7 --score-bins 10",
    "review": "--precision 0.7 --review 20% --uncertainty-bins 2",
    "groups": "--precision 0.7 --by team --min-group 50",
    "certified": "--precision 0.55 --certify 0.3 --uncertainty-bins 2",
}


def decided(uqcli, rule, name, *options):
    """Apply a rule and return the columns that it adds, as texts."""
    result = uqcli("apply", rule, name, "-o", "out.csv", "-q", *options)
    assert result.code == 0, result.err
    added = pl.read_csv("out.csv", infer_schema=False).drop("score", "uncertainty", "label", "team")
    return added.to_dicts()


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("options", BOUNDARIES.values(), ids=BOUNDARIES)
def test_a_boundary_is_the_same_and_decides_alike(uqcli, rows, options):
    for number, name in enumerate(FORMATS[:2]):
        result = uqcli("boundary", name, *options.split(), "-q", "-o", f"{number}.json")
        assert result.code == 0, result.err
    first, second = (json.loads(Path(f"{number}.json").read_text()) for number in (0, 1))
    if "equi-span" not in options and "certify" not in options:  # by the very ends, or drawn by the numbers
        assert first == second
    narrow, *others = (decided(uqcli, "0.json", name) for name in FORMATS)
    assert all(other == narrow for other in others)
    flagged = sum(row["decision"] in ("flag", "true") for row in narrow)
    assert flagged == first["fit"]["selected"]


@dataclass
class Case:
    """A rule that adds numbers, and by how much these may differ."""

    line: str
    apart: float = 0.0


OTHERS = {
    "histogram": Case("calibrate {} --method histogram"),
    "isotonic": Case("calibrate {} --method isotonic"),
    "venn-abers": Case("calibrate {} --method venn-abers"),
    "corrected": Case("calibrate {} --method venn-abers --undersampled 7"),
    "levels": Case("calibrate {} --method mist"),
    "grid": Case("bin {} --uncertainty-bins 3 --score-bins 7"),
    "even bins": Case("bin {} --binning equispaced --score-bins 10"),
    "isotonic bins": Case("bin {} --binning pava-bc"),
    "sets": Case("conformal {} --method lac --alpha 0.3 --mode label-conditional"),
}


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("case", OTHERS.values(), ids=OTHERS)
def test_other_rules_add_the_same(uqcli, rows, case):
    for name in FORMATS[:2]:
        result = uqcli(*case.line.format(name).split(), "-q", "-o", "rule.json")
        assert result.code == 0, result.err
        narrow, *others = (decided(uqcli, "rule.json", other) for other in FORMATS)
        for other in others:
            for row, expected in zip(other, narrow, strict=True):
                for key, text in expected.items():
                    if text in ("true", "false"):
                        assert row[key] == text
                    else:
                        assert float(row[key]) == pytest.approx(float(text), rel=0, abs=case.apart)


def test_calibration_errors_in_fixed_bins_are_the_same(uqcli, rows):
    reports = [uqcli("tce", name, "--binning", "equispaced", "--json").json for name in FORMATS]
    for report in reports[1:]:
        assert [part["count"] for part in report["bins"]] == [part["count"] for part in reports[0]["bins"]]
        for key in ("tce", "ece", "mce", "ace"):
            assert report["metrics"][key] == pytest.approx(reports[0]["metrics"][key], abs=1e-6)


def test_sets_that_32_bits_may_change_are_counted(uqcli, narrow_rows):
    frame = pl.read_parquet("narrow.parquet").with_columns(p_0=1 - pl.col("score"), p_1=pl.col("score"))
    frame.write_parquet("classes.parquet")
    line = ("conformal", "classes.parquet", "--proba", "p_*", "--alpha", "0.5", "-q", "-o", "sets.json")
    for method, options in (("aps", ["--no-randomize"]), ("lac", [])):
        assert uqcli(*line, "--method", method, *options).code == 0
        cautions = uqcli("evaluate", "sets.json", "classes.parquet", "--json").json.get("cautions", [])
        assert any("32-bit unit" in text for text in cautions) == (method == "aps")


def test_exported_programs_decide_alike_in_columns_of_either_width(uqcli, narrow_rows):
    uqcli("boundary", "text.csv", *BOUNDARIES["smooth"].split(), "-q", "-o", "rule.json")
    expected = [row["decision"] == "true" for row in decided(uqcli, "rule.json", "narrow.parquet")]
    frame = pl.read_csv("text.csv")  # noqa: F841 - read by the query
    for dialect in ("duckdb", "sqlite"):
        result = uqcli("export", "rule.json", "--to", "sql", "--dialect", dialect)
        assert result.code == 0, result.err
        expression = "\n".join(line for line in result.out.decode().splitlines() if line[:2] != "--")
        if dialect == "duckdb":
            query = "SELECT {} FROM (SELECT score::{} AS score, uncertainty::{} AS uncertainty FROM frame)"
            for width in ("FLOAT", "DOUBLE"):
                found = duckdb.sql(query.format(expression, width, width)).fetchall()
                assert [row[0] for row in found] == expected
            continue
        for name in FORMATS[::2]:
            read = pl.read_parquet(name).select(pl.col("score", "uncertainty").cast(pl.Float64))
            with sqlite3.connect(":memory:") as database:
                database.execute("CREATE TABLE t (score REAL, uncertainty REAL)")
                database.executemany("INSERT INTO t VALUES (?, ?)", read.rows())
                found = database.execute(f"SELECT {expression} FROM t").fetchall()
            assert [bool(row[0]) for row in found] == expected


@pytest.mark.thorough
def test_a_batch_is_known_again_as_text(uqcli, narrow_rows):
    uqcli("boundary", "text.csv", "--precision", "0.7", "-q", "-o", "rule.json")
    for name in FORMATS:
        result = uqcli("watch", "rule.json", name, "--state", "state.json", "-q")
        assert len(json.loads(Path("state.json").read_text())["batches"]) == 1, result.err


def test_a_state_of_an_earlier_version_knows_its_rows(uqcli, narrow_rows, monkeypatch):
    from uqcli.watch import counts

    uqcli("boundary", "text.csv", "--precision", "0.7", "-q", "-o", "rule.json")
    with monkeypatch.context() as earlier:
        earlier.setattr(counts, "of_texts", lambda numbers: numbers)
        uqcli("watch", "rule.json", "text.csv", "--state", "state.json", "-q")
    uqcli("watch", "rule.json", "text.csv", "--state", "state.json", "-q")
    assert len(json.loads(Path("state.json").read_text())["batches"]) == 1


def test_rows_drawn_above_a_score_stay_there_as_text(uqcli, narrow_rows):
    options = ("--for", "certificate", "--precision", "0.6", "--budget", "200", "-q", "-o")
    assert uqcli("sample", "narrow.parquet", *options, "pilot.csv").code == 0
    assert uqcli("sample", "narrow.parquet", *options, "test.csv", "--pilot", "pilot.csv").code == 0
    certify = ("--precision", "0.6", "--certify", "0.3", "--pilot", "pilot.csv", "-q")
    assert uqcli("boundary", "test.csv", *certify).code in (0, 4)


SHOWN = re.compile(r"score (?:>=|&gt;=) ([-+.e0-9]*[0-9])")


def write_thirds(seed):
    """Write scores with more digits than are printed, which a rounded threshold may exceed."""
    random = np.random.default_rng(seed)
    score = random.choice([1 / 3, 2 / 3, 0.999999499, 0.9999995, 0.99999975], 900)
    team = random.choice(["a", "b"], 900)
    label = random.random(900) < np.where(score < 0.5, 0.2, 0.75)
    frame = pl.DataFrame({"score": score, "team": team, "label": label.astype(int)})
    frame.write_csv("thirds.csv")
    return frame["score"].to_numpy()


@pytest.mark.parametrize(
    "options", ["--precision 0.7", pytest.param("--precision 0.7 --algorithm st", marks=pytest.mark.thorough)]
)
def test_a_printed_threshold_flags_what_the_rule_flags(uqcli, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    score = write_thirds(len(options))
    line = ("boundary", "thirds.csv", *options.split(), "-o", "rule.json", "--report", "page.html")
    texts = [
        uqcli(*line).out.decode(),
        Path("page.html").read_text(),
        uqcli("show", "rule.json").out.decode(),
    ]
    (threshold,) = json.loads(Path("rule.json").read_text())["thresholds"]
    for text in texts:
        printed = {float(number) for number in SHOWN.findall(text)}
        assert printed
        for number in printed:
            assert number <= score[score >= threshold].min()
            assert ((score >= number) == (score >= threshold)).all()
    groups = uqcli("boundary", "thirds.csv", "--precision", "0.7", "--by", "team", "-o", "groups.json")
    saved = json.loads(Path("groups.json").read_text())["groups"].values()
    printed = [float(number) for number in SHOWN.findall(groups.out.decode())]
    flagged = [(score >= group["thresholds"][0]).sum() for group in saved]
    assert [(score >= number).sum() for number in printed] == flagged
