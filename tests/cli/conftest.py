"""Fixtures that run command lines in this process, and a small data set for them."""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import typer.main

from tests.hang import HANGS_AFTER
from uqcli.base.running import memory
from uqcli.base.running.machine import POOL_VARIABLES
from uqcli.cli.app import run

typer.main.get_command = cache(typer.main.get_command)  # made once per command, not for every command line

PROGRAM = [sys.executable, "-m", "uqcli"]

NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""For processes under a limit of file size: a truncated .pyc would break every later run."""


@dataclass(frozen=True)
class Outcome:
    """Exit code and output of a command line."""

    code: int
    out: bytes
    err: str

    @property
    def json(self):
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"not strict JSON: {name}"))


@pytest.fixture(autouse=True)
def _few_draws(few_draws):
    """Draw less often in this folder."""


@pytest.fixture(autouse=True)
def _own_limits(monkeypatch):
    """Forget the threads and the memory that a command line of a test set for its process."""
    monkeypatch.setattr(memory, "_typed", [])
    monkeypatch.setattr(memory, "_aims", [])
    before = {name: os.environ.get(name) for name in POOL_VARIABLES}
    yield
    for name, value in before.items():
        os.environ.pop(name, None)
        os.environ.update({} if value is None else {name: value})


@pytest.fixture
def uqcli(capfdbinary, monkeypatch):
    """Run a command line: ``uqcli("boundary", path, ...)`` returns an Outcome."""

    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capfdbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        sys.stderr.flush()
        captured = capfdbinary.readouterr()
        return Outcome(code, captured.out, captured.err.decode())

    return call


def fit(line):
    """Run a command line that fits a rule, in this folder."""
    assert run([*line.split(), "-q"]) == 0, line


@pytest.fixture(scope="session")
def prepared_folders():
    """Folders of ``prepared``, with what the preparation returned, by preparation."""
    return {}


@pytest.fixture
def prepared(tmp_path, tmp_path_factory, prepared_folders):
    """Copy the files of a preparation, which runs once in a session: ``prepared(write_files)``."""

    def copy(prepare):
        if prepare not in prepared_folders:
            folder = tmp_path_factory.mktemp("prepared")
            with contextlib.chdir(folder):
                prepared_folders[prepare] = folder, prepare()
        folder, result = prepared_folders[prepare]
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
        return result

    return copy


ONE_BY_ONE = """
import json, os, sys
from uqcli.cli.process import set_environment
set_environment()
from uqcli.cli.app import run
folder, codes = sys.argv[1], []
for number, line in enumerate(json.load(sys.stdin)):
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{folder}/{number}.{name}", os.O_CREAT | os.O_WRONLY), stream)
    codes.append(run(line))
    sys.stdout.flush()
    sys.stderr.flush()
with open(f"{folder}/codes", "w") as file:
    json.dump(codes, file)
"""


def in_one_process(lines, environment=None, cwd=None):
    """Run command lines in one process, one after another; its start takes about a second."""
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(
            [sys.executable, "-c", ONE_BY_ONE, name],
            input=json.dumps([[str(word) for word in line] for line in lines]).encode(),
            env={**os.environ, **(environment or {})},
            cwd=cwd,
            check=True,
            timeout=HANGS_AFTER,
        )
        folder = Path(name)
        return [
            Outcome(code, (folder / f"{number}.out").read_bytes(), (folder / f"{number}.err").read_text())
            for number, code in enumerate(json.loads((folder / "codes").read_text()))
        ]


@pytest.fixture(autouse=True)
def figure_stub(request, monkeypatch):
    """Replace figures by a few bytes, because drawing takes most of the time of a page.

    ``test_plots.py``, other tests that need ``real_figures``, and the browser tests look at real figures.
    """
    from uqcli.reports import figures

    if "real_figures" not in request.fixturenames:
        picture = b'<?xml version="1.0"?><svg><title>not drawn</title></svg>'
        monkeypatch.setattr(figures, "render", lambda *_, **__: picture)


@pytest.fixture
def real_figures():
    """Draw figures as the program does."""


def sample_frame(rows=400, seed=7):
    """Draw scores whose positive rate depends on the uncertainty, with labels."""
    random = np.random.default_rng(seed)
    score = random.random(rows).round(3)
    uncertainty = random.normal(size=rows).round(3)
    positive = random.random(rows) < np.clip(score - 0.25 * (uncertainty > 0), 0, 1)
    return pl.DataFrame(
        {
            "id": [f"{number:05d}" for number in range(rows)],
            "score": score,
            "uncertainty": uncertainty,
            "label": positive.astype(np.int8),
            "note": [f'said "{number}", twice' if number % 7 == 0 else "" for number in range(rows)],
            "when": [str(date(2026, 1, 1) + timedelta(days=number * 40 // rows)) for number in range(rows)],
        }
    )


@pytest.fixture
def frame():
    return sample_frame()


@pytest.fixture(scope="session")
def prepared_files(tmp_path_factory):
    """Write once what many tests need: rows in both formats, and boundaries."""
    folder = tmp_path_factory.mktemp("made")
    frame = sample_frame()
    frame.write_parquet(folder / "data.parquet")
    frame.write_csv(folder / "data.csv")
    (folder / "fit.csv").write_text("score,label\n0.9,1\n0.1,0\n")
    data, fit, boundary, single = (
        str(folder / name) for name in ("data.parquet", "fit.csv", "boundary.json", "single.json")
    )
    for line in (
        ("boundary", data, "--precision", "0.7", "--score-bins", "20", "-o", boundary, "-q"),
        ("boundary", fit, "--precision", "1", "--algorithm", "st", "-q", "-o", single),
    ):
        assert run(line) == 0
    return folder


@pytest.fixture(scope="session")
def large_file(tmp_path_factory):
    """Write a large file, so that signals and closed pipes meet a busy program; tests only read it."""
    path = tmp_path_factory.mktemp("large") / "large.csv"
    score = np.random.default_rng(1).random(4_000_000)
    pl.DataFrame({"score": score, "pad": "x" * 20}).write_csv(path)
    return path


@pytest.fixture
def data(tmp_path, prepared_files):
    """Copy the rows as Parquet."""
    return Path(shutil.copy(prepared_files / "data.parquet", tmp_path))


@pytest.fixture
def data_csv(tmp_path, prepared_files):
    """Copy the rows as CSV."""
    return Path(shutil.copy(prepared_files / "data.csv", tmp_path))


@pytest.fixture
def artifact(tmp_path, prepared_files):
    """Copy a valid boundary."""
    return Path(shutil.copy(prepared_files / "boundary.json", tmp_path))


@pytest.fixture
def single(tmp_path, prepared_files):
    """Copy a single threshold, beside its calibration set."""
    shutil.copy(prepared_files / "fit.csv", tmp_path)
    return Path(shutil.copy(prepared_files / "single.json", tmp_path / "b.json"))
