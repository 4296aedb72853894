"""Tables on two Gaussian classes: simulated, measured and held against what was printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reproduction.library import calibration_metrics, draw
from reproduction.program import Program
from reproduction.spread import Spread, spread
from reproduction.study import Outcome, Row, Scale, Sheet
from reproduction.values import PublishedTable, tables_of

NAMES = {
    "tce": "TCE",
    "tce_q": "TCE(Q)",
    "tce_v": "TCE(V)",
    "ece": "ECE",
    "ace": "ACE",
    "mce": "MCE",
    "mce_q": "MCE(Q)",
}
PERCENTS = ("tce", "tce_q", "tce_v")
TEST_ROWS = 6000
OPTIONS = {"n_min": "n_min", "n_max": "n_max", "n_bins": "n_bins", "alpha": "alpha", "test_of": "test"}
"""Settings that `uqcli tce` is given, and their names there."""
CHANCE = "Random variation is expected to put this many outside."
SHARED = (
    "Random variation alone would put fewer there. All cells of one pair of class priors come "
    "from one draw of the paper, so they deviate together. We know no other reason."
)
MIN_GROUP_ROWS = 200
"""The program tests groups of a column from so many rows on."""
SMALL_BINS = 60
"""One command for all seeds measures its rows together, too, which takes long in bins so small."""

Say = Callable[[str], None]
Metrics = dict[str, float]


@dataclass(kw_only=True)
class Measured:
    """Data drawn and measured so far; the same question is asked once."""

    program: Program
    say: Say
    drawn: dict[tuple[Any, ...], str] = field(default_factory=dict)
    answers: dict[tuple[Any, ...], list[Metrics]] = field(default_factory=dict)

    def metrics(self, settings: dict[str, Any], seeds: int) -> list[Metrics]:
        """What ``uqcli tce`` says of each seed."""
        rows = settings.get("rows", TEST_ROWS)
        folder = self._draw(settings, rows, seeds)
        options = {name: settings[each] for each, name in OPTIONS.items() if each in settings}
        key = (folder, seeds, *options.items())
        if key not in self.answers:
            small = rows < MIN_GROUP_ROWS or options["n_max"] < SMALL_BINS or seeds == 1
            ask = self._one_by_one if small else self._together
            self.answers[key] = ask(folder, options, seeds)
        return self.answers[key]

    def _draw(self, settings: dict[str, Any], rows: int, seeds: int) -> str:
        model = (settings["train"], settings["test"], settings.get("noise", 0.0))
        key = (*model, rows)
        if key not in self.drawn:
            folder = f"data{len(self.drawn)}"
            given = dict(zip(("train_prevalence", "prevalence", "noise"), model, strict=True))
            for seed in range(seeds):
                draw(self._part(folder, seed), "gaussian", rows, seed, **given)
            self.drawn[key] = folder
        return self.drawn[key]

    def _part(self, folder: str, seed: int) -> Path:
        return self.program.folder / folder / f"seed={seed}" / "rows.parquet"

    def _together(self, folder: str, options: dict[str, Any], seeds: int) -> list[Metrics]:
        parts = [f"{folder}/seed={seed}" for seed in range(seeds)]
        given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        report = self.program.run("tce", *parts, "--by", "seed", *given)
        assert report is not None
        return [report["metrics"]["by_group"][str(seed)] for seed in range(seeds)]

    def _one_by_one(self, folder: str, options: dict[str, Any], seeds: int) -> list[Metrics]:
        return [calibration_metrics(self._part(folder, seed), options) for seed in range(seeds)]


def run_tables(study: str, program: Program, scale: Scale, say: Say) -> Outcome:
    """All tables of a study."""
    measured = Measured(program=program, say=say)
    sheets = [_sheet(table, measured, scale.seeds) for table in tables_of(study)]
    return Outcome(sheets=sheets)


def _sheet(table: PublishedTable, measured: Measured, seeds: int) -> Sheet:
    measured.say(f"{table.name}: {table.title}")
    rows: list[Row] = []
    out: list[str] = []
    cells = 0
    for line in table.rows:
        found = measured.metrics(line.settings, seeds)
        row = [line.label]
        for column, theirs in zip(table.columns, line.theirs, strict=True):
            digits = _digits(table, column)
            place = spread([each[column] for each in found], theirs, digits)
            row.append(cell(place, theirs, digits))
            cells += 1
            if not place.inside:
                out.append(f"{line.label}: {NAMES[column]}")
        rows.append(row)
    return Sheet(
        title=f"{table.name}. {table.title}",
        text=_words(table, seeds, cells, out),
        header=["", *(NAMES[column] + (" %" if column in PERCENTS else "") for column in table.columns)],
        rows=rows,
        verdict=_verdict(table, seeds, cells, len(out)),
    )


def _digits(table: PublishedTable, column: str) -> int:
    return 2 if table.key == "tce2" and column in PERCENTS else 4


def cell(found: Spread, theirs: float, digits: int) -> str:
    """One cell: theirs, then our median, lowest and highest, then the place."""
    shown = 2 if digits == 2 or found.high > 1.5 else digits
    text = f"{theirs:.{shown}f}: {found.median:.{shown}f} ({found.low:.{shown}f} to {found.high:.{shown}f}), "
    text += f"{100 * found.place:.0f} %"
    return text if found.inside else f"**{text}**"


def _words(table: PublishedTable, seeds: int, cells: int, out: Sequence[str]) -> list[str]:
    expected = 2 * cells / (seeds + 1)
    text = [f"The paper prints this table in {table.where}. {table.note}".strip()]
    text.append(
        f"Outside the range of our {seeds} seeds: {len(out)} of {cells} cells. If the paper's values "
        f"had the same distribution as ours, {expected:.1f} would be outside on average."
    )
    if table.reason:
        text.append(table.reason)
    elif out:
        text.append("Outside: " + "; ".join(out) + ". " + (CHANCE if len(out) <= expected else SHARED))
    return text


def _verdict(table: PublishedTable, seeds: int, cells: int, out: int) -> str:
    if table.reason:
        return (
            f"not reproducible: {cells - out} of {cells} cells within the range of {seeds} seeds; the "
            "section gives the reason"
        )
    return f"reproduced: {cells - out} of {cells} cells within the range of {seeds} seeds"
