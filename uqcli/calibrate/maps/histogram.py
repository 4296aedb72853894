"""Histogram calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.wording import count, share
from uqcli.calibrate.maps.base import BaseScoreMap, Count, Fit, ends_of_bins
from uqcli.calibrate.maps.contradictions import not_ascending, not_probabilities
from uqcli.reports.document import Table
from uqcli.rules.expressions import Constant, Expression, Steps

if TYPE_CHECKING:
    from uqcli.base.counts import Floats, ValueCounts
    from uqcli.calibrate.fit_options import CalibrationOptions
    from uqcli.calibrate.scale import Scale


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
    def largest_error(self) -> float | None:
        """See BaseMap."""
        return max((error_bound for error_bound in self.error if error_bound is not None), default=None)

    @classmethod
    def fit(cls, counts: ValueCounts, options: CalibrationOptions) -> Fit:
        """See BaseScoreMap."""
        edges = options.histogram_edges(counts)
        return Fit(map=fit_histogram(counts, edges, options.confidence))

    def contradiction(self) -> str | None:
        """See BaseMap."""
        if not len(self.rate) == len(self.edges) + 1 == len(self.count) == len(self.error):
            return "its bins do not have a rate, a count and an error each"
        return not_ascending(self.edges, "edges") or not_probabilities(self.rate)

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        import numpy as np

        from uqcli.base.counts import bin_of

        del scale
        rate = np.array(self.rate)
        by_row: Floats = rate[bin_of(corrected, np.array(self.edges, dtype=np.float64))]
        return by_row

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        del scale, uncertainty
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
            (*ends, count(rows), share(rate), "-" if error_bound is None else f"{error_bound:.4f}")
            for ends, rows, rate, error_bound in zip(
                ends_of_bins(self.edges), self.count, self.rate, self.error, strict=True
            )
        ]
        header = ("from", "to", "rows", "calibrated", f"error bound, {100 * self.confidence:g} %")
        return [Table(title="Bins", header=header, rows=rows, left=0)]


def fit_histogram(counts: ValueCounts, edges: Floats, confidence: float) -> HistogramMap:
    """Compute the positive rate of each bin, with an error bound.

    With probability ``confidence`` all rates are simultaneously within ``error`` of the true ones. The error
    is half the bound on the 1-norm (see ``bounds``).

    Parameters
    ----------
    counts
        Scores, corrected for undersampling.
    edges : float64, shape (M-1,)
        Scores of these rows, chosen without their labels.
    """
    from uqcli.base.counts import binned_cells
    from uqcli.calibrate.histogram_bound import bounds, filled_from

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
