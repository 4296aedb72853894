"""Intervals of ratios of sums over clusters of dependent rows, or over rows with sampling weights.

One interval of proportions serves every design. Let clusters, or rows, have weighted successes that sum to A
and weighted failures that sum to B. If all weights are equal and rows are independent, the interval is that
of Clopper and Pearson (1934), whose limits are quantiles of beta distributions. Otherwise each sum counts as
the number of equal weights that has its mean and its variance; where rows of a cluster hardly go together,
the variance of both sums is the smaller one that their ratio shows. One more failure, or success, counts as
the clusters do that could have it, on average by size. Rows with sampling weights, and clusters of which each
has only one outcome, count on average by squared weight, so that those that make up much of the variance
count even if they are rare. Suppose that 2 % of the rows weigh 50 times the others and chance draws none of
them among 100 failures. With the average by weight, intervals at 95 % would cover 90 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats
from uqcli.base.notices import Notice
from uqcli.base.rows import Rows
from uqcli.base.running.messages import caution
from uqcli.base.sampling_weights import UNITS, WeightSums, as_counts, refuse_unusable
from uqcli.base.wording import count
from uqcli.engines import refusals
from uqcli.engines.request import DataRequest
from uqcli.estimates.distinct_units import DistinctUnits, Sums
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.proportion import proportion_estimate


class RowOutcomes(NamedTuple):
    """Rows with sampling weights that are successes and failures, and rows that a further one could be like.

    Suppose that all flagged rows are labelled, and 1 % of the others, none of which is positive. Recall is
    then not known to be near 1, since a positive row that was not drawn weighs a hundred times as much as a
    flagged one.
    """

    successes: WeightSums
    failures: WeightSums
    like_successes: WeightSums
    like_failures: WeightSums

    @property
    def all(self) -> WeightSums:
        """Sums of the successes and the failures."""
        return self.successes + self.failures

    def further(self) -> tuple[float, float]:
        """Return the weight of a further success and of a further failure, in units."""
        like = [part if part.rows else self.all for part in (self.like_successes, self.like_failures)]
        successes, failures = (float(Fraction(part.cubes, part.squares)) for part in like)
        return successes, failures


MIN_CLUSTERS: Final = 10
"""Fewer clusters have no interval of a proportion."""

FEW_CLUSTERS: Final = 20
"""Fewer clusters need a caution, and have no interval of a difference."""

MIN_EFFECTIVE: Final = 3
"""Fewer clusters or rows of equal weight with the same variance of the weights have no interval."""

FEW_EFFECTIVE: Final = 20
"""Fewer of them need a caution."""

MIN_COMPARED: Final = 6
"""Fewer clusters of equal size have no interval of a difference.

With 25 to 40 clusters of Pareto sizes, which often count as three, 95 % intervals covered 91 %.
"""

MIN_DIFFERING: Final = 5
"""Clusters in which two rules must differ for an interval of their difference."""


class Limit(NamedTuple):
    """Lower limits of a proportion at any level.

    The limit at a tail probability is ``a t / (a t + b (1 - t))`` with t the quantile of Beta(x, y).
    """

    x: float
    y: float
    a: float
    b: float

    def at(self, tail: float) -> float:
        """Return the limit that is above the proportion with at most this probability."""
        from scipy.special import betaincinv

        share = float(betaincinv(self.x, self.y, tail))
        return self.a * share / (self.a * share + self.b * (1 - share))

    def tail_at(self, rate: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the level whose limit is each rate: the p-value of proportions of at most this one."""
        from scipy.special import betainc

        share = self.b * rate / (self.a * (1 - rate) + self.b * rate)
        tail: NDArray[np.float64] = betainc(self.x, self.y, share)
        return tail


class Outcome(NamedTuple):
    """Successes, or failures: sums of their weights and squared weights, and the weight of a further one."""

    total: float
    squares: float
    further: float


def _limit(chosen: Outcome, other: Outcome, alike: float) -> Limit:
    """Return the lower limits of the share of an outcome, which has occurred.

    ``alike`` is the number of independent rows that a cluster counts as, 1 for rows: the sums of both
    outcomes vary less by this factor. A further outcome of the other kind may be a whole cluster.
    """
    x, y = alike * chosen.total**2 / chosen.squares, 1.0
    total, variance = other.total + other.further, other.squares / alike + other.further**2
    if other.total:
        y = total**2 / variance
    return Limit(x=x, y=y, a=chosen.squares / chosen.total / alike, b=variance / total)


def weighted_interval(
    successes: Outcome, failures: Outcome, confidence: float, alike: float = 1.0
) -> tuple[float, float]:
    """Compute the interval of a proportion; ``alike`` as in ``_limit``."""
    value = successes.total / (successes.total + failures.total)
    tail = (1 - confidence) / 2
    low = _limit(successes, failures, alike).at(tail) if successes.total else 0.0
    high = 1 - _limit(failures, successes, alike).at(tail) if failures.total else 1.0
    return min(low, value), max(high, value)


