"""Tests that reports on a single row, day, group or label speak of one, and in usual numbers."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

LINES = [
    "tce groups.csv --by customer",
    "tce groups.csv --by one",
    "tce one.csv",
    "boundary one.csv --precision 0.5 -o one.json",
    "boundary one.csv --precision 0.5,0.9 -o {}.json",
    "evaluate rule.json hole.csv --on-invalid drop",
    "evaluate rule.json one.csv",
    "sample rule.json groups.csv --for precision --budget 1 -o drawn.csv",
    "sample rule.json groups.csv --for recall --budget 1 -o drawn.csv",
    "sample rule.json groups.csv --for precision --plan 0.99",
    "apply rule.json one.csv -o out.csv",
    "show one.json",
    "show map.json",
    "apply map.json one.csv -o out.csv",
    "watch rule.json one.csv",
    "bin one.csv --uncertainty-bins 1",
    "show grid.json",
    "overview one.csv",
    "calibrate one.csv --method platt",
    "calibrate one_of_classes.csv --proba p_*",
    "conformal one_of_classes.csv --proba p_*",
    "shift one_of_classes.csv --proba p_* --target classes.csv",
    "shift classes.csv --proba p_* --target classes.csv --day day",
]


def write_files():
    random = np.random.default_rng(0)
    score = random.random(300).round(3)
    rows = pl.DataFrame({"score": score, "label": (random.random(300) < score**2).astype(int)})
    rows.with_columns(customer=np.arange(300) // 2, one=pl.lit(1)).write_csv("groups.csv")
    rows.filter(pl.col("label") == 1).head(1).write_csv("one.csv")
    rows.with_columns(score=pl.when(pl.int_range(300) > 0).then("score")).write_csv("hole.csv")
    p = random.dirichlet(np.ones(3), 60)
    classes = pl.DataFrame({f"p_{name}": p[:, index] for index, name in enumerate("abc")})
    classes = classes.with_columns(label=pl.Series(list("abc") * 20), day=pl.lit("2026-01-01"))
    classes.write_csv("classes.csv")
    classes.head(1).write_csv("one_of_classes.csv")


@pytest.fixture
def files(prepared):
    prepared(write_files)


@pytest.mark.parametrize("line", LINES)
def test_one_is_no_plural_and_numbers_are_usual(uqcli, files, line):
    for making in (
        "boundary groups.csv --precision 0.4 --algorithm st -o rule.json",
        "bin one.csv --uncertainty-bins 1 -o grid.json",
    ):
        assert uqcli(*making.split(), "-q").code == 0
    uqcli("boundary", "one.csv", "--precision", "0.5", "-q", "-o", "one.json")
    uqcli("calibrate", "one.csv", "--method", "platt", "--bootstrap", "0", "-q", "-o", "map.json")
    outcome = uqcli(*line.split(), "--verbose")
    text = f"{outcome.out.decode()}\n{outcome.err}"
    assert outcome.code in (0, 3, 4, 6), text
    plural = r"(?<!of )\b1 (rows|groups|classes|days|labels|clusters|positives|alerts|bins)\b"
    assert not re.findall(rf"{plural}|\b0 labelled rows|e\+0", text), text


def test_a_single_row_is_no_rows(uqcli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text("score,label,team\n0.9,1,a\n")
    Path("two.csv").write_text("score,label,team\n0.9,1,a\n,1,a\n")
    Path("few.csv").write_text("score,label\n0.9,1\n0.8,1\n0.5,1\n0.4,0\n0.3,0\n0.2,0\n")
    lines = (
        "boundary one.csv --precision 0.5 -o rule.json --verbose",
        "boundary one.csv --precision 0.5,0.6 --verbose",
        "evaluate rule.json two.csv --on-invalid drop --verbose",
        "evaluate two.csv --top 1 --per team --on-invalid drop --verbose",
        "boundary few.csv --precision 1 --review 1 -o review.json --verbose",
        "evaluate review.json few.csv --verbose",
        "sample rule.json one.csv --for precision --budget 1 -o drawn.csv --verbose",
        "tce one.csv --verbose",
    )
    for line in lines:
        outcome = uqcli(*line.split())
        assert outcome.code in (0, 3), (line, outcome.err)
        assert not re.search(r"(?<![\d,.])1 rows\b", outcome.out.decode()), (line, outcome.out)
