"""From labelled rows to a boundary, whatever the algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from uqcli.choices import Algorithm
from uqcli.counts import Cells
from uqcli.methods.boundary.precision import precision_bound
from uqcli.methods.boundary.registry import ALGORITHMS
from uqcli.methods.boundary.result import FittedBoundary, boundary_at
from uqcli.methods.boundary.runs import best_precision_tops


@dataclass(frozen=True, kw_only=True)
class Search:
    """The outcome of a search.

    Attributes
    ----------
    found
        None where no boundary meets the bound with at least one true positive.
    best
        The boundary of highest precision, where ``found`` is None and a row is positive.
    """

    found: FittedBoundary | None
    best: FittedBoundary | None


def search(cells: Cells, algorithm: Algorithm, precision: Fraction) -> Search:
    """Find the boundary of highest recall that an algorithm reaches at a precision.

    Parameters
    ----------
    cells
        One row of all distinct scores for the single threshold, else the grid; at most
        ``defaults.MOST_ROWS`` rows by weight.
    precision
        In (0, 1].
    """
    tops = ALGORITHMS[algorithm].method(cells, precision_bound(precision, cells.total))
    if tops is not None:
        return Search(found=boundary_at(cells, tops), best=None)
    closest = best_precision_tops(cells)
    return Search(found=None, best=boundary_at(cells, closest) if closest else None)
