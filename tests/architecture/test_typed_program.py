"""Programs that use the library are accepted by mypy and by pyright, in their strict modes."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parent.parent / "api").glob("typed_*.py"))


@pytest.mark.parametrize(
    "checker",
    [
        pytest.param(
            ["mypy", "--strict", "--config-file=", "--follow-imports=silent", "--cache-dir={folder}"],
            marks=pytest.mark.thorough,  # it checks the library's own annotations first
        ),
        ["pyright", f"--pythonpath={sys.executable}"],
    ],
    ids=lambda command: command[0],
)
def test_typed_programs_are_accepted(checker, tmp_path):
    command = [word.format(folder=tmp_path) for word in checker]
    run = subprocess.run(
        [sys.executable, "-m", *command, *map(str, PROGRAMS)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
