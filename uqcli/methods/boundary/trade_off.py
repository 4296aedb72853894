"""The trade-off on the hold-out: what each number of alerts can find, with the uncertainty or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from uqcli.choices import Algorithm
from uqcli.counts import Cells
from uqcli.methods.boundary.constraint import the_constraint
from uqcli.methods.boundary.optimum import optimise
from uqcli.methods.boundary.result import FittedBoundary

FAMILIES: Final = (Algorithm.VW_DPMT, Algorithm.SMOOTH)
"""What works on a grid: the optimum of each number of alerts, and nested boundaries."""

_BUDGETS: Final = 200


def trade_off(grid: Cells, scores: Cells | None) -> Mapping[Algorithm, tuple[FittedBoundary, ...]]:
    """The best boundaries for numbers of alerts from one to all, in equal ratios.

    Parameters
    ----------
    scores
        One row of all distinct scores, for the score alone; None where it is not at hand.

    Returns
    -------
    Of each algorithm the best boundaries of its family for these numbers, with more and more true positives.
    """
    budgets = np.unique(np.geomspace(1, max(grid.total, 1), _BUDGETS).round().astype(np.int64)).tolist()
    asked = dict.fromkeys(FAMILIES, grid)
    if scores is not None:
        asked[Algorithm.ST] = scores
    return {
        algorithm: _undominated(
            [optimise(cells, algorithm, the_constraint(max_selected=str(budget))).found for budget in budgets]
        )
        for algorithm, cells in asked.items()
    }


def _undominated(found: Sequence[FittedBoundary | None]) -> tuple[FittedBoundary, ...]:
    """Those that no other beats; thresholds were raised, so that more true positives may need fewer rows."""
    kept: list[FittedBoundary] = []
    there = [each for each in found if each is not None]
    for each in sorted(there, key=lambda one: (-one.fit.true_positives, one.fit.selected)):
        if not kept or each.fit.selected < kept[-1].fit.selected:
            kept.append(each)
    return tuple(reversed(kept))
