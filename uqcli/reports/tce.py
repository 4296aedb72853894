"""The report of ``uqcli tce``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from uqcli.artifacts.models import Source
from uqcli.defaults import VERSION
from uqcli.methods.metrics.calibration_error import Direction, Rejected, ScoreBins
from uqcli.methods.metrics.diagram import Diagram
from uqcli.reports.document import Document, Estimate, Metric, Metrics, Table, count, plain, printable, share
from uqcli.reports.figures import Figure
from uqcli.reports.reliability import Panel, reliability_figure

_MEANINGS = {
    "tce": "predictions that their bin's labels speak against, %",
    "tce_q": "the same on quantile bins, %",
    "tce_v": "the same on isotonic (PAVA) bins, %",
    "ece": "mean |rate - mean score|, equispaced bins",
    "ace": "the same on quantile bins",
    "mce": "largest |rate - mean score|, equispaced bins",
    "mce_q": "the same on quantile bins",
    "brier": "mean squared error",
    "log_loss": "mean negative log likelihood, nats",
    "estimation_error": "variance of labels within the bins, by rows",
    "within_bin_error": "the same, mean over bins",
}
_SHOWN_OF_PARTS = ("tce", "ece", "ace", "brier", "log_loss")
_MOST_PANELS = 4


class TceParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The options that shape the result."""

    binning: str
    n_min: int | None
    n_max: int | None
    n_bins: int
    alpha: float
    test: str
    classes: list[str] | None
    by: str | None
    bootstrap: int
    seed: int | None
    confidence: float | None
    on_invalid: str
    positive: str | None


@dataclass(frozen=True, kw_only=True)
class ClassPart:
    """Rows under one question: whether the label is this class; without name, whether it is positive."""

    name: str | None
    positives: int
    metrics: Metrics
    bins: ScoreBins
    rejected: Rejected
    too_high: Direction
    too_low: Direction
    diagram: Diagram


@dataclass(frozen=True, kw_only=True)
class Part:
    """All rows (no name) or one group, by weight; its metrics are means over the classes."""

    name: str | None
    rows: int
    metrics: Metrics
    classes: tuple[ClassPart, ...]


@dataclass(frozen=True, kw_only=True)
class TceReport:
    """Calibration errors of one column of scores or of many classes, and of groups of rows."""

    source: Source
    parameters: TceParameters
    whole: Part
    groups: tuple[Part, ...]
    warnings: tuple[str, ...]

    @property
    def multiclass(self) -> bool:
        """Whether there is one set of probabilities for each class."""
        return self.parameters.classes is not None

    @property
    def metrics(self) -> Metrics:
        """Errors of all rows; by class, by group and of the worst group where there are any."""
        metrics: dict[str, Metric] = dict(self.whole.metrics)
        if self.multiclass:
            metrics["by_class"] = {str(each.name): each.metrics for each in self.whole.classes}
        if self.groups:
            metrics["by_group"] = {str(group.name): group.metrics for group in self.groups}
            metrics["worst_group"] = _worst_first(self.groups)[0].metrics
        return metrics

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """One set of metrics."""
        return {"": self.metrics}

    def payload(self) -> dict[str, Any]:
        """The JSON form."""
        payload: dict[str, Any] = {
            "command": "tce",
            "uqcli_version": VERSION,
            "source": msgspec.to_builtins(self.source),
            "parameters": msgspec.to_builtins(self.parameters),
            "metrics": plain(self.metrics),
            "bins": _bins_as_json(self.whole),
            "notes": self._notes(),
        }
        if self.groups:
            payload["worst_group"] = _worst_first(self.groups)[0].name
            payload["groups"] = [
                {
                    "group": group.name,
                    "rows": group.rows,
                    "positives": None if self.multiclass else group.classes[0].positives,
                    "bins": _bins_as_json(group),
                }
                for group in self.groups
            ]
        return payload

    def document(self) -> Document:
        """The readable form."""
        metrics = self.whole.metrics.items()
        rows = [(name, _MEANINGS[name], shown_metric(name, value)) for name, value in metrics]
        tables = [Table(title="", header=("metric", "meaning", "value"), rows=rows, left=2)]
        if self.groups:
            tables.append(_parts_table(f"By {self.parameters.by}", _worst_first(self.groups)))
        if self.multiclass:
            tables.append(_classes_table(self.whole))
        else:
            tables.append(_bins_table(f"Bins ({self.parameters.binning})", self.whole.classes[0]))
        positive = "" if self.multiclass else f", {count(self.source.positives)} positive"
        weighed = "" if self.whole.rows == self.source.rows else f" ({count(self.whole.rows)} by weight)"
        return Document(
            title=f"Calibration of {count(self.source.rows)} rows{weighed}{positive}",
            tables=tables,
            notes=self._notes(),
            figures=[self._figure()],
        )

    def _notes(self) -> list[str]:
        level = self.parameters.alpha
        notes = []
        if self.multiclass:
            worst = _worst_first(self.whole.classes)[0]
            value = _value(self.whole.metrics["tce"])
            notes += [
                f"On average over {len(self.whole.classes)} classes, {value:.1f} % of predictions deviate.",
                f"Worst class, {_named(worst)}: {in_words(worst, level)}",
            ]
        else:
            notes.append(in_words(self.whole.classes[0], level))
        if self.groups:
            group = _worst_first(self.groups)[0]
            worst = _worst_first(group.classes)[0]
            which = f", class {_named(worst)}" if self.multiclass else ""
            notes.append(
                f"Worst group, {_named(group)} ({count(group.rows)} rows){which}: {in_words(worst, level)}"
            )
        return [*notes, *self.warnings]

    def _figure(self) -> Figure:
        if self.multiclass:
            classes = _worst_first(self.whole.classes)[:_MOST_PANELS]
            return reliability_figure([_panel(f"Class {_named(each, 40)}", each) for each in classes])
        panels = [_panel("All rows" if self.groups else "", self.whole.classes[0])]
        for group in _worst_first(self.groups)[: _MOST_PANELS - 1]:
            panels.append(_panel(f"{self.parameters.by} = {_named(group, 40)}", group.classes[0]))
        return reliability_figure(panels)


