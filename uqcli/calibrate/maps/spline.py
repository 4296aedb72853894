"""Monotone splines of the log-odds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.calibrate.maps.base import BaseScoreMap
from uqcli.calibrate.maps.contradictions import finite, not_ascending
from uqcli.rules.expressions import Arithmetic, Constant, Expression, Steps, let, minus, sigmoid

if TYPE_CHECKING:
    from uqcli.base.counts import Floats
    from uqcli.calibrate.scale import Scale
    from uqcli.kernels.splines import Matrix


class SplineMap(BaseScoreMap, frozen=True, kw_only=True, tag_field="map", tag="spline"):
    """Sigmoid of a cubic spline of the log-odds: B-splines on clamped knots, lines outside them.

    ``levels`` are the coefficients of the B-splines; they ascend, and so does the spline.
    """

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.SPLINE})

    knots: Annotated[list[float], Meta(min_length=2)]
    levels: Annotated[list[float], Meta(min_length=4)]

    def contradiction(self) -> str | None:
        """See BaseMap."""
        if len(self.levels) != len(self.knots) + 2:
            return "it does not have two levels more than knots"
        if len(set(self.knots)) < len(self.knots):
            return "two of its knots are equal"
        if not finite([*self.knots, *self.levels]):
            return "its knots and levels are not finite"
        return not_ascending(self.knots, "knots") or not_ascending(self.levels, "levels")

    @property
    def _pieces(self) -> Matrix:
        import numpy as np

        from uqcli.kernels.splines import cubic_pieces

        return cubic_pieces(np.array(self.knots), np.array(self.levels)[:, None])

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        import numpy as np

        from uqcli.kernels.logistic import sigmoid as sigmoid_of
        from uqcli.kernels.splines import spline

        with np.errstate(over="ignore", invalid="ignore"):
            return sigmoid_of(spline(scale.log_odds(corrected), np.array(self.knots), self._pieces)[0])

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        del uncertainty
        starts = [self.knots[0], *self.knots]

        def value(x: Expression) -> Expression:
            polynomials = tuple(
                _polynomial(minus(x, Constant(start)), piece[:, 0].tolist())
                for start, piece in zip(starts, self._pieces, strict=True)
            )
            return Steps(x, tuple(self.knots), polynomials)

        probability = sigmoid(let(scale.exported_log_odds(corrected), value))
        below, above = self._pieces[[0, -1], 1, 0].tolist()
        return scale.exported_beyond(corrected, probability, slopes=(below, above))

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap: a bound on the terms of every piece, as a line of the log-odds."""
        largest = max(map(abs, self.levels))
        steepest = float(abs(self._pieces[:, 1]).max())
        reach = max(map(abs, self.knots))
        return 8 * largest + steepest * reach, steepest

    def formula(self) -> str:
        """See BaseScoreMap."""
        return (
            f"sigmoid of a spline, {len(self.knots)} knots from {self.knots[0]:.4g} to {self.knots[-1]:.4g}"
        )


def _polynomial(distance: Expression, powers: list[float]) -> Expression:
    """Return the polynomial of a distance, by Horner's rule."""

    def horner(x: Expression) -> Expression:
        value: Expression = Constant(powers[-1])
        for coefficient in reversed(powers[:-1]):
            value = Arithmetic("+", Arithmetic("*", value, x), Constant(coefficient))
        return value

    while len(powers) > 1 and powers[-1] == 0:
        powers = powers[:-1]
    return let(distance, horner)
