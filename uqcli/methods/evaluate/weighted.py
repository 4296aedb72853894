"""Rates of rules on rows with sampling weights, and the differences of two rules.

Rows are summed up by the decisions of all rules and by label. Sums of weights and of their squares are exact,
and the intervals need no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from uqcli.document import Estimate
from uqcli.methods.evaluate.net_benefit import (
    IntervalAt,
    net_benefit_interval_of,
    net_benefits_interval_of,
)
from uqcli.methods.survey import (
    FEW_CLUSTERS,
    row_difference,
    row_interval,
)
from uqcli.sampling_weights import WeightSums

Decisions = tuple[int, ...]
"""Decision on a row by each rule, as an index of its zone."""

_UNDEFINED: Final = Estimate(value=None, reason="a rate is undefined")

Chooses = Callable[[Decisions], bool]
"""Whether rows of some decisions are chosen."""


@dataclass(frozen=True, kw_only=True)
class WeightedRows:
    """Sums of sampling weights by decisions and label."""

    sums: Mapping[tuple[Decisions, bool], WeightSums]

    def total(self, chosen: Chooses = lambda _: True, *, positive: bool | None = None) -> WeightSums:
        """Add up the rows of some decisions, of one label or of both."""
        parts = (
            sums
            for (decisions, label), sums in self.sums.items()
            if chosen(decisions) and positive in (None, label)
        )
        return sum(parts, WeightSums())

    def share(self, chosen: Chooses, confidence: float, *, positive: bool | None = None) -> Estimate:
        """Return the share of the chosen rows among all rows of a label."""

        def others(decisions: Decisions) -> bool:
            return not chosen(decisions)

        return row_interval(
            self.total(chosen, positive=positive),
            self.total(others, positive=positive),
            confidence,
            (self.total(chosen), self.total(others)),
        )

    def precision(self, chosen: Chooses, confidence: float) -> Estimate:
        """Return the share of the positive rows among the chosen ones."""
        return row_interval(
            self.total(chosen, positive=True),
            self.total(chosen, positive=False),
            confidence,
            (self.total(chosen), self.total(chosen)),
        )

    def difference(
        self, first: Chooses, second: Chooses, confidence: float, *, positive: bool | None = None
    ) -> Estimate:
        """Return the share of the rows that the second chooses less that of the first (see ``share``).

        It has no interval if either share is of few rows, or of nearly all; see ``precision_difference``.
        """
        rows = self.total(positive=positive).total
        if rows == 0:
            return _UNDEFINED
        one, two = (self.total(chosen, positive=positive).total for chosen in (first, second))
        value = float(Fraction(two - one, rows))
        terms = [
            ((second(decisions) - first(decisions) - value) / rows, sums)
            for (decisions, label), sums in self.sums.items()
            if positive in (None, label)
        ]
        result = row_difference(value, terms, self._differing(first, second, positive), confidence)
        total = self.total(positive=positive).rows
        outcomes = [self.total(chosen, positive=positive).rows for chosen in (first, second)]
        return _if_shown(result, [number for rows in outcomes for number in (rows, total - rows)])

    def precision_difference(self, first: Chooses, second: Chooses, confidence: float) -> Estimate:
        """Return the precision of the second less that of the first.

        It has no interval if either has few rows of a label, as rows that were not drawn may have large
        weights. Intervals at 95 % would cover 84 %.
        """
        chosen = [self.total(choice).total for choice in (first, second)]
        if 0 in chosen:
            return _UNDEFINED
        rates = [
            Fraction(self.total(choice, positive=True).total, rows)
            for choice, rows in zip((first, second), chosen, strict=True)
        ]
        one, two = map(float, rates)
        terms = [
            (
                second(decisions) * (label - two) / chosen[1] - first(decisions) * (label - one) / chosen[0],
                sums,
            )
            for (decisions, label), sums in self.sums.items()
            if first(decisions) or second(decisions)
        ]
        result = row_difference(
            float(rates[1] - rates[0]), terms, self._differing(first, second, None), confidence
        )
        outcomes = [
            self.total(choice, positive=positive).rows
            for choice in (first, second)
            for positive in (False, True)
        ]
        return _if_shown(result, outcomes)

    def net_benefit(self, chosen: Chooses, odds: Fraction, confidence: float) -> Estimate:
        """Return the net benefit of the chosen rows, with its interval (see methods/evaluate/net_benefit)."""
        value = self._benefit(chosen, odds)
        shares = (self._share_at(chosen, positive) for positive in (True, False))
        low, high = net_benefit_interval_of(shares, self.total().rows, odds, confidence)
        return Estimate(value=float(value), low=low, high=high)

    def net_benefit_difference(
        self, first: Chooses, second: Chooses, odds: Fraction, confidence: float
    ) -> Estimate:
        """Return the net benefit of what the second chooses less that of the first, with its interval."""
        value = self._benefit(second, odds) - self._benefit(first, odds)
        shares = (
            self._share_at(only, positive)
            for only in (
                lambda rows: second(rows) and not first(rows),
                lambda rows: first(rows) and not second(rows),
            )
            for positive in (True, False)
        )
        low, high = net_benefits_interval_of(shares, self.total().rows, odds, confidence)
        return Estimate(value=float(value), low=low, high=high)

    def _benefit(self, chosen: Chooses, odds: Fraction) -> Fraction:
        hits, misses = (self.total(chosen, positive=positive).total for positive in (True, False))
        return (hits - odds * misses) / self.total().total

    def _share_at(self, chosen: Chooses, positive: bool) -> IntervalAt:
        """Return the interval of the share of chosen rows of a label among all rows, by confidence."""
        inside, rows = self.total(chosen, positive=positive), self.total()
        others = self.total(lambda decisions: not chosen(decisions), positive=positive)
        others += self.total(positive=not positive)
        further = self.total(chosen), rows

        def interval_at(confidence: float) -> tuple[float, float, float]:
            result = row_interval(inside, others, confidence, further)
            assert result.value is not None  # there are rows
            ends = (0.0, 1.0) if result.low is None or result.high is None else (result.low, result.high)
            return result.value * rows.rows, *ends

        return interval_at

    def _differing(self, first: Chooses, second: Chooses, positive: bool | None) -> int:
        """Count the rows that only one of the two chooses."""
        return self.total(lambda rows: first(rows) != second(rows), positive=positive).rows


def _if_shown(result: Estimate, outcomes: Sequence[int]) -> Estimate:
    """Remove the interval of a difference unless each outcome has enough rows."""
    if min(outcomes) >= FEW_CLUSTERS or result.p_value == 1.0:
        return result
    return replace(result, low=None, high=None, p_value=None)
