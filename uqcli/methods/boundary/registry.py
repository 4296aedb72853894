"""Boundary algorithms by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from uqcli.choices import Algorithm, ConstraintKind
from uqcli.counts import Cells
from uqcli.methods.boundary.algorithms.ew_dpmt import equal_weight_frontier, frontier_bytes
from uqcli.methods.boundary.algorithms.gmt import greedy_multiple_thresholds
from uqcli.methods.boundary.algorithms.mist import isotonic_single_threshold
from uqcli.methods.boundary.algorithms.st import single_threshold
from uqcli.methods.boundary.algorithms.vw_dpmt import variable_weight_optimum
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
    kinds: frozenset[ConstraintKind]
    equal_rows: bool = False
    table_bytes: Callable[[int, int], int] | None = None


_EVERY: Final = frozenset(ConstraintKind)
_PRECISION: Final = frozenset({ConstraintKind.PRECISION})

ALGORITHMS: Final[Mapping[Algorithm, AlgorithmEntry]] = MappingProxyType(
    {
        Algorithm.VW_DPMT: AlgorithmEntry(
            method=variable_weight_optimum, works_on=WorksOn.GRID, kinds=_EVERY
        ),
        Algorithm.EW_DPMT: AlgorithmEntry(
            method=equal_weight_frontier,
            works_on=WorksOn.GRID,
            kinds=_PRECISION,
            equal_rows=True,
            table_bytes=frontier_bytes,
        ),
        Algorithm.MIST: AlgorithmEntry(method=isotonic_single_threshold, works_on=WorksOn.GRID, kinds=_EVERY),
        Algorithm.GMT: AlgorithmEntry(
            method=greedy_multiple_thresholds, works_on=WorksOn.GRID, kinds=_PRECISION
        ),
        Algorithm.HR: AlgorithmEntry(
            method=single_threshold, works_on=WorksOn.RAISED_SCORES, kinds=_PRECISION
        ),
        Algorithm.ST: AlgorithmEntry(method=single_threshold, works_on=WorksOn.SCORES, kinds=_EVERY),
    }
)
