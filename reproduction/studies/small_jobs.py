"""What classes, maps and small jobs cost, beside scikit-learn and ``import polars``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
import polars as pl

from reproduction.gaussian import Say
from reproduction.learned import Floats
from reproduction.program import Cost, Program
from reproduction.study import Outcome, Row, Scale, Study

RUNS = 9
"""Runs of each command, in turn with its peer; the least time counts."""

_SLOW = 3
"""Runs of commands that take longer than ten seconds."""

_LONG = 10.0
_FEATURES = tuple(f"f{number}" for number in range(6))
_CLASSES = ("--proba", "p*")
_SAVE = ("-o", "map.json")
MISSED = (
    "What misses its bound, by profiles: tce of classes takes 65 ms for each draw of a class, half for "
    "bins and half for a line; all methods spend half on the ridges of the surface; an overview looks for "
    "thresholds at six precisions in each sample; ten class-sides take a second of metrics; and small jobs "
    "load polars and numpy."
)
"""Why some bounds are missed, as profiles of the commands show."""

HEADER = ["command", "s of CPU", "bound", "s of the clock", "MB"]


class Job(NamedTuple):
    """A line of the table: a command and its exit code, and its peer if it has one.

    The first word of each is a module.
    """

    name: str
    command: Sequence[object]
    bound: str
    peer: Sequence[object] = ()
    code: int = 0


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Measure the commands in turn with their peers."""
    runs = min(RUNS, scale.few_seeds)
    _write(program, scale.rows)
    times: list[Row] = [HEADER]
    for job in _jobs(scale.rows)[:: 1 if runs > 1 else 7]:
        say(job.name)
        times.append(_measured(program, job, runs))
    peers = ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", "polars", "numpy"))
    text = (
        f"User CPU of whole processes on {scale.rows:,} rows unless said: the least of {runs} "
        f"runs each, in turn with the peer ({_SLOW} of what takes more than ten seconds). "
        f"{MISSED} Peers are {peers}; temperature scaling is that of `reproduction/peer_temperature.py`."
    )
    return Outcome(sheets=[], times=times, text_of_times=text)


def _jobs(rows: int) -> list[Job]:
    """List what is measured on files of so many rows, a tenth of them with 100 classes, and 100 rows."""
    five = ("uqcli", "calibrate", "five.parquet", *_CLASSES, *_SAVE)
    temperature = ("--method", "temperature")
    peer = ("reproduction.peer_temperature",)
    scores = ("uqcli", "calibrate", "rows.parquet", *_SAVE)
    polars = ("reproduction.peer_polars",)
    features = ",".join(_FEATURES)
    parts = ("--method", "heterogeneous")
    certify = ("uqcli", "boundary", "rows.parquet", "--precision", "0.7", "--certify", "0.1", *_SAVE)
    return [
        Job("calibrate, 5 classes", five, "3.5 s, 800 MB", (*peer, "five.parquet")),
        Job("the same, temperature", (*five, *temperature), "2.8 s", (*peer, "five.parquet")),
        Job("the same, vector", (*five, "--method", "vector"), "4.5 s"),
        Job("the same, matrix", (*five, "--method", "matrix"), "8 s"),
        Job(
            f"calibrate, 100 classes, temperature, {rows // 10:,} rows",
            ("uqcli", "calibrate", "hundred.parquet", *_CLASSES, *_SAVE, *temperature),
            "the peer's",
            (*peer, "hundred.parquet"),
        ),
        Job(
            "evaluate a calibrator of 5 classes", ("uqcli", "evaluate", "five.json", "five.parquet"), "1.6 s"
        ),
        Job(
            "tce --bootstrap 200, 5 classes",
            ("uqcli", "tce", "five.parquet", *_CLASSES, "--bootstrap", "200"),
            "40 s",
        ),
        Job("calibrate --bootstrap 200", (*scores, "--bootstrap", "200"), "8 s"),
        Job("calibrate --method all", (*scores, "--uncertainty", "doubt", "--method", "all"), "8 s"),
        Job("heterogeneous, 6 features", (*scores, *parts, "--features", features), "25 s, 1,500 MB"),
        Job(f"heterogeneous, {rows // 100:,} groups", (*scores, *parts, "--partition", "group"), "10 s"),
        Job("overview of two scores", ("uqcli", "overview", "rows.parquet", "--score", "score,other"), "5 s"),
        Job(
            "apply to .csv.gz", ("uqcli", "apply", "rule.json", "rows.parquet", "-o", "rows.csv.gz"), "3.5 s"
        ),
        Job(
            "boundary --certify, --pilot the same file", (*certify, "--pilot", "rows.parquet"), "0.5 s", (), 3
        ),
        Job("boundary --certify, --pilot a copy", (*certify, "--pilot", "copy.parquet"), "1.5 s", (), 3),
        Job("tce of 100 rows", ("uqcli", "tce", "few.parquet"), "2.2 times", polars),
        Job("evaluate of 100 rows", ("uqcli", "evaluate", "rule.json", "few.parquet"), "2.2 times", polars),
        Job(
            "boundary of 100 rows",
            ("uqcli", "boundary", "few.parquet", "--precision", "0.3", *_SAVE),
            "2.2 times",
            polars,
        ),
        Job("--version", ("uqcli", "--version"), "0.03 s"),
        Job("-h", ("uqcli", "-h"), "0.06 s"),
    ]


