"""Metrics in target data, and their intervals with the error of estimated class weights."""

from __future__ import annotations

import numpy as np

from uqcli.base.class_counts import Matrix
from uqcli.base.counts import Floats, Ints
from uqcli.base.records import dataclass

DRAWS = 2000
"""Minimum number of pairs of drawn weights and drawn rates for an interval."""


@dataclass(frozen=True, kw_only=True)
class BinaryWeights:
    """Class weights of target data for two classes: w = q/p.

    Attributes
    ----------
    refuted
        Why nothing about the target data can be stated with them; empty if nothing is against it.
    error
        Largest distance of a weight from the ends of its interval; None without intervals.
    draws : float64, shape (B, 2), or None
        Bootstrap draws of the weights (negative, positive).
    """

    positive: float
    negative: float
    refuted: str = ""
    error: float | None = None
    draws: Matrix | None = None

    def precision(self, source_precision: float | None) -> float | None:
        """Convert the precision of a selection in the source data to that in the target data.

        None if there is none, or if the weights are refuted.
        """
        if source_precision is None or self.refuted:
            return None
        hits, misses = self.positive * source_precision, self.negative * (1 - source_precision)
        return hits / (hits + misses) if hits + misses else None


def precision_interval(
    weights: Matrix, true_positives: int, false_positives: int, confidence: float, random: np.random.Generator
) -> tuple[float, float]:
    """Compute the interval of the precision if negatives and positives are w times as frequent.

    The ends of the exact interval of the precision among the selected rows are percentiles of two Beta
    distributions. Draws from these are transformed to the target by drawn weights; the interval is exact if
    the weights are.

    Parameters
    ----------
    weights : float64, shape (B, 2)
        Draws of the weights of negatives and positives; negative values count as 0.
    """
    if true_positives + false_positives == 0:
        return 0.0, 1.0
    repeats = -(-DRAWS // len(weights))
    negative, positive = np.repeat(np.maximum(weights, 0.0), repeats, axis=0).T
    low = np.zeros(len(positive))
    if true_positives:
        low = _in_target(random.beta(true_positives, false_positives + 1, len(low)), negative, positive)
    high = np.ones(len(positive))
    if false_positives:
        high = _in_target(random.beta(true_positives + 1, false_positives, len(high)), negative, positive)
    tail = (1 - confidence) / 2
    return float(np.quantile(low, tail, method="lower")), float(np.quantile(high, 1 - tail, method="higher"))


def _in_target(share: Floats, negative: Floats, positive: Floats) -> Floats:
    hits, misses = positive * share, negative * (1 - share)
    rows = hits + misses
    result: Floats = np.divide(hits, rows, out=np.zeros(len(share)), where=rows > 0)
    return result


def coverage_draws(weights: Matrix, rows: Ints, covered: Ints, random: np.random.Generator) -> Floats:
    """Draw the coverage if classes are w times as frequent as among the rows.

    Parameters
    ----------
    weights : float64, shape (B, C)
        Draws of the class weights; negative values count as 0.
    rows, covered : int64, shape (C,)
        Rows of each class, and those covered by their prediction sets.

    Returns
    -------
    float64, one element for each of at least 2000 draws with a positive total weight
        Class priors are drawn by resampling rows, coverages from Beta(c + 1/2, n - c + 1/2).
    """
    repeats = -(-DRAWS // len(weights))
    draws = np.repeat(np.maximum(weights, 0.0), repeats, axis=0)
    mass = draws * random.multinomial(int(rows.sum()), rows / rows.sum(), len(draws))
    rates = random.beta(covered + 0.5, rows - covered + 0.5, mass.shape)
    total = mass.sum(axis=1)
    present = total > 0
    coverage: Floats = (mass * rates).sum(axis=1)[present] / total[present]
    return coverage


def percentiles(values: Floats, confidence: float) -> tuple[float, float] | None:
    """Compute the central percentile interval of values; None without values."""
    if len(values) == 0:
        return None
    tail = (1 - confidence) / 2
    low = float(np.quantile(values, tail, method="lower"))
    return low, float(np.quantile(values, 1 - tail, method="higher"))
