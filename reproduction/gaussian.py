"""Tables on two Gaussian classes: simulated, measured and compared with the published values."""

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
"""Settings that are options of `uqcli tce`, with the names of the options."""
CHANCE = "Random variation is expected to put this many outside."
SAME_DRAW = (
    "Random variation alone would put fewer there. All cells of one pair of class priors come "
    "from one draw of the paper, so they deviate together. We know no other reason."
)
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
        options = {name: settings[setting] for setting, name in OPTIONS.items() if setting in settings}
        key = (folder, seeds, *options.items())
        if key not in self.measured:
            is_small = rows < MIN_GROUP_ROWS or options["n_max"] < SMALL_BINS or seeds == 1
            measure = self._one_by_one if is_small else self._together
            self.measured[key] = measure(folder, options, seeds)
        return self.measured[key]

    def _draw(self, settings: dict[str, Any], rows: int, seeds: int) -> str:
        model = (settings["train"], settings["test"], settings.get("noise", 0.0))
        key = (*model, rows)
        if key not in self.drawn:
            folder = f"data{len(self.drawn)}"
            options = dict(zip(("train_prevalence", "prevalence", "noise"), model, strict=True))
            for seed in range(seeds):
                draw(self._rows_path(folder, seed), "gaussian", rows, seed, **options)
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


def _sheet(table: PublishedTable, cache: MetricsCache, seeds: int) -> Sheet:
    cache.say(f"{table.name}: {table.title}")
    rows: list[Row] = []
    outside: list[str] = []
    cells = 0
    for published_row in table.rows:
        metrics = cache.metrics(published_row.settings, seeds)
        row = [published_row.label]
        for column, published in zip(table.columns, published_row.published, strict=True):
            digits = _digits(table, column)
            summary = spread([metrics_of_seed[column] for metrics_of_seed in metrics], published, digits)
            row.append(cell(summary, published, digits))
            cells += 1
            if not summary.inside:
                outside.append(f"{published_row.label}: {NAMES[column]}")
        rows.append(row)
    return Sheet(
        title=f"{table.name}. {table.title}",
        text=_notes(table, seeds, cells, outside),
        header=["", *(NAMES[column] + (" %" if column in PERCENTS else "") for column in table.columns)],
        rows=rows,
        verdict=_verdict(table, seeds, cells, len(outside)),
    )


def _digits(table: PublishedTable, column: str) -> int:
    return 2 if table.key == "tce2" and column in PERCENTS else 4


def cell(summary: Spread, published: float, digits: int) -> str:
    """Write a cell: the published value, our median, lowest and highest, and the share of seeds below."""
    decimals = 2 if digits == 2 or summary.high > 1.5 else digits
    text = f"{published:.{decimals}f}: {summary.median:.{decimals}f} "
    text += f"({summary.low:.{decimals}f} to {summary.high:.{decimals}f}), "
    text += f"{100 * summary.share_below:.0f} %"
    return text if summary.inside else f"**{text}**"


def _notes(table: PublishedTable, seeds: int, cells: int, outside: Sequence[str]) -> list[str]:
    expected = 2 * cells / (seeds + 1)
    text = [f"The paper prints this table in {table.where}. {table.note}".strip()]
    text.append(
        f"Outside the range of our {seeds} seeds: {len(outside)} of {cells} cells. If the paper's values "
        f"had the same distribution as ours, {expected:.1f} would be outside on average."
    )
    if table.reason:
        text.append(table.reason)
    elif outside:
        text.append(
            "Outside: " + "; ".join(outside) + ". " + (CHANCE if len(outside) <= expected else SAME_DRAW)
        )
    return text


def _verdict(table: PublishedTable, seeds: int, cells: int, outside: int) -> str:
    if table.reason:
        return (
            f"not reproducible: {cells - outside} of {cells} cells within the range of {seeds} seeds; the "
            "section gives the reason"
        )
    return f"reproduced: {cells - outside} of {cells} cells within the range of {seeds} seeds"
