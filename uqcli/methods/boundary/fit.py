"""From labelled rows to a boundary, whatever the algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from uqcli.choices import Algorithm
from uqcli.counts import Cells
from uqcli.errors import DataError
from uqcli.methods.boundary.precision import precision_bound
from uqcli.methods.boundary.registry import ALGORITHMS
from uqcli.methods.boundary.result import FittedBoundary, boundary_at
from uqcli.methods.boundary.runs import best_precision_tops

_MOST_ROWS = 3_000_000_000


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
        One row of all distinct scores for the single threshold, else the grid.
    precision
        In (0, 1].

    Raises
    ------
    DataError
        The weights add up to more than exact 64-bit arithmetic holds.
    """
    if cells.total > _MOST_ROWS:
        raise DataError(
            f"the weights add up to {cells.total}",
            expected=f"at most {_MOST_ROWS} rows by weight",
            remedy="divide the weights by a common factor",
        )
    tops = ALGORITHMS[algorithm].method(cells, precision_bound(precision, cells.total))
    if tops is not None:
        return Search(found=boundary_at(cells, tops), best=None)
    closest = best_precision_tops(cells)
    return Search(found=None, best=boundary_at(cells, closest) if closest else None)
