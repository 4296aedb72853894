"""Fixtures that run command lines as processes on a simulated Windows (see windows/sitecustomize.py)."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import (  # noqa: F401  fixtures of the contract tests
    PROGRAM,
    Outcome,
    artifact,
    data,
    data_csv,
    frame,
    large_file,
    prepared_files,
    single,
)
from tests.hang import HANGS_AFTER

SIMULATION = Path(__file__).parent / "windows"


def simulated(folder):
    """Return the environment of processes on the simulated Windows, with caches and a log in a folder."""
    return {
        "PYTHONPATH": str(SIMULATION),
        "LOCALAPPDATA": str(folder / "caches"),
        "SIMULATION_LOG": str(folder / "refused"),
    }


@pytest.fixture(scope="session")
def simulation_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("windows")
    (folder / "caches").mkdir()
    return folder


@pytest.fixture
def on_windows(monkeypatch, simulation_folder):
    """Start processes on the simulated Windows, and fail if one tried to change a file that it had open."""
    for name, value in simulated(simulation_folder).items():
        monkeypatch.setenv(name, value)
    refused = simulation_folder / "refused"
    refused.unlink(missing_ok=True)
    yield
    assert not refused.exists(), refused.read_text()


@pytest.fixture
def uqcli(on_windows):
    """Run a command line as a process: ``uqcli("boundary", path, ...)`` returns an Outcome."""

    def call(*arguments, stdin=b""):
        line = [*PROGRAM, *map(str, arguments)]
        process = subprocess.run(line, input=stdin, capture_output=True, check=False, timeout=HANGS_AFTER)
        return Outcome(process.returncode, process.stdout, process.stderr.decode())

    return call
