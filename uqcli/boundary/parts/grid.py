"""The grid on which a rule was found: its figure, and the operating points that it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from uqcli.base.choices import Algorithm
from uqcli.base.counts import Cells, ValueCounts, merge
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.boundary.operating_points import PointOnGrid, frontier_figure, points_for_page
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.statements import BoundaryPart, Fact, Phrases, Remark
from uqcli.estimates.score_metrics import REVERSED, is_reversed
from uqcli.reports.document import OperatingPoints
from uqcli.reports.parts import Statement
from uqcli.reports.positivity import positive_rate_figure
from uqcli.shift.rule import BinaryWeights


@dataclass(frozen=True, kw_only=True, eq=False)
class Grid(BoundaryPart):
    """Counts of the calibration rows by score and uncertainty, which a page draws."""

    cells: Cells

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "grid", self

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        figure = positive_rate_figure(self.cells, dict(phrases.curves))
        yield "positive-rates", replace(figure, caption=f"{figure.caption}{phrases.about_curves}")


@dataclass(frozen=True, kw_only=True, eq=False)
class RankedGrid(Grid):
    """A grid whose operating points are nested, with the rule of one bound, if it is one of them."""

    constraint: Constraint
    algorithm: Algorithm
    seed: int
    class_weights: BinaryWeights | None
    own: PointOnGrid | None
    settings: dict[str, str]

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield from super().statements(phrases)
        yield "points", self

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        yield from super().exhibits(phrases)
        yield "frontier", frontier_figure(self.points, [self.constraint])

    @cached_property
    def _points(self) -> OperatingPoints | None:
        if self.class_weights is not None and self.class_weights.refuted:
            return None
        return points_for_page(
            self.cells,
            self.constraint,
            self.seed,
            self.class_weights,
            algorithm=self.algorithm,
            own=self.own,
            settings=self.settings,
        )

    def points(self) -> OperatingPoints | None:
        """Return the choice of a reader of a page, computed once; None if there is none."""
        return self._points


@dataclass(frozen=True, kw_only=True)
class ReversedScore(BoundaryPart):
    """Low scores are more often positive than high ones."""

    def voids(self) -> Iterable[Fact]:
        return (Fact.ORDERED,)

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, since=REVERSED.rstrip("."))

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "reversed-score", Notice("reversed-score", REVERSED)


def order_of(cells: Cells) -> list[BoundaryPart]:
    """Return the part of scores that are the wrong way round; empty for others."""
    counts = merge(
        [ValueCounts(value=row.lower, count=row.count, positives=row.positives) for row in cells.rows]
    )
    return [ReversedScore()] if is_reversed(counts) else []


def empty_bins(cells: Cells) -> list[BoundaryPart]:
    """Return the part of uncertainty bins without a row; none if all have one."""
    numbers = [str(index + 1) for index, row in enumerate(cells.rows) if not row.count.any()]
    if not numbers:
        return []
    bins = f"uncertainty bin{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"
    caution = (
        f"the calibration set has no row in {bins}, so new rows there are never flagged: add such rows, or "
        "set fewer --uncertainty-bins."
    )
    return [Remark(said=[("empty-bins", Notice("empty-bins", caution))])]
