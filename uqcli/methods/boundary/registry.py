"""What a boundary algorithm is, and finding one by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module

from uqcli.choices import Algorithm, ConstraintKind
from uqcli.counts import Cells
from uqcli.methods.boundary.goals import Goal, Tops


class WorksOn(StrEnum):
    """The cells an algorithm takes."""

    GRID = "the score x uncertainty grid"
    SCORES = "all distinct scores of all rows"
    RAISED_SCORES = "all distinct recalibrated scores of all rows"


@dataclass(frozen=True, kw_only=True)
class AlgorithmEntry:
    """One algorithm.

    Attributes
    ----------
    method
        From cells and a goal to top cells; None where nothing will do.
    kinds
        The constraints it can keep.
    equal_rows
        Whether all rows of cells must be equally long.
    table_bytes
        From uncertainty bins and score bins to the bytes it works in; None where they stay near the cells'.
    """

    method: Callable[[Cells, Goal], Tops | None]
    works_on: WorksOn
    kinds: frozenset[ConstraintKind] = frozenset(ConstraintKind)
    equal_rows: bool = False
    table_bytes: Callable[[int, int], int] | None = None


def entry_of(algorithm: Algorithm) -> AlgorithmEntry:
    """The entry of an algorithm: ``ALGORITHM`` in the module of its name, loaded when first asked for.

    Examples
    --------
    >>> entry_of(Algorithm.GMT).works_on.value
    'the score x uncertainty grid'
    """
    module = import_module(f"uqcli.methods.boundary.algorithms.{algorithm.name.lower()}")
    entry: AlgorithmEntry = module.ALGORITHM
    return entry
