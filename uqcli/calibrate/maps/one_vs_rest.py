"""One map for each class against the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.escaping import printable
from uqcli.calibrate.maps.base import BaseClassMap, Interval
from uqcli.calibrate.maps.contradictions import first
from uqcli.calibrate.maps.isotonic import IsotonicMap
from uqcli.calibrate.maps.venn_abers import VennAbersMap
from uqcli.reports.document import Table
from uqcli.rules.expressions import Arithmetic, Case, Comparison, Constant, Expression, let, minus, total

if TYPE_CHECKING:
    from uqcli.base.class_counts import Matrix


def _named(values: Sequence[Expression], body: Callable[[list[Expression]], Expression]) -> Expression:
    """Name several values that ``body``, a function of their names, uses several times."""
    if not values:
        return body([])
    first_value, *others = values
    return let(first_value, lambda name: _named(others, lambda names: body([name, *names])))


def _sum_of_others(values: Sequence[Expression], index: int) -> Expression:
    """Add up the values before and after one, from the ends, as the calibrator does."""
    sums = [total(part) for part in (values[:index], values[:index:-1]) if part]
    return total(sums)


def _in_target(share: Expression, weight: float, rest: Expression) -> Expression:
    """Move a probability of one class against the rest to the target data."""

    def moved(name: Expression) -> Expression:
        own = Arithmetic("*", Constant(weight), name)
        other = Arithmetic("*", rest, minus(Constant(1.0), name))
        return Arithmetic("/", own, Arithmetic("+", own, other))

    return let(share, moved)


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

        from uqcli.calibrate.scale import Scale

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
        from uqcli.calibrate.scale import Scale

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

    def exported_intervals(
        self, probability: Sequence[Expression], weights: Sequence[float] | None
    ) -> Sequence[tuple[Expression, Expression]]:
        """See BaseClassMap."""
        from uqcli.calibrate.scale import Scale

        parts = list(zip(self.maps, probability, strict=True))
        ends = [part.exported_interval(column) for part, column in parts if isinstance(part, VennAbersMap)]
        if weights is None:
            return ends
        mapped = [part.exported(column, Scale()) for part, column in parts]

        def moved(end: Expression, index: int) -> Expression:
            def of_mapped(values: list[Expression]) -> Expression:
                return _named([Arithmetic("/", value, total(values)) for value in values], of_shares)

            def of_shares(shares: list[Expression]) -> Expression:
                weighted = [
                    Arithmetic("*", share, Constant(weight))
                    for share, weight in zip(shares, weights, strict=True)
                ]
                rest = Arithmetic("/", _sum_of_others(weighted, index), _sum_of_others(shares, index))
                return _in_target(end, weights[index], rest)

            return _named(mapped, of_mapped)

        return [(moved(low, index), moved(high, index)) for index, (low, high) in enumerate(ends)]

    @staticmethod
    def _may_be_zero(part: IsotonicMap | VennAbersMap) -> bool:
        """Whether a map predicts 0 somewhere; the mixture of a Venn-Abers interval never does."""
        return isinstance(part, IsotonicMap) and part.y[0] == 0

    def tables_of(self, classes: Sequence[str]) -> list[Table]:
        """Tabulate the maps of at most 40 classes."""
        shown = list(zip(classes, self.maps, strict=True))[:40]
        rows = [(printable(name), part.formula()) for name, part in shown]
        return [Table(title="Each class against the rest", header=("class", "map"), rows=rows, left=2)]
