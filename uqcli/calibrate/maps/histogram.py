"""Histogram calibration of scores and of classes, with a distribution-free bound [LS Theorem 3]."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec
import numpy as np
from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Floats, Ints, Matrix, ValueCounts, bin_of, binned_cells, pool
from uqcli.base.rows import ClassCounts
from uqcli.base.wording import count, formatted, printable, probability
from uqcli.calibrate.maps.base import (
    BaseClassMap,
    BaseScoreMap,
    Count,
    FittedMap,
    ends_of_bins,
    first,
    not_ascending,
    not_probabilities,
)
from uqcli.calibrate.scale import Scale
from uqcli.reports.document import Table
from uqcli.rules.expressions import Case, Comparison, Constant, Expression, Maximum, NamedValues, Steps

if TYPE_CHECKING:
    from uqcli.calibrate.fit_options import CalibrationOptions


class HistogramMap(BaseScoreMap, frozen=True, kw_only=True, tag_field="map", tag="histogram"):
    """Positive rate of each bin; a score v is in bin #{edges <= v}.

    An empty bin has the rate of the next non-empty bin above, or of the last non-empty bin. It has no error
    bound (None). With the stated confidence, all rates are simultaneously within ``error`` of the truth
    [LS Theorem 3].
    """

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.HISTOGRAM})

    edges: list[float]
    rate: Annotated[list[float], Meta(min_length=1)]
    count: list[Count]
    error: list[Annotated[float, Meta(ge=0, le=1)] | None]
    confidence: Annotated[float, Meta(gt=0, lt=1)]

    @property
    def largest_error(self) -> float:
        """See BaseMap."""
        return max((bound for bound in self.error if bound is not None), default=math.inf)

    @classmethod
    def fit(cls, counts: ValueCounts, options: CalibrationOptions) -> FittedMap:
        """See BaseScoreMap."""
        edges = options.histogram_edges(counts)
        return FittedMap(map=fit_histogram(counts, edges, options.confidence))

    def contradiction(self) -> str:
        """See BaseMap."""
        if not len(self.rate) == len(self.edges) + 1 == len(self.count) == len(self.error):
            return "its bins do not have a rate, a count and an error each"
        return not_ascending(self.edges, "edges") or not_probabilities(self.rate)

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        del scale
        rate = np.array(self.rate)
        by_row: Floats = rate[bin_of(corrected, np.array(self.edges, dtype=np.float64))]
        return by_row

    def expression(self, corrected: Expression, scale: Scale) -> Expression:
        """See BaseScoreMap."""
        del scale
        return Steps(corrected, tuple(self.edges), tuple(map(Constant, self.rate)))

    def steps(self) -> Sequence[float]:
        """See BaseMap."""
        return self.rate

    def formula(self) -> str:
        """See BaseScoreMap."""
        return f"histogram, {len(self.rate)} bins"

    def tables(self, undersampled: float) -> list[Table]:
        """Tabulate its bins."""
        del undersampled
        rows = [
            (*ends, count(rows), probability(rate), formatted(error_bound, ".4f"))
            for ends, rows, rate, error_bound in zip(
                ends_of_bins(self.edges), self.count, self.rate, self.error, strict=True
            )
        ]
        header = ("from", "to", "rows", "calibrated", f"error bound, {100 * self.confidence:g} %")
        return [Table(title="Bins", header=header, rows=rows, left=0)]


def fit_histogram(counts: ValueCounts, edges: Floats, confidence: float) -> HistogramMap:
    """Compute the positive rate of each bin, with an error bound.

    With probability ``confidence`` all rates are simultaneously within ``error`` of the true ones. The error
    is half the bound on the 1-norm (see ``bounds``). Scores are corrected for undersampling; the edges are
    scores of these rows, chosen without their labels.
    """
    cells = binned_cells(counts, edges)
    rows, positives = cells.count, cells.positives
    source_bin = filled_from(rows)
    return HistogramMap(
        edges=edges.tolist(),
        rate=(positives[source_bin] / rows[source_bin]).tolist(),
        count=rows.tolist(),
        error=[None if norm is None else norm / 2 for norm in bounds(rows, len(rows), confidence, 2)],
        confidence=confidence,
    )


_CLASSES = 2


def filled_from(rows: Ints) -> Ints:
    """Return the bin whose rates each bin has: the next non-empty one, or the last non-empty one."""
    filled = np.flatnonzero(rows)
    return filled[np.minimum(np.searchsorted(filled, np.arange(len(rows))), len(filled) - 1)]


def bounds(rows: Ints, bins: int, confidence: float, classes: int) -> list[float | None]:
    """Bound the error of the class frequencies of all bins at once, in the 1-norm [LS Theorem 3].

    For N rows of a fixed bin, ``(2/sqrt(N)) sqrt(ln(M 2^K / alpha) / 2)`` holds for M bins and K classes.
    Here each edge is the score of a row. Given the edges, the other rows of a bin are independent draws of
    the law between them, if no two scores are equal. So the bound of N - 1 rows holds for these, and the row
    at the lower edge adds at most 2/N. With equal scores the bound is confirmed by simulation.

    Rows are those of adjacent bins, the lowest first. Bounds are at most 2; None for an empty bin.
    """
    result: list[float | None] = []
    for index, size in enumerate(rows.tolist()):
        at_edge = 1 if index else 0
        inside = size - at_edge
        norm = inside * bound(inside, bins, confidence, classes) + 2 * at_edge if inside > 0 else 2.0 * size
        result.append(min(2.0, norm / size) if size else None)
    return result


def target_bound(weights: Sequence[float], norm: float, weight_error: float) -> float:
    """Compute the bound on the 1-norm after the correction for label shift [LS Theorem 4].

    ``2 kappa norm + 2 weight_error / min w`` with kappa the ratio of the largest to the smallest weight w(y),
    all positive; ``norm`` is the bound before the correction.

    Examples
    --------
    >>> target_bound([1.0, 1.0], 0.1, 0.0)
    0.2
    """
    smallest = min(weights)
    return 2 * max(weights) / smallest * norm + 2 * weight_error / smallest


def bound(rows: int, bins: int, confidence: float, classes: int = _CLASSES) -> float:
    """Compute the simultaneous bound on the 1-norm between class frequencies and probabilities of all bins.

    Examples
    --------
    >>> round(bound(10_000, 10, 0.95), 4)
    0.0366
    """
    alpha = 1 - confidence
    return 2 / math.sqrt(rows) * math.sqrt(0.5 * math.log(bins * 2**classes / alpha))


_MAX_ROWS = 40


class ClassBins(msgspec.Struct, frozen=True, kw_only=True):
    """Bins of the rows with one predicted class, by its probability.

    ``rate`` holds the class frequencies of each bin. ``error`` bounds their distance from the truth in the
    1-norm; None where it is not known.
    """

    edges: list[float]
    rate: Annotated[list[list[float]], Meta(min_length=1)]
    count: list[Count]
    error: list[Annotated[float, Meta(ge=0, le=2)] | None]

    def contradiction(self, classes: int) -> str:
        """Find the first contradiction between the fields; empty if there is none."""
        if not len(self.rate) == len(self.edges) + 1 == len(self.count) == len(self.error):
            return "its bins do not have rates, a count and an error each"
        if any(len(rate) != classes for rate in self.rate):
            return "its bins do not have a rate of each class"
        return not_ascending(self.edges, "edges") or first(map(not_probabilities, self.rate))


class ClassHistogramMap(BaseClassMap, frozen=True, kw_only=True, tag_field="map", tag="class-histogram"):
    """Class frequencies of bins by the predicted class and its probability [LS sec. 3].

    The predicted class is the first of the most probable ones. An empty bin has the frequencies of the next
    one above, or of the last non-empty one. A class that was never predicted has those of all rows. With the
    stated confidence all frequencies are within ``error`` of the truth, in the 1-norm [LS Theorem 3].
    """

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.HISTOGRAM})

    bins: Annotated[list[ClassBins], Meta(min_length=2)]
    confidence: Annotated[float, Meta(gt=0, lt=1)]

    @property
    def largest_error(self) -> float:
        """See BaseMap."""
        bounds = [bound for part in self.bins for bound in part.error if bound is not None]
        return max(bounds, default=math.inf)

    def contradiction(self) -> str:
        """See BaseMap."""
        return first(part.contradiction(len(self.bins)) for part in self.bins)

    def contradicts(self, classes: int, method: CalibrationMethod) -> bool:
        """See BaseClassMap."""
        del method
        return len(self.bins) != classes

    def probabilities(self, probability: Matrix) -> Matrix:
        """See BaseClassMap."""
        predicted, largest = probability.argmax(axis=1), probability.max(axis=1)
        result = np.empty_like(probability)
        for index, part in enumerate(self.bins):
            inside = predicted == index
            bins = bin_of(largest[inside], np.array(part.edges, dtype=np.float64))
            result[inside] = np.array(part.rate)[bins]
        return result

    def exported(
        self, probability: Sequence[Expression], weights: Sequence[float], named: NamedValues
    ) -> Sequence[Expression]:
        """See BaseClassMap."""
        largest = named.name(Maximum(tuple(probability)), "largest")
        numbers = map(float, range(sum(len(part.rate) for part in self.bins)))
        cells = [
            Steps(largest, tuple(part.edges), tuple(Constant(next(numbers)) for _ in part.rate))
            for part in self.bins
        ]
        reached = [Comparison(">=", column, largest) for column in probability[:-1]]
        cell = named.name(Case(tuple(zip(reached, cells[:-1], strict=True)), cells[-1]), "cell")
        weighted = np.array(weights) * [rate for part in self.bins for rate in part.rate]
        rates = weighted.T / [sum(row) for row in weighted.tolist()]
        edges = tuple(map(float, range(1, rates.shape[1])))
        return [Steps(cell, edges, tuple(map(Constant, of_class))) for of_class in rates.tolist()]

    def steps(self) -> Sequence[float]:
        """See BaseMap."""
        return [rate for part in self.bins for rates in part.rate for rate in rates]

    def tables_of(self, classes: Sequence[str]) -> list[Table]:
        """Tabulate at most 40 bins."""
        rows = []
        for index, (name, part) in enumerate(zip(classes, self.bins, strict=True)):
            for low, rows_inside, rates, bound in zip(
                [None, *part.edges], part.count, part.rate, part.error, strict=True
            ):
                own = probability(rates[index])
                error = formatted(bound, ".4f")
                rows.append((printable(name), formatted(low, ".6g"), count(rows_inside), own, error))
        shown = rows[:_MAX_ROWS]
        if len(rows) > _MAX_ROWS:
            shown.append(("...", f"and {len(rows) - _MAX_ROWS} more", "", "", ""))
        header = (
            "predicted class",
            "from",
            "rows",
            "its frequency",
            f"error bound, {100 * self.confidence:g} %",
        )
        return [Table(title="Bins by predicted class", header=header, rows=shown, left=1)]


def fit_class_histogram(
    counts: ClassCounts, edges_of: Callable[[ValueCounts], Floats], confidence: float
) -> ClassHistogramMap:
    """Compute the class frequencies of bins by predicted class and its probability, with error bounds.

    The edges of the bins are those of the probabilities of a predicted class.
    """
    classes = counts.probability.shape[1]
    predicted = counts.probability.argmax(axis=1)
    overall = np.bincount(counts.label, weights=counts.count, minlength=classes) / counts.count.sum()
    return ClassHistogramMap(
        bins=[
            _bins_of_class(counts.select(predicted == index), overall, edges_of, confidence)
            for index in range(classes)
        ],
        confidence=confidence,
    )


def _bins_of_class(
    counts: ClassCounts, overall: Floats, edges_of: Callable[[ValueCounts], Floats], confidence: float
) -> ClassBins:
    """Bin the rows of one predicted class; without rows it has the frequencies of all rows."""
    if not len(counts.label):
        return ClassBins(edges=[], rate=[overall.tolist()], count=[0], error=[None])
    largest = counts.probability.max(axis=1)
    edges = edges_of(pool(largest, np.zeros(len(largest), dtype=np.bool_), counts.count))
    cells = np.zeros((len(edges) + 1, len(overall)), dtype=np.int64)
    np.add.at(cells, (bin_of(largest, edges), counts.label), counts.count)
    rows = cells.sum(axis=1)
    source_bin = filled_from(rows)
    return ClassBins(
        edges=edges.tolist(),
        rate=(cells[source_bin] / rows[source_bin, None]).tolist(),
        count=rows.tolist(),
        error=bounds(rows, len(overall) * len(rows), confidence, len(overall)),
    )
