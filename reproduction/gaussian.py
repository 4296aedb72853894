"""Tables on two Gaussian classes: simulated, measured and held against what was printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

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
CHANCE = "No reason but chance is known: so many are expected."
SHARED = (
    "More than chance would put there one by one; all cells of one class mix come from one draw of the "
    "paper, "
    "whose luck they share. No other reason is known."
)
LEAST_GROUP = 200
"""The program tests groups of a column from so many rows on."""
AT_ONCE = 10
"""Seeds in one command where bins are small: it measures all its rows together, too, in bins so small."""
SMALL_BINS = 300

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
        options = _options(settings)
        key = (folder, seeds, *options)
        if key not in self.answers:
            ask = self._together if rows >= LEAST_GROUP else self._one_by_one
            self.answers[key] = ask(folder, options, seeds)
        return self.answers[key]

    def _draw(self, settings: dict[str, Any], rows: int, seeds: int) -> str:
        train, test, noise = settings["train"], settings["test"], settings.get("noise", 0.0)
        key = (train, test, noise, rows)
        if key not in self.drawn:
            folder = f"data{len(self.drawn)}"
            self.say(f"drawing {rows} rows of {test:g} scored by a model of {train:g}, {seeds} seeds")
            for seed in range(seeds):
                part = self.program.folder / folder / f"seed={seed}"
                part.mkdir(parents=True)
                model = ("--train-prevalence", train, "--prevalence", test, "--noise", noise)
                output = part.relative_to(self.program.folder) / "rows.parquet"
                self.program.run("simulate", "gaussian", *model, "--rows", rows, "--seed", seed, "-o", output)
            self.drawn[key] = folder
        return self.drawn[key]

    def _together(self, folder: str, options: Row, seeds: int) -> list[Metrics]:
        at_once = AT_ONCE if int(options[options.index("--n-max") + 1]) < SMALL_BINS else seeds
        found: dict[str, Metrics] = {}
        for first in range(0, seeds, at_once):
            parts = [f"{folder}/seed={seed}" for seed in range(first, min(first + at_once, seeds))]
            if len(parts) == 1:
                return self._one_by_one(folder, options, seeds)
            report = self.program.run("tce", *parts, "--by", "seed", *options)
            assert report is not None
            found |= report["metrics"]["by_group"]
        return [found[str(seed)] for seed in range(seeds)]

    def _one_by_one(self, folder: str, options: Row, seeds: int) -> list[Metrics]:
        reports = [self.program.run("tce", f"{folder}/seed={seed}", *options) for seed in range(seeds)]
        return [report["metrics"] for report in reports if report is not None]


def _options(settings: dict[str, Any]) -> Row:
    given: Row = []
    for name, option in (
        ("n_min", "--n-min"),
        ("n_max", "--n-max"),
        ("n_bins", "--n-bins"),
        ("alpha", "--alpha"),
        ("test_of", "--test"),
    ):
        if name in settings:
            given += [option, str(settings[name])]
    return given


def run_tables(study: str, program: Program, scale: Scale, say: Say, *, few: bool = False) -> Outcome:
    """All tables of a study; with ``few``, over fewer seeds."""
    measured = Measured(program=program, say=say)
    seeds = scale.few_seeds if few else scale.seeds
    sheets = [_sheet(table, measured, max(1, seeds // table.fewer)) for table in tables_of(study)]
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
    text = [f"Printed in {table.where}. {table.note}".strip()]
    text.append(
        f"Outside the range of our {seeds} seeds: {len(out)} of {cells} cells; values of one law with ours "
        f"would be outside in {expected:.1f} on average."
    )
    if table.reason:
        text.append(table.reason)
    elif out:
        text.append("Outside: " + "; ".join(out) + ". " + (CHANCE if len(out) <= expected else SHARED))
    return text


def _verdict(table: PublishedTable, seeds: int, cells: int, out: int) -> str:
    if table.reason:
        return (
            f"not reproducible: {cells - out} of {cells} cells within the range of {seeds} seeds; see there"
        )
    return f"reproduced: {cells - out} of {cells} cells within the range of {seeds} seeds"
