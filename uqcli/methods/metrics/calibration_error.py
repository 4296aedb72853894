"""Test-based calibration error and its relatives on tie-pooled counts [TCE sec. 3]."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from uqcli.choices import CalibrationTest
from uqcli.counts import Floats, Ints, ValueCounts
from uqcli.methods.metrics.binomial_test import rejected as binomial_rejected
from uqcli.methods.metrics.losses import Loss, squared_error, surprise
from uqcli.methods.metrics.t_test import rejected as t_rejected
from uqcli.methods.metrics.verdicts import Verdicts
from uqcli.parts import sums_before

_PART = 1 << 14

TESTS: Final[Mapping[CalibrationTest, Callable[[Floats, Ints, Ints, Ints, float], Verdicts]]] = (
    MappingProxyType({CalibrationTest.BINOMIAL: binomial_rejected, CalibrationTest.T: t_rejected})
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
    count = _sums(counts.count, start)
    score_sum = np.array([_total(counts, _score, a, b) for a, b in itertools.pairwise(start.tolist())])
    with np.errstate(invalid="ignore"):
        mean_score = score_sum / count
    return ScoreBins(
        low=np.concatenate([[0.0], edges]),
        high=np.concatenate([edges, [1.0]]),
        start=start,
        count=count,
        positives=_sums(counts.positives, start),
        mean_score=mean_score,
    )


@dataclass(frozen=True, kw_only=True)
class Rejected:
    """Rows whose score their bin's labels speak against.

    Attributes
    ----------
    rows : int64, shape (B,)
    too_high : int64, shape (B,)
        Those among them whose score is above the bin's rate; the others are below it.
    """

    rows: Ints
    too_high: Ints

    @property
    def too_low(self) -> Ints:
        """Those whose score is below the bin's rate."""
        return self.rows - self.too_high

    def percent(self, of: int) -> float:
        """Share of a number of rows, in percent: the test-based calibration error."""
        return 100 * int(self.rows.sum()) / of


def reject(counts: ValueCounts, bins: ScoreBins, test: CalibrationTest, alpha: float) -> Rejected:
    """Test every score against the labels of its bin."""
    filled = np.flatnonzero(bins.count)
    start = bins.start[np.append(filled, len(bins.count))]  # empty bins hold no score
    positives, count = bins.positives[filled], bins.count[filled]
    verdicts = TESTS[test](counts.value, start, positives, count, alpha)
    at_rate = np.clip(np.searchsorted(counts.value, positives / count), start[:-1], start[1:])
    cuts = np.unique(np.concatenate([verdicts.start, start, at_rate]))
    inside = np.diff(sums_before(counts.count, cuts)) * verdicts.at(cuts[:-1])
    upto = np.concatenate([[0], np.cumsum(inside)])
    ends, middle = upto[np.searchsorted(cuts, start)], upto[np.searchsorted(cuts, at_rate)]
    rows, too_high = np.zeros((2, len(bins.count)), dtype=np.int64)
    rows[filled] = np.diff(ends)
    too_high[filled] = ends[1:] - middle
    return Rejected(rows=rows, too_high=too_high)


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
    return _total(counts, _loss_term(squared_error), 0, len(counts.value)) / counts.rows


def log_loss(counts: ValueCounts) -> float:
    """Mean negative log likelihood in nats, of scores clipped to [1e-15, 1 - 1e-15]."""
    return _total(counts, _loss_term(surprise), 0, len(counts.value)) / counts.rows


Term = Callable[[Floats, Ints, Ints], Floats]
"""From value, count and positives to what each distinct value adds to a sum."""


def _score(value: Floats, count: Ints, positives: Ints) -> Floats:
    del positives
    return value * count


def _loss_term(loss: Loss) -> Term:
    def term(value: Floats, count: Ints, positives: Ints) -> Floats:
        if_positive, if_negative = loss(value)
        return positives * if_positive + (count - positives) * if_negative

    return term


def _total(counts: ValueCounts, term: Term, start: int, stop: int) -> float:
    """Sum of a term over the distinct values start to stop-1, part by part to stay in the cache."""
    cuts = itertools.pairwise([*range(start, stop, _PART), stop])
    return math.fsum(
        float(term(counts.value[a:b], counts.count[a:b], counts.positives[a:b]).sum()) for a, b in cuts
    )


def _sums(amount: Ints, start: Ints) -> Ints:
    """Exact sums of the parts of an array between neighbouring positions."""
    filled = start[:-1] < start[1:]
    sums = np.zeros(len(filled), dtype=np.int64)
    if filled.any():
        sums[filled] = np.add.reduceat(amount, start[:-1][filled])
    return sums
