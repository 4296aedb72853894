"""Data of reliability diagrams [TCE sec. 3]: the predictions in each bin, and all predictions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from uqcli.base.counts import Floats, Ints, ValueCounts
from uqcli.base.records import dataclass
from uqcli.estimates.calibration_error import ScoreBins
from uqcli.estimates.proportion import clopper_pearson
from uqcli.kernels.sums import sums_before

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
    """Rates and mean scores of non-empty equispaced bins, with exact 95 % intervals of the rates.

    Rates by sampling weight have no interval: its ends are the rates.

    Attributes
    ----------
    count : int64, shape (B,)
    mean_score, rate, low, high : float64, shape (B,)
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
