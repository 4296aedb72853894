"""Test-based calibration error and its relatives on tie-pooled counts [TCE sec. 3]."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from uqcli.choices import CalibrationTest
from uqcli.counts import Bools, Floats, Ints, ValueCounts
from uqcli.methods.metrics.binomial_test import rejected as binomial_rejected
from uqcli.methods.metrics.t_test import rejected as t_rejected

_CLIP = 1e-15

TESTS: Final[Mapping[CalibrationTest, Callable[[Floats, int, int, float], Bools]]] = MappingProxyType(
    {CalibrationTest.BINOMIAL: binomial_rejected, CalibrationTest.T: t_rejected}
)


@dataclass(frozen=True, kw_only=True)
class ScoreBins:
    """Rows in score bins, ascending.

    Attributes
    ----------
    low, high : float64, shape (B,)
        Edges; the outermost are 0 and 1.
    start : int64, shape (B+1,)
        Positions of the bins' distinct scores in the counts.
    count, positives : int64, shape (B,)
    mean_score : float64, shape (B,)
        NaN in an empty bin.
    """

    low: Floats
    high: Floats
    start: Ints
    count: Ints
    positives: Ints
    mean_score: Floats

    @property
    def rate(self) -> Floats:
        """Share of positive rows; NaN in an empty bin."""
        with np.errstate(invalid="ignore"):
            rate: Floats = self.positives / self.count
        return rate


def in_bins(counts: ValueCounts, edges: Floats) -> ScoreBins:
    """Count rows between sorted edges; value v is in bin ``#{edges <= v}``."""
    start = np.concatenate([[0], np.searchsorted(counts.value, edges, side="left"), [len(counts.value)]])
    score_sum = np.array(
        [float((counts.value[a:b] * counts.count[a:b]).sum()) for a, b in itertools.pairwise(start)]
    )
    count = np.diff(np.concatenate([[0], np.cumsum(counts.count)])[start])
    with np.errstate(invalid="ignore"):
        mean_score = score_sum / count
    return ScoreBins(
        low=np.concatenate([[0.0], edges]),
        high=np.concatenate([edges, [1.0]]),
        start=start,
        count=count,
        positives=np.diff(np.concatenate([[0], np.cumsum(counts.positives)])[start]),
        mean_score=mean_score,
    )


def rejected_rows(counts: ValueCounts, bins: ScoreBins, test: CalibrationTest, alpha: float) -> Ints:
    """Rows of each bin whose score its labels speak against.

    Returns
    -------
    int64, shape (B,)
    """
    result = np.zeros(len(bins.count), dtype=np.int64)
    for number in np.flatnonzero(bins.count):
        part = slice(int(bins.start[number]), int(bins.start[number + 1]))
        rows, positives = int(bins.count[number]), int(bins.positives[number])
        against = TESTS[test](counts.value[part], positives, rows, alpha)
        result[number] = counts.count[part][against].sum()
    return result


def expected_error(bins: ScoreBins) -> float:
    """Mean over rows of |rate - mean score| of their bin (ECE on equispaced, ACE on quantile bins)."""
    filled = bins.count > 0
    gap = np.abs(bins.rate[filled] - bins.mean_score[filled])
    return float((bins.count[filled] / bins.count.sum() * gap).sum())


def maximum_error(bins: ScoreBins) -> float:
    """Largest |rate - mean score| of a bin that holds rows."""
    filled = bins.count > 0
    return float(np.abs(bins.rate[filled] - bins.mean_score[filled]).max())


def label_variance(bins: ScoreBins) -> tuple[float, float]:
    """Variance of labels within bins, weighted by rows (eq. 8) and averaged over filled bins (eq. 9)."""
    filled = bins.count > 0
    rate = bins.rate[filled]
    variance = rate * (1 - rate)
    return float((bins.count[filled] / bins.count.sum() * variance).sum()), float(variance.mean())


def brier(counts: ValueCounts) -> float:
    """Mean squared difference of score and label."""
    negatives = counts.count - counts.positives
    total = counts.positives * (1 - counts.value) ** 2 + negatives * counts.value**2
    return float(total.sum() / counts.rows)


def log_loss(counts: ValueCounts) -> float:
    """Mean negative log likelihood in nats, of scores clipped to [1e-15, 1 - 1e-15]."""
    score = np.clip(counts.value, _CLIP, 1 - _CLIP)
    negatives = counts.count - counts.positives
    total = counts.positives * np.log(score) + negatives * np.log1p(-score)
    return float(-total.sum() / counts.rows)
