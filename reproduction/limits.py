"""Measures the memory in which each command finishes on 10 million rows: ``make limits COMMANDS="tce bin"``.

It writes the table of docs/how-to/operate.md. Each command runs on two threads under one ``--memory`` after
another.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from reproduction.program import MEASURE

PAGE: Final = Path(__file__).parents[1] / "docs" / "how-to" / "operate.md"
BEGIN, END = "<!-- limits: make limits writes this table -->\n", "<!-- limits: end -->\n"

ROWS, ROWS_PER_DRAW, DAYS, ROWS_PER_CUSTOMER = 10_000_000, 1_000_000, 200, 5
SIZES: Final = ("300MB", "400MB", "600MB", "1GiB", "2GB", "4GB")
"""Values of ``--memory`` that are tried in this order."""

BESIDE_MB: Final = 250
"""What a run may take beside its ``--memory``."""

PLAIN: Final = "plain"
LINES: Final = {
    "overview": {PLAIN: "overview ROWS"},
    "boundary": {
        PLAIN: "boundary ROWS --precision 0.6 -o OUT.json",
        "by day": "boundary ROWS --precision 0.6 --day day -o OUT.json",
        "by customer": "boundary ROWS --precision 0.6 --cluster customer -o OUT.json",
    },
    "boundary --certify": {
        PLAIN: "boundary ROWS --precision 0.6 --certify 0.1 -o OUT.json",
        "by day": "boundary ROWS --precision 0.6 --certify 0.1 --day day -o OUT.json",
        "by customer": "boundary ROWS --precision 0.6 --certify 0.1 --cluster customer -o OUT.json",
    },
    "boundary --score-bins all": {PLAIN: "boundary ROWS --precision 0.6 --score-bins all -o OUT.json"},
    "boundary --algorithm hr": {PLAIN: "boundary ROWS --precision 0.6 --algorithm hr -o OUT.json"},
    "bin": {PLAIN: "bin ROWS -o OUT.json"},
    "tce": {
        PLAIN: "tce ROWS",
        "by day": "tce ROWS --cluster day",
        "by customer": "tce ROWS --cluster customer",
    },
    "tce --by": {PLAIN: "tce ROWS --by day"},
    "calibrate": {
        PLAIN: "calibrate ROWS -o OUT.json",
        "by day": "calibrate ROWS --cluster day -o OUT.json",
        "by customer": "calibrate ROWS --cluster customer -o OUT.json",
    },
    "calibrate --method mist": {PLAIN: "calibrate ROWS --method mist -o OUT.json"},
    "conformal": {
        PLAIN: "conformal ROWS -o OUT.json",
        "by day": "conformal ROWS --cluster day -o OUT.json",
        "by customer": "conformal ROWS --cluster customer -o OUT.json",
    },
    "shift": {
        PLAIN: "shift ROWS --target ROWS -o OUT.json",
        "by day": "shift ROWS --target ROWS --day day -o OUT.json",
        "by customer": "shift ROWS --target ROWS --cluster customer -o OUT.json",
    },
    "evaluate": {
        PLAIN: "evaluate RULE ROWS",
        "by day": "evaluate RULE ROWS --day day",
        "by customer": "evaluate RULE ROWS --cluster customer",
    },
    "watch": {PLAIN: "watch RULE ROWS", "by day": "watch RULE ROWS --day day"},
    "sample": {PLAIN: "sample RULE ROWS --for precision --budget 1000 -o OUT.csv"},
    "apply": {PLAIN: "apply RULE ROWS -o OUT.parquet"},
    "apply to CSV": {PLAIN: "apply RULE ROWS -o OUT.csv"},
    "apply --top": {PLAIN: "apply RULE ROWS --top 1000 -o OUT.parquet"},
    "uncertainty": {PLAIN: "uncertainty ROWS --members score,uncertainty --overwrite -o OUT.parquet"},
}
"""Command lines by command, and by what the rows depend on."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A finished run: its exit code, seconds, peak memory in MB, and what it said on standard error."""

    code: int
    seconds: float
    peak: float
    message: str


