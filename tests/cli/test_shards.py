"""Tests of shards: merged grids of days equal one grid, and grouped rows equal single rows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.strategies import data_sets
from uqcli.cli.app import run

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "shards.md"
NAMES = ["score", "uncertainty", "label", "w"]


@pytest.fixture
def days(tmp_path):
    random = np.random.default_rng(5)
    score = random.random(3000).round(3)
    rows = pl.DataFrame(
        {"score": score, "uncertainty": random.random(3000).round(2), "label": random.random(3000) < score}
    )
    for index in range(3):
        folder = tmp_path / "scores" / f"day=2026-11-0{index + 1}"
        folder.mkdir(parents=True)
        rows[1000 * index : 1000 * index + 1000].write_parquet(folder / "part.parquet")
    return rows


@pytest.mark.faults
@pytest.mark.usefixtures("all_draws")
def test_the_makefile_of_the_docs_counts_days_in_parallel(uqcli, days, tmp_path):
    """The makefile of the docs runs with two jobs."""
    makefile = next(
        block
        for block in re.findall(r"```make\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
        if "--merge" in block
    )
    (tmp_path / "Makefile").write_text(makefile)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment.pop("MAKEFLAGS", None)  # of a make that runs the tests, which may be silent
    subprocess.run(
        ["make", "-j2", "boundary.json"], cwd=tmp_path, env=environment, check=True, capture_output=True
    )
    assert uqcli("bin", "scores", "--edges", "edges.json", "-q", "-o", "whole.json").code == 0
    assert uqcli("boundary", "--grid", "whole.json", "--precision", "0.9", "-q", "-o", "b.json").code == 0
    assert (tmp_path / "both.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert (tmp_path / "boundary.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    fourth_day = tmp_path / "scores" / "day=2026-11-04"
    fourth_day.mkdir()
    days[:500].write_parquet(fourth_day / "part.parquet")
    process = subprocess.run(
        ["make", "-j2", "boundary.json"], cwd=tmp_path, env=environment, check=True, capture_output=True
    )
    assert process.stdout.count(b"uqcli bin scores") == 1  # only the new day
    assert uqcli("bin", "scores", "--edges", "edges.json", "-q", "-o", "whole.json").code == 0
    assert (tmp_path / "both.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


COMMANDS = {
    "boundary": ("boundary", "--precision", "0.5"),
    "boundary mist": ("boundary", "--precision", "0.5", "--algorithm", "mist"),
    "smooth": ("boundary", "--precision", "0.5", "--algorithm", "smooth"),
    "bin": ("bin", "--score-bins", "4"),
    "histogram": ("calibrate", "--method", "histogram", "--logit"),
    "mist": ("calibrate", "--method", "mist", "--logit"),
    "surface": ("calibrate", "--method", "surface", "--logit"),
    "conformal": ("conformal", "--method", "lac"),
}


def rule_file_of(folder, command, name):
    output = folder / "a.json"
    output.unlink(missing_ok=True)
    code = run([*COMMANDS[command], str(folder / name), "--weight", "w", "-q", "-o", str(output)])
    return output.read_bytes().replace(name.encode(), b"") if code == 0 else code


@pytest.mark.thorough
@settings(max_examples=8)
@pytest.mark.parametrize("command", COMMANDS)
@given(data_sets(), st.randoms(use_true_random=False))
def test_grouped_rows_with_summed_weights_equal_single_rows(tmp_path_factory, command, data, random):
    folder = tmp_path_factory.mktemp("grouped")
    rows = [row for row in data for _ in range(random.randrange(1, 4))]
    random.shuffle(rows)
    frame = pl.DataFrame(rows, schema=NAMES, orient="row")
    frame.write_parquet(folder / "rows.parquet")
    grouped = frame.group_by("score", "uncertainty", "label").agg(pl.col("w").sum())
    grouped.write_parquet(folder / "grouped.parquet")
    expected = rule_file_of(folder, command, "rows.parquet")
    actual = rule_file_of(folder, command, "grouped.parquet")
    if isinstance(expected, int):
        assert actual == expected
        return
    assert without_rows(actual) == without_rows(expected)


def without_rows(content):
    """Remove the number of rows, the doubts about them and the digest, which differ for grouped rows."""
    content = re.sub(rb'"digest": "\w+"|  "doubts": .*\n', b"", content)
    return re.sub(rb'"source": \{"rows": \d+, "positives": (\d+|null)', b"", content)
