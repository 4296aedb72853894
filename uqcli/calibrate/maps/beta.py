"""Beta calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base.choices import CalibrationMethod
from uqcli.calibrate.maps.base import BaseScoreMap, Fit
from uqcli.calibrate.maps.contradictions import finite
from uqcli.calibrate.maps.penalised import fit_coefficients, penalty_note
from uqcli.rules.expressions import Arithmetic, Constant, Expression, Function, clipped, let, minus, sigmoid

if TYPE_CHECKING:
    from uqcli.base.counts import Floats, ValueCounts
    from uqcli.calibrate.fit_options import CalibrationOptions
    from uqcli.calibrate.scale import Scale


class BetaMap(BaseScoreMap, frozen=True, kw_only=True, tag_field="map", tag="beta"):
    """``sigmoid(a ln s - b ln(1-s) + c)``."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.BETA})

    a: float
    b: float
    c: float

    @classmethod
    def fit(cls, counts: ValueCounts, options: CalibrationOptions) -> Fit:
        """See BaseScoreMap."""
        return fit_beta(counts, options.scale)

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


def fit_beta(counts: ValueCounts, scale: Scale) -> Fit:
    """Fit ``sigmoid(a ln s - b ln(1-s) + c)`` with a, b >= 0.

    Keeps the best feasible fit with both slopes, with either slope alone, or with none.
    """
    import numpy as np

    from uqcli.estimates.logits import CLIP
    from uqcli.kernels.logistic import likelihood_has_maximum, negative_log_likelihood

    score = np.clip(scale.probability(counts.value), CLIP, 1 - CLIP)
    features = np.stack([np.log(score), -np.log1p(-score)])
    penalised = not likelihood_has_maximum(
        features[0] + features[1], counts.count, counts.positives, falling=False
    )
    candidates: list[tuple[float, int, Floats]] = []
    for columns in ([0, 1], [0], [1], []):
        fitted = fit_coefficients(features[columns], counts, penalised=penalised)
        if (fitted[1:] >= 0).all() and np.isfinite(fitted).all():
            coefficients = np.zeros(3)
            coefficients[[0, *(1 + index for index in columns)]] = fitted
            loss = negative_log_likelihood(coefficients, features, counts.count, counts.positives)
            candidates.append((loss, len(candidates), coefficients))
            if len(columns) == 2:
                break  # the loss is convex, so a feasible interior optimum is the global one
    _, _, (c, a, b) = min(candidates)
    notes = penalty_note(counts) if penalised else ()
    return Fit(map=BetaMap(a=float(a), b=float(b), c=float(c)), notes=notes)
