"""Tests that neither threads nor memory, row groups or files change a byte of what commands count."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit
from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.local.count import cached, table
from uqcli.engines.local.read import csv_text

ROWS, FEW = 4000, 100
LINES = {
    "boundary": "boundary {} --precision 0.7",
    "boundary of groups": "boundary {} --precision 0.6 --by group --weight weight",
    "boundary of clusters": "boundary {} --precision 0.6 --cluster cluster --certify 0.2",
    "boundary of every score": "boundary {} --recall 0.4 --algorithm mist --score-bins all",
    "bin": "bin {} --binning equi-weight --uncertainty-bins 3 --score-bins 9 --weight weight",
    "tce": "tce {} --bootstrap 5",
    "tce of groups": "tce {} --by group",
    "platt": "calibrate {} --method platt",
    "isotonic": "calibrate {} --method isotonic",
    "classes": "calibrate {} --proba p_* --label class --method temperature",
    "conformal": "conformal {} --proba p_* --label class --alpha 0.2 --mode label-conditional",
    "shift": "shift {} --target {} --proba p_* --label class --estimator bbse",
    "evaluate": "evaluate rule.json {} --by group --weight weight",
    "evaluate sets": "evaluate sets.json {}",
    "watch": "watch rule.json {} --bound 0.5",
    "dropped": "boundary {} --precision 0.7 --on-invalid drop --uncertainty odd",
    "null": "boundary {} --precision 0.7 --uncertainty odd",
    "heavy": "boundary {} --precision 0.7 --weight heavy",
}
READ_IN = {"one": (1, 1, ""), "two": (2, 37, "9kB"), "three": (3, 700, ""), "sixteen": (16, 13, "70kB")}
"""Threads, rows of a row group, and memory."""


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(5)
    score = (np.round(random.beta(0.6, 1.5, ROWS) * 1024) / 1024).astype(np.float32)
    cluster = random.integers(0, 300, ROWS)
    probabilities = random.dirichlet([1, 1, 2], ROWS)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.normal(0, 1, ROWS).round(2),
            "label": (random.random(ROWS) < score).astype(np.int8),
            "weight": random.integers(0, 4, ROWS),
            "heavy": np.where(np.arange(ROWS) > 3000, 1_000_000_000, 1),
            "group": random.choice(["north", "south", "west"], ROWS),
            "cluster": [f"c{number}" for number in cluster],
            "odd": [None if number % 997 == 7 else number % 11 / 7 for number in range(ROWS)],
            **{f"p_{index}": probabilities[:, index] for index in range(3)},
            "class": (random.random((ROWS, 1)) > probabilities.cumsum(axis=1)[:, :2]).sum(axis=1),
        }
    )


@pytest.fixture
def forms(frame, tmp_path, monkeypatch):
    """Write the rows in several forms, with two rules, in a folder; small batches are counted."""
    monkeypatch.chdir(tmp_path)
    frame.write_parquet("rows.parquet")
    fit("boundary rows.parquet --precision 0.7 -o rule.json")
    fit("conformal rows.parquet --proba p_* --label class -o sets.json")
    for module in (cached, table):
        monkeypatch.setattr(module, "ROWS_PER_PART", FEW)
    monkeypatch.setitem(LocalBatches.__init__.__kwdefaults__, "max_rows", FEW)
    monkeypatch.setattr(csv_text, "CSV_BLOCK_BYTES", 3000)
    frame.with_columns(pl.col("score").cast(pl.Float64)).write_csv("rows.csv")
    for number, (first, end) in enumerate(pairwise([0, 1, 1500, 1500, 2100, ROWS])):
        (tmp_path / "in_files").mkdir(exist_ok=True)
        frame[first:end].write_parquet(f"in_files/{number}.parquet", row_group_size=300)


def output(uqcli, line, name, *options):
    outcome = uqcli(*line.replace("{}", name).split(), "--json", *options)
    typed = f" {' '.join(map(str, options))}"  # which an error repeats in the line that would read the file
    return outcome.code, outcome.out.replace(typed.encode(), b""), outcome.err.replace(typed, "")


@pytest.mark.usefixtures("forms")
@pytest.mark.covering("thorough", every=12)
@pytest.mark.parametrize("read_in", READ_IN)
@pytest.mark.parametrize("name", LINES)
def test_threads_memory_and_row_groups_change_no_byte(uqcli, frame, name, read_in):
    expected = output(uqcli, LINES[name], "rows.parquet", "--threads", "1")
    assert expected[0] == (3 if name in ("null", "heavy") else 0)
    threads, rows, memory = READ_IN[read_in]
    frame.write_parquet("rows.parquet", row_group_size=rows)
    options = ("--threads", threads, *(("--memory", memory) if memory else ()))
    assert output(uqcli, LINES[name], "rows.parquet", *options) == expected


@pytest.mark.usefixtures("forms")
@pytest.mark.covering("thorough", every=8)
@pytest.mark.parametrize("threads", [1, 2, 3, 16])
@pytest.mark.parametrize("name", LINES)
def test_files_and_blocks_of_text_change_no_byte(uqcli, name, threads):
    expected = output(uqcli, LINES[name], "rows.parquet", "--threads", "1")
    for files in ("rows.csv", "in_files"):
        code, out, _ = output(uqcli, LINES[name], files, "--threads", threads)
        if expected[0]:  # a message names the file
            assert code == expected[0]
            continue
        assert (code, out.replace(files.encode(), b"rows.parquet")) == expected[:2]
