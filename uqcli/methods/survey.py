"""Intervals of ratios of sums over clusters of dependent rows, or over rows with sampling weights.

The interval of a proportion is that of Korn and Graubard (1998). The design effect says how many independent
rows the rows are worth, and the interval of Clopper and Pearson takes that number. If few clusters have a
success, or few have a failure, the estimated effect is too small. It then moves towards that of clusters
whose rows are all alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from uqcli.methods.proportion import clopper_pearson
from uqcli.sampling_weights import WeightSums

Sums: TypeAlias = "NDArray[np.int64] | NDArray[np.float64]"
"""A sum for each cluster, shape (C,): rows by weight, or sums of sampling weights."""

MIN_CLUSTERS: Final = 10
"""Fewer clusters have no interval of a proportion."""

FEW_CLUSTERS: Final = 20
"""Fewer clusters need a caution, and have no interval of a difference.

Fewer clusters with a success or with a failure raise the design effect.
"""

MIN_DIFFERING: Final = 5
"""Clusters in which two rules must differ for an interval of their difference."""


@dataclass(frozen=True, kw_only=True)
class SurveyInterval:
    """A proportion with its interval.

    Attributes
    ----------
    value
        None without trials.
    low, high
        None with fewer than ``MIN_CLUSTERS`` clusters; (0, 1) without trials.
    clusters
        Clusters with trials.
    design_effect
        Ratio of the variance to that of independent rows; None without an interval.
    effective
        Number of independent rows with this interval; None without one.
    """

    value: float | None
    low: float | None
    high: float | None
    clusters: int
    design_effect: float | None
    effective: float | None


@dataclass(frozen=True, kw_only=True)
class LinearisedDifference:
    """A difference of two ratios with its interval and p-value (two-sided); None where none is valid."""

    value: float | None
    low: float | None
    high: float | None
    p_value: float | None


def proportion_interval(
    successes: Sums, trials: Sums, confidence: float, *, rows: int | None = None, clustered: bool = True
) -> SurveyInterval:
    """Compute the interval of sum(successes) / sum(trials) (Korn and Graubard 1998, for rare outcomes too).

    Parameters
    ----------
    successes, trials : shape (C,)
        Sums of each cluster, ``0 <= successes <= trials``; those without trials are ignored. Their order does
        not change a bit of the result.
    confidence
        In (0, 1).
    rows
        Number of rows that the trials are; None for their sum. Give it if they are sums of sampling weights.
    clustered
        False if every row is its own cluster, with a sampling weight; the design effect may then be below 1.

    Examples
    --------
    >>> interval = proportion_interval(np.array([3, 0] * 10), np.full(20, 3), 0.95)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.25, 0.75)
    """
    present = trials > 0
    successes, trials = successes[present], trials[present]
    clusters, total = len(trials), _total(trials)
    rate = _total(successes) / total if clusters else 0.0
    return _interval(
        rate,
        confidence,
        clusters=clusters,
        both=int(min(np.count_nonzero(successes > 0), np.count_nonzero(successes < trials))),
        size=round(total) if rows is None else rows,
        concentration=_total(np.square(trials.astype(np.float64))) / total**2 if clusters else 0.0,
        residual=_squares(successes - rate * trials) / total**2 if clusters else 0.0,
        clustered=clustered,
    )


def row_interval(
    successes: WeightSums,
    failures: WeightSums,
    confidence: float,
    largest: tuple[int, int] = (0, 0),
) -> SurveyInterval:
    """Compute the interval of a proportion of rows with sampling weights.

    It is ``proportion_interval`` of rows that are each their own cluster, from sums that need no rows. If an
    outcome is rare, one more of them may have a large weight. Suppose that all positive rows are kept, and
    2 % of the negative ones. If no negative one is drawn, plain intervals of precision cover as little as
    35 %.

    Parameters
    ----------
    largest
        Largest weight that a success may have, and a failure, in units, if none was drawn. If some were, it
        is theirs.

    Examples
    --------
    >>> from uqcli.sampling_weights import units
    >>> ten = WeightSums.of(units(np.full(10, 3.0)), np.ones(10, dtype=np.bool_))
    >>> interval = row_interval(ten, ten, 0.95)
    >>> interval.value, round(interval.low, 2), round(interval.high, 2)
    (0.5, 0.25, 0.75)
    """
    both = successes + failures
    total = float(both.total)
    rate = successes.total / both.total if both.total else 0.0
    residual = (1 - rate) ** 2 * float(successes.squares) + rate**2 * float(failures.squares)
    rarer, possible = (successes, largest[0]) if successes.rows < failures.rows else (failures, largest[1])
    rare = rarer.largest if rarer.rows else possible
    return _interval(
        rate,
        confidence,
        clusters=both.rows,
        both=min(successes.rows, failures.rows),
        size=both.rows,
        concentration=float(both.squares) / total**2 if both.rows else 0.0,
        residual=residual / total**2 if both.rows else 0.0,
        largest_share=rare / total if both.rows else 0.0,
        clustered=False,
    )


def _interval(
    rate: float,
    confidence: float,
    *,
    clusters: int,
    both: int,
    size: int,
    concentration: float,
    residual: float,
    clustered: bool,
    largest_share: float = 0.0,
) -> SurveyInterval:
    """Compute the interval of a rate.

    Parameters
    ----------
    both
        The smaller of the numbers of clusters with a success and with a failure.
    size
        Rows.
    concentration
        Sum of the squared shares of the clusters in the trials.
    residual
        Sum of the squared residuals of the clusters, over the squared trials.
    largest_share
        Largest share of the trials that a row of the rarer outcome may have.
    """
    if clusters == 0:
        return SurveyInterval(value=None, low=0.0, high=1.0, clusters=0, design_effect=None, effective=None)
    if clusters < MIN_CLUSTERS:
        return SurveyInterval(
            value=rate, low=None, high=None, clusters=clusters, design_effect=None, effective=None
        )
    of_one_value = size * concentration
    effect = 1.0
    if 0 < rate < 1:
        effect = clusters / (clusters - 1) * residual / (rate * (1 - rate) / size)
        effect = max(1.0, effect) if clustered else effect
    if both < FEW_CLUSTERS:
        share = both / FEW_CLUSTERS
        of_one_row = max(of_one_value, size * largest_share)
        effect = max(effect, share * effect + (1 - share) * of_one_row)
    normal, student = _quantile(math.inf, confidence), _quantile(size / of_one_value - 1, confidence)
    effective = size / effect * (normal / student) ** 2
    low, high = clopper_pearson(rate * effective, effective, confidence)
    return SurveyInterval(
        value=rate, low=low, high=high, clusters=clusters, design_effect=effect, effective=effective
    )


def ratio_difference(
    first: tuple[Sums, Sums], second: tuple[Sums, Sums], confidence: float
) -> LinearisedDifference:
    """Compute the interval of the second ratio of sums less the first, over the same clusters.

    It is the linearisation with Student's t. The degrees of freedom are the effective number of clusters that
    contribute to the variance, at most those whose sums differ, less one. With the latter number the interval
    covers as little as 91 %, if few clusters decide it.

    Parameters
    ----------
    first, second
        Numerators and denominators of each cluster, shape (C,) each.

    Returns
    -------
    LinearisedDifference
        Without an interval for fewer than ``FEW_CLUSTERS`` clusters, or than ``MIN_DIFFERING`` that differ.
    """
    totals = [(_total(numerator), _total(denominator)) for numerator, denominator in (first, second)]
    if any(denominator == 0 for _, denominator in totals):
        return LinearisedDifference(value=None, low=None, high=None, p_value=None)
    ratios = [numerator / denominator for numerator, denominator in totals]
    value = ratios[1] - ratios[0]
    residuals = [
        (sums[0] - ratio * sums[1]) / total
        for sums, ratio, (_, total) in zip((first, second), ratios, totals, strict=True)
    ]
    clusters = int(np.count_nonzero((first[1] > 0) | (second[1] > 0)))
    differing = int(np.count_nonzero((first[0] != second[0]) | (first[1] != second[1])))
    if clusters < FEW_CLUSTERS or differing < MIN_DIFFERING:
        return LinearisedDifference(value=value, low=None, high=None, p_value=None)
    residual = residuals[1] - residuals[0]
    error = math.sqrt(_variance(residual, clusters))
    if error == 0:
        return LinearisedDifference(value=value, low=None, high=None, p_value=None)
    squares = np.square(residual / np.abs(residual).max())
    freedom = min(differing - 1, _total(squares) ** 2 / _total(np.square(squares)))
    difference = _linearised(value, error, freedom, confidence)
    assert difference.low is not None  # it always has an interval
    assert difference.high is not None
    return replace(difference, low=max(-1.0, difference.low), high=min(1.0, difference.high))


def row_difference(
    value: float | None, terms: Iterable[tuple[float, WeightSums]], differing: int, confidence: float
) -> LinearisedDifference:
    """Compute the interval of a difference over rows with sampling weights, by its linearisation.

    Parameters
    ----------
    value
        The difference; None if it is undefined.
    terms
        Residual of a row per unit of weight, and the sums of the rows that have it.
    differing
        Rows on which the two rules differ.

    Returns
    -------
    LinearisedDifference
        As ``ratio_difference``, with degrees of freedom of at most the variance over the largest squared
        residual. Without a row on which they differ, the p-value is 1.
    """
    listed = list(terms)
    rows = sum(sums.rows for _, sums in listed)
    if value is not None and differing == 0:
        return LinearisedDifference(value=value, low=None, high=None, p_value=1.0)
    if value is None or rows < FEW_CLUSTERS or differing < MIN_DIFFERING:
        return LinearisedDifference(value=value, low=None, high=None, p_value=None)
    squares = math.fsum(residual**2 * float(sums.squares) for residual, sums in listed)
    largest = max(residual**2 * float(sums.largest) ** 2 for residual, sums in listed)
    freedom = min(differing - 1, squares / largest) if largest else differing - 1
    return _linearised(value, math.sqrt(rows / (rows - 1) * squares), freedom, confidence)


def _linearised(value: float, error: float, freedom: float, confidence: float) -> LinearisedDifference:
    """Compute an interval and a p-value by Student's t."""
    from scipy.special import stdtr

    half = error * _quantile(freedom, confidence)
    p_value = 2 * float(stdtr(freedom, -abs(value) / error)) if error > 0 else float(value == 0)
    return LinearisedDifference(value=value, low=value - half, high=value + half, p_value=p_value)


def _variance(residual: NDArray[Any], clusters: int) -> float:
    """Compute the variance of a sum over clusters from their residuals, which sum to 0."""
    return clusters / (clusters - 1) * _squares(residual)


def _squares(residual: NDArray[Any]) -> float:
    return math.fsum(np.square(residual).tolist())


def _total(sums: Sums) -> float:
    """Add up exactly, so that the order of clusters does not matter."""
    return float(sums.sum()) if sums.dtype.kind == "i" else math.fsum(sums.tolist())


def _quantile(freedom: float, confidence: float) -> float:
    """Return the upper quantile of Student's t, or of the normal distribution for infinite freedom."""
    from scipy.special import ndtri, stdtrit

    level = (1 + confidence) / 2
    return float(ndtri(level) if math.isinf(freedom) else stdtrit(freedom, level))
