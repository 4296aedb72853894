"""A single threshold on the same rows, beside the rule or in its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import percent
from uqcli.boundary.results import fit_cells, fit_metrics
from uqcli.boundary.rule_words import rule
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.thresholds import FittedBoundary, Thresholds
from uqcli.boundary.statements import UNTESTED, BoundaryPart, Phrases, Remark
from uqcli.estimates.confusion import Confusion
from uqcli.reports.document import Metrics, by_key
from uqcli.reports.parts import Statement


@dataclass(frozen=True, kw_only=True)
class ThresholdBeside(BoundaryPart):
    """The best single threshold within the same bounds, and a caution if it reaches more."""

    rank: ClassVar = 1

    boundary: FittedBoundary
    within: str
    cautions: Sequence[Notice]

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(
            phrases,
            instead="One threshold does as well: add --uncertainty-bins 1 to use it.",
            curves=(*phrases.curves, ("single threshold", self.boundary.thresholds)),
        )

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "threshold-beside", f"The single threshold flags when {rule(self.boundary.printed[0])}."
        yield "result-beside", (f"one threshold, same {self.within}", *fit_cells(self.boundary.fit))
        yield "untested-beside", UNTESTED
        yield "untested-bound", UNTESTED
        for caution in self.cautions:
            yield "single-threshold", caution

    def metrics(self, phrases: Phrases) -> Metrics:
        return {"score_only_recall": self.boundary.fit.recall}


@dataclass(frozen=True, kw_only=True)
class ThresholdInstead(BoundaryPart):
    """A single threshold is the rule, in place of the boundary of an algorithm, a line of the table."""

    fit: Confusion[int]
    unsaved: tuple[str, ...]
    cautions: Sequence[Notice]

    def reworded(self, phrases: Phrases) -> Phrases:
        saved = [("single threshold, saved", thresholds) for _, thresholds in phrases.curves]
        advice = "The rule is one threshold; --uncertainty-bins auto would use the uncertainty."
        return replace(phrases, one_threshold="", advice=advice, curves=tuple(saved))

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "result-unsaved", self.unsaved
        yield "untested-beside", UNTESTED
        yield "untested-bound", UNTESTED
        for caution in self.cautions:
            yield "single-threshold", caution

    def metrics(self, phrases: Phrases) -> Metrics:
        return {"score_only_recall": self.fit.recall}


@dataclass(frozen=True, kw_only=True)
class UnsavedBoundary(BoundaryPart):
    """A boundary that the figure draws, though it is not the rule."""

    thresholds: Thresholds

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, curves=(("boundary, not saved", self.thresholds), *phrases.curves))


def no_threshold_beside() -> BoundaryPart:
    """No single threshold is within the bounds."""
    return Remark(
        said=[("no-threshold-beside", "No single threshold meets the target on the calibration set.")]
    )


def equal_alerts(fit: Confusion[int]) -> BoundaryPart:
    """Return counts of a single threshold that flags as many rows."""
    said = ("result-equal-alerts", ("one threshold, as many alerts", *fit_cells(fit)))
    return Remark(said=[said], measured={"score_only_equal_alerts": by_key(fit_metrics(fit))})


def same_bounds(constraint: Constraint, own: Confusion[int], single: Confusion[int]) -> str:
    """Return what a boundary and a single threshold have in common: a rate, a target, or bounds."""
    if constraint.limits.also:
        return "bounds"
    if constraint.bounds_recall and percent(own.recall) != percent(single.recall):
        return "target"  # which both may exceed
    return constraint.name


def reaches_more(
    constraint: Constraint, single: Confusion[int], own: Confusion[int], hint: str
) -> list[Notice]:
    """Caution that a single threshold reaches more than a boundary of the grid; empty if it does not."""
    if not constraint.leaves_recall(single) or constraint.objective(single) <= constraint.objective(own):
        return []
    reached = f"a single threshold reaches {' '.join(constraint.reached(single))}"
    only = f"and the boundary only {constraint.reached(own)[1]}"
    return [Notice("single-threshold", f"{reached}, {only}: {hint}.")]


def alone_meets(constraint: Constraint, single: Confusion[int], hint: str) -> list[Notice]:
    """Caution that a single threshold meets a target where no boundary of the grid does."""
    if not constraint.leaves_recall(single):
        return []
    reached = f"a single threshold reaches {' '.join(constraint.reached(single))}"
    return [Notice("single-threshold", f"no boundary on this grid meets the target, but {reached}: {hint}.")]
