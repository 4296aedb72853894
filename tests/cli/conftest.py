"""Running command lines in this process, and a small data set to run them on."""

import io
import json
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from uqcli.cli.app import run

PROGRAM = [sys.executable, "-m", "uqcli"]


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


@pytest.fixture
def data(tmp_path, frame):
    """A good Parquet file."""
    path = tmp_path / "data.parquet"
    frame.write_parquet(path)
    return path


@pytest.fixture
def data_csv(tmp_path, frame):
    """The same rows as CSV."""
    path = tmp_path / "data.csv"
    frame.write_csv(path)
    return path


@pytest.fixture
def artifact(tmp_path, data, uqcli):
    """A good boundary artifact."""
    path = tmp_path / "boundary.json"
    assert uqcli("boundary", data, "--precision", "0.7", "--score-bins", 20, "-o", path, "-q").code == 0
    return path


@pytest.fixture
def single(tmp_path):
    """A boundary on the score alone."""
    (tmp_path / "fit.csv").write_text("score,label\n0.9,1\n0.1,0\n")
    arguments = ["boundary", "fit.csv", "--precision", "1", "--algorithm", "st", "-q", "-o", "b.json"]
    subprocess.run([*PROGRAM, *arguments], check=True)
    return tmp_path / "b.json"
