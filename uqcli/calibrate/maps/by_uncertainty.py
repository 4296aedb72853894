"""Isotonic regression within uncertainty bins (MIST)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.wording import count
from uqcli.calibrate.maps.base import BaseRowMap, Calibrated, Count, Parts, ends_of_bins
from uqcli.calibrate.maps.contradictions import first, not_ascending
from uqcli.calibrate.maps.isotonic import IsotonicMap, fit_isotonic
from uqcli.reports.document import Table
from uqcli.rules.expressions import Expression, Steps

if TYPE_CHECKING:
    from uqcli.base.counts import Floats, Ints, ValueCounts
    from uqcli.calibrate.scale import Scale


class UncertaintyMap(BaseRowMap, frozen=True, kw_only=True, tag_field="map", tag="by-uncertainty"):
    """One isotonic map per uncertainty bin [UB sec. 5]; an uncertainty v is in bin #{edges <= v}."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.MIST})
    needs_uncertainty: ClassVar[bool] = True

    uncertainty_edges: list[float]
    maps: Annotated[list[IsotonicMap], Meta(min_length=1)]
    count: list[Count]

    def contradiction(self) -> str | None:
        """See BaseMap."""
        if not len(self.maps) == len(self.uncertainty_edges) + 1 == len(self.count):
            return "its uncertainty bins do not have a map each"
        own = first(isotonic_map.contradiction() for isotonic_map in self.maps)
        return not_ascending(self.uncertainty_edges, "edges") or own

    def predict(
        self,
        corrected: Floats,
        scale: Scale,
        uncertainty: Floats | None = None,
        features: Mapping[str, Floats] | None = None,
    ) -> Calibrated:
        """See BaseMap."""
        import numpy as np

        from uqcli.base.counts import bin_of

        del features
        assert uncertainty is not None  # guaranteed by needs_uncertainty
        bin_index = bin_of(uncertainty, np.array(self.uncertainty_edges, dtype=np.float64))
        result = np.empty(len(corrected))
        for index, fitted in enumerate(self.maps):
            inside = bin_index == index
            result[inside] = fitted.probability(corrected[inside], scale)
        return Calibrated(probability=result)

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        assert uncertainty is not None  # guaranteed by needs_uncertainty
        maps = tuple(fitted.exported(corrected, scale) for fitted in self.maps)
        return Steps(uncertainty, tuple(self.uncertainty_edges), maps)

    def parts(self, uncertainty: Floats | None, leaf: Ints | None) -> Parts | None:
        """Return the parts by uncertainty level."""
        import numpy as np

        del leaf
        if uncertainty is None:
            return None
        return Parts(
            names=tuple(f"uncertainty level {level}" for level in range(1, len(self.maps) + 1)),
            index=np.searchsorted(np.array(self.uncertainty_edges), uncertainty, side="right"),
        )

    def steps(self) -> Sequence[float]:
        """See BaseMap."""
        return [step for isotonic_map in self.maps for step in isotonic_map.steps()]

    def tables(self, undersampled: float) -> list[Table]:
        """Tabulate its uncertainty levels."""
        del undersampled
        ends_of_levels = ends_of_bins(self.uncertainty_edges)
        rows = [
            (*ends, count(rows), fitted.formula())
            for ends, fitted, rows in zip(ends_of_levels, self.maps, self.count, strict=True)
        ]
        header = ("uncertainty from", "to", "rows", "calibration")
        return [Table(title="Uncertainty levels", header=header, rows=rows, left=0)]


def fit_by_uncertainty(parts: Sequence[ValueCounts], uncertainty_edges: Floats) -> UncertaintyMap:
    """Fit isotonic regression per uncertainty bin; an empty bin uses the fit of all rows.

    Parameters
    ----------
    parts
        Corrected scores of each bin; at least one bin is not empty.
    uncertainty_edges : float64, shape (bins-1,)
    """
    from uqcli.base.counts import merge

    pooled = merge(parts)
    return UncertaintyMap(
        uncertainty_edges=uncertainty_edges.tolist(),
        maps=[fit_isotonic(part if part.rows else pooled) for part in parts],
        count=[part.rows for part in parts],
    )
