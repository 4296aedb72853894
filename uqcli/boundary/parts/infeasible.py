"""Why no rule was found: how close the best boundary comes to its bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from uqcli.base.choices import Algorithm
from uqcli.base.records import dataclass
from uqcli.base.wording import count, percent, percents
from uqcli.boundary.search.constraint import Constraint, listed
from uqcli.boundary.statements import BoundaryPart, Fact, Phrases
from uqcli.estimates.confusion import Confusion, Rate
from uqcli.reports.document import Metrics
from uqcli.reports.parts import Statement


@dataclass(frozen=True, kw_only=True)
class NoRule(BoundaryPart):
    """A search that found no boundary, not even one that flags a positive row."""

    algorithm: Algorithm
    constraint: Constraint

    def voids(self) -> Iterable[Fact]:
        return Fact.FOUND, Fact.ONE_THRESHOLD

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "out-of-reach", self.shortfall(phrases)

    def shortfall(self, phrases: Phrases) -> str:
        """State how close the best boundary comes, without a full stop."""
        return f"{phrases.no_boundary} with {self.constraint.text()} has a positive result"

    def metrics(self, phrases: Phrases) -> Metrics:
        return {"recall": None, "precision": None, "selected": 0, "true_positives": 0}

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        nothing = {"uncertainty_edges": None, "thresholds": None}
        return {"feasible": False, "algorithm": str(self.algorithm), **nothing}


@dataclass(frozen=True, kw_only=True)
class RecallOutOfReach(NoRule):
    """A boundary is within the other bounds, but its recall is too low."""

    closest: Confusion[int]
    recall: Constraint

    def shortfall(self, phrases: Phrases) -> str:
        """State the recall of the best boundary within the other bounds."""
        limits = self.constraint.limits
        only_precision = limits.rate is Rate.PRECISION and not limits.also
        where = f"at precision {limits.bound}" if only_precision else f"with {limits.text()}"
        found, _ = percents(self.closest.recall or 0.0, float(self.recall.numbers[0]))
        return f"the highest recall found {where} is {found} %, below {self.recall.bound}"


@dataclass(frozen=True, kw_only=True)
class MarginOutOfReach(NoRule):
    """Without its margin, the bound is met."""

    without_margin: Confusion[int]

    def shortfall(self, phrases: Phrases) -> str:
        """State the recall without a margin."""
        return (
            f"no boundary reaches precision {self.constraint.bound} with a margin of "
            f"{float(self.constraint.margin):g} standard errors; without one recall is "
            f"{percent(self.without_margin.recall)}"
        )


@dataclass(frozen=True, kw_only=True)
class BoundsOutOfReach(NoRule):
    """No boundary meets several bounds together."""

    closest: Confusion[int]

    def shortfall(self, phrases: Phrases) -> str:
        """State which of several bounds the closest boundary misses, and by how much."""
        limits = self.constraint.limits
        missed = [_missed(bound, self.closest) for bound in limits.bounds if not bound.is_met(self.closest)]
        if not missed:
            return (
                f"{self.algorithm} finds no boundary with {limits.text()}, but there is one on its "
                "grid: --algorithm vw-dpmt finds such boundaries"
            )
        return (
            f"no boundary has {limits.text()}; the closest has {listed(missed, 'and')}, at recall "
            f"{percent(self.closest.recall)} ({count(self.closest.selected)} flagged)"
        )


@dataclass(frozen=True, kw_only=True)
class BoundOutOfReach(NoRule):
    """No boundary meets its bound; ``remedy`` says what lists those that can be met."""

    closest: Confusion[int]
    remedy: str

    def shortfall(self, phrases: Phrases) -> str:
        """State the best rate, and where."""
        closest = self.closest
        if self.constraint.rate is not Rate.PRECISION:
            return (
                f"no boundary with {self.constraint.limits.text()} finds a positive row; the closest flags "
                f"{count(closest.selected)}, {count(closest.true_positives)} of them positive"
            )
        missed = f"no boundary reaches precision {self.constraint.bound}"
        if phrases.since:
            return f"{missed}, since {phrases.since}"
        best, _ = percents(closest.precision or 0.0, float(self.constraint.numbers[0]))
        return (
            f"{missed}; the best is {best} % at recall {percent(closest.recall)} "
            f"({count(closest.selected)} flagged){self.remedy}"
        )


def _missed(bound: Constraint, fit: Confusion[int]) -> str:
    """State by how much a boundary misses a bound."""
    side = "above" if bound.rule.is_upper else "below"
    if bound.rate is None:
        return f"{count(fit.selected)} flagged rows, {side} {bound.bound}"
    successes, trials = fit.trials(bound.rate)
    numbers = f"{count(successes)} of {count(trials)}"  # the rate may be the bound in three digits
    if bound.limits_alerts:
        return f"{numbers} rows flagged, {side} {bound.bound}"
    rate, _ = percents(successes / trials, float(bound.numbers[0]))
    return f"{bound.rule.name} {rate} % ({numbers}), {side} {bound.bound}"