def _write(program: Program, rows: int) -> None:
    """Draw the files, and choose the rules that are applied and evaluated."""
    generator = np.random.default_rng(1)
    normal = generator.normal(size=rows)
    label = generator.random(rows) < 1 / (1 + np.exp(1 - 1.4 * normal))
    score = 1 / (1 + np.exp(1 - 2 * normal - generator.normal(0, 0.1, size=rows)))
    frame = pl.DataFrame(
        {
            "score": score,
            "other": (score + generator.normal(0, 0.05, size=rows)).clip(0, 1),
            "doubt": generator.gamma(2, 0.05, size=rows),
            "label": label.astype(np.int8),
            "group": generator.integers(rows // 100, size=rows),
            **{name: generator.normal(size=rows) for name in _FEATURES},
        }
    ).with_columns(pl.format("group {}", "group").alias("group"))
    for name in ("rows", "copy"):
        frame.write_parquet(program.folder / f"{name}.parquet")
    frame.head(100).write_parquet(program.folder / "few.parquet")
    for name, size, classes in (("five", rows, 5), ("hundred", rows // 10, 100)):
        _write_classes(program, name, size, classes, generator)
    program.run("calibrate", "five.parquet", *_CLASSES, "-o", "five.json")
    program.run("boundary", "rows.parquet", "--precision", "0.7", "-o", "rule.json")


def _write_classes(
    program: Program, name: str, rows: int, classes: int, generator: np.random.Generator
) -> None:
    """Draw classes from a softmax, and overconfident probabilities of them."""
    logit = generator.normal(0, 1.5, size=(rows, classes))
    true, stated = (_softmax(slope * logit) for slope in (1.0, 1.8))
    label = (true.cumsum(axis=1) > generator.random(rows)[:, None]).argmax(axis=1)
    columns = {f"p{number:02}": stated[:, number] for number in range(classes)}
    frame = pl.DataFrame({**columns, "label": [f"{number:02}" for number in label.tolist()]})
    frame.write_parquet(program.folder / f"{name}.parquet")


def _softmax(logit: Floats) -> Floats:
    growth = np.exp(logit - logit.max(axis=1, keepdims=True))
    shares: Floats = growth / growth.sum(axis=1, keepdims=True)
    return shares


def _measured(program: Program, job: Job, runs: int) -> Row:
    """Run both in turn; the least time is of a run after the first, which compiles."""
    own: list[Cost] = []
    peers: list[Cost] = []
    while len(own) < (runs if not own or own[0].user < _LONG else min(runs, _SLOW)):
        own.append(_cost(program, job.command, job.code))
        if job.peer:
            peers.append(_cost(program, job.peer))
    of_peer = f" (peer {min(cost.user for cost in peers):.2f})" if peers else ""
    return [
        job.name,
        f"{min(cost.user for cost in own):.2f}{of_peer}",
        job.bound,
        f"{min(cost.wall for cost in own):.2f}",
        f"{max(cost.memory for cost in own):.0f}",
    ]


def _cost(program: Program, words: Sequence[object], code: int = 0) -> Cost:
    return program.cost(str(words[0]), *words[1:], code=code)


STUDY = Study(name="small-jobs", heading="Classes, maps and small jobs", run=run, runs_alone=True)
