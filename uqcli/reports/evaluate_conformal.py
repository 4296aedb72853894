"""The report of ``uqcli evaluate`` on conformal sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from uqcli.artifacts.models import ConformalArtifact, Source
from uqcli.choices import ConformalMode
from uqcli.reports.conformal import describe
from uqcli.reports.document import (
    Document,
    Estimate,
    Metric,
    Metrics,
    Table,
    count,
    interval,
    printable,
)
from uqcli.reports.evaluate import EvaluateParameters, evaluation_payload, metrics_by_artifact
from uqcli.reports.figures import BLUE, GREY, INK, RED, Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_MOST_ROWS = 60
_MOST_BARS = 40


@dataclass(frozen=True, kw_only=True)
class SetMetrics:
    """What sets hold.

    Attributes
    ----------
    coverage
        Share of rows whose set holds their label.
    empty
        Share of rows with an empty set.
    by_class, by_size, by_group
        Coverage of the rows of a class, with a set of a size, of a group.
    sizes
        Rows by size of their set.
    target
        Coverage and mean size where the classes are as frequent as in a target; None without one.
    """

    coverage: Estimate
    mean_set_size: float
    empty: float
    by_class: Mapping[str, Estimate]
    by_size: Mapping[str, Estimate]
    by_group: Mapping[str, Estimate]
    sizes: Mapping[str, int]
    target: tuple[float, float] | None
    rows: int

    def metrics(self) -> Metrics:
        """By their contract names."""
        metrics: dict[str, Metric] = {
            "coverage": self.coverage,
            "mean_set_size": self.mean_set_size,
            "empty": self.empty,
            "rows": self.rows,
            "coverage_by_class": self.by_class,
            "coverage_by_size": self.by_size,
            "set_sizes": self.sizes,
        }
        if self.by_group:
            metrics["coverage_by_group"] = self.by_group
        if self.target is not None:
            metrics["target"] = {"coverage": self.target[0], "mean_set_size": self.target[1]}
        return metrics


@dataclass(frozen=True, kw_only=True)
class EvaluateConformalReport:
    """How saved conformal sets do on labelled rows."""

    source: Source
    parameters: EvaluateParameters
    results: tuple[tuple[str, ConformalArtifact, SetMetrics], ...]
    shifted: bool

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """Metrics by artifact."""
        return metrics_by_artifact(self.results)

    def payload(self) -> dict[str, Any]:
        """The JSON form: ``metrics`` for one artifact, ``results`` for several."""
        return evaluation_payload(self.source, self.parameters, self.results, self._verdicts())

    def document(self) -> Document:
        """The readable form."""
        header = ("", *(name for name, _, _ in self.results))
        lines = [
            ("sets", *(describe(artifact) for _, artifact, _ in self.results)),
            ("coverage", *(interval(found.coverage) for _, _, found in self.results)),
            ("mean set size", *(f"{found.mean_set_size:.3f}" for _, _, found in self.results)),
            ("empty sets", *(f"{100 * found.empty:.2f} %" for _, _, found in self.results)),
        ]
        if self.shifted:
            targets = [found.target or (0.0, 0.0) for _, _, found in self.results]
            lines.append(("coverage, target's classes", *(f"{covered:.4f}" for covered, _ in targets)))
            lines.append(("mean set size, target's classes", *(f"{size:.3f}" for _, size in targets)))
        tables = [Table(title="", header=header, rows=lines)]
        for what in ("class", "group", "size"):
            table = self._coverage_table(what)
            if table is not None:
                tables.append(table)
        return Document(
            title=f"Evaluation on {count(self.source.rows)} rows",
            tables=tables,
            notes=self._verdicts(),
            figures=[sets_figure(self.results)],
        )

    def _coverage_table(self, what: str) -> Table | None:
        parts = [
            {"class": found.by_class, "group": found.by_group, "size": found.by_size}[what]
            for _, _, found in self.results
        ]
        names = list(dict.fromkeys(name for part in parts for name in part))
        if not names:
            return None
        rows = [
            (printable(name), *(interval(part[name]) if name in part else "-" for part in parts))
            for name in names[:_MOST_ROWS]
        ]
        header = (what, *(name for name, _, _ in self.results))
        return Table(
            title=f"Coverage by {what if what != 'size' else 'size of the set'}", header=header, rows=rows
        )

    def _verdicts(self) -> list[str]:
        return [f"{name}: {_verdict(artifact, found)}" for name, artifact, found in self.results]


def promised_of(artifact: ConformalArtifact, name: str) -> float:
    """Coverage promised to the rows of a class."""
    own = (artifact.parameters.alpha_by_class or {}).get(name)
    return 1 - (artifact.alpha if own is None else float(own))


def _verdict(artifact: ConformalArtifact, found: SetMetrics) -> str:
    if artifact.mode is ConformalMode.LABEL_CONDITIONAL:
        return _verdict_by_class(artifact, found)
    wanted = 1 - artifact.alpha
    promised = f"{100 * wanted:g} %"
    if artifact.mode is ConformalMode.LABEL_SHIFT:
        if found.target is not None:
            there = f"{100 * found.target[0]:.1f} %"
            return f"coverage in the target's class mix is {there}, promised {promised}."
        return (
            f"coverage of {promised} is promised in the target's class mix: read this on rows of the target, "
            "or give its class weights with --shift."
        )
    covered = found.coverage
    if covered.high < wanted:
        text = f"coverage is below the promised {promised}, by more than chance"
    elif covered.low > wanted:
        text = f"coverage is above the promised {promised}"
    else:
        text = f"coverage agrees with the promised {promised}"
    low = _below(found.by_class, lambda _: wanted)
    if low:
        text += f"; among classes, which are not promised it, {_named(low, found)}"
    return f"{text}."


def _verdict_by_class(artifact: ConformalArtifact, found: SetMetrics) -> str:
    low = _below(found.by_class, lambda name: promised_of(artifact, name))
    if low:
        return f"below what is promised, by more than chance: {_named(low, found)}."
    return "coverage of every class agrees with what is promised to it, or is above."


def _below(by_class: Mapping[str, Estimate], wanted: Callable[[str], float]) -> list[str]:
    """Classes covered surely less often than wanted, the worst first."""
    low = [(each.value or 0.0, name) for name, each in by_class.items() if each.high < wanted(name)]
    return [name for _, name in sorted(low)]


def _named(names: Sequence[str], found: SetMetrics) -> str:
    shown = [f"{printable(name)} {100 * (found.by_class[name].value or 0):.1f} %" for name in names[:5]]
    return ", ".join(shown) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def sets_figure(results: tuple[tuple[str, ConformalArtifact, SetMetrics], ...]) -> Figure:
    """Sizes of the sets, and coverage by class with intervals, for one artifact or several."""

    def draw(canvas: Canvas) -> None:
        sizes, classes = canvas.subplots(1, 2, width_ratios=[2, 3])
        _draw_sizes(sizes, results)
        _draw_coverage(classes, results)

    names = ", ".join(name for name, _, _ in results)
    return Figure(title=f"Sizes and coverage of conformal sets: {names}", width=10.5, height=4.2, draw=draw)


_COLOURS = (BLUE, RED, GREY, INK)


def _draw_sizes(axes: Axes, results: tuple[tuple[str, ConformalArtifact, SetMetrics], ...]) -> None:
    from matplotlib.ticker import MaxNLocator

    width = 0.8 / len(results)
    for at, (name, _, found) in enumerate(results):
        size = np.array([int(each) for each in found.sizes])
        rows = np.array(list(found.sizes.values())) / found.rows
        axes.bar(
            size + (at + 0.5) * width - 0.4,
            rows,
            width=width,
            color=_COLOURS[at % 4],
            label=printable(name, 30),
        )
    axes.set_title("Size of the sets")
    axes.set(xlabel="classes in the set", ylabel="share of rows")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if len(results) > 1:
        axes.legend(frameon=False)


def _draw_coverage(axes: Axes, results: tuple[tuple[str, ConformalArtifact, SetMetrics], ...]) -> None:
    names = results[0][1].classes[:_MOST_BARS]
    step = 0.6 / len(results)
    for at, (_, artifact, found) in enumerate(results):
        centres, values, errors = [], [], []
        for place, name in enumerate(names):
            each = found.by_class.get(name)
            if each is not None and each.value is not None:
                centres.append(place + (at + 0.5) * step - 0.3)
                values.append(each.value)
                errors.append((each.value - each.low, each.high - each.value))
        colour, ends = _COLOURS[at % len(_COLOURS)], np.maximum(np.array(errors).T, 0)
        axes.errorbar(centres, values, yerr=ends, fmt="o", color=colour, markersize=4)
        promised = [promised_of(artifact, name) for name in names]
        places = np.arange(len(names))
        axes.hlines(promised, places - 0.5, places + 0.5, color=colour, linewidth=1, linestyle="dashed")
    axes.set_title("Coverage by class (dashed: promised)")
    rotation = 90 if max(map(len, names)) > 3 else 0
    axes.set_xticks(
        range(len(names)), [printable(name, 20) for name in names], rotation=rotation, parse_math=False
    )
    axes.set(ylabel="share of rows whose set holds it", ylim=(None, 1.02))
