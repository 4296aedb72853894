"""Parts of what ``uqcli calibrate`` tells: a map, how it was chosen, measured and corrected, and its rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

import numpy as np

from uqcli.base import defaults
from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Floats, ValueCounts
from uqcli.base.notices import Notice
from uqcli.base.options import ResamplingOptions
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.wording import ADD_NEGATIVES, ADD_POSITIVES, capitalised, count, probability
from uqcli.bin.isotonic_error import cumulative
from uqcli.calibrate.fit import Choice, FittedCalibration, cross_validated
from uqcli.calibrate.folds import can_be_split
from uqcli.calibrate.maps import CalibrationMap, ClassMap
from uqcli.calibrate.maps.histogram import target_bound
from uqcli.calibrate.options import CalibrateRequest
from uqcli.calibrate.report import CalibratePart, Fact, Phrases, Remark
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.comparison.figure import ReliabilityPanel
from uqcli.comparison.report import (
    Comparison,
    class_table,
    comparison_card,
    comparison_table,
    is_worse,
    losses_without_interval,
    lowest_brier,
    meanings_table,
    ranked_table,
    remaining_error,
    too_few_clusters,
    value_of,
    verdict,
)
from uqcli.comparison.run import PairedRows
from uqcli.estimates.paired import clusters_in
from uqcli.estimates.score_metrics import REVERSED, is_reversed
from uqcli.reports.document import Metrics, Table, Verdict, plain
from uqcli.reports.parts import Statement
from uqcli.rules.saved import Source


@dataclass(frozen=True, kw_only=True)
class FittedMap(CalibratePart):
    """A map of the probabilities of all classes."""

    artifact: CalibratorArtifact

    exact_methods: ClassVar = "venn-abers"
    """Methods that never predict 0 or 1."""

    def voids(self) -> Iterable[Fact]:
        return (Fact.CHANGES,) if self.artifact.method is CalibrationMethod.IDENTITY else ()

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        ends = [f"{end:g}" for end in (0, 1) if end in self.artifact.calibration.steps()]
        if ends:
            exact = f"some probabilities are exactly {' or '.join(ends)}, which new data can contradict"
            advice = f"use --method {self.exact_methods} to avoid them"
            yield "certain-probabilities", Notice("certain-probabilities", f"{exact}: {advice}.")
        yield "rows", f"Calibration rows: {self._rows()}{phrases.of_clusters}."
        yield "apply", "apply {rule} NEW.csv -o calibrated.csv"

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        for table in self.artifact.tables():
            yield "map", replace(table, detail=True)

    def _rows(self) -> str:
        return count(self.artifact.source.rows)


@dataclass(frozen=True, kw_only=True)
class FittedScoreMap(FittedMap):
    """A map of one score."""

    exact_methods: ClassVar = "spline or venn-abers"

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield from super().statements(phrases)
        if self.artifact.parameters.features:
            yield "random-trees", "the trees and their rows"
        yield "other-methods", "--method all compares other methods."

    def _rows(self) -> str:
        return f"{super()._rows()}, {count(self.artifact.source.positives)} positive"


@dataclass(frozen=True, kw_only=True)
class Measurement(CalibratePart):
    """Whether a map was measured on rows that its fit did not use."""

    @property
    def log_loss(self) -> float:
        """Log loss after calibration, by which methods are ranked; infinite if unknown."""
        return math.inf

    def undrawn(self) -> Measurement:
        """Return a copy without diagrams, which may hold all rows."""
        return self


@dataclass(frozen=True, kw_only=True)
class Unmeasured(Measurement):
    """There is but one row, or one cluster."""

    def voids(self) -> Iterable[Fact]:
        return (Fact.MEASURED,)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "unmeasured", "One row is too few to measure on: no before and after."


@dataclass(frozen=True, kw_only=True)
class Measured(Measurement):
    """A map of one score was measured."""

    compared: Comparison
    panels: Sequence[ReliabilityPanel]

    @property
    def log_loss(self) -> float:
        value = value_of(self.compared.after["log_loss"])
        return math.inf if value is None else value

    def undrawn(self) -> Measurement:
        return replace(self, panels=())

    def voids(self) -> Iterable[Fact]:
        return (Fact.HARMLESS,) if is_worse(self.compared) else ()

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "verdict", verdict(self.compared, phrases.where)
        for notice in remaining_error(self.compared):
            yield "remaining-error", notice
        yield "measured-on", f"Metrics are {phrases.on}."
        yield "random-folds", "the folds"
        yield "card", comparison_card("", self.compared)

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        yield "comparison", comparison_table("", self.compared)
        yield "meanings", meanings_table()
        for panel in self.panels:
            yield "panel", panel

    def metrics(self, phrases: Phrases) -> Metrics:
        return {**self.compared.metrics(), **phrases.counted}


@dataclass(frozen=True, kw_only=True)
class MeasuredClasses(Measured):
    """A map of the probabilities of all classes was measured."""

    classes: Sequence[str]

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        yield from super().exhibits(phrases)
        yield "by-class", class_table(self.classes, self.compared)

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        by_class = zip(self.classes, self.compared.by_class, strict=True)
        sides = [(name, plain(before), plain(after)) for name, (before, after) in by_class]
        return {"by_class": [{"class": name, "before": first, "after": last} for name, first, last in sides]}


class CrossValidation(CalibratePart):
    """Each row is measured by a map that was fitted without it."""

    def chosen(self, rows: Rows) -> Rows:
        """Return the rows to measure on, given those of the fit."""
        return rows

    def can_measure(self, rows: Rows, cluster: str | None) -> bool:
        """Whether there are enough rows."""
        return can_be_split(rows, cluster)

    def pairs(
        self, fits: Sequence[FittedCalibration], rows: Rows, tree_rows: Rows | None
    ) -> Iterable[PairedRows]:
        """Pair scores with the probabilities of each method, from fits that did not use their rows."""
        compared = [tried for fitted in fits for tried in fitted.cross_fitted if tried.rows is rows]
        if len(compared) == len(fits):
            return [tried.paired() for tried in compared]
        return cross_validated(rows, [fitted.options for fitted in fits], tree_rows)


@dataclass(frozen=True, kw_only=True)
class TestSet(CrossValidation):
    """The rows that a map is measured on are a test set."""

    rows: Rows

    def chosen(self, rows: Rows) -> Rows:
        return self.rows

    def can_measure(self, rows: Rows, cluster: str | None) -> bool:
        return True

    def pairs(
        self, fits: Sequence[FittedCalibration], rows: Rows, tree_rows: Rows | None
    ) -> Iterable[PairedRows]:
        return [fitted.paired(self.rows, fitted.options.cluster) for fitted in fits]

    def voids(self) -> Iterable[Fact]:
        return (Fact.CROSS_VALIDATED,)

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, on="on the test set", where="on the test set", measured="test")


@dataclass(frozen=True, kw_only=True)
class Clusters(CalibratePart):
    """Rows depend on each other within clusters, of which so many were measured."""

    number: int

    def reworded(self, phrases: Phrases) -> Phrases:
        of_clusters = f", in {count(self.number)} clusters"
        return replace(phrases, of_clusters=of_clusters, counted={"clusters": self.number})

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        for notice in too_few_clusters(self.number):
            yield "few-clusters", notice


_LOSSES: Final = ("method", "log loss", "above the lowest", "standard error")


@dataclass(frozen=True, kw_only=True)
class Chosen(CalibratePart):
    """The method was chosen as the simplest that fits."""

    choice: Choice

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "choice", self.choice.reason()
        if self.choice.method is CalibrationMethod.IDENTITY:
            yield "kept", self.choice.reason()

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        rows = [
            (str(tried.method), f"{tried.log_loss:.4f}", f"{tried.excess:.2g}", f"{tried.error:.2g}")
            for tried in self.choice.tried
        ]
        title, header = "Cross-validated log loss, from the simplest method", _LOSSES
        if rows:
            yield "losses", Table(title=title, header=header, rows=rows, left=1, detail=True)

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        return {"choice": [{**vars(tried), "method": str(tried.method)} for tried in self.choice.tried]}


@dataclass(frozen=True, kw_only=True)
class Ranking(CalibratePart):
    """Several methods were measured, of which the best is kept: names and comparisons, the best first.

    ``panels`` are the diagrams of the others.
    """

    methods: Sequence[tuple[str, Comparison]]
    panels: Sequence[ReliabilityPanel] = ()

    def voids(self) -> Iterable[Fact]:
        return (Fact.ONE_METHOD,)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        first, compared = self.methods[0]
        yield "best", self._best()
        for notice in remaining_error(compared, f"{first}'s"):
            yield "remaining-error-of-best", notice
        advice = "evaluate both on a test set"
        for note in (*lowest_brier(self.methods, advice), *losses_without_interval(self.methods)):
            yield "ranking", note
        untested = Verdict(text="its lead is not tested")
        yield "card-of-best", replace(comparison_card("", compared), verdict=untested)
        yield "evaluate", "evaluate {rule} TEST.csv"
        for method, tried in self.methods:
            yield "result", {"method": method, "metrics": plain(tried.metrics())}

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        first, compared = self.methods[0]
        maps = [tried for tried in self.methods if tried[0] != CalibrationMethod.IDENTITY]
        yield "ranked", ranked_table("", "method", maps)  # of which a row has the scores themselves
        yield "comparison-of-best", replace(comparison_table(first, compared), detail=True)
        for panel in self.panels:
            yield "panel", panel

    def _best(self) -> str:
        """State which method has the lowest log loss; its lead is not tested."""
        (first, compared), *others = self.methods
        after, before = value_of(compared.after["log_loss"]), value_of(compared.before["log_loss"])
        if after is None or before is None:
            return "The methods cannot be ranked: the log loss is undefined."
        second = others[0][0] if others else ""
        if first == CalibrationMethod.IDENTITY:
            best = f", and the best map, {second}, no less" if second else ""
            return (
                f"No map lowers the log loss: the scores themselves have {before:.4f}{best}, so they stay as "
                "they are (method identity)."
            )
        if after >= before:
            return (
                f"No method lowers the log loss: the best, {first}, has {after:.4f}, and the scores "
                f"themselves have {before:.4f}."
            )
        return (
            f"{first} has the lowest log loss, {after:.4f} ({before:.4f} before), so it was chosen. Its "
            f"lead over {second or 'the scores'} was not tested."
        )


_ERRORS: Final = ("score bin", "IST", "MIST", "IST, from here up", "MIST, from here up")


@dataclass(frozen=True, kw_only=True)
class IsotonicErrors(CalibratePart):
    """ECE@j of one isotonic fit (IST), and of one fit per uncertainty bin (MIST)."""

    single: Floats
    by_bin: Floats

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        columns = (self.single, self.by_bin, cumulative(self.single), cumulative(self.by_bin))
        rows = [
            (str(number), *(probability(value) for value in line))
            for number, line in enumerate(zip(*map(_numbers, columns), strict=True), start=1)
        ]
        title = (
            f"Error by score bin, mean over uncertainty bins (ECE@j), {phrases.where}: one isotonic fit "
            "(IST) or one for each bin (MIST)"
        )
        yield "errors", Table(title=title, header=_ERRORS, rows=rows, left=0, detail=True)

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        errors = {
            name: {"ece": _numbers(error), "cumulative": _numbers(cumulative(error))}
            for name, error in (("ist", self.single), ("mist", self.by_bin))
        }
        return {"ece_by_score_bin": errors}


@dataclass(frozen=True, kw_only=True)
class Target:
    """Target data with the class priors of the calibration rows."""

    weights: Sequence[float] = ()

    def saved(self) -> list[float] | None:
        return None

    def parts(self, fitted: CalibrationMap | ClassMap) -> list[CalibratePart]:
        return []


@dataclass(frozen=True, kw_only=True)
class WeightedTarget(Target):
    """Target data in which the classes have other priors.

    ``error`` is the largest distance of a weight from the ends of its interval, None without intervals;
    ``corrected`` tells how the map is corrected, by which ``ratio``. ``norm`` is the 1-norm of an error by 1.
    """

    error: float | None
    corrected: str
    norm: int

    def saved(self) -> list[float] | None:
        return [*self.weights]

    def parts(self, fitted: CalibrationMap | ClassMap) -> list[CalibratePart]:
        notes = [self.corrected.format(ratio=self.weights[-1] / self.weights[0])]
        if self.error is not None and math.isfinite(fitted.largest_error):
            bound = target_bound(self.weights, self.norm * fitted.largest_error, self.error)
            of_classes = f"the class probabilities of each bin are within {min(2.0, bound):.3g} of the truth"
            within = f"{of_classes} (1-norm)"
            if len(self.weights) == 2:
                within = f"each bin's probability is within {min(1.0, bound / 2):.3g} of the truth"
            notes.append(f"In the target, {within} if the weights are within their intervals (Theorem 4).")
        return [noted("target", notes)]


def labels_of_one_class(source: Source) -> Sequence[str]:
    """State that no row is positive, or that every row is, and what to do; empty if rows have both labels."""
    if source.positives == 0:
        return "no row is positive", ADD_POSITIVES
    if source.positives == source.rows:
        return "every row is positive", ADD_NEGATIVES
    return ()


def rows_by_score(source: Source, counts: ValueCounts) -> list[CalibratePart]:
    """Caution of labels that are all alike, and of a score that ranks the wrong way."""
    parts: list[CalibratePart] = []
    if one_class := labels_of_one_class(source):
        title = f"{capitalised(one_class[0])}, so these rows do not show whether a map helps."
        notice = Notice("one-class", f"{': '.join(one_class)}.")
        parts.append(Remark(said=[("one-class-verdict", title), ("one-class", notice)]))
    if is_reversed(counts):
        parts.append(Remark(said=[("reversed-score", Notice("reversed-score", REVERSED))]))
    return parts


def ranking(tried: Iterable[tuple[str, Measurement]], *, draws_all: bool) -> list[CalibratePart]:
    """Rank methods that were measured on the same rows, the best first; nothing if none was.

    ``draws_all`` adds the diagrams of the others.
    """
    measured = [(name, each) for name, each in tried if isinstance(each, Measured)]
    if not measured:
        return []
    panels = [panel for _, each in measured[1:] if draws_all for panel in each.panels]
    return [Ranking(methods=[(name, each.compared) for name, each in measured], panels=panels)]


def inapplicable(obstacles: Mapping[CalibrationMethod, str]) -> CalibratePart:
    """Say why methods were not tried."""
    said: list[Statement] = []
    for method, why in obstacles.items():
        said.append(("inapplicable", f"{method} does not apply: it {why}."))
        said.append(("obstacle", {"method": str(method), "metrics": None, "obstacle": why}))
    return Remark(said=said)


def intervals(request: CalibrateRequest, plan: ResamplingOptions) -> CalibratePart:
    """Say that the intervals are drawn, or why there are none by default."""
    if plan.bootstrap:
        return noted("random-intervals", ["the intervals"])
    none = f"No intervals above {defaults.BOOTSTRAP_ROWS:,} rows; ask for them with --bootstrap."
    return noted("no-intervals", [none] if request.resampling.bootstrap is None else [])


def clusters_of(rows: Rows, cluster: str | None) -> list[CalibratePart]:
    """Return the part of rows that depend on each other; none if they are independent."""
    number = clusters_in(rows, cluster)
    return [] if number is None else [Clusters(number=number)]


def noted(name: str, notes: Sequence[str]) -> CalibratePart:
    """Say notes on the fit, or on what it was measured on."""
    return Remark(said=[(name, note) for note in notes])


def _numbers(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
