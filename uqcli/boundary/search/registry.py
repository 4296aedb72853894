"""Interface of a boundary algorithm, and lookup by name."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from importlib import import_module

from uqcli.base.choices import Algorithm
from uqcli.base.counts import Cells
from uqcli.base.records import dataclass
from uqcli.boundary.search.constraint import Constraint, ConstraintKind
from uqcli.boundary.search.goals import Goal, Tops


class WorksOn(StrEnum):
    """Input of an algorithm."""

    GRID = "the score x uncertainty grid"
    SCORES = "all distinct scores of all rows"
    RAISED_SCORES = "all distinct recalibrated scores of all rows"


@dataclass(frozen=True, kw_only=True)
class AlgorithmEntry:
    """Definition of an algorithm.

    Attributes
    ----------
    method
        Function from cells and a goal to top cells; None if none meets the goal.
    kinds
        Constraints that it supports.
    equal_rows
        Whether all rows of cells must have equal length.
    table_bytes
        Function from the numbers of bins to the bytes of its table; None if they are about those of the
        cells.
    """

    method: Callable[[Cells, Goal], Tops | None]
    works_on: WorksOn
    kinds: frozenset[ConstraintKind] = frozenset(ConstraintKind)
    equal_rows: bool = False
    table_bytes: Callable[[int, int], int] | None = None

    def supports(self, constraint: Constraint) -> bool:
        """Whether it finds the highest recall within the bounds of a constraint."""
        return all(bound.kind in self.kinds for bound in constraint.limits.bounds)


def entry_of(algorithm: Algorithm) -> AlgorithmEntry:
    """Load the entry of an algorithm: ``ALGORITHM`` in the module of its name.

    Examples
    --------
    >>> entry_of(Algorithm.GMT).works_on.value
    'the score x uncertainty grid'
    """
    module = import_module(f"uqcli.boundary.search.algorithms.{algorithm.name.lower()}")
    entry: AlgorithmEntry = module.ALGORITHM
    return entry
