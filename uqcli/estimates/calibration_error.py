"""Test-based calibration error, related errors, and the reliability diagram [TCE sec. 3]."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, TypeVar

import numpy as np

from uqcli.base.blockwise import each_slice, part_sums, sums_by_part, values_per_task
from uqcli.base.choices import Binning, CalibrationTest
from uqcli.base.counts import Floats, Ints, ValueCounts, distinct_numbers
from uqcli.base.records import dataclass
from uqcli.estimates.binning import BINNING_RULES, BinSizes
from uqcli.estimates.calibration_tests import Verdicts, binomial_rejected, t_rejected
from uqcli.estimates.proportion import clopper_pearson
from uqcli.estimates.score_metrics import Loss, log_losses, squared_error
from uqcli.kernels.sums import sums_before

T = TypeVar("T")

TESTS: Final[Mapping[CalibrationTest, Callable[[Floats, Ints, Ints, Ints, float], Verdicts]]] = (
    MappingProxyType({CalibrationTest.BINOMIAL: binomial_rejected, CalibrationTest.T: t_rejected})
)

MANY_REJECTED = 0.2
"""Share of rejected predictions above which the report gives advice; true probabilities reach 0.15."""


@dataclass(frozen=True, kw_only=True)
class ScoreBins:
    """Counts in B score bins, ascending, between edges of which the outermost are 0 and 1.

    ``start``, of shape (B+1,), has the positions of the bins' first distinct scores in the counts. The mean
    score is NaN in an empty bin. ``weighted_rate`` are positive rates by sampling weight, None if rows count
    alike; the counts are then those of rows.
    """

    low: Floats
    high: Floats
    start: Ints
    count: Ints
    positives: Ints
    mean_score: Floats
    weighted_rate: Floats | None = None

    @property
    def rate(self) -> Floats:
        """Positive rate; NaN in an empty bin."""
        if self.weighted_rate is not None:
            return self.weighted_rate
        with np.errstate(invalid="ignore"):
            rate: Floats = self.positives / self.count
        return rate


def in_bins(counts: ValueCounts, edges: Floats) -> ScoreBins:
    """Count rows between sorted edges; a value v is in bin ``#{edges <= v}``."""
    start = np.concatenate([[0], np.searchsorted(counts.value, edges, side="left"), [len(counts.value)]])

    def sums(part: slice) -> list[float]:
        return part_sums(counts.value[part] * counts.count[part])

    score_sum = np.array([math.fsum(itertools.chain.from_iterable(parts)) for parts in _by_bin(sums, start)])
    count, positives = (np.diff(sums_before(rows, start)) for rows in (counts.count, counts.positives))
    with np.errstate(invalid="ignore"):
        mean_score = score_sum / count
    return ScoreBins(
        low=np.concatenate([[0.0], edges]),
        high=np.concatenate([edges, [1.0]]),
        start=start,
        count=count,
        positives=positives,
        mean_score=mean_score,
    )


def counting_rows(bins: ScoreBins, rows: ValueCounts) -> ScoreBins:
    """Let bins of sums of sampling weights count rows; rates and mean scores stay those by weight."""
    alike = in_bins(rows, bins.high[:-1])
    return replace(bins, count=alike.count, positives=alike.positives, weighted_rate=bins.rate)


@dataclass(frozen=True, kw_only=True)
class Rejected:
    """Rejected rows of each bin, and those among them whose score is above the bin's rate; shape (B,)."""

    rows: Ints
    too_high: Ints

    @property
    def too_low(self) -> Ints:
        """Rejected rows whose score is below the bin's rate."""
        return self.rows - self.too_high

    def percent(self, total: int) -> float:
        """Compute the rejected percentage of all rows: the test-based calibration error."""
        return 100 * int(self.rows.sum()) / total


