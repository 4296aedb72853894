"""Tables on two Gaussian classes: simulated, measured and compared with the published values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from reproduction.generators.gaussian import GaussianModel
from reproduction.library import calibration_metrics, metrics_of, write
from reproduction.original import gaussian_rows, printed_metrics
from reproduction.program import Program
from reproduction.spread import Spread, spread
from reproduction.study import Outcome, Row, Scale, Sheet, Status
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
"""Settings that are options of `uqcli tce`, with the names of the options."""
MIN_GROUP_ROWS = 200
"""Smallest number of rows of a group that uqcli tests."""
SMALL_BINS = 60
"""If bins are smaller, one command for all seeds is slow, because it also measures all rows together."""

Say = Callable[[str], None]
Metrics = dict[str, float]


@dataclass(kw_only=True)
class MetricsCache:
    """Caches data and metrics, so that each setting is drawn and measured once."""

    program: Program
    say: Say
    drawn: dict[tuple[Any, ...], str] = field(default_factory=dict)
    measured: dict[tuple[Any, ...], list[Metrics]] = field(default_factory=dict)

    def metrics(self, settings: dict[str, Any], seeds: int) -> list[Metrics]:
        """Return the metrics of ``uqcli tce`` for each seed."""
        rows = settings.get("rows", TEST_ROWS)
        folder = self._draw(settings, rows, seeds)
        options = _options(settings)
        key = (folder, seeds, *options.items())
        if key not in self.measured:
            is_small = rows < MIN_GROUP_ROWS or options["n_max"] < SMALL_BINS or seeds == 1
            measure = self._one_by_one if is_small else self._together
            self.measured[key] = measure(folder, options, seeds)
        return self.measured[key]

    def _draw(self, settings: dict[str, Any], rows: int, seeds: int) -> str:
        model = GaussianModel(
            train_prevalence=settings["train"], prevalence=settings["test"], noise=settings.get("noise", 0.0)
        )
        key = (model, rows)
        if key not in self.drawn:
            folder = f"data{len(self.drawn)}"
            for seed in range(seeds):
                write(self._rows_path(folder, seed), model.draw(rows, seed))
            self.drawn[key] = folder
        return self.drawn[key]

    def _rows_path(self, folder: str, seed: int) -> Path:
        return self.program.folder / folder / f"seed={seed}" / "rows.parquet"

    def _together(self, folder: str, options: dict[str, Any], seeds: int) -> list[Metrics]:
        folders = [f"{folder}/seed={seed}" for seed in range(seeds)]
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        report = self.program.run("tce", *folders, "--by", "seed", *arguments)
        assert report is not None
        return [report["metrics"]["by_group"][str(seed)] for seed in range(seeds)]

    def _one_by_one(self, folder: str, options: dict[str, Any], seeds: int) -> list[Metrics]:
        return [calibration_metrics(self._rows_path(folder, seed), options) for seed in range(seeds)]


def run_tables(study: str, program: Program, scale: Scale, say: Say) -> Outcome:
    """Reproduce all tables of a study."""
    cache = MetricsCache(program=program, say=say)
    sheets = [_sheet(table, cache, scale.seeds) for table in tables_of(study)]
    return Outcome(sheets=sheets)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A published value and ours.

    Attributes
    ----------
    ours, as_printed
        On the paper's own rows, by uqcli and by the arithmetic of the paper's program.
    others
        Range over other seeds or splits.
    """

    published: float
    ours: float
    as_printed: float
    others: Spread
    digits: int

    @property
    def is_exact(self) -> bool:
        """Whether uqcli gives the published value."""
        return round(self.ours, self.digits) == self.published

    @property
    def is_exact_as_printed(self) -> bool:
        """Whether the arithmetic of the paper's program gives the published value."""
        return round(self.as_printed, self.digits) == self.published

    @property
    def text(self) -> str:
        """The published value, ours if it differs (then bold), and our median, lowest and highest."""
        others = self.others
        decimals = 2 if self.digits == 2 or max(self.published, others.high) > 1.5 else self.digits
        text = f"{others.median:.{decimals}f} ({others.low:.{decimals}f}–{others.high:.{decimals}f})"
        published = f"{self.published:.{decimals}f}"
        if self.is_exact:
            return f"{published}; {text}"
        return f"**{published}: {round(self.ours, self.digits):.{decimals}f}; {text}**"


