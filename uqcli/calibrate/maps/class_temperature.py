"""Temperature scaling of class probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from uqcli.base.choices import CalibrationMethod
from uqcli.calibrate.maps.base import BaseClassMap, formula_table
from uqcli.calibrate.maps.contradictions import finite
from uqcli.reports.document import Table
from uqcli.rules.expressions import (
    LARGEST_EXPONENT,
    Arithmetic,
    Constant,
    Expression,
    Function,
    clipped,
    minus,
)

if TYPE_CHECKING:
    from uqcli.base.class_counts import Matrix


class ClassTemperatureMap(BaseClassMap, frozen=True, kw_only=True, tag_field="map", tag="class-temperature"):
    """``softmax(slope * ln p)``, where slope is 1/T."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.TEMPERATURE})

    slope: float

    def contradiction(self) -> str | None:
        """See BaseMap."""
        return None if finite([self.slope]) and self.slope > 0 else "its slope is not finite and above 0"

    def probabilities(self, probability: Matrix) -> Matrix:
        """See BaseClassMap."""
        from uqcli.estimates.logits import class_logits, softmax

        return softmax(self.slope * class_logits(probability))

    def exported(self, probability: Sequence[Expression], weights: Sequence[float]) -> Sequence[Expression]:
        """See BaseClassMap."""
        from uqcli.estimates.logits import CLIP

        logarithms = [Function("ln", clipped(value, CLIP, 1.0)) for value in probability]
        return shares_of_logits(logarithms, weights, self.slope)

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        return 0.0, 2 * self.slope

    def tables_of(self, classes: Sequence[str]) -> list[Table]:
        """See BaseClassMap."""
        del classes
        return [formula_table(f"softmax({self.slope:.6g} * ln p)")]


def shares_of_logits(
    logits: Sequence[Expression], weights: Sequence[float], slope: float = 1.0
) -> Sequence[Expression]:
    """Return the softmax of ``slope * logits``, times the weights, divided by the sum.

    It is taken relative to each class, so that no largest logit is needed.
    """
    shares: list[Expression] = []
    for own, own_weight in zip(logits, weights, strict=True):
        total: Expression = Constant(1.0)
        for other, weight in zip(logits, weights, strict=True):
            if other is not own:
                difference = minus(other, own)
                if slope != 1:
                    difference = Arithmetic("*", Constant(slope), difference)
                growth = Function("exp", clipped(difference, -LARGEST_EXPONENT, LARGEST_EXPONENT))
                total = Arithmetic("+", total, Arithmetic("*", Constant(weight / own_weight), growth))
        shares.append(Arithmetic("/", Constant(1.0), total))
    return shares
