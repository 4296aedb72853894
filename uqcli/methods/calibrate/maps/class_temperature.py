"""Temperature scaling of class probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from uqcli.choices import CalibrationMethod
from uqcli.document import Table
from uqcli.expressions import (
    LARGEST_EXPONENT,
    Arithmetic,
    Constant,
    Expression,
    Function,
    clipped,
    minus,
)
from uqcli.methods.calibrate.maps.base import BaseClassMap, formula_table
from uqcli.methods.calibrate.maps.contradictions import finite

if TYPE_CHECKING:
    from uqcli.class_counts import Matrix


class ClassTemperatureMap(BaseClassMap, frozen=True, kw_only=True, tag_field="map", tag="class-temperature"):
    """``softmax(slope * ln p)``, where slope is 1/T."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.TEMPERATURE})

    slope: float

    def contradiction(self) -> str | None:
        """See BaseMap."""
        return None if finite([self.slope]) and self.slope > 0 else "its slope is not finite and above 0"

    def probabilities(self, probability: Matrix) -> Matrix:
        """See BaseClassMap."""
        from uqcli.methods.calibrate.scale import class_logits, softmax

        return softmax(self.slope * class_logits(probability))

    def exported(self, probability: Sequence[Expression], weights: Sequence[float]) -> Sequence[Expression]:
        """See BaseClassMap: relative to each class, so that no largest logit is needed."""
        from uqcli.methods.calibrate.scale import CLIP

        logarithms = [Function("ln", clipped(value, CLIP, 1.0)) for value in probability]
        shares: list[Expression] = []
        for own, own_weight in zip(logarithms, weights, strict=True):
            total: Expression = Constant(1.0)
            for other, weight in zip(logarithms, weights, strict=True):
                if other is not own:
                    difference = Arithmetic("*", Constant(self.slope), minus(other, own))
                    growth = Function("exp", clipped(difference, -LARGEST_EXPONENT, LARGEST_EXPONENT))
                    ratio = Constant(weight / own_weight)
                    total = Arithmetic("+", total, Arithmetic("*", ratio, growth))
            shares.append(Arithmetic("/", Constant(1.0), total))
        return shares

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        return 0.0, 2 * self.slope

    def tables(self, undersampled: float) -> list[Table]:
        """See BaseMap."""
        del undersampled
        return [formula_table(f"softmax({self.slope:.6g} * ln p)")]
