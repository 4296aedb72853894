"""What each command costs beside an earlier version: ``python -m reproduction.releases CHECKOUT ROWS``.

``CHECKOUT`` is a checkout of the earlier version, which runs with the same libraries. Commands of both run in
turn. It prints a line of a Markdown table for each command, of all rows alike and by day, customer and group.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from reproduction.program import MEASURE, ProgramError

HERE: Final = Path(__file__).parents[1]
ROUNDS: Final = {3.0: 9, 10.0: 5, 60.0: 3}
"""Rounds of what takes up to so many seconds of CPU; what takes longer runs once."""

_BY: Final = {"day": ("--day", "day"), "customer": ("--cluster", "customer"), "group": ("--by", "group")}
_DAYS, _ROWS_OF_CUSTOMER, _GROUPS = 365, 10, 20


def lines() -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the commands, with a name each."""
    save, rows = ("-o", "saved.json"), "rows.parquet"
    boundary = ("boundary", rows, "--precision", "0.7", *save)
    evaluate = ("evaluate", "rule.json", rows)
    yield "overview", ("overview", rows)
    yield "bin", ("bin", rows, "--uncertainty", "doubt", *save)
    yield "boundary", boundary
    yield "boundary with an uncertainty", (*boundary, "--uncertainty", "doubt")
    yield from _by("boundary", boundary, "day", "customer", "group")
    yield "calibrate", ("calibrate", rows, *save)
    yield from _by("calibrate", ("calibrate", rows, *save), "customer")
    yield "tce", ("tce", rows)
    yield from _by("tce", ("tce", rows), "customer", "group")
    yield "conformal", ("conformal", rows, *save)
    yield from _by("conformal", ("conformal", rows, *save), "customer", "group")
    yield "shift", ("shift", rows, "--target", "new.parquet", *save)
    yield "apply", ("apply", "rule.json", rows, "-o", "applied.parquet")
    yield "evaluate", evaluate
    yield "evaluate a calibrator", ("evaluate", "map.json", rows)
    yield from _by("evaluate", evaluate, "day", "customer", "group")
    yield "sample", ("sample", "rule.json", rows, "--for", "recall", "--budget", "500", "-o", "drawn.parquet")
    yield "watch", ("watch", "rule.json", rows)
    yield from _by("watch", ("watch", "rule.json", rows), "day", "customer")
    yield "uncertainty", ("uncertainty", rows, "--members", "m_*", "--prefix", "raw_", "-o", "raw.parquet")
    yield "show", ("show", "rule.json")
    yield "export", ("export", "rule.json", "--to", "sql")


def _by(name: str, words: Sequence[str], *units: str) -> Iterator[tuple[str, Sequence[str]]]:
    for unit in units:
        yield f"{name} by {unit}", (*words, *_BY[unit])


def write(folder: Path, rows: int) -> None:
    """Draw a file of labelled rows, and new ones."""
    generator = np.random.default_rng(1)
    normal = generator.normal(size=rows)
    score = 1 / (1 + np.exp(1 - 2 * normal))
    members = {f"m_{number}": score * generator.uniform(0.8, 1, size=rows) for number in (1, 2, 3)}
    frame = pl.DataFrame(
        {
            "score": score,
            "label": (generator.random(rows) < score).astype(np.int8),
            "doubt": generator.gamma(2, 0.05, size=rows),
            "number": generator.integers(_DAYS, size=rows),
            "customer": generator.integers(max(1, rows // _ROWS_OF_CUSTOMER), size=rows),
            "group": generator.integers(_GROUPS, size=rows),
            **members,
        }
    ).with_columns(day=pl.date(2025, 1, 1) + pl.duration(days="number"), group=pl.format("group {}", "group"))
    frame.drop("number").write_parquet(folder / "rows.parquet")
    frame.select("score").write_parquet(folder / "new.parquet")


def cost(checkout: Path, folder: Path, words: Sequence[str]) -> float:
    """Run a command of a version, and return its user CPU in seconds."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    line = [sys.executable, str(MEASURE), sys.executable, "-m", "uqcli", *words, "--no-config", "--quiet"]
    process = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    if process.returncode not in (0, 1):
        raise ProgramError(f"{' '.join(words)}: exit {process.returncode}: {process.stderr.strip()}")
    return float(process.stdout.split()[1])


def compare(before: Path, folder: Path, words: Sequence[str]) -> tuple[float, float, int]:
    """Run both versions in turn, and return the least of each, and how often they ran after a first round."""
    first = [cost(version, folder, words) for version in (before, HERE)]
    rounds = next((rounds for limit, rounds in ROUNDS.items() if max(first) <= limit), 0)
    times = [[cost(version, folder, words) for version in (before, HERE)] for _ in range(rounds)] or [first]
    old, new = map(min, zip(*times, strict=True))
    return old, new, len(times)


def main() -> None:
    """Print the table."""
    before, rows = Path(sys.argv[1]).resolve(), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, rows)
        cost(before, folder, ("boundary", "rows.parquet", "--precision", "0.7", "-o", "rule.json"))
        cost(before, folder, ("calibrate", "rows.parquet", "-o", "map.json"))
        for command, words in lines():
            try:
                old, new, rounds = compare(before, folder, words)
            except ProgramError as error:
                sys.stderr.write(f"{error}\n")
                continue
            sys.stdout.write(
                f"| {command} | {rows:,} | {old:.2f} | {new:.2f} | {new / old:.2f} | {rounds} |\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
