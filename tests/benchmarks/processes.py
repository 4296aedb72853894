"""Measures whole processes in turn with a baseline: A B A B ..., because the machine's speed drifts."""

import os
import statistics
import subprocess
import sys
from dataclasses import dataclass

from tests.documentation.reference import ROOT

# otherwise a process compiles the modules that changed since they were last run, and the other tree does not
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

PYTHON = sys.executable
UQCLI = (PYTHON, "-m", "uqcli")
CHAIN = (PYTHON, "-m", "tests.benchmarks.chain")
MEASURE = ROOT / "reproduction" / "measure.py"


@dataclass(frozen=True, kw_only=True)
class Process:
    """A finished process: wall seconds, and peak memory in bytes from the operating system."""

    seconds: float
    memory: int


@dataclass(frozen=True, kw_only=True)
class CommandComparison:
    """Medians over all pairs but the first, which warms up, and the peak memory."""

    seconds: float
    baseline_seconds: float
    ratio: float
    memory: int


def run(command):
    """Run a process, and measure it from outside."""
    process = subprocess.run(
        [PYTHON, str(MEASURE), *map(str, command)], capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {process.stderr}")
    seconds, _, kibibytes = process.stdout.split()
    return Process(seconds=float(seconds), memory=1024 * int(kibibytes))


def output_of(command):
    """Run a process, and return its output."""
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def compare_processes(command, baseline, runs):
    """Measure this many pairs of a command and its baseline."""
    pairs = [(run(command), run(baseline)) for _ in range(runs + 1)][1:]
    return CommandComparison(
        seconds=statistics.median(measured.seconds for measured, _ in pairs),
        baseline_seconds=statistics.median(baseline_run.seconds for _, baseline_run in pairs),
        ratio=statistics.median(measured.seconds / baseline_run.seconds for measured, baseline_run in pairs),
        memory=max(measured.memory for measured, _ in pairs),
    )
