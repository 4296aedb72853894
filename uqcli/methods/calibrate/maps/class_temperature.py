"""Temperature scaling of class probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.choices import CalibrationMethod
from uqcli.document import Table
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

    def tables(self, undersampled: float) -> list[Table]:
        """See BaseMap."""
        del undersampled
        return [formula_table(f"softmax({self.slope:.6g} * ln p)")]