def _sheet(table: PublishedTable, cache: MetricsCache, seeds: int) -> Sheet:
    cache.say(f"{table.name}: {table.title}")
    rows: list[Row] = []
    cells: list[Cell] = []
    for published_row in table.rows:
        ours, as_printed = _original_metrics(*published_row.settings.items())
        of_seeds = cache.metrics(published_row.settings, seeds)
        row = []
        for column, published in zip(table.columns, published_row.published, strict=True):
            digits = _digits(table, column)
            others = spread([metrics[column] for metrics in of_seeds], published, digits)
            row.append(
                Cell(
                    published=published,
                    ours=ours[column],
                    as_printed=as_printed[column],
                    others=others,
                    digits=digits,
                )
            )
        rows.append([published_row.label, *(cell.text for cell in row)])
        cells += row
    status, verdict = _verdict(table, cells)
    header, rows, alike = without_constant_columns(header_of(table.columns), rows)
    return Sheet(
        title=f"{table.name}. {table.title}",
        text=_notes(table, seeds, cells) + alike,
        header=header,
        rows=rows,
        status=status,
        verdict=verdict,
    )


def without_constant_columns(header: Row, rows: Sequence[Row]) -> tuple[Row, list[Row], list[str]]:
    """Move columns whose cells are equal in all rows with the same priors into a sentence."""
    priors = [row[0].partition(",")[0] for row in rows]
    firsts = {pair: rows[priors.index(pair)] for pair in priors}
    is_constant = [
        index > 0
        and all(row[index] == firsts[pair][index] for pair, row in zip(priors, rows, strict=True))
        and len(rows) > 2 * len(firsts)
        for index in range(len(header))
    ]
    kept = [index for index, constant in enumerate(is_constant) if not constant]
    moved = [
        f"{header[index]} {' and '.join(row[index] for row in firsts.values())}"
        for index, constant in enumerate(is_constant)
        if constant
    ]
    text = [f"Equal in all rows with {' and with '.join(firsts)}: {', '.join(moved)}."] if moved else []
    return [header[index] for index in kept], [[row[index] for index in kept] for row in rows], text


def header_of(columns: Sequence[str]) -> Row:
    """Return the header of a table with a row label."""
    return ["", *(NAMES[column] + (" %" if column in PERCENTS else "") for column in columns)]


@cache
def _original_metrics(*items: tuple[str, Any]) -> tuple[Metrics, Metrics]:
    """Measure the paper's own rows with uqcli, and with the arithmetic of the paper's program."""
    settings = dict(items)
    options = _options(settings)
    model = settings["train"], settings["test"], settings.get("rows", TEST_ROWS), settings.get("noise", 0.0)
    scores, labels = gaussian_rows(*model)
    ours = metrics_of(scores, labels, options)
    as_printed = ours | printed_metrics(scores, labels, **options)
    return (as_printed if options.get("test") == "t" else ours), as_printed


def _options(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: settings[setting] for setting, name in OPTIONS.items() if setting in settings}


def _digits(table: PublishedTable, column: str) -> int:
    return 2 if table.key == "tce2" and column in PERCENTS else 4


def _notes(table: PublishedTable, seeds: int, cells: Sequence[Cell]) -> list[str]:
    inside = sum(cell.others.inside for cell in cells)
    text = [
        f"The paper prints this table in {table.where}. {table.note}".strip(),
        f"In the range of our {seeds} seeds: {inside} of {len(cells)} cells.",
    ]
    if table.reason:
        text.append(table.reason)
    return text


def _verdict(table: PublishedTable, cells: Sequence[Cell]) -> tuple[Status, str]:
    by_uqcli = sum(cell.is_exact for cell in cells)
    exact = sum(cell.is_exact_as_printed for cell in cells)
    text = f"{exact} of {len(cells)} cells on the paper's draw"
    if table.reason:
        text += ", with the paper's formula, which is no test at 5 %"
    elif by_uqcli < exact:
        text += f", {exact - by_uqcli} of them with the quantile ranks of its program"
    return (Status.EXACT, text) if exact == len(cells) else (Status.DIFFERS, f"{text}; no reason known")