def write_rows(path: Path, rows: int) -> None:
    """Write scores, uncertainties and labels of days and customers."""
    random, writer = np.random.default_rng(1), None
    for start in range(0, rows, ROWS_PER_DRAW):
        size = min(ROWS_PER_DRAW, rows - start)
        score, uncertainty = random.beta(0.6, 1.2, size), random.random(size)
        positive = random.random(size) < np.clip(score * (0.9 + 0.1 * (uncertainty - 0.5)), 0, 1)
        day = np.datetime64("2024-01-01") + np.arange(start, start + size) * DAYS // rows
        frame = pl.DataFrame(
            {
                "score": score,
                "uncertainty": uncertainty,
                "label": positive.astype(np.int8),
                "day": day.astype("datetime64[D]"),
                "customer": random.integers(0, max(1, rows // ROWS_PER_CUSTOMER), size),
            }
        )
        table = frame.to_arrow()
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def make_files(folder: Path, rows: int) -> None:
    """Write the rows, and the rule that some commands read."""
    write_rows(folder / "rows.parquet", rows)
    write_rows(folder / "few.parquet", min(rows, 100_000))
    made = measure("boundary few.parquet --precision 0.6 -o rule.json", "1GiB", folder)
    assert made.code == 0, made.message


def measure(line: str, size: str, folder: Path, before: Sequence[str] = ()) -> Measured:
    """Run a command line on two threads under a ``--memory``, after some words that start it."""
    names = {"ROWS": "rows.parquet", "RULE": "rule.json", "OUT": "out"}
    words = re.sub("ROWS|RULE|OUT", lambda match: names[match[0]], line).split()
    command = [*before, sys.executable, "-m", "uqcli", *words, "-q", "--memory", size]
    environment = {**os.environ, "POLARS_MAX_THREADS": "2"}
    process = subprocess.run(
        [sys.executable, str(MEASURE), *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
    )
    seconds, _, kibibytes = process.stdout.split()
    for path in folder.glob("out.*"):
        path.unlink()
    return Measured(
        code=process.returncode,
        seconds=float(seconds),
        peak=int(kibibytes) * 1024 / 1e6,
        message=process.stderr.strip(),
    )


def least(line: str, folder: Path) -> str:
    """Return the first size at which a command finishes, with its peak and seconds."""
    for size in SIZES:
        run = measure(line, size, folder)
        sys.stderr.write(f"{line} --memory {size}: exit {run.code}, {run.peak:,.0f} MB\n")
        if run.code == 0:
            return f"{size} ({run.peak:,.0f} MB, {run.seconds:.0f} s)"
        if run.code != 3:
            raise RuntimeError(f"{line}: {run.message}")
    return f"more than {SIZES[-1]}"


def table(folder: Path, kept: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of the table; some are kept as they are, by command."""
    columns = [PLAIN, "by day", "by customer"]
    yield f"| command | {' | '.join(columns)} |"
    yield "|---|---|---|---|"
    for command, lines in LINES.items():
        if command in kept:
            yield kept[command]
            continue
        cells = [least(lines[column], folder) if column in lines else "" for column in columns]
        yield f"| `{command}` | {' | '.join(cells)} |"


def main() -> None:
    """Measure all commands, or those that are named, and write the table into its page."""
    before, rest = PAGE.read_text().split(BEGIN)
    old, after = rest.split(END)
    asked = sys.argv[1:] or [*LINES]
    rows = {line.split("`")[1]: line for line in old.splitlines() if "`" in line}
    with tempfile.TemporaryDirectory() as name:
        make_files(Path(name), ROWS)
        lines = "\n".join(table(Path(name), {name: row for name, row in rows.items() if name not in asked}))
    PAGE.write_text(f"{before}{BEGIN}\n{lines}\n\n{END}{after}")


if __name__ == "__main__":
    main()
