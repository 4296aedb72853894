"""Platt and temperature scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base.choices import CalibrationMethod
from uqcli.calibrate.maps.base import BaseScoreMap
from uqcli.calibrate.maps.contradictions import finite
from uqcli.rules.expressions import Arithmetic, Constant, Expression, sigmoid

if TYPE_CHECKING:
    from uqcli.base.counts import Floats
    from uqcli.calibrate.scale import Scale


class LogisticMap(BaseScoreMap, frozen=True, kw_only=True, tag_field="map", tag="logistic"):
    """``sigmoid(intercept + slope * log-odds)``: Platt scaling, or temperature scaling with intercept 0."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset(
        {CalibrationMethod.PLATT, CalibrationMethod.TEMPERATURE}
    )

    intercept: float
    slope: float

    def contradiction(self) -> str | None:
        """See BaseMap."""
        fine = finite([self.intercept, self.slope])
        return None if fine else "its coefficients are not finite"

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        import numpy as np

        from uqcli.kernels.logistic import sigmoid

        with np.errstate(over="ignore"):  # infinite log-odds give probabilities 0 and 1
            return sigmoid(self.intercept + self.slope * scale.log_odds(corrected))

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        del uncertainty
        slope = Arithmetic("*", Constant(self.slope), scale.exported_log_odds(corrected))
        probability = sigmoid(Arithmetic("+", Constant(self.intercept), slope))
        return scale.exported_beyond(corrected, probability, slopes=(self.slope, self.slope))

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        return abs(self.intercept), abs(self.slope)

    def formula(self) -> str:
        """See BaseScoreMap."""
        return f"sigmoid({self.slope:.6g} * log-odds {self.intercept:+.6g})"
