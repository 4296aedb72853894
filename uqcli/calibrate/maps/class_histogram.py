"""Histogram calibration of many classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec
from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.escaping import printable
from uqcli.base.wording import count, number, share
from uqcli.calibrate.maps.base import BaseClassMap, Count
from uqcli.calibrate.maps.contradictions import first, not_ascending, not_probabilities
from uqcli.reports.document import Table
from uqcli.rules.expressions import Case, Comparison, Constant, Expression, Maximum, Steps, let

if TYPE_CHECKING:
    from uqcli.base.class_counts import ClassCounts, Matrix
    from uqcli.base.counts import Floats, ValueCounts

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

    def contradiction(self, classes: int) -> str | None:
        """Find the first contradiction between the fields, or None."""
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
    def largest_error(self) -> float | None:
        """See BaseMap."""
        bounds = [bound for part in self.bins for bound in part.error if bound is not None]
        return max(bounds, default=None)

    def contradiction(self) -> str | None:
        """See BaseMap."""
        return first(part.contradiction(len(self.bins)) for part in self.bins)

    def contradicts(self, classes: int, method: CalibrationMethod) -> bool:
        """See BaseClassMap."""
        del method
        return len(self.bins) != classes

    def probabilities(self, probability: Matrix) -> Matrix:
        """See BaseClassMap."""
        import numpy as np

        from uqcli.base.counts import bin_of

        predicted, largest = probability.argmax(axis=1), probability.max(axis=1)
        result = np.empty_like(probability)
        for index, part in enumerate(self.bins):
            inside = predicted == index
            bins = bin_of(largest[inside], np.array(part.edges, dtype=np.float64))
            result[inside] = np.array(part.rate)[bins]
        return result

    def exported(self, probability: Sequence[Expression], weights: Sequence[float]) -> Sequence[Expression]:
        """See BaseClassMap."""
        return [self._exported_class(probability, weights, index) for index in range(len(self.bins))]

    def _exported_class(
        self, probability: Sequence[Expression], weights: Sequence[float], class_index: int
    ) -> Expression:
        def shares(largest: Expression) -> Expression:
            values = []
            for part in self.bins:
                leaves = []
                for rate in part.rate:
                    weighted = [weight * value for weight, value in zip(weights, rate, strict=True)]
                    leaves.append(Constant(weighted[class_index] / sum(weighted)))
                values.append(Steps(largest, tuple(part.edges), tuple(leaves)))
            branches = [
                (Comparison(">=", column, largest), value)
                for column, value in zip(probability[:-1], values[:-1], strict=True)
            ]
            return Case(tuple(branches), values[-1])

        return let(Maximum(tuple(probability)), shares)

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
                own = share(rates[index])
                error = "-" if bound is None else f"{bound:.4f}"
                rows.append(
                    (printable(name), "-" if low is None else number(low), count(rows_inside), own, error)
                )
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

    Parameters
    ----------
    edges_of
        Function from the probabilities of a predicted class to the edges of its bins.
    """
    import numpy as np

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
    import numpy as np

    from uqcli.base.counts import bin_of, pool
    from uqcli.calibrate.histogram_bound import bounds, filled_from

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
