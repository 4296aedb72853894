"""Isotonic regression on the score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from uqcli.choices import CalibrationMethod
from uqcli.expressions import Expression, interpolated, let
from uqcli.methods.calibrate.maps.base import BaseScoreMap
from uqcli.methods.calibrate.maps.contradictions import not_ascending, not_probabilities

if TYPE_CHECKING:
    from uqcli.counts import Floats
    from uqcli.methods.calibrate.scale import Scale


class IsotonicMap(BaseScoreMap, frozen=True, kw_only=True, tag_field="map", tag="isotonic"):
    """Linear interpolation of the points (x, y), constant outside; x and y ascend."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.ISOTONIC})

    x: Annotated[list[float], Meta(min_length=1)]
    y: Annotated[list[float], Meta(min_length=1)]

    def contradiction(self) -> str | None:
        """See BaseMap."""
        if len(self.x) != len(self.y):
            return "its points have no x and y each"
        ascending = not_ascending(self.x, "x") or not_ascending(self.y, "y")
        return ascending or not_probabilities(self.y)

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        import numpy as np

        del scale
        fitted: Floats = np.interp(corrected, np.array(self.x), np.array(self.y))
        return fitted

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        del scale, uncertainty
        return let(corrected, lambda score: interpolated(score, self.x, self.y))

    def steps(self) -> Sequence[float]:
        """See BaseMap."""
        return self.y[0], self.y[-1]

    def formula(self) -> str:
        """See BaseScoreMap."""
        return f"isotonic, {len(set(self.y))} levels from {self.y[0]:.4f} to {self.y[-1]:.4f}"
