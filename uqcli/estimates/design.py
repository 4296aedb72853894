"""How rows were drawn, and what rates of rules are known of them: one question, asked once.

Labelled rows are summed up by the decisions of all rules and by label. A design says what its units are:
rows that count alike, rows with sampling weights, or clusters of dependent rows (with or without weights).
Each answers with the same interval of proportions (see ``estimates/survey``), with differences of two rules,
net benefits, and values of amounts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from operator import add
from typing import Final

import numpy as np

from uqcli.base.counts import Floats, Ints, Matrix
from uqcli.base.records import dataclass
from uqcli.base.sampling_weights import UNITS, WeightSums
from uqcli.base.wording import count, rows_of
from uqcli.estimates.confusion import Confusion, Decided, Number, Rate
from uqcli.estimates.distinct_units import DistinctUnits
from uqcli.estimates.estimate import UNKNOWN, Estimate
from uqcli.estimates.proportion import (
    BoundedRate,
    Chosen,
    IntervalAt,
    clopper_pearson,
    mcnemar,
    net_benefit_interval,
    precisions_interval,
    proportion_estimate,
    shares_interval,
)
from uqcli.estimates.survey import (
    FEW_CLUSTERS,
    RowOutcomes,
    proportion_interval,
    ratio_difference,
    row_difference,
    row_interval,
    row_tail,
    tail_of_clusters,
)

Decisions = tuple[int, ...]
"""Decision on a row by each rule, as an index of its zone."""

Key = tuple[Decisions, bool]
"""Decisions on a row, and its label."""

Chooses = Callable[[Decisions], bool]
"""Whether rows of some decisions are chosen."""

Part = tuple[Chooses, bool | None]
"""Chosen rows of one label, or of both."""

_KEPT_CHOICES: Final = 4096
"""Choices of rows that are kept, so that equal ones are the same function."""

FLAGGED, CLEARED = 0, 2
"""Zones of flagged and of cleared rows; reviewed ones are between them."""

MIN_UNFLAGGED: Final = 100
"""Least unflagged rows with a label for recall and the false-positive rate, if some rows have no label."""


SHARE_CHANGES: Final = "the labelled share still changes with the score among rows of similar scores"
SHARE_DOUBLES: Final = f"{SHARE_CHANGES}, by more than a factor of two"
"""Why rates are unreliable, or unknown, that need labelled rows to stand for the others."""

_UNDEFINED: Final = Estimate(value=None, reason="a rate is undefined")


def unknown(reason: str) -> Estimate:
    """Return a rate that is unknown for a reason; it equals UNKNOWN."""
    return replace(UNKNOWN, reason=reason)


@lru_cache(_KEPT_CHOICES)
def flags(rule: int) -> Chooses:
    """Choose the rows that a rule flags."""
    return lambda decisions: decisions[rule] == FLAGGED


@lru_cache(_KEPT_CHOICES)
def catches(rule: int) -> Chooses:
    """Choose the rows that a rule flags or leaves for review."""
    return lambda decisions: decisions[rule] != CLEARED


@lru_cache(_KEPT_CHOICES)
def reviews(rule: int) -> Chooses:
    """Choose the rows that a rule leaves for review."""
    return lambda decisions: FLAGGED < decisions[rule] < CLEARED


@lru_cache(_KEPT_CHOICES)
def others(chosen: Chooses) -> Chooses:
    """Choose the rows that are not chosen."""
    return lambda decisions: not chosen(decisions)


def every(_: Decisions) -> bool:
    """Choose all rows."""
    return True


@lru_cache(_KEPT_CHOICES)
def both(first: Chooses, second: Chooses) -> Chooses:
    """Choose the rows that both choose."""
    return lambda decisions: first(decisions) and second(decisions)


@lru_cache(_KEPT_CHOICES)
def only(first: Chooses, other: Chooses) -> Chooses:
    """Choose the rows that the first chooses and the other does not."""
    return both(first, others(other))


@lru_cache(_KEPT_CHOICES)
def differ(first: Chooses, second: Chooses) -> Chooses:
    """Choose the rows that only one of two chooses."""
    return lambda decisions: first(decisions) != second(decisions)


def too_few_labels(unlabelled: int, labelled: int) -> str:
    """State that too few rows that are not flagged have a label."""
    if not unlabelled:
        verb = "is" if labelled == 1 else "are"
        return f"only {rows_of(labelled)} of the file {verb} not flagged ({MIN_UNFLAGGED} needed)"
    only = f"only {count(labelled)} of the unflagged rows have one ({MIN_UNFLAGGED} needed)"
    return f"{rows_of(unlabelled)} without a label, and {only}"


@dataclass(frozen=True, kw_only=True)
class Design(ABC):
    """Labelled rows by the decisions of all rules and by label.

    Attributes
    ----------
    confidence
        Level of the intervals, in (0, 1).
    unlabelled
        Rows left out because they have no label.
    missing
        Decisions of which no row has a label.
    uneven
        Decisions whose labelled share changes with the score, so that labelled rows must be weighted.
    varying
        Decisions whose labelled share still changes with the score inside a cell.
    halving
        Those of them for which it changes by more than a factor of two.
    by_score
        Whether sampling weights depend on decisions and scores alone; if not, they may depend on the label.
    """

    confidence: float
    unlabelled: int = 0
    missing: tuple[Decisions, ...] = ()
    uneven: tuple[Decisions, ...] = ()
    varying: tuple[Decisions, ...] = ()
    halving: tuple[Decisions, ...] = ()
    by_score: bool = False

    @property
    def is_weighted(self) -> bool:
        """Whether rows have sampling weights, or stand for rows without a label."""
        return False

    @abstractmethod
    def rows(self, chosen: Chooses = every, *, positive: bool | None = None) -> int:
        """Count the chosen rows of one label or of both, by weight."""

    def total(self, chosen: Chooses = every, *, positive: bool | None = None) -> int:
        """Add up a whole number for each chosen row; the ratios of sums are the rates."""
        return self.rows(chosen, positive=positive)

    @abstractmethod
    def _proportion(self, successes: Part, failures: Part) -> Estimate:
        """Return the share of the first rows among both, with its interval."""

    def share(self, chosen: Chooses, *, positive: bool | None = None) -> Estimate:
        """Return the share of the chosen rows among all rows of a label."""
        return self._proportion((chosen, positive), (others(chosen), positive))

    def precision(self, chosen: Chooses) -> Estimate:
        """Return the share of the positive rows among the chosen ones."""
        return self._proportion((chosen, True), (chosen, False))

    @abstractmethod
    def difference(self, first: Chooses, second: Chooses, *, positive: bool | None = None) -> Estimate:
        """Return the share of the rows that the second chooses less that of the first, with a p-value."""

    @abstractmethod
    def precision_difference(self, first: Chooses, second: Chooses) -> Estimate:
        """Return the precision of the second less that of the first."""

    @abstractmethod
    def share_of_all(
        self, chosen: Chooses, *, positive: bool, confidence: float
    ) -> tuple[float, float, float] | None:
        """Return how many of the rows are chosen ones of a label, and the interval of their share, if any."""

    def prevalence(self) -> Estimate:
        """Return the share of positive rows."""
        result = self.share_of_all(every, positive=True, confidence=self.confidence)
        if result is None or not self.rows():
            return UNKNOWN
        selected, low, high = result
        return Estimate(value=selected / self.rows(), low=low, high=high)

    def confusion(self, rule: int) -> Confusion[int]:
        """Count the rows of a rule."""
        return _confusion(self.rows, rule)

    def totals(self, rule: int) -> Confusion[int]:
        """Return the whole numbers whose ratios are the rates of a rule."""
        return _confusion(self.total, rule)

    def bounded(
        self, rate: Rate, rule: int, bound: Fraction, *, upper: bool, chances: Floats | None = None
    ) -> BoundedRate:
        """Return a rate of a rule, to be tested against a bound (see ``BoundedRate``)."""
        successes, trials = self.totals(rule).trials(rate)
        hits, misses = _outcomes_of(rate, rule)
        least: float | Floats = float(1 - bound) if chances is None else 1 - chances
        tail = self._tail(hits, misses, float(bound)) if upper else self._tail(misses, hits, least)
        return BoundedRate(
            successes=successes, trials=trials, bound=bound, upper=upper, tail=tail, chances=chances
        )

    def _tail(self, outcome: Part, other: Part, rate: float | Floats) -> tuple[float | None] | None:
        """Return the p-value of so many rows of an outcome, if its share is at most a rate.

        It is averaged over several, equally likely rates. None if rows count alike, so that the exact test
        decides.
        """
        del outcome, other, rate
        return None

    def rows_difference(self, first: Chooses, second: Chooses) -> Estimate:
        """Return the rows that the second chooses less those of the first, in a sample of this size."""
        difference = self.difference(first, second)
        if self.is_weighted:
            return difference.times(self.total() / UNITS)
        return replace(difference.times(self.rows()), value=self.rows(second) - self.rows(first))

    def reason(self, chosen: Chooses) -> str:
        """Return why a rate of all rows is unknown where the chosen ones are known; empty if it is known."""
        labelled = self.rows(others(chosen))
        if (self.unlabelled or self.is_weighted) and labelled < MIN_UNFLAGGED:
            return too_few_labels(self.unlabelled, labelled)
        if self.missing:
            return "no row with one of the decisions has a label"
        return SHARE_DOUBLES if self.halving else ""

    def known_precision(self, chosen: Chooses) -> Estimate:
        """Return the precision, or why it is unknown."""
        if any(map(chosen, self.missing)):
            return unknown("no flagged row has a label")
        if any(map(chosen, self.halving)):
            return unknown(SHARE_DOUBLES)
        return _doubted(self.precision(chosen), tuple(filter(chosen, self.varying)))

    def known_share(self, chosen: Chooses, *, positive: bool) -> Estimate:
        """Return a share of rows of a label, with what makes it doubtful."""
        return _doubted(self.share(chosen, positive=positive), self.varying)

    def net_benefit(self, chosen: Chooses, odds: Fraction) -> Estimate:
        """Return the net benefit of the chosen rows (see ``estimates/proportion``)."""
        return self._net_benefit([(chosen, True), (chosen, False)], odds)

    def net_benefit_difference(self, first: Chooses, second: Chooses, odds: Fraction) -> Estimate:
        """Return the net benefit of what the second chooses less that of the first.

        Rows that both choose contribute nothing.
        """
        gained, lost = only(second, first), only(first, second)
        return self._net_benefit([(gained, True), (gained, False), (lost, True), (lost, False)], odds)

    def _net_benefit(self, parts: Sequence[tuple[Chooses, bool]], odds: Fraction) -> Estimate:
        """Add up the gained parts, less the lost ones; each is of one label."""
        weights = (Fraction(1), -odds, Fraction(-1), odds)[: len(parts)]
        value = sum(
            weight * self.total(chosen, positive=label)
            for weight, (chosen, label) in zip(weights, parts, strict=True)
        ) / Fraction(self.total())

        def share_at(chosen: Chooses, label: bool) -> IntervalAt:
            return lambda confidence: self.share_of_all(chosen, positive=label, confidence=confidence)

        shares = [(share_at(*part), float(weight)) for part, weight in zip(parts, weights, strict=True)]
        ends = net_benefit_interval(shares, self.rows(), self.confidence, self._correlation(parts))
        if ends is None:
            return Estimate(value=float(value))
        weight = float(odds)
        least, most = (-weight, 1.0) if len(parts) == 2 else (-max(1.0, weight), max(1.0, weight))
        return Estimate(value=float(value), low=max(least, ends[0]), high=min(most, ends[1]))

    def _correlation(self, parts: Sequence[tuple[Chooses, bool]]) -> Matrix | None:
        """Return how the errors of shares of all rows correlate, if units have more than a row."""
        del parts
        return None


def _doubted(rate: Estimate, varying: Sequence[Decisions]) -> Estimate:
    return replace(rate, reason=SHARE_CHANGES) if varying and not rate.reason else rate


_CHOICES: Final = {Decided.FLAGGED: flags, Decided.CAUGHT: catches, Decided.REVIEWED: reviews}


def chosen_by(decided: Decided, rule: int) -> Chooses:
    """Choose the rows of which a rule decides so."""
    return _CHOICES[decided](rule) if decided in _CHOICES else others(_CHOICES[decided.others](rule))


def _outcomes_of(rate: Rate, rule: int) -> tuple[Part, Part]:
    """Return the successes and the failures of a rate."""
    (succeeds, label), (fails, other_label) = rate.success, rate.failure
    return (chosen_by(succeeds, rule), label), (chosen_by(fails, rule), other_label)


def _confusion(number: Callable[..., Number], rule: int) -> Confusion[Number]:
    return Confusion(
        rows=number(),
        positives=number(positive=True),
        selected=number(flags(rule)),
        true_positives=number(flags(rule), positive=True),
        zones=(number(reviews(rule)), number(catches(rule), positive=True)),
    )


@dataclass(frozen=True, kw_only=True)
class IndependentRows(Design):
    """Rows that are independent and count alike: their numbers, by weight, by decisions and label."""

    counts: Mapping[Key, int]

    def rows(self, chosen: Chooses = every, *, positive: bool | None = None) -> int:
        """See Design."""
        return sum(self.counts[key] for key in chosen_keys(self.counts, chosen, positive))

    def _proportion(self, successes: Part, failures: Part) -> Estimate:
        """See Design; the interval is that of Clopper and Pearson."""
        hits, misses = (self.rows(chosen, positive=label) for chosen, label in (successes, failures))
        return proportion_estimate(hits, hits + misses, self.confidence)

    def difference(self, first: Chooses, second: Chooses, *, positive: bool | None = None) -> Estimate:
        """See Design; the p-value is McNemar's. Without rows the value is None and the ends are -1 and 1."""
        lost, gained = (
            self.rows(only(one, other), positive=positive)
            for one, other in ((first, second), (second, first))
        )
        trials = self.rows(positive=positive)
        low, high = shares_interval(gained, lost, trials, self.confidence)
        if not trials:
            return Estimate(value=None, low=low, high=high)
        return Estimate(value=(gained - lost) / trials, low=low, high=high, p_value=mcnemar(gained, lost))

    def precision_difference(self, first: Chooses, second: Chooses) -> Estimate:
        """See Design; if one chooses nothing, the value is None and the ends are -1 and 1."""
        lost, kept, gained = map(
            self._chosen, (only(first, second), both(first, second), only(second, first))
        )
        low, high = precisions_interval(lost, kept, gained, self.confidence)
        before, after = self.precision(first).value, self.precision(second).value
        value = None if before is None or after is None else after - before
        return Estimate(value=value, low=low, high=high)

    def share_of_all(
        self, chosen: Chooses, *, positive: bool, confidence: float
    ) -> tuple[float, float, float] | None:
        """See Design."""
        rows = self.rows(chosen, positive=positive)
        return rows, *clopper_pearson(rows, self.rows(), confidence)

    def _chosen(self, chosen: Chooses) -> Chosen:
        return Chosen(positives=self.rows(chosen, positive=True), negatives=self.rows(chosen, positive=False))


