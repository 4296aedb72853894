"""Measures commands on many small things: files, groups, classes. Time may only grow with their number."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from tests.benchmarks.data import classes_file
from tests.benchmarks.processes import UQCLI, compare_processes

ROWS_PER_FILE, ROWS_PER_GROUP, ROWS_OF_CLASSES = 100, 250, 10_000
SHARE = 10
"""The baseline is the same command on a tenth as many things."""


def rows_of(things, rows_per_thing):
    """Draw as many rows of each thing."""
    random = np.random.default_rng(0)
    size = things * rows_per_thing
    score = random.beta(1, 5, size)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.beta(1, 5, size),
            "label": (random.random(size) < score).astype(np.int8),
            "group": np.repeat([f"group {number}" for number in range(things)], rows_per_thing),
        }
    )


def many_files(folder, files, *, csv=False):
    """Write files of few rows."""
    for number, rows in enumerate(rows_of(files, ROWS_PER_FILE).drop("group").iter_slices(ROWS_PER_FILE)):
        if csv:
            rows.write_csv(folder / f"{number}.csv")
        else:
            rows.write_parquet(folder / f"{number}.parquet")
    return folder


def many_csv_files(folder, files):
    """Write files of few rows as CSV."""
    return many_files(folder, files, csv=True)


def many_groups(folder, groups):
    """Write a file of groups of few rows."""
    path = folder / "groups.parquet"
    rows_of(groups, ROWS_PER_GROUP).write_parquet(path)
    return path


def many_classes(folder, classes):
    """Write the probabilities of classes, of which most have few rows."""
    return classes_file(folder, ROWS_OF_CLASSES, classes=classes)


@dataclass(frozen=True, kw_only=True)
class Many:
    """A command on many things, written by ``write``, and the largest allowed milliseconds of each."""

    line: str
    things: str
    number: int
    most: float
    write: Callable[[Path, int], Path]


RULE = "--precision 0.25 -q -o RULE"
MANY = (
    Many(line=f"boundary FILE {RULE}", things="files", number=10_000, most=2, write=many_files),
    Many(line=f"boundary FILE {RULE}", things="files of CSV", number=10_000, most=2, write=many_csv_files),
    Many(line=f"boundary FILE --by group {RULE}", things="groups", number=10_000, most=10, write=many_groups),
    Many(line="tce FILE --by group -q", things="groups", number=10_000, most=10, write=many_groups),
    Many(line="tce FILE --proba p_* -q", things="classes", number=1_000, most=10, write=many_classes),
)


def measure_many(folder, runs, scale=1):
    """Yield a row of the table for each of ``MANY``, with ``scale`` times fewer things."""
    for index, many in enumerate(MANY):
        numbers, lines = (many.number // scale, many.number // scale // SHARE), []
        for number in numbers:
            place = folder / f"many_{index}_{number}"
            place.mkdir()
            values = {"FILE": str(many.write(place, number)), "RULE": str(folder / "rule.json")}
            lines.append((*UQCLI, *(values.get(word, word) for word in many.line.split())))
        comparison = compare_processes(*lines, runs)
        seconds = comparison.seconds - comparison.baseline_seconds
        yield {
            "what": f"`{many.line.replace(f' {RULE}', '').replace(' -q', '')}`",
            "things": many.things,
            "number": numbers[0],
            "seconds": comparison.seconds,
            "milliseconds": 1000 * seconds / (numbers[0] - numbers[1]),
            "most_milliseconds": many.most,
            "ratio": comparison.ratio,
            "most_ratio": SHARE,
        }
