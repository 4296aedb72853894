"""The program, run as anybody runs it: a process, arguments in, one JSON object out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INFEASIBLE = 4
"""The program's exit code where no boundary meets its bound."""


class ProgramError(Exception):
    """A command failed that must not."""


@dataclass(kw_only=True)
class Program:
    """Commands in one folder.

    Attributes
    ----------
    folder
        Where they run; what they write stays there.
    commands
        How many have run.
    last
        Seconds that the last one took.
    """

    folder: Path
    commands: int = 0
    last: float = 0.0

    def run(self, *arguments: object, allowed: tuple[int, ...] = (0,)) -> dict[str, Any] | None:
        """The JSON report of one command; None where it failed in an allowed way without one.

        Raises
        ------
        ProgramError
            It failed otherwise.
        """
        line = [sys.executable, "-m", "uqcli", *map(str, arguments), "--json", "--no-config"]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        start = time.perf_counter()
        done = subprocess.run(
            line, cwd=self.folder, capture_output=True, text=True, check=False, env=environment
        )
        self.last = time.perf_counter() - start
        self.commands += 1
        if done.returncode not in allowed:
            raise ProgramError(f"uqcli {' '.join(line[3:])}: exit {done.returncode}: {done.stderr.strip()}")
        report: dict[str, Any] | None = json.loads(done.stdout) if done.stdout.strip() else None
        return report

    def read(self, name: str) -> str:
        """What a command has written into the folder."""
        return (self.folder / name).read_text()


def measured(program: Program, artifacts: Sequence[str], rows: str) -> dict[str, dict[str, Any]]:
    """Metrics on labelled rows by file of a saved model; one command measures them all."""
    report = program.run("evaluate", *artifacts, rows)
    assert report is not None
    return {each["artifact"]: each["metrics"] for each in report["results"]}


def recalls(program: Program, rows: str) -> dict[str, float]:
    """Recall on labelled rows by name of each boundary in the folder."""
    boundaries = sorted(path.name for path in program.folder.glob("*.json"))
    found = measured(program, boundaries, rows) if boundaries else {}
    return {name.removesuffix(".json"): each["recall"]["value"] for name, each in found.items()}
