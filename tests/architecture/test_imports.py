"""What each command may load: a process of its own, on small files, held against a table.

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
    "--version": set(),
    "--help": {"rich"},
    "boundary --help": {"rich"},
    "schema boundary": set(),
    "show boundary.json --json": {"numpy"},
    "show calibrator.json --json": {"numpy"},
    "show sets.json --json": READS,
    "boundary rows.parquet --precision 0.3 -q": READS,
    "boundary rows.csv --precision 0.3 -q": READS,
    "boundary rows.csv --precision 0.3": READS | {"rich"},
    "bin rows.parquet -q": READS,
    "bin rows.csv -q": READS,
    "apply boundary.json rows.parquet -q -o out.parquet": READS,
    "apply boundary.json rows.csv -q -o out.csv": READS,
    "apply calibrator.json rows.parquet -q -o out.parquet": READS,
    "apply sets.json classes.parquet -q -o out.parquet": READS,
    "conformal classes.parquet --proba p_* -q": READS,
    "tce rows.parquet -q": TESTS,
    "tce rows.csv -q": TESTS,
    "calibrate rows.parquet --method platt -q": TESTS,
    "calibrate rows.parquet --method isotonic -q": TESTS,
    "calibrate rows.parquet --method histogram -q": TESTS,
    "evaluate boundary.json rows.parquet -q": TESTS,
    "evaluate calibrator.json rows.parquet -q": TESTS,
    "evaluate sets.json classes.parquet -q": TESTS,
    "shift classes.parquet --target classes.parquet --proba p_* -q": TESTS,
    "simulate gaussian --rows 1000 -q -o out.parquet": READS,
}
"""Of the heavy packages; no other may be loaded. Nothing here is work enough for the compiler."""

LISTED = """
import json, sys
from uqcli.cli.app import run
code = run(sys.argv[1:])
sys.stderr.write("\\n" + json.dumps([code, sorted(sys.modules)]))
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
    for command in (
        "boundary rows.parquet --precision 0.3 -q -o boundary.json",
        "calibrate rows.parquet --bootstrap 0 -q -o calibrator.json",
        "conformal classes.parquet --proba p_* -q -o sets.json",
    ):
        loaded(command, made)
    return made


def loaded(command, folder):
    """Heavy packages that a process of the command has loaded."""
    arguments = [sys.executable, "-c", LISTED, *command.split()]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return HEAVY & set(modules)


@pytest.mark.parametrize("command", MAY_LOAD)
def test_commands_load_no_more_than_they_need(command, folder):
    assert loaded(command, folder) <= MAY_LOAD[command]
