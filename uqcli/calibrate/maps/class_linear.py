"""Vector and matrix scaling of class probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.escaping import printable
from uqcli.base.wording import number
from uqcli.calibrate.maps.base import BaseClassMap
from uqcli.calibrate.maps.contradictions import finite
from uqcli.reports.document import Table
from uqcli.rules.expressions import Arithmetic, Constant, Expression, Function, clipped, minus, total

if TYPE_CHECKING:
    from uqcli.base.class_counts import Matrix


class ClassLinearMap(BaseClassMap, frozen=True, kw_only=True, tag_field="map", tag="class-linear"):
    """``softmax(A z + b)``, where z are the logarithms of the probabilities less their mean.

    ``coefficients`` has a row for each class: its own slope (a diagonal A) or the slopes of all classes, then
    its intercept.
    """

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset(
        {CalibrationMethod.VECTOR, CalibrationMethod.MATRIX}
    )

    coefficients: Annotated[list[list[float]], Meta(min_length=2)]

    def contradiction(self) -> str | None:
        """See BaseMap."""
        classes = len(self.coefficients)
        if {len(row) for row in self.coefficients} not in ({2}, {classes + 1}):
            return "its coefficients are not one or all slopes and an intercept of each class"
        return None if all(map(finite, self.coefficients)) else "its coefficients are not finite"

    def contradicts(self, classes: int, method: CalibrationMethod) -> bool:
        """See BaseClassMap."""
        width = 2 if method is CalibrationMethod.VECTOR else classes + 1
        return len(self.coefficients) != classes or len(self.coefficients[0]) != width

    def probabilities(self, probability: Matrix) -> Matrix:
        """See BaseClassMap."""
        import numpy as np

        from uqcli.estimates.linear_scaling import scaled

        return scaled(np.array(self.coefficients), probability)

    def exported(self, probability: Sequence[Expression], weights: Sequence[float]) -> Sequence[Expression]:
        """See BaseClassMap."""
        from uqcli.calibrate.maps.class_temperature import shares_of_logits
        from uqcli.estimates.logits import CLIP

        logarithms = [Function("ln", clipped(value, CLIP, 1.0)) for value in probability]
        mean = total([Arithmetic("*", Constant(1 / len(logarithms)), value) for value in logarithms])
        logits = []
        for index, (*slopes, intercept) in enumerate(self.coefficients):
            used = [logarithms[index]] if len(slopes) == 1 else logarithms
            terms = [
                Arithmetic("*", Constant(slope), value) for slope, value in zip(slopes, used, strict=True)
            ]
            shift = Arithmetic("*", Constant(sum(slopes)), mean)
            logits.append(Arithmetic("+", minus(total(terms), shift), Constant(intercept)))
        return shares_of_logits(logits, weights)

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        constant = max(abs(row[-1]) for row in self.coefficients)
        return 2 * constant, 4 * max(sum(map(abs, row[:-1])) for row in self.coefficients)

    def tables_of(self, classes: Sequence[str]) -> list[Table]:
        """Tabulate the coefficients of at most 40 classes."""
        shown = list(zip(classes, self.coefficients, strict=True))[:40]
        rows: list[tuple[str, ...]] = []
        for index, (name, (*slopes, intercept)) in enumerate(shown):
            if len(slopes) == 1:
                rows.append((printable(name), number(slopes[0]), number(intercept)))
            else:
                other = max(slopes[:index] + slopes[index + 1 :], key=abs)
                rows.append((printable(name), number(slopes[index]), number(other), number(intercept)))
        slopes_header = ("slope",) if len(rows[0]) == 3 else ("own slope", "largest other slope")
        header = ("class", *slopes_header, "intercept")
        return [
            Table(
                title="Slope and intercept of each class, on ln p less its mean",
                header=header,
                rows=rows,
                left=1,
            )
        ]
