"""Rows, rule files and command lines for the tests of faults."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from tests.faults.findings import must_run

_ISOTONIC = ("--method", "isotonic", "--bootstrap", "0")
SIZES = {"small": 500, "medium": 60_000, "large": 600_000}


@dataclass(frozen=True)
class Line:
    """A command line; ``output`` is its output file, and ``report`` its report."""

    name: str
    arguments: tuple
    output: str
    report: str | None = None

    def writing(self, folder):
        """Return the arguments with outputs in a folder."""
        report = () if self.report is None else ("--report", Path(folder) / self.report)
        return (*self.arguments, "-q", "-o", Path(folder) / self.output, *report)

    def contents(self, folder):
        """Read the files that it writes, without the name of the folder, which differs between runs."""
        names = [name for name in self.written() if (Path(folder) / name).exists()]
        contents_by_name = {name: (Path(folder) / name).read_bytes() for name in names}
        folder_name = bytes(Path(folder))
        escaped = folder_name.replace(b"_", b"\\_")  # as in Markdown
        return {
            name: content.replace(folder_name, b"FOLDER").replace(escaped, b"FOLDER")
            for name, content in contents_by_name.items()
        }

    def states_failure(self, content, code):
        """Return whether a report states that its run failed with this exit code."""
        text = content.decode(errors="replace")
        return f'"exit": {code},' in text or f"(exit code {code})" in text

    def written(self):
        """List the names of the files that the command writes."""
        return (self.output,) if self.report is None else (self.report, self.output)


def make_files(folder, sizes=SIZES):
    """Write rows of every size, and the rule files to apply."""
    for size, rows in sizes.items():
        random = np.random.default_rng(len(size))
        score = random.random(rows).round(6)
        frame = pl.DataFrame(
            {
                "score": score,
                "uncertainty": random.normal(size=rows).round(6),
                "label": (random.random(rows) < score).astype(np.int8),
                "region": random.choice(["north", "south", "west"], rows),
            }
        )
        frame.write_csv(folder / f"{size}.csv")
        frame.write_parquet(folder / f"{size}.parquet")
    must_run(("boundary", "small.csv", "--precision", "0.6", "-q", "-o", "b.json"), folder)
    must_run(("calibrate", "small.csv", *_ISOTONIC, "-q", "-o", "c.json"), folder)


def lines(folder, sizes=SIZES):
    """List the command lines for rows of every size."""
    all_lines = []
    for size in sizes:
        csv, parquet = folder / f"{size}.csv", folder / f"{size}.parquet"
        all_lines += [
            Line("apply", ("apply", folder / "b.json", csv), "o.csv"),
            Line("apply", ("apply", folder / "c.json", parquet), "o.parquet", "r.json"),
            Line("boundary", ("boundary", parquet, "--precision", "0.6"), "o.json", "r.md"),
            Line("calibrate", ("calibrate", csv, *_ISOTONIC), "o.json", "r.json"),
            Line("conformal", ("conformal", csv, "--by", "region"), "o.json", "r.md"),
            Line("bin", ("bin", csv, "--score-bins", "50"), "o.json"),
            Line(
                "uncertainty", ("uncertainty", csv, "--members", "[sl][ca][ob][re]*", "--overwrite"), "o.csv"
            ),
        ]
    return all_lines
