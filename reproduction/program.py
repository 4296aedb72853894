"""Runs uqcli as a process, and reads its JSON report."""

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
"""Exit code if no boundary meets its bound."""


class ProgramError(Exception):
    """A command failed unexpectedly."""


MEASURE = Path(__file__).with_name("measure.py")
"""Starts a process and measures it from outside."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a process took: wall seconds, user CPU seconds and peak memory in MB."""

    wall: float
    user: float
    memory: float


@dataclass(kw_only=True)
class Program:
    """Runs commands in one folder.

    Attributes
    ----------
    folder
        Working directory of the commands, with their outputs.
    commands
        Number of commands so far.
    last_seconds
        Duration of the last command.
    """

    folder: Path
    commands: int = 0
    last_seconds: float = 0.0

    def run(self, *arguments: object, allowed: tuple[int, ...] = (0,)) -> dict[str, Any] | None:
        """Run a command and return its JSON report; None if it failed in an allowed way without a report.

        Raises
        ------
        ProgramError
            The command failed otherwise.
        """
        line = [sys.executable, "-m", "uqcli", *map(str, arguments), "--json", "--no-config"]
        start = time.perf_counter()
        process = self._process(line)
        self.last_seconds = time.perf_counter() - start
        if process.returncode not in allowed:
            raise ProgramError(
                f"uqcli {' '.join(line[3:])}: exit {process.returncode}: {process.stderr.strip()}"
            )
        report: dict[str, Any] | None = json.loads(process.stdout) if process.stdout.strip() else None
        return report

    def cost(self, module: str, *arguments: object, code: int = 0) -> Cost:
        """Run a module, which exits with a code, and return what the process took; its output is lost.

        Raises
        ------
        ProgramError
            The module failed.
        """
        line = [sys.executable, "-m", module, *map(str, arguments)]
        process = self._process([sys.executable, str(MEASURE), *line])
        if process.returncode != code:
            raise ProgramError(f"{' '.join(line[2:])}: exit {process.returncode}: {process.stderr.strip()}")
        wall, user, kibibytes = map(float, process.stdout.split())
        return Cost(wall=wall, user=user, memory=kibibytes * 1024 / 1e6)

    def _process(self, line: Sequence[str]) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        self.commands += 1
        return subprocess.run(
            line, cwd=self.folder, capture_output=True, text=True, check=False, env=environment
        )

    def read(self, name: str) -> str:
        """Read a file that a command wrote into the folder."""
        return (self.folder / name).read_text()


def evaluate_rules(program: Program, artifacts: Sequence[str], rows: str) -> dict[str, dict[str, Any]]:
    """Return the metrics on labelled rows by rule file; one command evaluates all rules."""
    report = program.run("evaluate", *artifacts, rows)
    assert report is not None
    return {result["artifact"]: result["metrics"] for result in report["results"]}


def recalls(program: Program, rows: str) -> dict[str, float]:
    """Return the recall on labelled rows by name of each boundary in the folder."""
    boundaries = sorted(path.name for path in program.folder.glob("*.json"))
    metrics_by_name = evaluate_rules(program, boundaries, rows) if boundaries else {}
    return {
        name.removesuffix(".json"): metrics["recall"]["value"] for name, metrics in metrics_by_name.items()
    }