def _named(part: Part | ClassPart, most: int = 60) -> str:
    return printable(str(part.name), most)


def _panel(name: str, part: ClassPart) -> Panel:
    facts = f"TCE {_value(part.metrics['tce']):.2f} %, ECE {_value(part.metrics['ece']):.4f}"
    rows = f"{count(int(part.bins.count.sum()))} rows, {count(part.positives)} positive"
    title = f"{name}: {facts}; {rows}" if name else f"{facts}; {rows}"
    return Panel(title=title, bins=part.bins, rejected=part.rejected, diagram=part.diagram)


def _worst_first(parts: Sequence[Any]) -> list[Any]:
    """Parts or classes by error: TCE, then ECE, highest first, then by name."""
    return sorted(
        parts, key=lambda part: (-_value(part.metrics["tce"]), -_value(part.metrics["ece"]), part.name)
    )


def _value(metric: Metric) -> float:
    value = metric.value if isinstance(metric, Estimate) else metric
    assert isinstance(value, int | float)  # calibration errors are always defined
    return value


def in_words(part: ClassPart, alpha: float) -> str:
    """Say in plain words what the numbers mean for these rows."""
    total, against = int(part.bins.count.sum()), int(part.rejected.rows.sum())
    percent = f"{_percent(against, total)} of predictions deviate significantly (level {alpha:g})"
    if against == 0:
        return f"{percent}; nothing here speaks against these probabilities."
    sides = sorted(
        [("too high", part.too_high), ("too low", part.too_low)], key=lambda side: -int(side[1].rows.sum())
    )
    said = [
        f"{_percent(int(side.rows.sum()), total)} are {name}, {_where(part.bins, side)}"
        for name, side in sides
        if side.rows.any()
    ]
    return f"{percent}: {'; '.join(said)}."


def _percent(rows: int, total: int) -> str:
    share_of_all = 100 * rows / total
    return "less than 0.1 %" if 0 < share_of_all < 0.05 else f"{share_of_all:.1f} %"


