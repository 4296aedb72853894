"""One map for each class against the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from uqcli.choices import CalibrationMethod
from uqcli.document import Table, printable
from uqcli.expressions import Arithmetic, Case, Comparison, Constant, Expression, total
from uqcli.methods.calibrate.maps.base import BaseClassMap, Interval
from uqcli.methods.calibrate.maps.contradictions import first
from uqcli.methods.calibrate.maps.isotonic import IsotonicMap
from uqcli.methods.calibrate.maps.venn_abers import VennAbersMap

if TYPE_CHECKING:
    from uqcli.class_counts import Matrix


class OneVsRestMap(BaseClassMap, frozen=True, kw_only=True, tag_field="map", tag="one-vs-rest"):
    """The map of each class, applied to its probability; the results are divided by their sum.

    A row in which all are 0 keeps its probabilities. Intervals are those of the maps, not divided.
    """

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset(
        {CalibrationMethod.ISOTONIC, CalibrationMethod.VENN_ABERS}
    )

    maps: Annotated[list[IsotonicMap | VennAbersMap], Meta(min_length=2)]

    @property
    def has_interval(self) -> bool:
        """See BaseMap."""
        return self.maps[0].has_interval

    def contradiction(self) -> str | None:
        """See BaseMap."""
        return first(part.contradiction() for part in self.maps)

    def contradicts(self, classes: int, method: CalibrationMethod) -> bool:
        """See BaseClassMap."""
        return len(self.maps) != classes or any(method not in part.methods for part in self.maps)

    def probabilities(self, probability: Matrix) -> Matrix:
        """See BaseClassMap."""
        import numpy as np

        from uqcli.methods.calibrate.scale import Scale

        columns = zip(self.maps, probability.T, strict=True)
        mapped = np.stack([part.probability(column, Scale()) for part, column in columns], axis=1)
        sums = mapped.sum(axis=1, keepdims=True)
        shares: Matrix = np.where(sums > 0, mapped / np.where(sums > 0, sums, 1.0), probability)
        return shares

    def intervals(self, probability: Matrix) -> Interval:
        """See BaseClassMap."""
        import numpy as np

        intervals = [part.interval(column) for part, column in zip(self.maps, probability.T, strict=True)]
        return Interval(
            low=np.stack([interval.low for interval in intervals], axis=1),
            high=np.stack([interval.high for interval in intervals], axis=1),
        )

    def exported(self, probability: Sequence[Expression], weights: Sequence[float]) -> Sequence[Expression]:
        """See BaseClassMap."""
        from uqcli.methods.calibrate.scale import Scale

        mapped = [
            Arithmetic("*", Constant(weight), part.exported(column, Scale()))
            for part, column, weight in zip(self.maps, probability, weights, strict=True)
        ]
        sums = total(mapped)
        shares: list[Expression] = [Arithmetic("/", value, sums) for value in mapped]
        if not all(self._may_be_zero(part) for part in self.maps):
            return shares
        kept = [
            Arithmetic("*", Constant(weight), column)
            for column, weight in zip(probability, weights, strict=True)
        ]
        is_positive = Comparison(">", sums, Constant(0.0))
        return [
            Case(((is_positive, share),), Arithmetic("/", value, total(kept)))
            for share, value in zip(shares, kept, strict=True)
        ]

    @staticmethod
    def _may_be_zero(part: IsotonicMap | VennAbersMap) -> bool:
        """Whether a map predicts 0 somewhere; the mixture of a Venn-Abers interval never does."""
        return isinstance(part, IsotonicMap) and part.y[0] == 0

    def tables_of(self, classes: Sequence[str]) -> list[Table]:
        """Tabulate the maps of at most 40 classes."""
        shown = list(zip(classes, self.maps, strict=True))[:40]
        rows = [(printable(name), part.formula()) for name, part in shown]
        return [Table(title="Each class against the rest", header=("class", "map"), rows=rows, left=2)]
