"""Beta calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base.choices import CalibrationMethod
from uqcli.calibrate.maps.base import BaseScoreMap
from uqcli.calibrate.maps.contradictions import finite
from uqcli.rules.expressions import (
    Arithmetic,
    Constant,
    Expression,
    Function,
    clipped,
    let,
    minus,
    sigmoid,
)

if TYPE_CHECKING:
    from uqcli.base.counts import Floats
    from uqcli.calibrate.scale import Scale


class BetaMap(BaseScoreMap, frozen=True, kw_only=True, tag_field="map", tag="beta"):
    """``sigmoid(a ln s - b ln(1-s) + c)``."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.BETA})

    a: float
    b: float
    c: float

    def contradiction(self) -> str | None:
        """See BaseMap."""
        if not finite([self.a, self.b, self.c]) or min(self.a, self.b) < 0:
            return "its coefficients are not finite, or a or b is negative"
        return None

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        import numpy as np

        from uqcli.estimates.logits import CLIP
        from uqcli.kernels.logistic import sigmoid

        score = np.clip(scale.probability(corrected), CLIP, 1 - CLIP)
        return sigmoid(self.a * np.log(score) - self.b * np.log1p(-score) + self.c)

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        from uqcli.estimates.logits import CLIP

        del uncertainty

        def log_odds(score: Expression) -> Expression:
            failure = Function("ln", minus(Constant(1.0), score))
            difference = minus(
                Arithmetic("*", Constant(self.a), Function("ln", score)),
                Arithmetic("*", Constant(self.b), failure),
            )
            return Arithmetic("+", difference, Constant(self.c))

        clipped_score = clipped(scale.exported_probability(corrected), CLIP, 1 - CLIP)
        return sigmoid(let(clipped_score, log_odds))

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        return abs(self.c), self.a + self.b

    def formula(self) -> str:
        """See BaseScoreMap."""
        return f"sigmoid({self.a:.6g} ln s - {self.b:.6g} ln(1-s) {self.c:+.6g})"
