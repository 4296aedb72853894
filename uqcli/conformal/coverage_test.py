"""Counts of covered rows, and exact tests of the coverage guarantee on new data [LS sec. 2].

The coverage that n calibration rows give is itself random. For exchangeable rows it is Beta(k, n+1-k) with k
= ceil((1-alpha)(n+1)), so the number of covered rows among m new ones is beta-binomial. A test that assumes
coverage 1 - alpha for every single calibration set raises false alarms, and more of them with more classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.estimates.survey import MIN_CLUSTERS, limit_of_clusters

_QUANTILES = 1000
"""Quantiles of the guaranteed coverage that a p-value over clusters is averaged over."""

_MAX_DEVIATIONS = 40
"""Number of standard deviations beyond which outcomes do not change a sum of doubles."""


def rank_of(rows: int, alpha: Fraction) -> int:
    """Compute the rank of the threshold, ``ceil((1-alpha)(n+1))``; n + 1 means that sets contain every label.

    >>> rank_of(9, Fraction(1, 10)), rank_of(8, Fraction(1, 10))
    (9, 9)
    """
    return min(rows + 1, -((alpha - 1) * (rows + 1) // 1))


def coverage_p_value(covered: int, rows: int, calibration_rows: int, alpha: Fraction) -> float:
    """Compute the p-value of the guarantee: probability of at most this many covered rows.

    A new row is covered if its prediction set contains its label; ``calibration_rows`` determined the
    threshold.

    >>> round(coverage_p_value(80, 100, 100, Fraction(1, 10)), 3)
    0.022
    """
    rank = rank_of(calibration_rows, alpha)
    if rank > calibration_rows or covered >= rows:
        return 1.0
    return _beta_binomial_cdf(covered, rows, rank, calibration_rows + 1 - rank)


def clustered_p_value(covered: Ints, rows: Ints, calibration_rows: int, alpha: Fraction) -> float | None:
    """Compute the p-value of the guarantee on clusters of dependent rows; None for fewer than 10 clusters.

    It is the level at which the interval of the coverage excludes the guarantee, averaged over the coverage
    that the calibration rows give. They count as fewer independent rows, in proportion to the new ones.
    Covered rows and all rows are those of each cluster, shape (C,).
    """
    missed = rows - covered
    if not missed.any():
        return None if np.count_nonzero(rows) < MIN_CLUSTERS else 1.0
    limit = limit_of_clusters(missed, rows)
    if limit is None:
        return None
    independent = min(1.0, (limit.x + limit.y - 1) / int(rows.sum()))
    calibration = math.floor(calibration_rows * independent)
    rank = rank_of(calibration, alpha)
    if rank > calibration:
        return 1.0
    from scipy.special import betaincinv

    level = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    promised: Floats = betaincinv(rank, calibration + 1 - rank, level)
    return math.fsum(limit.tail_at(1 - promised).tolist()) / _QUANTILES


def _beta_binomial_cdf(successes: int, trials: int, a: int, b: int) -> float:
    from scipy.special import betaln, gammaln

    mean = a / (a + b)
    variance = trials * mean * (1 - mean) * (a + b + trials) / (a + b + 1)
    lowest = max(
        0,
        min(successes, math.floor(trials * mean))
        - math.ceil(_MAX_DEVIATIONS * math.sqrt(variance) + _MAX_DEVIATIONS),
    )
    outcome = np.arange(lowest, successes + 1, dtype=np.float64)
    choose = gammaln(trials + 1) - gammaln(outcome + 1) - gammaln(trials - outcome + 1)
    log_p = choose + betaln(outcome + a, trials - outcome + b) - betaln(a, b)
    return min(1.0, float(np.exp(log_p).sum()))


def effective_rows(
    rows_of_class: Sequence[int], weights: Sequence[float], missed: Ints, tested: Ints, alpha: Fraction
) -> int:
    """Return the number of unweighted calibration rows whose coverage has the same variance.

    It is ``(sum w)^2 / sum w^2``, or fewer if classes of large weight are missed more often. Up to scale, the
    weighted coverage at the threshold has variance ``sum w^2 (miss - alpha)^2``. ``tested`` are the new rows
    of each class, and ``missed`` those whose set misses the label; shape (C,).
    """
    classes = list(zip(rows_of_class, weights, missed.tolist(), tested.tolist(), strict=True))
    total = math.fsum(rows * weight for rows, weight, _, _ in classes)
    squares = math.fsum(rows * weight**2 for rows, weight, _, _ in classes)
    if not squares:
        return 0
    a = float(alpha)
    spread = math.fsum(
        rows * weight**2 * ((k + 1) / (n + 2) * (1 - a) ** 2 + (n - k + 1) / (n + 2) * a**2)
        for rows, weight, k, n in classes
    )
    return math.floor(total**2 / max(squares, spread / (a * (1 - a))))


def shifted_p_value(
    coverage: Floats, calibration_rows: int, alpha: Fraction, random: np.random.Generator
) -> float:
    """Compute the p-value of the guarantee for estimated class weights, from B draws of the coverage."""
    rank = rank_of(calibration_rows, alpha)
    if rank > calibration_rows:
        return 1.0
    guaranteed = random.beta(rank, calibration_rows + 1 - rank, len(coverage))
    return float((1 + np.count_nonzero(coverage >= guaranteed)) / (len(coverage) + 1))


_BITS = 32
"""Bits of a cluster's index; the index of a class, size or group is above them."""


class CoveredClusters:
    """Rows and covered rows, by weight, of each cluster within each class, set size or group."""

    def __init__(self) -> None:
        self._codes: list[Ints] = []
        self._counts: list[Ints] = []
        self._rows = self._compact = 0

    def add(self, index: Ints, cluster: Ints, weight: Ints, covered: Bools) -> None:
        """Count rows; int64 arrays of shape (n,)."""
        self._codes.append((index << _BITS) | cluster)
        self._counts.append(np.stack([weight * covered, weight]))
        self._rows += len(index)
        if self._rows > 2 * self._compact:
            self._merge()

    def _merge(self) -> None:
        codes, inverse = np.unique(np.concatenate(self._codes), return_inverse=True)
        sums = np.zeros((2, len(codes)), dtype=np.int64)
        for total, counts in zip(sums, np.concatenate(self._counts, axis=1), strict=True):
            np.add.at(total, inverse, counts)
        self._codes, self._counts = [codes], [sums]
        self._rows = self._compact = len(codes)

    def of(self, index: int) -> tuple[Ints, Ints]:
        """Return covered rows and rows of each cluster, shape (C,), within a class, size or group."""
        self._merge()
        codes, sums = self._codes[0], self._counts[0]
        start, stop = np.searchsorted(codes, [index << _BITS, (index + 1) << _BITS])
        return sums[0, start:stop], sums[1, start:stop]

    def pairs(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Return class, size or group, cluster, covered rows and rows of each pair; int64, shape (m,)."""
        self._merge()
        codes, sums = self._codes[0], self._counts[0]
        return codes >> _BITS, codes & ((1 << _BITS) - 1), sums[0], sums[1]

    def of_all(self) -> tuple[Ints, Ints]:
        """Return covered rows and rows of each cluster, shape (C,)."""
        self._merge()
        clusters, inverse = np.unique(self._codes[0] & ((1 << _BITS) - 1), return_inverse=True)
        sums = np.zeros((2, len(clusters)), dtype=np.int64)
        for total, counts in zip(sums, self._counts[0], strict=True):
            np.add.at(total, inverse, counts)
        return sums[0], sums[1]
