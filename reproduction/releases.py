"""What commands cost beside an older version: ``python -m reproduction.releases CHECKOUT ROWS [COMMAND]...``.

``CHECKOUT`` is a checkout of the earlier version, which runs with the same libraries. Commands of both run in
turn, of all rows alike and by day, customer and group. Seconds of short commands differ by a fifth from run
to run, so up to ``FEW_ROWS`` valgrind counts instructions. What is measured goes into ``docs/releases.json``,
in the place of earlier measurements of the same commands and rows, and from there into the page of times. Its
``why``, by hand, has the reasons of what is slower.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from compileall import compile_dir
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
import polars as pl

from reproduction.program import MEASURE, ProgramError

HERE: Final = Path(__file__).parents[1]
RECORD: Final = HERE / "docs" / "releases.json"
ROUNDS: Final = {5.0: 9, 20.0: 5, 60.0: 3}
"""Rounds of what takes up to so many seconds of CPU; what takes longer runs once."""

FEW_ROWS: Final = 10_000
COUNTER: Final = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
"""Counts the instructions of a process: the same from run to run, within a thousandth."""

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


@dataclass(frozen=True, kw_only=True)
class Line:
    """What a command cost before and now, in user seconds or in instructions, and their ratio."""

    command: str
    rows: int
    unit: str
    before: float
    after: float
    ratio: float
    runs: int


def _of(checkout: Path) -> dict[str, str]:
    """Return the environment of a version."""
    return {**os.environ, "PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"}


def cost(checkout: Path, folder: Path, words: Sequence[str], *, counted: bool = False) -> float:
    """Run a command of a version, and return its user seconds, or its instructions if they are counted."""
    command = [sys.executable, "-m", "uqcli", *words, "--no-config", "--quiet"]
    line = [*COUNTER, *command] if counted else [sys.executable, str(MEASURE), *command]
    process = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, env=_of(checkout))
    if process.returncode not in (0, 1):
        raise ProgramError(f"{' '.join(words)}: exit {process.returncode}: {process.stderr.strip()}")
    if counted:
        return float(process.stderr.partition("refs:")[2].split()[0].replace(",", ""))
    return float(process.stdout.split()[1])


def compare(before: Path, folder: Path, command: str, words: Sequence[str], rows: int) -> Line:
    """Run both versions in turn after a first round; the ratio is the median of those of the rounds."""
    costs = [[cost(version, folder, words) for version in (before, HERE)]]
    counted = rows <= FEW_ROWS
    rounds = 1 if counted else next((runs for limit, runs in ROUNDS.items() if max(costs[0]) <= limit), 0)
    if rounds:
        costs = [
            [cost(version, folder, words, counted=counted) for version in (before, HERE)]
            for _ in range(rounds)
        ]
    old, new = (median(column) for column in zip(*costs, strict=True))
    return Line(
        command=command,
        rows=rows,
        unit="instructions" if counted else "seconds",
        before=old,
        after=new,
        ratio=round(median(after / before for before, after in costs), 4),
        runs=len(costs),
    )


def keep(version: str, line: Line) -> None:
    """Keep what is measured, in the order of the commands."""
    kept = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    by_key = {(each["command"], each["rows"]): each for each in (*kept.get("lines", ()), asdict(line))}
    order = [name for name, _ in lines()]
    measured = sorted(by_key.values(), key=lambda each: (each["rows"], order.index(each["command"])))
    RECORD.write_text(json.dumps({**kept, "version": version, "lines": measured}, indent=1) + "\n")


def main() -> None:
    """Measure, print each line and keep it."""
    before, rows, wanted = Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3:]
    for version in (before, HERE):  # else each run compiles what was changed since, where it may not keep it
        compile_dir(version / "uqcli", quiet=1)
    asked = [sys.executable, "-m", "uqcli", "--version"]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)  # Python looks for packages where it runs first
        name = subprocess.check_output(asked, cwd=folder, text=True, env=_of(before)).split()[1]
        write(folder, rows)
        cost(before, folder, ("boundary", "rows.parquet", "--precision", "0.7", "-o", "rule.json"))
        cost(before, folder, ("calibrate", "rows.parquet", "-o", "map.json"))
        for command, words in lines():
            if wanted and command not in wanted:
                continue
            try:
                line = compare(before, folder, command, words, rows)
            except ProgramError as error:
                sys.stderr.write(f"{error}\n")
                continue
            keep(name, line)
            sys.stdout.write(f"{command}, {rows:,} rows: {line.ratio:.2f}, {line.after:,.2f} {line.unit}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
