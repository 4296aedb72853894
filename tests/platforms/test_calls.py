"""Calls of all commands as processes on a simulated Windows: they write what they write on Linux."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import PROGRAM, Outcome, in_one_process, sample_frame
from tests.hang import HANGS_AFTER
from tests.platforms.conftest import simulated
from uqcli.cli.config import COMMANDS

SAMPLES = Path(__file__).parents[2] / "sample_data"

FIT = "boundary census_calibration.parquet --precision 0.7"
REPORTS = "--report r.html --report r.md --report r.json --report r.xml --report r.prom"
CALLS = {
    "version": "--version",
    "help": "--help",
    "help of a command": "boundary --help",
    "schema": "show --schema boundary",
    "overview": "overview census_test.parquet",
    "bin": "bin census_calibration.parquet -o grid.json",
    "boundary": f"{FIT} --compare -o rule.json",
    "boundary, certified": f"{FIT} --certify 0.1 -o certified.json",
    "boundary, reports": f"{FIT} {REPORTS}",
    "boundary, groups": "boundary towns.csv --precision 0.6 --by town --bound each --json",
    "boundary, JSON": f"{FIT} --json",
    "tce": "tce census_test.parquet",
    "calibrate": "calibrate census_calibration.parquet -o calibrator.json",
    "conformal": "conformal digits_proba_holdout.csv --proba p_* --alpha 0.1 -o sets.json",
    "shift": "shift digits_proba_holdout.csv --target digits_proba_new.csv --proba p_* -o shift.json",
    "apply": "apply rule.json census_first_rows.csv",
    "apply, standard input": "apply rule.json - < census_first_rows.csv",
    "apply, CSV": "apply rule.json census_first_rows.csv -o decisions.csv",
    "apply, Parquet": "apply rule.json census_test.parquet -o decisions.parquet",
    "apply, output that exists": "apply rule.json census_first_rows.csv -o old.csv",
    "apply, calibrator": "apply calibrator.json census_test.parquet -o calibrated.parquet",
    "apply, sets": "apply sets.json digits_proba_new.csv -o sets.csv",
    "backtest": "backtest towns.csv --day when --every 10d --precision 0.6",
    "evaluate": "evaluate rule.json census_test.parquet",
    "evaluate, standard input": "evaluate rule.json - < census_test.parquet",
    "evaluate, check": "evaluate rule.json census_test.parquet --fail-if precision.high<0.9 --report f.json",
    "evaluate, missing input": "evaluate rule.json nowhere.csv --report missing.json",
    "sample": "sample rule.json census_test.parquet --for precision --budget 100 -o label.csv",
    "watch, new": "watch certified.json census_test.parquet --state new.json",
    "watch, again": "watch certified.json census_calibration.parquet --state new.json --report w.html",
    "show": "show rule.json",
    "show, on rows": "show rule.json certified.json --on census_test.parquet",
    "export, SQL": "export rule.json --to sql --dialect duckdb --table t",
    "export, ONNX": "export rule.json --to onnx -o r.onnx --check census_test.parquet",
    "export, Python": "export rule.json --to python -o r.py --check census_test.parquet",
    "uncertainty": "uncertainty digits_proba_holdout.csv --members p_* -o u.parquet",
}
EXIT_CODES = {"evaluate, check": 6, "evaluate, missing input": 3}

MAKING = ("boundary", "boundary, certified", "calibrate", "conformal")
"""Calls that make what others read."""

LAST = ("watch, again",)


def prepare(folder):
    """Copy the sample data, and make rows of towns, and a file that a call replaces."""
    for path in (*SAMPLES.glob("census*"), *SAMPLES.glob("digits_proba*")):
        shutil.copy(path, folder)
    (folder / "old.csv").write_text("old")
    towns = pl.Series(["Zürich", "Łódź"]).gather([row % 2 for row in range(2000)])
    sample_frame(2000).with_columns(towns.alias("town")).write_csv(folder / "towns.csv")


def run(name, folder, environment):
    """Run a call as a process."""
    line, _, stdin = CALLS[name].partition(" < ")
    with (folder / stdin).open("rb") if stdin else contextlib.nullcontext(subprocess.DEVNULL) as stream:
        process = subprocess.run(
            [*PROGRAM, *line.split()],
            cwd=folder,
            stdin=stream,
            capture_output=True,
            check=False,
            timeout=HANGS_AFTER,
            env={**os.environ, **environment},
        )
    return Outcome(process.returncode, process.stdout, process.stderr.decode())


def run_on_windows(folder, environment):
    """Run all calls, as processes of their own."""
    others = [name for name in CALLS if name not in (*MAKING, *LAST)]
    outcomes = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for names in (MAKING, others, LAST):
            made = pool.map(lambda name: run(name, folder, environment), names)
            outcomes.update(zip(names, made, strict=True))
    return outcomes


def run_on_linux(folder):
    """Run all calls, in one process but for those that read standard input."""
    names = [*MAKING, *(name for name in CALLS if name not in MAKING and " < " not in CALLS[name])]
    outcomes = in_one_process([CALLS[name].split() for name in names], cwd=folder)
    return dict(zip(names, outcomes, strict=True)) | {
        name: run(name, folder, {}) for name in CALLS if name not in names
    }


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {system: tmp_path_factory.mktemp(system) for system in ("linux", "windows")}


@pytest.fixture(scope="module")
def outcomes(folders, simulation_folder):
    """Outcomes of all calls by system."""
    for folder in folders.values():
        prepare(folder)
    with ThreadPoolExecutor(2) as pool:
        linux = pool.submit(run_on_linux, folders["linux"])
        windows = pool.submit(run_on_windows, folders["windows"], simulated(simulation_folder))
        return {"linux": linux.result(), "windows": windows.result()}


def test_there_is_a_call_of_every_command():
    assert {line.split()[0] for line in CALLS.values() if not line.startswith("-")} == set(COMMANDS)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_prints_what_it_prints_on_linux(outcomes, name):
    linux, windows = outcomes["linux"][name], outcomes["windows"][name]
    assert windows.code == EXIT_CODES.get(name, 0), windows.err
    assert windows == linux


def test_the_files_have_the_bytes_of_linux(outcomes, folders):
    linux, windows = (
        {path.name: path.read_bytes() for path in folders[system].iterdir()}
        for system in ("linux", "windows")
    )
    assert sorted(windows) == sorted(linux)
    assert [name for name in linux if windows[name] != linux[name]] == []


def test_no_call_changed_a_file_that_it_had_open(outcomes, simulation_folder):
    assert not (simulation_folder / "refused").exists()


def test_the_library_finds_the_boundary_of_the_command(outcomes, folders, simulation_folder):
    code = (
        "import polars as pl\n"
        "from uqcli import find_boundary\n"
        "rows = pl.read_parquet('census_calibration.parquet')\n"
        "columns = (rows[name].to_numpy() for name in ('score', 'label', 'uncertainty'))\n"
        "score, label, uncertainty = columns\n"
        "print(find_boundary(score, label, uncertainty=uncertainty, precision='0.7').artifact.thresholds)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folders["windows"],
        capture_output=True,
        check=True,
        timeout=HANGS_AFTER,
        env={**os.environ, **simulated(simulation_folder)},
    )
    rule = json.loads((folders["linux"] / "rule.json").read_text())
    assert json.loads(process.stdout.replace(b"None", b"null")) == rule["thresholds"]
