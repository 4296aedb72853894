"""Rates from few labels and the probabilities of all rows (difference estimator).

The sum of the probabilities of all rows is corrected by the weighted errors of those with a label, so that
rates are right even if the probabilities are wrong; the better these are, the shorter are the intervals.
Intervals are those of new rows like these, by linearisation on the logit scale. If rows depend on each other
within clusters, the variance is that of the sums of clusters, those without a labelled row among them.

References
----------
Saerndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, sections 6.3 and 7.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints, Matrix, distinct_numbers
from uqcli.base.records import dataclass
from uqcli.estimates.distinct_units import rounded_sum
from uqcli.estimates.estimate import Estimate

_EACH: Final = 10
"""Least labelled rows, or clusters with such a row, of each kind that a rate compares."""

_EACH_OF_ALL: Final = 20
"""The same of positive and negative rows for the share of positives."""

_WIDER: Final = 1.05
"""Largest ratio of widths at which the assisted estimate is preferred to the plain one."""

_FREEDOM: Final = 20
"""Least degrees of freedom."""


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """Clusters of rows that depend on each other: that of each labelled row, from 0.

    ``expected`` are the sums of the probabilities of all rows of each cluster: of the chosen ones, and of the
    others, shape (2, C); ``rows`` are their numbers.
    """

    of: Ints
    expected: Matrix
    rows: Matrix

    def sums(self, known: Floats, contribution: Floats) -> Floats:
        """Add the contributions of labelled rows to a known sum of each cluster; float64, shape (C,)."""
        order = np.lexsort((contribution, self.of))  # so that the order of rows changes no bit
        total: Floats = known + np.bincount(self.of[order], contribution[order], len(known))
        return total


@dataclass(frozen=True, kw_only=True)
class ModelAssisted:
    """Labelled rows with probabilities, and the sums of the probabilities of all rows.

    Attributes
    ----------
    chosen : bool, shape (n,)
        Whether a rule chooses each labelled row.
    label : bool, shape (n,)
        Whether it is positive.
    probability : float64, shape (n,)
        Of being positive, fitted on other rows; in [0, 1].
    weight : float64, shape (n,)
        1 / the probability that the row has a label.
    count : int64, shape (n,)
        Number of equal rows that each stands for.
    expected
        Sums of the probabilities of all rows, of the chosen ones and of the others.
    rows
        Numbers of all rows, of the chosen ones and of the others.
    confidence
        Level of the intervals, in (0, 1).
    clusters
        None if rows are independent.
    """

    chosen: Bools
    label: Bools
    probability: Floats
    weight: Floats
    count: Ints
    expected: tuple[float, float]
    rows: tuple[int, int]
    confidence: float
    clusters: Clusters | None = None

    def share(self, *, positive: bool) -> Estimate | None:
        """Return the share of chosen rows among those of a label; None where too few rows show it."""
        label, error, expected = self.label, self.label - self.probability, self.expected
        if not positive:
            label, error = ~label, -error
            expected = self.rows[0] - expected[0], self.rows[1] - expected[1]
        # where positives are rare, the errors of negatives are small and alone would look certain
        compared = (label,) if positive else (label, ~label)
        kinds = [self._size(own & part) for own in compared for part in (self.chosen, ~self.chosen)]
        inside, outside = (
            total + self._sum((error * self.weight)[part], part)
            for total, part in zip(expected, (self.chosen, ~self.chosen), strict=True)
        )
        if min(kinds) < _EACH or not min(inside, outside) > 0:
            return None
        whole, rate = inside + outside, inside / (inside + outside)
        contribution = (self.chosen - rate) * error * self.weight
        if self.clusters is not None:
            known = self.clusters.expected if positive else self.clusters.rows - self.clusters.expected
            return self._of_clusters(rate, contribution, whole, (1 - rate) * known[0] - rate * known[1])
        further = (1 - rate) ** 2 * inside + rate**2 * outside
        return self._estimate(rate, contribution, whole, further / whole**2)

    def prevalence(self) -> Estimate | None:
        """Return the share of positive rows; None where too few rows show it."""
        total, error = sum(self.rows), (self.label - self.probability) * self.weight
        kinds = [self._size(part) for part in (self.label, ~self.label)]
        rate = (sum(self.expected) + self._sum(error)) / total
        if min(kinds) < _EACH_OF_ALL or not 0 < rate < 1:
            return None
        if self.clusters is not None:
            known = self.clusters.expected.sum(axis=0) - rate * self.clusters.rows.sum(axis=0)
            return self._of_clusters(rate, error, total, known)
        return self._estimate(rate, error, total, rate * (1 - rate) / total)

    def _size(self, part: Bools) -> int:
        """Count labelled rows, or clusters with such a row."""
        if self.clusters is None:
            return int(self.count[part].sum())
        return len(distinct_numbers(self.clusters.of[part & (self.count > 0)]))

    def _of_clusters(self, rate: float, contribution: Floats, total: float, known: Floats) -> Estimate | None:
        """Return a rate with its interval over clusters, with contributions as in ``_estimate``.

        ``known``, of shape (C,), is what all rows of each cluster contribute by their probabilities.
        """
        assert self.clusters is not None
        residual = self.clusters.sums(known, contribution * self.count)
        squares = residual**2
        square, fourth = rounded_sum(squares), rounded_sum(squares**2)
        size = int(np.count_nonzero(self.clusters.rows.sum(axis=0)))
        if not fourth > 0:
            return None
        return self._interval(rate, square * size / (size - 1) / total**2, square**2 / fourth - 1)

    def _estimate(self, rate: float, contribution: Floats, total: float, further: float) -> Estimate | None:
        """Return a rate with its interval.

        Contributions, of shape (n,), are those of each labelled row to the error of the rate, times the
        total. ``further`` is the variance of the rate of so many new rows, if all had labels.
        """
        squares = contribution**2
        size, square = int(self.count.sum()), self._sum(squares)
        fourth = self._sum(squares**2)
        if not fourth > 0:
            return None
        absent = 1 - 1 / np.maximum(self.weight, 1)
        variance = self._sum(absent * squares) * size / (size - 1) / total**2 + max(0.0, further)
        return self._interval(rate, variance, square**2 / fourth - 1)

    def _interval(self, rate: float, variance: float, freedom: float) -> Estimate | None:
        """Return a rate with its interval on the logit scale; None with few degrees of freedom."""
        from scipy.special import expit, logit, stdtrit

        if freedom < _FREEDOM:
            return None
        reach = stdtrit(freedom, (1 + self.confidence) / 2) * math.sqrt(variance) / (rate * (1 - rate))
        low, high = (float(expit(logit(rate) + side * reach)) for side in (-1, 1))
        return Estimate(value=float(rate), low=low, high=high)

    def _sum(self, values: Floats, part: Bools | slice = slice(None)) -> float:
        """Add up a number of each labelled row, in any order to the same sum."""
        return rounded_sum(values * self.count[part])


def shorter(plain: Estimate, assisted: Estimate | None) -> bool:
    """Whether the assisted estimate is to be printed: at most 5 % wider than the plain one."""
    if assisted is None or not assisted.ends:
        return False
    return assisted.width <= _WIDER * plain.width


def ratio_of_labels(plain: Estimate, assisted: Estimate) -> float | None:
    """Return how many times as many labels the plain interval needs to be as short; None if it has none."""
    return (plain.width / assisted.width) ** 2 if plain.ends and assisted.ends else None