@lru_cache(_KEPT_CHOICES)  # every group has the same keys, and is asked for the same rows
def _chosen_keys(keys: tuple[Key, ...], chosen: Chooses, positive: bool | None) -> tuple[Key, ...]:
    return tuple(key for key in keys if chosen(key[0]) and positive in (None, key[1]))


def chosen_keys(keys: Iterable[Key], chosen: Chooses, positive: bool | None) -> tuple[Key, ...]:
    """Select the keys of chosen decisions, of one label or of both."""
    return _chosen_keys(tuple(keys), chosen, positive)


@dataclass(frozen=True, kw_only=True)
class WeightedRows(Design):
    """Independent rows with sampling weights, whose sums are by decisions and label."""

    sums: Mapping[Key, WeightSums]

    @property
    def is_weighted(self) -> bool:
        """See Design."""
        return True

    def rows(self, chosen: Chooses = every, *, positive: bool | None = None) -> int:
        """See Design."""
        return self.weights(chosen, positive=positive).rows

    def total(self, chosen: Chooses = every, *, positive: bool | None = None) -> int:
        """See Design; in units."""
        return self.weights(chosen, positive=positive).total

    def weights(self, chosen: Chooses = every, *, positive: bool | None = None) -> WeightSums:
        """Add up the weights of chosen rows, of one label or of both."""
        return sum((self.sums[key] for key in chosen_keys(self.sums, chosen, positive)), WeightSums())

    def _proportion(self, successes: Part, failures: Part) -> Estimate:
        """See Design."""
        return row_interval(_row_outcomes(self, successes, [failures]), self.confidence)

    def difference(self, first: Chooses, second: Chooses, *, positive: bool | None = None) -> Estimate:
        """See Design.

        It has no interval if either share is of few rows, or of nearly all; see ``precision_difference``.
        """
        weight = self.total(positive=positive)
        if weight == 0:
            return _UNDEFINED
        one, two = (self.total(chosen, positive=positive) for chosen in (first, second))
        value = float(Fraction(two - one, weight))
        terms = [
            ((second(decisions) - first(decisions) - value) / weight, sums)
            for (decisions, label), sums in self.sums.items()
            if positive in (None, label)
        ]
        differing = self.rows(differ(first, second), positive=positive)
        result = row_difference(value, terms, differing, self.confidence)
        rows = self.rows(positive=positive)
        outcomes = [self.rows(chosen, positive=positive) for chosen in (first, second)]
        return _if_shown(result, [number for part in outcomes for number in (part, rows - part)])

    def precision_difference(self, first: Chooses, second: Chooses) -> Estimate:
        """See Design.

        It has no interval if either has few rows of a label, as rows that were not drawn may have large
        weights. Intervals at 95 % would cover 84 %.
        """
        chosen = [self.total(choice) for choice in (first, second)]
        if 0 in chosen:
            return _UNDEFINED
        rates = [
            Fraction(self.total(choice, positive=True), weight)
            for choice, weight in zip((first, second), chosen, strict=True)
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
        differing = self.rows(differ(first, second))
        result = row_difference(float(rates[1] - rates[0]), terms, differing, self.confidence)
        outcomes = [
            self.rows(choice, positive=label) for choice in (first, second) for label in (False, True)
        ]
        return _if_shown(result, outcomes)

    def _tail(self, outcome: Part, other: Part, rate: float | Floats) -> tuple[float | None] | None:
        """See Design."""
        return (_doubled(row_tail(_row_outcomes(self, outcome, [other]), rate)),)

    def share_of_all(
        self, chosen: Chooses, *, positive: bool, confidence: float
    ) -> tuple[float, float, float] | None:
        """See Design."""
        outside = [(others(chosen), positive), (every, not positive)]
        result = row_interval(_row_outcomes(self, (chosen, positive), outside), confidence)
        assert result.value is not None  # there are rows
        return result.value * self.rows(), *(result.ends or (0.0, 1.0))


def _row_outcomes(
    design: WeightedRows | WeightedClusters, successes: Part, failures: Sequence[Part]
) -> RowOutcomes:
    """Add up the rows of two outcomes, and those that a further one could be like.

    They have the same decisions. If no row of the outcome was drawn and weights may depend on the label, they
    may also be the other rows of its label: if all positive rows and 2 % of the negative ones were drawn, a
    flagged negative row would weigh 50, although all flagged rows weigh 1.
    """

    def rows(parts: Sequence[Part]) -> WeightSums:
        keys = {key for part in parts for key in chosen_keys(design.sums, *part)}
        return sum((design.sums[key] for key in keys), WeightSums())

    def like(parts: Sequence[Part]) -> WeightSums:
        by_label = not design.by_score and not rows(parts).rows
        of_label = [(every, label) for _, label in parts if label is not None] if by_label else []
        return rows([*((chosen, None) for chosen, _ in parts), *of_label])

    return RowOutcomes(rows([successes]), rows(failures), like([successes]), like(failures))


def _doubled(tail: float | None) -> float | None:
    """Double a p-value by weight: log-normal weights reject as often as .066 at .05, and .0044 at .001."""
    return None if tail is None else min(1.0, 2 * tail)


def _if_shown(result: Estimate, outcomes: Sequence[int]) -> Estimate:
    """Remove the interval of a difference unless each outcome has enough rows."""
    if min(outcomes) >= FEW_CLUSTERS or result.p_value == 1.0:
        return result
    return replace(result, low=None, high=None, p_value=None)


@dataclass(frozen=True, kw_only=True)
class ClusteredRows(Design):
    """Rows that depend on each other within clusters, such as days or customers, as ``units`` says.

    Counts, by decisions and label, are the rows by weight of each of C clusters.
    """

    counts: Mapping[Key, Ints]
    units: str = "clusters"

    def by_cluster(self, chosen: Chooses = every, *, positive: bool | None = None) -> Ints:
        """Count the chosen rows of each cluster, by weight; int64, shape (C,)."""
        return self._added(self.counts, chosen, positive)

    def confusion_by_cluster(self, rule: int) -> Confusion[Ints]:
        """Count the rows of a rule in each cluster, by weight; shape (C,) each."""
        return _confusion(self.by_cluster, rule)

    def rows(self, chosen: Chooses = every, *, positive: bool | None = None) -> int:
        """See Design."""
        if (chosen, positive) not in self._known_rows:
            self._known_rows[chosen, positive] = int(self.by_cluster(chosen, positive=positive).sum())
        return self._known_rows[chosen, positive]

    def clusters(self, chosen: Chooses = every, *, positive: bool | None = None) -> int:
        """Count the clusters with chosen rows."""
        return int(np.count_nonzero(self.by_cluster(chosen, positive=positive)))

    def _proportion(self, successes: Part, failures: Part) -> Estimate:
        """See Design."""
        return self._interval(successes, [failures], self.confidence)

    def difference(self, first: Chooses, second: Chooses, *, positive: bool | None = None) -> Estimate:
        """See Design; it is linearised over clusters."""
        weight = self._scaled(every, positive)
        one, two = (self._scaled(chosen, positive) for chosen in (first, second))
        result = ratio_difference((one, weight), (two, weight), self.confidence)
        return self.if_shown(
            result, [(part, positive) for part in (first, others(first), second, others(second))]
        )

    def precision_difference(self, first: Chooses, second: Chooses) -> Estimate:
        """See Design; it is linearised over clusters, and its test is not reported."""
        one, two = ((self._scaled(chosen, True), self._scaled(chosen, None)) for chosen in (first, second))
        result = replace(ratio_difference(one, two, self.confidence), p_value=None)
        return self.if_shown(result, [(part, label) for part in (first, second) for label in (False, True)])

    def if_shown(self, result: Estimate, outcomes: Sequence[Part]) -> Estimate:  # noqa: ARG002
        """Remove the interval of a difference by weight unless enough clusters have each outcome."""
        return result

    def share_of_all(
        self, chosen: Chooses, *, positive: bool, confidence: float
    ) -> tuple[float, float, float] | None:
        """See Design; there is no interval with fewer than ``FEW_CLUSTERS`` clusters."""
        outside = [(others(chosen), positive), (every, not positive)]
        result = self._interval((chosen, positive), outside, confidence)
        if self.clusters() < FEW_CLUSTERS or None in (result.value, result.low, result.high):
            return None
        return (result.value or 0) * self.rows(), result.low or 0, result.high or 0

    def _correlation(self, parts: Sequence[tuple[Chooses, bool]]) -> Matrix | None:
        """See Design; what clusters show, shape (parts, parts)."""
        units = DistinctUnits.of(self._scaled(every, None), *(self._scaled(*part) for part in parts))
        weight, *insides = units.columns
        total = units.sum(weight)
        residuals = [inside - units.sum(inside) / total * weight for inside in insides]
        products = [[units.sum(one * other) for other in residuals] for one in residuals]
        deviations = np.sqrt(np.diag(products))
        scale = np.outer(deviations, deviations)
        correlation: Matrix = np.divide(products, scale, out=np.zeros(scale.shape), where=scale > 0)
        return correlation

    def _interval(self, successes: Part, failures: Sequence[Part], confidence: float) -> Estimate:
        """Compute the share of the first rows among all."""
        inside, trials, rows = self._outcomes(successes, failures)
        return proportion_interval(inside, trials, confidence, self.units, rows)

    def _tail(self, outcome: Part, other: Part, rate: float | Floats) -> tuple[float | None] | None:
        """See Design."""
        inside, trials, rows = self._outcomes(outcome, [other])
        tail = tail_of_clusters(inside, trials, rate, rows)
        return (tail,)

    def _outcomes(
        self, successes: Part, failures: Sequence[Part]
    ) -> tuple[Ints | Floats, Ints | Floats, RowOutcomes | None]:
        """Return successes and trials of each cluster, and the rows of all if they have sampling weights."""
        inside, outside = self._scaled(*successes), reduce(add, (self._scaled(*part) for part in failures))
        return inside, inside + outside, self._rows_of(successes, failures)

    def _rows_of(self, successes: Part, failures: Sequence[Part]) -> RowOutcomes | None:
        """Return the rows of all outcomes, if they have sampling weights."""
        del successes, failures
        return None

    def _scaled(self, chosen: Chooses, positive: bool | None) -> Ints | Floats:
        """Add up the rows of each cluster, or their weights."""
        return self.by_cluster(chosen, positive=positive)

    def _added(self, parts: Mapping[Key, Ints], chosen: Chooses, positive: bool | None) -> Ints:
        rows = parts is self.counts, chosen, positive
        if rows not in self._known:  # several measures need the same
            keys = chosen_keys(parts, chosen, positive)
            size = len(next(iter(parts.values()))) if parts else 0
            self._known[rows] = sum((parts[key] for key in keys), np.zeros(size, dtype=np.int64))
        return self._known[rows]

    @cached_property
    def _known(self) -> dict[tuple[bool, Chooses, bool | None], Ints]:
        """Sums by cluster so far, of counts or of weights, by the rows that they are of."""
        return {}

    @cached_property
    def _known_rows(self) -> dict[tuple[Chooses, bool | None], int]:
        """Rows counted so far."""
        return {}


@dataclass(frozen=True, kw_only=True)
class WeightedClusters(ClusteredRows):
    """The same of rows with sampling weights, whose sums, in units, are by cluster and over all clusters."""

    weights: Mapping[Key, Ints]
    sums: Mapping[Key, WeightSums]

    @property
    def is_weighted(self) -> bool:
        """See Design."""
        return True

    def total(self, chosen: Chooses = every, *, positive: bool | None = None) -> int:
        """See Design."""
        return sum(map(int, self._weight(chosen, positive)))  # which need not fit into 64 bits

    def if_shown(self, result: Estimate, outcomes: Sequence[Part]) -> Estimate:
        """See ClusteredRows.

        Rows that were not drawn may have large weights; see ``WeightedRows.precision_difference``.
        """
        return _if_shown(result, [self.clusters(chosen, positive=label) for chosen, label in outcomes])

    def _tail(self, outcome: Part, other: Part, rate: float | Floats) -> tuple[float | None] | None:
        """See Design."""
        (tail,) = super()._tail(outcome, other, rate) or (None,)
        return (_doubled(tail),)

    def _rows_of(self, successes: Part, failures: Sequence[Part]) -> RowOutcomes | None:
        """See ClusteredRows."""
        return _row_outcomes(self, successes, failures)

    def _scaled(self, chosen: Chooses, positive: bool | None) -> Ints | Floats:
        """See ClusteredRows."""
        return self._weight(chosen, positive).astype(np.float64) / UNITS

    def _weight(self, chosen: Chooses, positive: bool | None) -> Ints:
        return self._added(self.weights, chosen, positive)
