"""Every report counts the rows that it read and left out, and says why."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit

COMMANDS = {
    "boundary": "boundary {} --precision 0.6 --score-bins 20",
    "bin": "bin {} --binning pava",
    "calibrate": "calibrate {} --method platt",
    "conformal": "conformal {}",
    "tce": "tce {} --bootstrap 0",
    "evaluate": "evaluate rule.json {}",
    "two rules": "evaluate rule.json other.json {}",
    "watch": "watch rule.json {}",
    "sample": "sample rule.json {} --for precision --budget 20 -o drawn.csv",
    "apply": "apply rule.json {} -o applied.csv",
    "several bounds": "boundary {} --precision 0.5,0.6 --score-bins 20",
}


def rows(missing=30):
    random = np.random.default_rng(2)
    score = random.random(400)
    label = (random.random(400) < score).astype(int)
    score = [None if i < missing else float("inf") if i < missing + 2 else s for i, s in enumerate(score)]
    return pl.DataFrame({"score": score, "label": label})


@pytest.fixture
def files(prepared):
    return prepared(write_files)


def write_files():
    rows(0)[2:].write_csv("whole.csv")
    rows().write_csv("gaps.csv")
    rows().write_parquet("gaps.parquet")
    rows(300).write_parquet("most.parquet")
    for name, precision in (("rule", "0.6"), ("other", "0.7")):
        fit(f"boundary whole.csv --precision {precision} --score-bins 20 -o {name}.json")


@pytest.mark.covering("thorough", every=4, also=["sample", "apply", "two rules"])
@pytest.mark.parametrize("command", COMMANDS)
def test_reports_count_what_was_left_out(uqcli, files, command):
    line = [*COMMANDS[command].split(), "--on-invalid", "drop"]
    results = {}
    for name in ("gaps.csv", "gaps.parquet"):
        outcome = uqcli(*(part.format(name) for part in line), "--json")
        assert outcome.code == 0, outcome.err
        results[name] = outcome.json
    report = results["gaps.csv"]
    assert report["source"]["read"] == results["gaps.parquet"]["source"]["read"]
    assert report["source"]["read"] == {
        "rows": 400,
        "dropped": 32,
        "reasons": [
            {"column": "score", "value": "infinite", "rows": 2},
            {"column": "score", "value": "null", "rows": 30},
        ],
    }
    (metrics, *_) = (part["metrics"] for part in report.get("results", [report]))
    assert metrics["dropped_share"] == 0.08
    screen = uqcli(*(part.format("gaps.csv") for part in line)).out.decode()
    says = "Left out 32 of 400 rows (8.0 %): column 'score' has 2 infinite and 30 null."
    assert (says in screen, screen.count("\n") <= 16) == (True, True)
    gate = uqcli(*(part.format("gaps.csv") for part in line), "-q", "--fail-if", "dropped_share > 0.05")
    assert (gate.code, "dropped_share is 0.08" in gate.err) == (6, True)


def test_many_are_a_caution_that_a_rule_keeps(uqcli, files):
    line = "boundary most.parquet --precision 0.6 --score-bins 20 --on-invalid drop -o most.json"
    screen = uqcli(*line.split()).out.decode()
    assert re.search(
        r"Caution: 76 % of the rows were left out .* Find out why the values are missing", screen
    )
    assert "76 % of the rows" in json.loads(Path("most.json").read_text())["doubts"][0]
    line = "apply rule.json most.parquet -q --json -o out.csv --on-invalid"
    assert "76 % of the rows" in uqcli(*line.split(), "drop").json["cautions"][0]
    kept = uqcli(*line.split(), "keep").json
    assert kept["source"]["read"]["dropped"] == 0
    assert kept["source"]["read"]["reasons"][1] == {"column": "score", "value": "null", "rows": 300}


def test_missing_labels_have_their_own_caution(uqcli, files):
    rows(0)[2:].with_columns(
        label=pl.when(pl.int_range(pl.len()) < 200).then(None).otherwise("label")
    ).write_csv("some.csv")
    report = uqcli("evaluate", "rule.json", "some.csv", "--on-invalid", "drop", "--json").json
    assert "rows have no label" in " ".join(report["cautions"])
    assert "were left out" not in " ".join(report["cautions"])
    assert report["metrics"]["dropped_share"] > 0.5


def test_nothing_left_out_is_said_in_full_reports_only(uqcli, files):
    brief, full = (
        uqcli("evaluate", "rule.json", "whole.csv", *more).out.decode() for more in ((), ("--verbose",))
    )
    assert "Read 398 rows; none was left out." in full
    assert "none was left out" not in brief
    assert "read" not in uqcli("export", "rule.json", "--to", "python").out.decode()


@pytest.mark.parametrize("lines", [["0.5", "", "0.7", ""], ["", "", "0.25"]])
def test_a_blank_line_of_an_only_column_is_a_row_without_a_value(uqcli, files, lines):
    Path("one.csv").write_text("\n".join(["score", *lines]) + "\n")
    scores = pl.DataFrame({"score": [float(line) if line else None for line in lines]})
    scores.write_parquet("one.parquet")
    for handling in ("drop", "keep"):
        reports = [
            uqcli(*f"apply rule.json {name} --on-invalid {handling} --json -o o.csv".split()).json
            for name in ("one.csv", "one.parquet")
        ]
        assert reports[0] == reports[1]
    assert uqcli("apply", "rule.json", "one.csv").code == 3
