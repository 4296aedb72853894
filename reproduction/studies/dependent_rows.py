"""What days, customers and groups cost beside the same command without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from reproduction.gaussian import Say
from reproduction.program import Cost, Program
from reproduction.study import Outcome, Row, Scale, Study

RUNS = 9
"""Runs of each command, in turn with the others of its row of the table; the least time counts."""
TARGET = ("--precision", "0.9")
_DAYS = 365
MISSED = (
    "What misses its bound, by a profile of each: boundary and tce by day and customer, beside plain "
    "commands that count these few distinct scores in 0.4 s; many groups, of which each takes 0.4 to 2.9 ms "
    "in many small steps; and the memory of groups, 480 to 610 MB once rows are read, and then that of their "
    "cells."
)
"""Why some bounds are missed, as profiles of the commands show."""
HEADER = ["command", "rows", "plain, s of CPU", "with it, s of CPU", "ratio", "bound", "s of the clock", "MB"]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A line of the table: a command, and the one beside which it is measured.

    Attributes
    ----------
    of
        Number of rows, and what else the file has.
    plain
        Arguments of the command beside it, and of the other command; the first word is a module.
    bound
        What is to be reached, as the table shows it.
    """

    name: str
    of: str
    plain: Sequence[object]
    command: Sequence[object]
    bound: str


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Measure commands in turn, with rules of rows, days, customers and groups."""
    runs = min(RUNS, scale.few_seeds)
    rows = scale.rows
    _write(program, rows)
    times: list[Row] = [HEADER]
    for line in _lines(rows)[:: 1 if runs > 1 else 4]:
        say(line.name)
        times.append(_measured(program, line, runs))
    text = (
        f"User CPU of whole processes: the least of {runs} runs each, in turn. The bound is what we hold "
        "ourselves to, as a ratio or in seconds and MB. The bare polars program finds a threshold and counts "
        "rows, positives and flagged rows by customer or day; it checks nothing and computes no range. "
        f"{MISSED}"
    )
    return Outcome(sheets=[], times=times, text_of_times=text)


def _measured(program: Program, line: Measured, runs: int) -> Row:
    """Run both commands in turn; the least time is of a run after the first, which compiles."""
    pairs = [(_cost(program, line.plain), _cost(program, line.command)) for _ in range(runs)]
    plain, with_it = ([pair[index] for pair in pairs] for index in (0, 1))
    least = [min(cost.user for cost in costs) for costs in (plain, with_it)]
    return [
        line.name,
        line.of,
        f"{least[0]:.2f}",
        f"{least[1]:.2f}",
        f"{least[1] / least[0]:.2f}",
        line.bound,
        " and ".join(f"{min(cost.wall for cost in costs):.2f}" for costs in (plain, with_it)),
        " and ".join(f"{max(cost.memory for cost in costs):.0f}" for costs in (plain, with_it)),
    ]


def _cost(program: Program, words: Sequence[object]) -> Cost:
    return program.cost(str(words[0]), *words[1:])


def _lines(rows: int) -> list[Measured]:
    """List what is measured on files of one, five and ten times these rows."""
    large, larger = f"{5 * rows:,}", f"{10 * rows:,}"
    boundary = ("uqcli", "boundary", "large.parquet", "-o", "rule.json", *TARGET)
    evaluate = ("uqcli", "evaluate", "large.json", "large.parquet")
    tce = ("uqcli", "tce", "large.parquet")
    day, customer = ("--day", "day"), ("--cluster", "customer")
    csv = ("uqcli", "boundary", "rows.csv", "-o", "rule.json", *TARGET)
    ratios = [
        ("boundary --day", boundary, day, "1.1"),
        ("boundary --cluster", boundary, customer, "1.6"),
        ("evaluate --day", evaluate, day, "1.2"),
        ("evaluate --cluster", evaluate, customer, "1.9"),
        ("tce --cluster, days", tce, ("--cluster", "day"), "0.95"),
        ("tce --cluster", tce, customer, "1.55"),
    ]
    lines = [
        Measured(name=name, of=large, plain=plain, command=(*plain, *more), bound=bound)
        for name, plain, more, bound in ratios
    ]
    lines.append(
        Measured(
            name="boundary --cluster, CSV, texts",
            of=f"{rows:,}",
            plain=csv,
            command=(*csv, *customer),
            bound="1.4",
        )
    )
    for name, words in (("boundary", boundary), ("evaluate", evaluate), ("tce", tce)):
        twice = [word.replace("large.parquet", "larger.parquet") for word in map(str, words)]
        lines.append(
            Measured(
                name=f"{name} --cluster, beside half the rows",
                of=larger,
                plain=(*words, *customer),
                command=(*twice, *customer),
                bound="2.0",
            )
        )
    for unit, bound in ((day, "below 1"), (customer, "1")):
        lines.append(
            Measured(
                name=f"boundary {unit[0]}, beside bare polars",
                of=large,
                plain=("reproduction.bare", "large.parquet", unit[1]),
                command=(*boundary, *unit),
                bound=bound,
            )
        )
    by = ("--by", "group")
    groups = ("uqcli", "boundary", "groups.parquet", "-o", "rule.json", *TARGET)
    many = ("uqcli", "boundary", "many.parquet", "-o", "rule.json", *TARGET)
    rule = ("uqcli", "evaluate", "groups.json", "groups.parquet")
    test = ("uqcli", "tce", "groups.parquet")
    absolute = [
        (f"boundary --by, {rows // 100:,} groups", rows, groups, (*by, "--min-group", "50"), "5 s, 500 MB"),
        (f"boundary --by, {rows // 50:,} groups", 5 * rows, many, by, "500 MB"),
        (f"evaluate --by --cluster, {rows // 100:,} groups", rows, rule, (*by, *customer), "3 s"),
        (f"tce --by, {rows // 100:,} groups", rows, test, by, "6 s"),
        (
            "boundary --compare --cluster",
            rows,
            (*groups, "--uncertainty", "doubt"),
            ("--compare", *customer),
            "12 s",
        ),
    ]
    lines += [
        Measured(name=name, of=f"{of:,}", plain=plain, command=(*plain, *more), bound=bound)
        for name, of, plain, more, bound in absolute
    ]
    for name in ("boundary", "evaluate", "tce"):
        rule_of = ("customers.json",) if name == "evaluate" else ()
        plain = (
            "uqcli",
            name,
            *rule_of,
            "customers.parquet",
            *(("-o", "rule.json", *TARGET) if name == "boundary" else ()),
        )
        lines.append(
            Measured(
                name=f"{name} --cluster --memory 2GB, every second row a customer",
                of=larger,
                plain=plain,
                command=(*plain, *customer, "--memory", "2GB"),
                bound="2,000 MB",
            )
        )
    return lines


def _write(program: Program, rows: int) -> None:
    """Draw the files, and choose the rules that are evaluated."""
    sizes = {"rows": rows, "large": 5 * rows, "larger": 10 * rows}
    for seed, (name, size) in enumerate(sizes.items()):
        frame = _drawn(size, size // 10, size // 100, seed)
        frame.drop("group", "doubt").write_parquet(program.folder / f"{name}.parquet")
        if name == "rows":
            frame.write_parquet(program.folder / "groups.parquet")
            texts = frame.with_columns(pl.format("customer {}", "customer").alias("customer"))
            texts.select("score", "label", "customer").write_csv(program.folder / "rows.csv")
    _drawn(5 * rows, rows // 10, rows // 50, 3).write_parquet(program.folder / "many.parquet")
    customers = _drawn(10 * rows, 5 * rows, 1, 4).select("score", "label", "customer")
    customers.write_parquet(program.folder / "customers.parquet")
    for name in ("large", "groups", "customers"):
        program.run("boundary", f"{name}.parquet", "-o", f"{name}.json", *TARGET)


def _drawn(rows: int, customers: int, groups: int, seed: int) -> pl.DataFrame:
    """Draw calibrated scores of 16 bits, of whose customers some have more positives than others."""
    generator = np.random.default_rng(seed)
    customer = generator.integers(customers, size=rows)
    effect = generator.beta(2, 2, size=customers)[customer]
    score = np.clip(np.round((effect + generator.beta(0.5, 0.5, size=rows)) / 2, 5), 0, 1)
    group = generator.integers(groups, size=rows)
    return pl.DataFrame(
        {
            "score": score,
            "label": (generator.random(rows) < score).astype(np.int8),
            "doubt": generator.random(rows).round(3),
            "customer": customer,
            "day": np.datetime64("2025-01-01") + generator.integers(_DAYS, size=rows),
            "group": group,
        }
    ).with_columns(pl.format("group {}", "group").alias("group"))


STUDY = Study(
    name="dependent-rows", heading="Dependent rows: days, customers, groups", run=run, runs_alone=True
)
