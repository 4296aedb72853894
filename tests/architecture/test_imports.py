"""Tests that each command imports only the heavy packages that a table allows.

Commands with the same allowed packages run in one process.

A small job spends most of its time on imports, and a misplaced import is an easy mistake.
"""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

HEAVY = {
    "duckdb", "llvmlite", "matplotlib", "numba",
    "numpy", "onnx", "onnxruntime", "pandas", "polars", "pyarrow", "pydantic", "rich",
    "scipy.linalg", "scipy.optimize", "scipy.special", "scipy.stats", "sklearn", "sqlglot",
}  # fmt: skip
READS = {"numpy", "polars", "pyarrow"}
TESTS = READS | {"llvmlite", "scipy.linalg", "scipy.special"}  # which imports linear algebra from 1.18 on
MAY_LOAD = {
    "nothing": (set(), ["--version", "show --schema boundary", "schema boundary"]),
    "what shows tables": ({"rich"}, ["--help", "boundary --help"]),
    "arrays": (
        {"numpy"},
        ["show boundary.json --json", "show calibrator.json --json", "export boundary.json --to python"],
    ),
    "what writes SQL": ({"numpy", "sqlglot"}, ["export boundary.json --to sql"]),
    "what reads": (
        READS,
        [
            "show sets.json --json",
            "boundary rows.parquet --precision 0.3 -q",
            "boundary rows.csv --precision 0.3 -q",
            "boundary few.parquet --precision 0.3 -q",
            "evaluate boundary.json few.parquet -q",
            "bin rows.parquet -q",
            "bin rows.csv -q",
            "apply boundary.json rows.parquet -q -o out.parquet",
            "apply boundary.json rows.csv -q -o out.csv",
            "apply calibrator.json rows.parquet -q -o out.parquet",
            "apply sets.json classes.parquet -q -o out.parquet",
            "conformal classes.parquet --proba p_* -q",
        ],
    ),
    "what reads and shows": (READS | {"rich"}, ["boundary rows.csv --precision 0.3"]),
    "what tests": (
        TESTS,
        [
            "tce rows.parquet -q",
            "tce rows.csv -q",
            "calibrate rows.parquet --method platt -q",
            "calibrate rows.parquet --method isotonic -q",
            "calibrate rows.parquet --method histogram -q",
            "evaluate boundary.json rows.parquet -q",
            "evaluate calibrator.json rows.parquet -q",
            "evaluate sets.json classes.parquet -q",
            "sample boundary.json rows.parquet --for recall --budget 100 -q -o out.parquet",
            "watch boundary.json rows.parquet -q",
            "shift classes.parquet --target classes.parquet --proba p_* -q",
        ],
    ),
}
"""Allowed heavy packages, and command lines, which together do too little work to compile."""

SCRIPT = """
import json, sys
from uqcli.cli.app import run
for line in json.loads(sys.argv[1]):
    code = run(line.split())
    sys.stderr.write("\\n" + json.dumps([line, code, sorted(sys.modules)]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write small files, and rule files fitted to them."""
    folder = tmp_path_factory.mktemp("imports")
    random = np.random.default_rng(0)
    score = random.beta(1, 5, 10_000)
    columns = {"score": score, "uncertainty": random.random(10_000), "label": random.random(10_000) < score}
    customers = [None if row % 97 == 0 else f"customer {row // 3}" for row in range(10_000)]
    rows = pl.DataFrame(columns).with_columns(pl.col("label").cast(pl.Int8), pl.Series("customer", customers))
    rows.write_parquet(folder / "rows.parquet")
    rows.write_csv(folder / "rows.csv")
    rows.head(300).write_parquet(folder / "few.parquet")
    probability = random.dirichlet(np.ones(4), 2000)
    label = (probability.cumsum(axis=1) < random.random((2000, 1))).sum(axis=1).clip(0, 3)
    classes = {f"p_{class_number}": probability[:, class_number] for class_number in range(4)}
    pl.DataFrame({**classes, "label": label}).write_parquet(folder / "classes.parquet")
    lines = (
        "boundary rows.parquet --precision 0.3 -q -o boundary.json",
        "calibrate rows.parquet --bootstrap 0 -q -o calibrator.json",
        "conformal classes.parquet --proba p_* -q -o sets.json",
    )
    heavy_packages_after(lines, folder)
    return folder


def heavy_packages_after(lines, folder):
    """Run the lines in one process, and return the heavy packages loaded after each."""
    arguments = [sys.executable, "-c", SCRIPT, json.dumps(lines)]
    process = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=True)
    records = [json.loads(line) for line in process.stderr.splitlines() if line.startswith('["')]
    assert [(line, code) for line, code, _ in records] == [(line, 0) for line in lines], process.stderr
    return {line: HEAVY & set(modules) for line, _, modules in records}


@pytest.mark.covering("thorough", every=12)
@pytest.mark.parametrize("setup", MAY_LOAD)
def test_commands_load_no_more_than_they_need(setup, folder):
    allowed, lines = MAY_LOAD[setup]
    for line, packages in heavy_packages_after(lines, folder).items():
        assert packages <= allowed, line
