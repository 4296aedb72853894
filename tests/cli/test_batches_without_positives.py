"""A batch without a positive counts, as it does for labels 0 and 1; a label that was typed must occur."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit

WORDS = {"1": "fraud", "0": "good"}
SAYS = "no label in column 'outcome' is 'fraud', the positive label of the rule: all rows count as negative."
FITS = {
    "boundary": "boundary {} --precision 0.6 --score-bins 20 -o boundary.json",
    "calibrator": "calibrate {} --method platt -o calibrator.json",
    "sets": "conformal {} -o sets.json",
}
COMMANDS = [
    *(f"evaluate {rule}.json {{}}" for rule in FITS),
    "watch boundary.json {} --state state.json",
    "watch sets.json {}",
]


@pytest.fixture
def files(prepared):
    return prepared(write_files)


def write_files():
    """Fit rules on labels that are words, and on 0 and 1; a day of each has no positive."""
    random = np.random.default_rng(4)
    score = random.random(400)
    labels = pl.Series((random.random(400) < score).astype(int))
    for folder, label in (("numbers", labels), ("words", labels.cast(pl.String).replace(WORDS))):
        Path(folder).mkdir()
        rows = pl.DataFrame({"score": score, "outcome": label})
        rows.write_csv(f"{folder}/rows.csv")
        day = rows.filter(labels == 0)
        day.write_csv(f"{folder}/day.csv")
        day.write_parquet(f"{folder}/day.parquet")
    positive = {"numbers": (), "words": ("--positive", "fraud")}
    for folder, options in positive.items():
        for line in FITS.values():
            line_of_folder = line.format(f"{folder}/rows.csv").replace("-o ", f"-o {folder}/")
            fit(" ".join([line_of_folder, "--label outcome", *options]))


def run_line(uqcli, line, folder, inputs, *more):
    line = line.format(f"{folder}/{inputs}").replace(" boundary.json", f" {folder}/boundary.json")
    for name in ("calibrator.json", "sets.json", "state.json"):
        line = line.replace(f" {name}", f" {folder}/{name}")
    return uqcli(*line.split(), *more, "--json")


@pytest.mark.parametrize("line", COMMANDS)
def test_a_day_without_positives_counts_as_one_of_zeros(uqcli, files, line):
    words, numbers = (run_line(uqcli, line, folder, "day.parquet") for folder in ("words", "numbers"))
    assert words.code == numbers.code
    assert words.json["metrics"] == numbers.json["metrics"]
    says = f"{SAYS} Labels that occur: 'good'. If one of them is positive, name it with --positive."
    assert says in words.json["cautions"]
    assert not any("all rows count" in sentence for sentence in numbers.json.get("cautions", []))
    if "state" in line:
        batches = [
            json.loads(Path(name, "state.json").read_text())["batches"] for name in ("words", "numbers")
        ]
        assert batches[0][0]["counts"] == batches[1][0]["counts"]


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("engine", ["polars", "spark"])
@pytest.mark.parametrize("inputs", ["day.csv", "day.parquet"])
def test_up_to_three_labels_are_named(uqcli, files, inputs, engine):
    day = pl.read_csv("words/day.csv").with_row_index()
    names = pl.concat_str(pl.lit("kind "), 5 - pl.col("index") % 6)
    day.with_columns(outcome=names).write_csv("words/day.csv")
    day.with_columns(outcome=names).write_parquet("words/day.parquet")
    outcome = run_line(uqcli, COMMANDS[0], "words", inputs, "--engine", engine)
    says = f"{SAYS} Labels that occur: 'kind 0', 'kind 1', 'kind 2'."
    assert (outcome.code, says in " ".join(outcome.json["cautions"])) == (0, True)


def test_a_typed_label_must_occur(uqcli, files):
    refused = "label 'theft' never appears in column 'outcome'"
    for line in COMMANDS[:1] + COMMANDS[3:4]:
        for folder in ("words", "numbers"):
            outcome = run_line(uqcli, line, folder, "day.csv", "--positive", "theft")
            assert (outcome.code, refused in outcome.err) == (3, True)
        assert run_line(uqcli, line, "words", "day.csv", "--positive", "good").code in (0, 6)
        assert run_line(uqcli, line, "words", "day.csv", "--positive", "fraud", "--strict").code in (0, 2, 6)
    for line in (*FITS.values(), "tce {}"):
        fit = run_line(uqcli, line, "words", "day.csv", "--label", "outcome", "--positive", "fraud")
        assert (fit.code, "label 'fraud' never appears" in fit.err) == (3, True)
