"""Running command lines in this process, and a small data set to run them on."""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import typer.main

from uqcli.cli.app import run

typer.main.get_command = cache(
    typer.main.get_command
)  # made once of each command, not for every line that is run

PROGRAM = [sys.executable, "-m", "uqcli"]

NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""For processes that may write only little: a .pyc cut short would break every later run."""


@dataclass(frozen=True)
class Outcome:
    """What a command line left behind."""

    code: int
    out: bytes
    err: str

    @property
    def json(self):
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"not strict JSON: {name}"))


@pytest.fixture
def uqcli(capfdbinary, monkeypatch):
    """Run a command line: ``uqcli("boundary", path, ...)`` gives an Outcome."""

    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capfdbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        sys.stderr.flush()
        captured = capfdbinary.readouterr()
        return Outcome(code, captured.out, captured.err.decode())

    return call


ONE_BY_ONE = """
import json, os, sys
from uqcli.cli.process.environment import set_environment
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
    """Outcomes of command lines that one process runs one after the other, as it starts in a second or so."""
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(
            [sys.executable, "-c", ONE_BY_ONE, name],
            input=json.dumps([[str(word) for word in line] for line in lines]).encode(),
            env={**os.environ, **(environment or {})},
            cwd=cwd,
            check=True,
            timeout=240,
        )
        folder = Path(name)
        return [
            Outcome(code, (folder / f"{number}.out").read_bytes(), (folder / f"{number}.err").read_text())
            for number, code in enumerate(json.loads((folder / "codes").read_text()))
        ]


@pytest.fixture
def undrawn(monkeypatch):
    """Figures are a few bytes: for tests of what stands around them, as drawing takes most of a page's time.

    What is drawn is looked at in ``test_plots.py`` and in a browser.
    """
    from uqcli.reports import figures

    picture = b'<?xml version="1.0"?><svg><title>not drawn</title></svg>'
    monkeypatch.setattr(figures, "render", lambda *_, **__: picture)


@pytest.fixture
def few_draws(monkeypatch):
    """Few placebos and resamplings stand for many: for tests of what is said of a comparison, and where."""
    monkeypatch.setattr("uqcli.jobs.boundary.compared.PERMUTATIONS", 20)
    monkeypatch.setattr("uqcli.methods.boundary.ranking.permutation.RESAMPLINGS", 50)


def sample_frame(rows=400, seed=7):
    """Scores whose meaning depends on the uncertainty, with labels."""
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
        }
    )


@pytest.fixture
def frame():
    return sample_frame()


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """What many tests start from, made once: rows in both formats, boundaries, and a large file."""
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
def large(tmp_path_factory):
    """A file large enough that a signal or a closed pipe meets the program at work; only to be read."""
    path = tmp_path_factory.mktemp("large") / "large.csv"
    score = np.random.default_rng(1).random(4_000_000)
    pl.DataFrame({"score": score, "pad": "x" * 20}).write_csv(path)
    return path


@pytest.fixture
def data(tmp_path, made):
    """A good Parquet file."""
    return Path(shutil.copy(made / "data.parquet", tmp_path))


@pytest.fixture
def data_csv(tmp_path, made):
    """The same rows as CSV."""
    return Path(shutil.copy(made / "data.csv", tmp_path))


@pytest.fixture
def artifact(tmp_path, made):
    """A good boundary artifact."""
    return Path(shutil.copy(made / "boundary.json", tmp_path))


@pytest.fixture
def single(tmp_path, made):
    """A boundary on the score alone, beside the rows it was found on."""
    shutil.copy(made / "fit.csv", tmp_path)
    return Path(shutil.copy(made / "single.json", tmp_path / "b.json"))
