"""Whole processes in turn with their yardstick: A B A B ..., because a machine's speed drifts."""

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
    """One finished process: wall seconds, and peak memory in bytes as the operating system counts it."""

    seconds: float
    memory: int


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Medians over pairs, and the highest memory; the first pair, which warms up, is left out."""

    seconds: float
    yardstick_seconds: float
    ratio: float
    memory: int


def run(command):
    """Run a process and measure it from outside."""
    done = subprocess.run(
        [PYTHON, str(MEASURE), *map(str, command)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr}")
    seconds, kibibytes = done.stdout.split()
    return Process(seconds=float(seconds), memory=1024 * int(kibibytes))


def against(command, yardstick, runs):
    """Measure a command and its yardstick by so many pairs."""
    pairs = [(run(command), run(yardstick)) for _ in range(runs + 1)][1:]
    return Compared(
        seconds=statistics.median(ours.seconds for ours, _ in pairs),
        yardstick_seconds=statistics.median(theirs.seconds for _, theirs in pairs),
        ratio=statistics.median(ours.seconds / theirs.seconds for ours, theirs in pairs),
        memory=max(ours.memory for ours, _ in pairs),
    )
