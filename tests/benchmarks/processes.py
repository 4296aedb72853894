"""Measures whole processes in turn with a yardstick: A B A B ..., because the machine's speed drifts."""

import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PYTHON = sys.executable
UQCLI = (PYTHON, "-m", "uqcli")
MEASURE = Path(__file__).with_name("measure.py")


@dataclass(frozen=True, kw_only=True)
class Process:
    """A finished process: wall seconds, and peak memory in bytes from the operating system."""

    seconds: float
    memory: int


@dataclass(frozen=True, kw_only=True)
class CommandComparison:
    """Medians over pairs without the first, which warms up, and the highest memory."""

    seconds: float
    yardstick_seconds: float
    ratio: float
    memory: int


def run(command):
    """Run a process, and measure it from outside."""
    process = subprocess.run(
        [PYTHON, str(MEASURE), *map(str, command)], capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {process.stderr}")
    seconds, kibibytes = process.stdout.split()
    return Process(seconds=float(seconds), memory=1024 * int(kibibytes))


def compare_processes(command, yardstick, runs):
    """Measure this many pairs of a command and its yardstick."""
    pairs = [(run(command), run(yardstick)) for _ in range(runs + 1)][1:]
    return CommandComparison(
        seconds=statistics.median(ours.seconds for ours, _ in pairs),
        yardstick_seconds=statistics.median(theirs.seconds for _, theirs in pairs),
        ratio=statistics.median(ours.seconds / theirs.seconds for ours, theirs in pairs),
        memory=max(ours.memory for ours, _ in pairs),
    )
