"""Tests of ``--uncertainty=-COL``: the column turned round, in every command and export, on each engine."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import uqcli as api
from tests.cli.conftest import fit
from uqcli.base.choices import EngineName
from uqcli.boundary.calibration_set import CalibrationRows
from uqcli.boundary.options import BinOptions, BoundaryRequest
from uqcli.boundary.search.constraint_kinds import ConstraintKind
from uqcli.boundary.search.typed_constraints import parse_constraint
from uqcli.engines.request import DataRequest, Roles

BOUNDARY = "boundary {} --precision 0.7 --algorithm vw-dpmt --uncertainty-bins 3"
RULES = {
    "boundary": BOUNDARY,
    "hr": "boundary {} --precision 0.7 --algorithm hr",
    "groups": "boundary {} --precision 0.7 --by id",
    "grid": "bin {} --binning equi-weight --uncertainty-bins 3 --score-bins 9",
    "calibrator": "calibrate {} --method mist --bootstrap 0",
    "classes": "boundary {} --proba p_* --label class --precision 0.7 --min-group 1",
}


def frame_of(rows=3000):
    """Return rows that are less certain the fewer earlier rows there were; most have none."""
    random = np.random.default_rng(4)
    n_prior, score = random.poisson(0.8, rows), random.random(rows)
    rate = np.where(n_prior > 0, score, 0.2 + 0.5 * score)
    label = (random.random(rows) < rate).astype(int)
    return pl.DataFrame(
        {
            "id": [f"g{number % 2}" for number in range(rows)],
            "score": score,
            "n_prior": n_prior,
            "label": label,
            "p_x": score,
            "p_y": 1 - score,
            "class": np.where(label == 1, "x", "y"),
        }
    )


def write_files():
    frame = frame_of()
    frame.write_csv("raw.csv")
    frame.with_columns(u=-pl.col("n_prior")).write_csv("turned.csv")
    frame.rename({"n_prior": "-n_prior"}).write_csv("literal.csv")
    fit(f"{BOUNDARY.format('raw.csv')} --uncertainty=-n_prior -o rule.json")
    return frame


@pytest.fixture
def frame(prepared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return prepared(write_files)


def content(path):
    """Return a rule file without what names its column."""
    rule = json.loads(path.read_text())
    del rule["digest"], rule["source"]["columns"]
    return rule


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize("engine", ["polars", "spark"])
@pytest.mark.parametrize("kind", RULES)
def test_a_minus_turns_a_column_round(uqcli, frame, tmp_path, kind, engine):
    line = RULES[kind].split()
    if kind == "hr" and engine == "spark":
        line += ["--uncertainty-bins", "3"]
    files = {"raw.csv": "-n_prior", "turned.csv": "u", "literal.csv": "-n_prior"}
    for file, column in files.items():
        arguments = [file if part == "{}" else part for part in line]
        arguments += [f"--uncertainty={column}", "--engine", engine, "-q", "-o", f"{file}.json"]
        outcome = uqcli(*arguments)
        assert outcome.code == 0, outcome.err
    assert content(tmp_path / "raw.csv.json") == content(tmp_path / "turned.csv.json")
    assert content(tmp_path / "raw.csv.json") != content(tmp_path / "literal.csv.json")
    columns = json.loads((tmp_path / "raw.csv.json").read_text())["source"]["columns"]
    assert columns["-uncertainty"] == "n_prior"
    columns = json.loads((tmp_path / "literal.csv.json").read_text())["source"]["columns"]
    assert columns["uncertainty"] == "-n_prior"


@pytest.mark.parametrize("output", ["o.csv", "o.parquet", "o.jsonl"])
def test_rules_apply_to_the_column_itself_and_keep_it(uqcli, frame, tmp_path, output):
    fit(f"{BOUNDARY.format('turned.csv')} --uncertainty u -o u.json")
    assert uqcli("apply", "u.json", "turned.csv", "-q", "-o", "expected.csv").code == 0
    assert uqcli("apply", "rule.json", "raw.csv", "-q", "-o", output).code == 0
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "jsonl": pl.read_ndjson}[output[2:]]
    written, expected = read(output), pl.read_csv("expected.csv")
    assert written["decision"].cast(pl.String).to_list() == expected["decision"].cast(pl.String).to_list()
    assert written["n_prior"].cast(pl.Float64).to_list() == frame["n_prior"].to_list()
    decided = api.load("rule.json").decide(frame["score"].to_numpy(), frame["n_prior"].to_numpy())
    assert decided.tolist() == expected["decision"].to_list()


def test_columns_given_to_a_rule_may_be_turned(uqcli, frame):
    expected = uqcli("evaluate", "rule.json", "raw.csv", "--json").json["metrics"]
    for file, column in (("turned.csv", "u"), ("raw.csv", "-n_prior")):
        evaluated = uqcli("evaluate", "rule.json", file, f"--uncertainty={column}", "--json")
        assert evaluated.json["metrics"] == expected
    plain = uqcli("evaluate", "rule.json", "raw.csv", "--uncertainty", "n_prior", "--json")
    assert plain.json["metrics"] != expected
    assert "uncertainty '-n_prior'" in uqcli("show", "rule.json", "--verbose").out.decode()
    outcome = uqcli("evaluate", "rule.json", "raw.csv", "--uncertainty=-n_prio")
    assert outcome.code == 3
    assert "no column 'n_prio' in 'raw.csv'" in outcome.err
    assert "did you mean 'n_prior'? name it with --uncertainty" in outcome.err


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("to", ["sql", "python", "onnx"])
def test_exports_decide_alike(uqcli, frame, kind, to):
    line = RULES[kind].format("raw.csv").split()
    assert uqcli(*line, "--uncertainty=-n_prior", "-q", "-o", "r.json").code == 0
    outcome = uqcli("export", "r.json", "--to", to, "-o", "e", "--check", "raw.csv")
    assert (outcome.code, outcome.err) == (0, "")
    if to == "sql" and kind != "groups":  # which may have single thresholds
        text = Path("e").read_text()
        assert '0.0e0 - TRY_CAST("n_prior" AS DOUBLE)' in text or "0.0e0 - uqcli_row.uqcli_" in text


def test_exports_of_a_column_of_that_very_name_use_it(uqcli, frame):
    fit(f"{BOUNDARY.format('literal.csv')} --uncertainty=-n_prior -o literal.json")
    outcome = uqcli("export", "literal.json", "--to", "sql", "--check", "literal.csv")
    assert outcome.code == 0
    assert 'TRY_CAST("-n_prior" AS DOUBLE) <' in outcome.out.decode()
    assert uqcli("apply", "literal.json", "raw.csv", "-q", "-o", "o.csv").code == 3


def test_a_turned_column_is_found_beside_other_delimiters(uqcli, frame):
    frame.write_csv("raw2.csv", separator=";")
    expected = uqcli("apply", "rule.json", "raw.csv", "--output-format", "parquet", "-q", "-o", "o1.parquet")
    outcome = uqcli("apply", "rule.json", "raw2.csv", "--uncertainty=-n_prior", "-q", "-o", "o2.parquet")
    assert (expected.code, outcome.code) == (0, 0), outcome.err
    one, other = (pl.read_parquet(f"o{number}.parquet")["decision"] for number in (1, 2))
    assert one.to_list() == other.to_list()


def tied_frame():
    """Return rows most of which have no earlier row, and whose score then says little."""
    random = np.random.default_rng(1)
    n_prior, score = random.poisson(0.6, 8000), random.random(8000)
    rate = np.where(n_prior > 0, score, 0.3 + 0.2 * score)
    return pl.DataFrame(
        {"score": score, "n_prior": n_prior, "label": (random.random(8000) < rate).astype(int)}
    )


@pytest.mark.covering("thorough", every=6)
@pytest.mark.parametrize("engine", ["polars", "spark"])
@pytest.mark.parametrize("options", [[], ["--compare"], ["--algorithm", "vw-dpmt"]], ids=str)
def test_the_report_says_if_the_other_direction_does_better(uqcli, tmp_path, monkeypatch, options, engine):
    monkeypatch.chdir(tmp_path)
    tied_frame().with_columns(noise=pl.col("score").hash(3) % 1000).write_csv("a.csv")
    line = ("boundary", "a.csv", "--precision", "0.7", "--engine", engine, "--verbose", *options)
    line += ("--uncertainty-bins", "2")  # most rows are tied at the edge
    said = "try --uncertainty=-n_prior."
    assert said in uqcli(*line, "--uncertainty", "n_prior").out.decode()
    for column in ("-n_prior", "noise"):
        assert "sign reversed" not in uqcli(*line, f"--uncertainty={column}").out.decode()


def test_hr_assumes_a_direction(uqcli, frame):
    line = ("boundary", "raw.csv", "--precision", "0.7", "--algorithm", "hr", "--verbose")
    said = {
        column: re.search(
            "sign reversed, the uncertainty would gain .* try --uncertainty=(.*)[.]",
            uqcli(*line, column).out.decode(),
        )
        for column in ("--uncertainty=n_prior", "--uncertainty=-n_prior")
    }
    assert sum(match is not None for match in said.values()) <= 1
    recalls = [uqcli(*line[:-1], column, "--json").json["metrics"]["recall"] for column in said]
    for match, own, other in zip(said.values(), recalls, reversed(recalls), strict=True):
        assert (match is not None) == (other - own >= 0.005)


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("engine", list(EngineName))
@pytest.mark.parametrize("bins", [2, 4, 8])
def test_turned_cells_are_those_of_the_negatives(tmp_path, bins, engine):
    table = tied_frame().with_columns(turned=0.0 - pl.col("n_prior"), other=pl.col("score") * 3 % 1)
    table = table.with_columns(rest=0.0 - pl.col("other"))
    table.write_parquet(tmp_path / "a.parquet")
    goal = parse_constraint(ConstraintKind.PRECISION, "0.7")
    for column, negative in (("n_prior", "turned"), ("other", "rest")):
        rows, turned = (
            CalibrationRows.from_request(
                BoundaryRequest(
                    data=DataRequest(
                        inputs=(str(tmp_path / "a.parquet"),),
                        roles=Roles(numbers={"score": "score", "uncertainty": name}, label="label"),
                        engine=engine,
                    ),
                    bins=BinOptions(uncertainty_bins=bins),
                ),
                goal,
                uncertain=True,
            )
            for name in (column, negative)
        )
        found, expected = rows.turned_cells(bins), turned.compared_cells
        assert found.uncertainty_edges.tolist() == expected.uncertainty_edges.tolist()
        for own, other in zip(found.rows, expected.rows, strict=True):
            for name in ("lower", "count", "positives"):
                assert getattr(own, name).tolist() == getattr(other, name).tolist()
