"""Which modules each command imports on small files: no more than a table allows.

Commands that may load the same run one after the other in one process: what one of them has loaded, the next
may.

Loading takes most of a small job's time, and an import at the top of the wrong file is easily made.
"""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

HEAVY = {
    "llvmlite", "matplotlib", "numba", "numpy", "pandas", "polars", "pyarrow", "pydantic", "rich",
    "scipy.linalg", "scipy.optimize", "scipy.special", "scipy.stats", "sklearn",
}  # fmt: skip
READS = {"numpy", "polars", "pyarrow"}
TESTS = READS | {"scipy.special"}
MAY_LOAD = {
    "nothing": (set(), ["--version", "schema boundary"]),
    "what shows tables": ({"rich"}, ["--help", "boundary --help"]),
    "arrays": ({"numpy"}, ["show boundary.json --json", "show calibrator.json --json"]),
    "what reads": (
        READS,
        [
            "show sets.json --json",
            "boundary rows.parquet --precision 0.3 -q",
            "boundary rows.csv --precision 0.3 -q",
            "bin rows.parquet -q",
            "bin rows.csv -q",
            "apply boundary.json rows.parquet -q -o out.parquet",
            "apply boundary.json rows.csv -q -o out.csv",
            "apply calibrator.json rows.parquet -q -o out.parquet",
            "apply sets.json classes.parquet -q -o out.parquet",
            "conformal classes.parquet --proba p_* -q",
            "simulate gaussian --rows 1000 -q -o out.parquet",
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
            "shift classes.parquet --target classes.parquet --proba p_* -q",
        ],
    ),
}
"""Of the heavy packages; no other may be loaded. A whole list is not work enough for the compiler."""

LISTED = """
import json, sys
from uqcli.cli.app import run
for line in json.loads(sys.argv[1]):
    code = run(line.split())
    sys.stderr.write("\\n" + json.dumps([line, code, sorted(sys.modules)]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of small files and of models fitted to them."""
    made = tmp_path_factory.mktemp("imports")
    random = np.random.default_rng(0)
    score = random.beta(1, 5, 10_000)
    columns = {"score": score, "uncertainty": random.random(10_000), "label": random.random(10_000) < score}
    rows = pl.DataFrame(columns).with_columns(pl.col("label").cast(pl.Int8))
    rows.write_parquet(made / "rows.parquet")
    rows.write_csv(made / "rows.csv")
    probability = random.dirichlet(np.ones(4), 2000)
    label = (probability.cumsum(axis=1) < random.random((2000, 1))).sum(axis=1).clip(0, 3)
    classes = {f"p_{each}": probability[:, each] for each in range(4)}
    pl.DataFrame({**classes, "label": label}).write_parquet(made / "classes.parquet")
    lines = (
        "boundary rows.parquet --precision 0.3 -q -o boundary.json",
        "calibrate rows.parquet --bootstrap 0 -q -o calibrator.json",
        "conformal classes.parquet --proba p_* -q -o sets.json",
    )
    loaded(lines, made)
    return made


def loaded(lines, folder):
    """Heavy packages that a process has loaded after each of its command lines."""
    arguments = [sys.executable, "-c", LISTED, json.dumps(lines)]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=True)
    told = [json.loads(line) for line in done.stderr.splitlines() if line.startswith('["')]
    assert [(line, code) for line, code, _ in told] == [(line, 0) for line in lines], done.stderr
    return {line: HEAVY & set(modules) for line, _, modules in told}


@pytest.mark.parametrize("what", MAY_LOAD)
def test_commands_load_no_more_than_they_need(what, folder):
    may, lines = MAY_LOAD[what]
    for line, found in loaded(lines, folder).items():
        assert found <= may, line