def _unequal(units: int, effective: float, name: str, what: str) -> str:
    """State that units too unequal make an interval unreliable, or impossible; empty if they do not.

    The units are as effective as so many of equal size, ``(sum W)^2 / sum W^2``. ``name`` is what they are
    called, and ``what`` is unequal.
    """
    if effective >= min(units, FEW_EFFECTIVE):
        return ""
    needed = MIN_EFFECTIVE if effective < MIN_EFFECTIVE else FEW_EFFECTIVE
    shown = math.floor(10 * effective) / 10  # rounded up, it might be what is needed
    return f"{count(units)} {name} of unequal {what} count as {shown:.1f} of equal {what}, {needed} needed"


def proportion_interval(
    successes: Sums, trials: Sums, confidence: float, units: str = "clusters", rows: RowOutcomes | None = None
) -> Estimate:
    """Compute sum(successes) / sum(trials) with its interval over clusters of dependent rows.

    It has no interval with fewer than ``MIN_CLUSTERS`` clusters with trials, or ``MIN_EFFECTIVE`` effective
    ones. Without trials it has no value, and its interval is (0, 1). Sums of clusters, called ``units``, have
    shape (C,), ``0 <= successes <= trials``; those without trials are ignored. Their order does not change a
    bit of the result. ``rows`` are the rows with sampling weights, of all clusters; None if rows count alike.

    Examples
    --------
    >>> interval = proportion_interval(np.array([3, 0] * 10), np.full(20, 3), 0.95)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.27, 0.73)
    """
    clusters = _with_trials(successes, trials)
    inside, sizes = clusters.columns
    number, total = clusters.number, clusters.sum(sizes)
    each_is_a_row = rows is None and number == total
    if not number or (each_is_a_row and number >= MIN_CLUSTERS):
        return proportion_estimate(round(clusters.sum(inside)), number, confidence)
    outcomes, alike = _outcomes(clusters, rows), _alike(clusters, rows)
    few = _are_few(clusters)
    low, high = (None, None) if few else weighted_interval(*outcomes, confidence, alike)
    reason = _unequal(number, clusters.effective(sizes), units, "size")
    return Estimate(value=clusters.sum(inside) / total, low=low, high=high, reason=reason)


def limit_of_clusters(successes: Sums, trials: Sums, rows: RowOutcomes | None = None) -> Limit | None:
    """Return the lower limits of a proportion over clusters; None if it has no interval, or no success.

    Parameters are those of ``proportion_interval``.
    """
    clusters = _with_trials(successes, trials)
    if _are_few(clusters) or not clusters.columns[0].any():
        return None
    return _limit(*_outcomes(clusters, rows), _alike(clusters, rows))


def tail_of_clusters(
    successes: Sums, trials: Sums, rate: float | Floats, rows: RowOutcomes | None = None
) -> float | None:
    """Return the p-value of so many successes over clusters, if the proportion is at most a rate.

    It is the level of the interval whose lower end is the rate, averaged over several, equally likely rates.
    Other parameters are those of ``proportion_interval``. None if there are too few clusters for an interval.
    """
    limit = limit_of_clusters(successes, trials, rows)
    if limit is None:
        return None if _are_few(_with_trials(successes, trials)) else 1.0
    return _tail(limit, rate)


def _tail(limit: Limit, rate: float | Floats) -> float:
    """Return the p-value at a rate, or the mean of those at several."""
    rates = np.atleast_1d(np.asarray(rate, dtype=np.float64))
    tails = np.ones(len(rates))
    tails[rates < 1] = limit.tail_at(rates[rates < 1])
    return math.fsum(tails.tolist()) / len(tails)


def effective_units(sums: Sums) -> float:
    """Return how many units of equal size as many of these sizes count as; 0 for none.

    Examples
    --------
    >>> effective_units(np.array([5, 5])), effective_units(np.array([1, 7]))
    (2.0, 1.28)
    """
    units = DistinctUnits.of(sums)
    return units.effective(units.columns[0])


def _with_trials(successes: Sums, trials: Sums) -> DistinctUnits:
    """Return the clusters with trials, by successes and trials."""
    has_trials = trials > 0
    if has_trials.all():
        return DistinctUnits.of(successes, trials)
    return DistinctUnits.of(successes[has_trials], trials[has_trials])


def _are_few(clusters: DistinctUnits) -> bool:
    _, trials = clusters.columns
    return clusters.number < MIN_CLUSTERS or clusters.sum(trials) ** 2 < MIN_EFFECTIVE * clusters.squares(
        trials
    )