def _where(bins: ScoreBins, side: Direction) -> str:
    """The fewest neighbouring bins that hold most of some rows, and what is true of them."""
    filled = np.flatnonzero(bins.count)
    first, last = _shortest_run(side.rows[filled].tolist())
    run = filled[first : last + 1]
    low, high = float(bins.low[run[0]]), float(bins.high[run[-1]])
    where = {
        (True, True): "over the whole range",
        (True, False): f"mostly below {high:.3g}",
        (False, True): f"mostly above {low:.3g}",
        (False, False): f"mostly between {low:.3g} and {high:.3g}",
    }[low == 0, high == 1]
    mean = float(side.score_sum[run].sum()) / int(side.rows[run].sum())
    erring = run[side.rows[run] > 0]  # each bin's rate counts for its erring rows, as their scores do
    rate = float((bins.rate[erring] * side.rows[erring]).sum()) / int(side.rows[erring].sum())
    return f"{where} (on average they say {100 * mean:.3g} % where {100 * rate:.3g} % are positive)"


def _shortest_run(rows: list[int]) -> tuple[int, int]:
    """First and last place of the fewest neighbours that hold four fifths of all rows, the fullest such."""
    best, first, inside = (len(rows) + 1, 0, 0), 0, 0
    for last, more in enumerate(rows):
        inside += more
        while 5 * (inside - rows[first]) >= 4 * sum(rows):
            inside -= rows[first]
            first += 1
        if 5 * inside >= 4 * sum(rows):
            best = min(best, (last - first + 1, -inside, first))
    length, _, start = best
    return start, start + length - 1


def _bins_as_json(part: Part) -> list[dict[str, Any]]:
    return [
        row if each.name is None else {"class": each.name, **row}
        for each in part.classes
        for row in _bin_dicts(each)
    ]


def _bin_dicts(part: ClassPart) -> list[dict[str, Any]]:
    bins = part.bins
    names = ("low", "high", "count", "positives", "rate", "mean_score", "rejected")
    columns = (
        *(bins.low, bins.high, bins.count, bins.positives, bins.rate, bins.mean_score),
        part.rejected.rows,
    )
    rows = zip(*(column.tolist() for column in columns), strict=True)
    dicts = [dict(zip(names, row, strict=True)) for row in rows]
    return [each if each["count"] else {**each, "rate": None, "mean_score": None} for each in dicts]


def _bins_table(title: str, part: ClassPart) -> Table:
    rows = [
        (
            f"{each['low']:.4f}",
            f"{each['high']:.4f}",
            count(each["count"]),
            count(each["positives"]),
            share(each["rate"]),
            share(each["mean_score"]),
            f"{100 * each['rejected'] / each['count']:.1f} %" if each["count"] else "-",
        )
        for each in _bin_dicts(part)
    ]
    header = ("from", "to", "rows", "positive", "rate", "mean score", "rejected")
    return Table(title=title, header=header, rows=rows, left=0)


def _classes_table(whole: Part) -> Table:
    rows = [
        (
            _named(each),
            count(each.positives),
            *(shown_metric(m, each.metrics[m]) for m in _SHOWN_OF_PARTS),
        )
        for each in _worst_first(whole.classes)
    ]
    return Table(
        title="Classes, one against the rest", header=("class", "rows of it", *_SHOWN_OF_PARTS), rows=rows
    )


def _parts_table(title: str, parts: Sequence[Part]) -> Table:
    rows = [
        (
            _named(each),
            count(each.rows),
            *(shown_metric(m, each.metrics[m]) for m in _SHOWN_OF_PARTS),
        )
        for each in parts
    ]
    return Table(title=title, header=("group", "rows", *_SHOWN_OF_PARTS), rows=rows)


def shown_metric(name: str, metric: Metric) -> str:
    """A metric with its interval, percentages with two decimals.

    Examples
    --------
    >>> shown_metric("tce", 12.3456), shown_metric("ece", 0.5)
    ('12.35 %', '0.5000')
    """

    def form(value: float | None) -> str:
        return f"{value:.2f}" if name.startswith("tce") and value is not None else share(value)

    unit = " %" if name.startswith("tce") else ""
    if isinstance(metric, Estimate):
        return f"{form(metric.value)}{unit} [{form(metric.low)}, {form(metric.high)}]"
    assert metric is None or isinstance(metric, int | float)  # not a group of metrics
    return f"{form(metric)}{unit}"