def reject(counts: ValueCounts, bins: ScoreBins, test: CalibrationTest, alpha: float) -> Rejected:
    """Test every score given the labels of its bin."""
    filled = np.flatnonzero(bins.count)
    start = bins.start[np.append(filled, len(bins.count))]  # empty bins have no scores
    positives, count = bins.positives[filled], bins.count[filled]
    verdicts = TESTS[test](counts.value, start, positives, count, alpha)
    at_rate = np.clip(np.searchsorted(counts.value, positives / count), start[:-1], start[1:])
    cuts = distinct_numbers(np.concatenate([verdicts.start, start, at_rate]))
    rejected_rows = np.diff(sums_before(counts.count, cuts)) * verdicts.take(cuts[:-1])
    cumulative = np.concatenate([[0], np.cumsum(rejected_rows)])
    cumulative_at_start, cumulative_at_rate = (
        cumulative[np.searchsorted(cuts, start)],
        cumulative[np.searchsorted(cuts, at_rate)],
    )
    rows, too_high = np.zeros((2, len(bins.count)), dtype=np.int64)
    rows[filled] = np.diff(cumulative_at_start)
    too_high[filled] = cumulative_at_start[1:] - cumulative_at_rate
    return Rejected(rows=rows, too_high=too_high)


class Binned:
    """Counts of scores by binning, each cut once."""

    def __init__(self, counts: ValueCounts, sizes: BinSizes, test: CalibrationTest, alpha: float) -> None:
        self._counts, self._sizes = counts, sizes
        self._test, self._alpha = test, alpha
        self._bins: dict[Binning, ScoreBins] = {}

    def __getitem__(self, binning: Binning) -> ScoreBins:
        if binning not in self._bins:
            edges = BINNING_RULES[binning].edges(self._counts, self._sizes)
            self._bins[binning] = in_bins(self._counts, edges)
        return self._bins[binning]

    def __setitem__(self, binning: Binning, bins: ScoreBins) -> None:
        self._bins[binning] = bins

    def rejected(self, binning: Binning) -> Rejected:
        """Test every score given the labels of its bin."""
        return reject(self._counts, self[binning], self._test, self._alpha)


def expected_error(bins: ScoreBins) -> float:
    """Compute the mean |rate - mean score| of the rows' bins (ECE if equispaced, ACE if quantile bins)."""
    filled = bins.count > 0
    gap = np.abs(bins.rate[filled] - bins.mean_score[filled])
    return float((bins.count[filled] / bins.count.sum() * gap).sum())


def maximum_error(bins: ScoreBins) -> float:
    """Find the largest |rate - mean score| of a non-empty bin."""
    filled = bins.count > 0
    return float(np.abs(bins.rate[filled] - bins.mean_score[filled]).max())


def label_variance(bins: ScoreBins) -> tuple[float, float]:
    """Compute the label variance within bins: its mean over rows (eq. 8) and over non-empty bins (eq. 9)."""
    filled = bins.count > 0
    rate = bins.rate[filled]
    variance = rate * (1 - rate)
    return float((bins.count[filled] / bins.count.sum() * variance).sum()), float(variance.mean())


def brier(counts: ValueCounts) -> float:
    """Compute the mean squared difference of score and label."""
    return _mean(counts, squared_error)


def log_loss(counts: ValueCounts) -> float:
    """Compute the mean negative log likelihood in nats, of scores clipped to [1e-15, 1 - 1e-15]."""
    return _mean(counts, log_losses)


def _mean(counts: ValueCounts, loss: Loss) -> float:
    """Compute the mean of a loss over the rows."""

    def terms(part: slice) -> tuple[Floats]:
        count, positives = counts.count[part], counts.positives[part]
        if_positive, if_negative = loss(counts.value[part])
        return (positives * if_positive + (count - positives) * if_negative,)

    (sums,) = sums_by_part(terms, len(counts.value))
    return math.fsum(sums) / counts.rows