def _outcomes(clusters: DistinctUnits, rows: RowOutcomes | None) -> tuple[Outcome, Outcome]:
    """Sum up the successes and the failures of clusters; any cluster could have a further one.

    If no cluster has both, as where labels are those of customers, clusters count as single weighted rows do.
    """
    successes, trials = clusters.columns
    failures = trials - successes
    totals = clusters.sum(successes), clusters.sum(failures)
    mixed = ((successes > 0) & (failures > 0)).any() or not 0 < totals[0] < clusters.sum(trials)
    further = [_mean_size(clusters, 1 if mixed else 2)] * 2
    if rows is not None:  # a cluster with a further one weighs at least as much as its row
        further = [max(further[0], weight / UNITS) for weight in rows.further()]
    return (
        Outcome(totals[0], clusters.squares(successes), further[0]),
        Outcome(totals[1], clusters.squares(failures), further[1]),
    )


def _alike(clusters: DistinctUnits, rows: RowOutcomes | None) -> float:
    """Return how many independent rows a cluster counts as, at least 1 and at most its rows.

    It is what successes and failures would vary by if they were independent, over what their ratio varies by.
    The latter is at least the variance of independent rows. Without that bound, clusters whose successes and
    failures are in one proportion would be known exactly.
    """
    successes, trials = clusters.columns
    failures = trials - successes
    total, other = clusters.sum(successes), clusters.sum(failures)
    if not total or not other:
        return 1.0
    apart = clusters.squares(successes) / total**2 + clusters.squares(failures) / other**2
    together = clusters.squares(successes / total - failures / other)
    alone = 1 / total + 1 / other
    if rows is not None:
        squares = (rows.successes.squares / UNITS**2, rows.failures.squares / UNITS**2)
        alone = squares[0] / total**2 + squares[1] / other**2
    return max(1.0, apart / max(together, alone))


def row_interval(rows: RowOutcomes, confidence: float) -> Estimate:
    """Compute a proportion of independent rows with sampling weights, with its interval.

    It has no interval with fewer than ``MIN_EFFECTIVE`` effective rows.

    Examples
    --------
    >>> from uqcli.base.sampling_weights import units
    >>> ten = WeightSums.of(units(np.full(10, 3.0)), np.ones(10, dtype=np.bool_))
    >>> interval = row_interval(RowOutcomes(ten, ten, ten, ten), 0.95)
    >>> interval.value, round(interval.low, 2), round(interval.high, 2)
    (0.5, 0.27, 0.73)
    """
    both, present = rows.all, [part for part in rows if part.rows]
    if not both.rows or len({weight for part in present for weight in (part.least, part.largest)}) == 1:
        return proportion_estimate(rows.successes.rows, both.rows, confidence)
    first, second = _weighted_outcomes(rows)
    effective = float(Fraction(both.total**2, both.squares))
    few = effective < MIN_EFFECTIVE
    low, high = (None, None) if few else weighted_interval(first, second, confidence)
    reason = _unequal(both.rows, effective, "rows", "weight")
    return Estimate(value=first.total / (first.total + second.total), low=low, high=high, reason=reason)


def row_tail(rows: RowOutcomes, rate: float | Floats) -> float | None:
    """Return the p-value of so many successes by weight, if their share is at most a rate.

    None if there are too few rows for an interval.
    """
    both = rows.all
    if not both.rows or Fraction(both.total**2, both.squares) < MIN_EFFECTIVE:
        return None
    return _tail(_limit(*_weighted_outcomes(rows), 1.0), rate) if rows.successes.rows else 1.0


def _weighted_outcomes(rows: RowOutcomes) -> tuple[Outcome, Outcome]:
    successes, failures = (
        Outcome(float(part.total), float(part.squares), further)
        for part, further in zip((rows.successes, rows.failures), rows.further(), strict=True)
    )
    return successes, failures