def _by_bin(work: Callable[[slice], T], start: Ints) -> list[list[T]]:
    """Apply a function to slices of whole parts of the values of each bin."""
    step = values_per_task()
    bins = [
        [slice(part, min(part + step, stop)) for part in range(first, stop, step)]
        for first, stop in itertools.pairwise(start.tolist())
    ]
    results = iter(each_slice(work, list(itertools.chain.from_iterable(bins))))
    return [list(itertools.islice(results, len(slices))) for slices in bins]


def mean_metrics(by_class: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the class means of the metrics; undefined if any class is."""
    means: dict[str, float | None] = {}
    for name in by_class[0]:
        values = [value for metrics in by_class if (value := metrics[name]) is not None]
        means[name] = sum(values) / len(by_class) if len(values) == len(by_class) else None
    return means


SHAPE_CELLS = 32
HISTOGRAM_CELLS = 50


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """Counts in cells of equal width between two scores; int64, shape (cells,)."""

    low: float
    high: float
    count: Ints


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """Rates and mean scores of non-empty equispaced bins, with exact 95 % intervals of the rates; shape (B,).

    Rates by sampling weight have no interval: its ends are the rates.
    """

    count: Ints
    mean_score: Floats
    rate: Floats
    low: Floats
    high: Floats

    @property
    def bars(self) -> Floats:
        """Lower and upper margins of the rates, shape (2, B); 0 for a single row."""
        margins = np.maximum([self.rate - self.low, self.high - self.rate], 0.0)
        lengths: Floats = np.where(self.count > 1, margins, 0.0)
        return lengths


@dataclass(frozen=True, kw_only=True)
class Diagram:
    """Predictions of each bin (None if empty), all predictions, and the standard diagram."""

    shapes: tuple[Histogram | None, ...]
    everything: Histogram
    reliability: Reliability


def diagram(counts: ValueCounts, bins: ScoreBins, equispaced: ScoreBins) -> Diagram:
    """Summarise predictions for drawing, from the bins of the test-based and of the standard diagram."""
    filled = [(first, stop) for first, stop in itertools.pairwise(bins.start.tolist()) if first < stop]
    shapes = iter(_histograms(counts, filled, SHAPE_CELLS))
    (everything,) = _histograms(counts, [(0, len(counts.value))], HISTOGRAM_CELLS)
    return Diagram(
        shapes=tuple(next(shapes) if is_filled else None for is_filled in np.diff(bins.start)),
        everything=everything,
        reliability=reliability(equispaced),
    )


def _histograms(counts: ValueCounts, ranges: Sequence[tuple[int, int]], cells: int) -> list[Histogram]:
    """Count the rows in cells between the values of some ascending ranges of positions."""
    ends = [(float(counts.value[first]), float(counts.value[stop - 1])) for first, stop in ranges]
    stops = []
    for (low, high), (first, stop) in zip(ends, ranges, strict=True):
        edges = low + (high - low) * (np.arange(1, cells) / cells)
        inside = first + np.searchsorted(counts.value[first:stop], edges)
        stops.append(np.concatenate([[first], inside, [stop]]))
    before = sums_before(counts.count, np.concatenate(stops)).reshape(len(ranges), cells + 1)
    rows = np.diff(before, axis=1)
    return [Histogram(low=low, high=high, count=count) for (low, high), count in zip(ends, rows, strict=True)]


def reliability(bins: ScoreBins) -> Reliability:
    """Compute the rates and mean scores of the non-empty bins."""
    filled = bins.count > 0
    rate = bins.rate[filled]
    intervals = list(zip(rate.tolist(), rate.tolist(), strict=True))
    if bins.weighted_rate is None:
        counts_of_bins = zip(bins.positives[filled].tolist(), bins.count[filled].tolist(), strict=True)
        intervals = [clopper_pearson(positives, rows, 0.95) for positives, rows in counts_of_bins]
    return Reliability(
        count=bins.count[filled],
        mean_score=bins.mean_score[filled],
        rate=rate,
        low=np.array([low for low, _ in intervals]),
        high=np.array([high for _, high in intervals]),
    )