def ratio_difference(first: tuple[Sums, Sums], second: tuple[Sums, Sums], confidence: float) -> Estimate:
    """Compute the interval of the second ratio of sums less the first, over the same C clusters.

    Ratios are numerators and denominators of each cluster. The interval is the linearisation with Student's
    t. The degrees of freedom are the effective number of clusters that contribute to the variance, at most
    those whose sums differ, less one. With the latter number the interval covers as little as 91 %, if few
    clusters decide it. There is no interval for fewer than ``FEW_CLUSTERS`` clusters, for clusters that count
    as fewer than ``MIN_COMPARED`` of equal size, or for fewer than ``MIN_DIFFERING`` that differ.
    """
    units = DistinctUnits.of(*first, *second)
    first, second = ((units.columns[i], units.columns[i + 1]) for i in (0, 2))
    totals = [(units.sum(numerator), units.sum(denominator)) for numerator, denominator in (first, second)]
    if any(denominator == 0 for _, denominator in totals):
        return Estimate(value=None)
    ratios = [numerator / denominator for numerator, denominator in totals]
    value = ratios[1] - ratios[0]
    residuals = [
        (sums[0] - ratio * sums[1]) / total
        for sums, ratio, (_, total) in zip((first, second), ratios, totals, strict=True)
    ]
    clusters = units.count((first[1] > 0) | (second[1] > 0))
    differing = units.count((first[0] != second[0]) | (first[1] != second[1]))
    effective = min(units.effective(denominator) for _, denominator in (first, second))
    if clusters < FEW_CLUSTERS or effective < MIN_COMPARED or differing < MIN_DIFFERING:
        return Estimate(value=value)
    residual = residuals[1] - residuals[0]
    error = math.sqrt(clusters / (clusters - 1) * units.squares(residual))
    if error == 0:
        return Estimate(value=value)
    squares = np.square(residual / np.abs(residual).max())
    freedom = min(differing - 1, units.effective(squares))
    difference = _linearised(value, error, freedom, confidence)
    assert difference.low is not None  # it always has an interval
    assert difference.high is not None
    return replace(difference, low=max(-1.0, difference.low), high=min(1.0, difference.high))


def row_difference(
    value: float, terms: Iterable[tuple[float, WeightSums]], differing: int, confidence: float
) -> Estimate:
    """Compute the interval of a difference over rows with sampling weights, by its linearisation.

    Terms are the residual of a row per unit of weight, and the sums of the rows that have it. The interval is
    that of ``ratio_difference``, with degrees of freedom of at most the variance over the largest squared
    residual. Without a ``differing`` row, on which the two rules differ, the p-value is 1.
    """
    listed = list(terms)
    rows = sum(sums.rows for _, sums in listed)
    if differing == 0:
        return Estimate(value=value, p_value=1.0)
    if rows < FEW_CLUSTERS or differing < MIN_DIFFERING:
        return Estimate(value=value)
    squares = math.fsum(residual**2 * float(sums.squares) for residual, sums in listed)
    largest = max(residual**2 * float(sums.largest) ** 2 for residual, sums in listed)
    freedom = min(differing - 1, squares / largest) if largest else differing - 1
    return _linearised(value, math.sqrt(rows / (rows - 1) * squares), freedom, confidence)


def _linearised(value: float, error: float, freedom: float, confidence: float) -> Estimate:
    """Compute an interval and a p-value by Student's t."""
    from scipy.special import stdtr, stdtrit

    half = error * float(stdtrit(freedom, (1 + confidence) / 2))
    p_value = 2 * float(stdtr(freedom, -abs(value) / error)) if error > 0 else float(value == 0)
    return Estimate(value=value, low=value - half, high=value + half, p_value=p_value)


def _mean_size(clusters: DistinctUnits, power: int) -> float:
    """Return the mean size of clusters, each by a power of its trials."""
    sizes = clusters.columns[1].astype(np.float64)
    return clusters.sum(sizes ** (power + 1)) / clusters.sum(sizes**power)


def few_clusters(subject: str, clusters: int, whose: str, unit: str = "clusters") -> list[Notice]:
    """Caution that an interval rests on few clusters, or that too few give none; ``unit`` is their name."""
    if clusters >= FEW_CLUSTERS:
        return []
    having = f"{count(clusters)} {unit} have {whose}"
    if clusters < MIN_CLUSTERS:
        return [Notice("few-clusters", f"{subject} has no interval: {having}, {MIN_CLUSTERS} needed.")]
    enough = f"{FEW_CLUSTERS} or more are reliable"
    return [Notice("few-clusters", f"{subject} has an unreliable interval: {having}, {enough}.")]


SAMPLING_WEIGHT: Final = "sampling_weight"
"""Role of the column of sampling weights."""

_LEAST: Final = 0.999
"""Least sampling weight, after rounding."""


def with_sampling_weights(data: DataRequest, column: str) -> DataRequest:
    """Return the request that also reads a column of sampling weights."""
    roles = data.roles
    return replace(data, roles=replace(roles, numbers={**roles.numbers, SAMPLING_WEIGHT: column}))


def counted_by_weight(rows: Rows) -> Rows:
    """Let rows count in proportion to their sampling weights, for metrics without tests and intervals."""
    weight = rows.numbers[SAMPLING_WEIGHT]
    check_weights(weight)
    counts = as_counts(weight, rows.weight) if weight.any() else None
    if counts is None or not counts.any():
        raise refusals.no_weight()
    return replace(rows, weight=counts)


def check_weights(weight: Floats) -> None:
    """Refuse unusable weights, and caution of those that no probability gives."""
    refuse_unusable(weight)
    if ((weight > 0) & (weight < _LEAST)).any():
        caution(
            "low-sampling-weights",
            "some sampling weights are below 1, but 1 / a probability is at least 1: "
            "check the column of --sampling-weight.",
        )
