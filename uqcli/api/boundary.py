"""Decision boundaries from arrays."""

from __future__ import annotations

from numpy.typing import ArrayLike

from uqcli import defaults
from uqcli.api.arrays import checked_labels, checked_numbers, checked_weights
from uqcli.choices import Algorithm, Binning, ConstraintKind
from uqcli.errors import InfeasibleError, UsageError
from uqcli.jobs.array_table import ArrayTable
from uqcli.jobs.boundary.hold_out import GridOptions, Rows, ScoreBinCount, require_applicable
from uqcli.methods.bin.grid import HoldOut
from uqcli.methods.boundary.constraint import Constraint, parse_constraint
from uqcli.methods.boundary.result import FittedBoundary


def find_boundary(
    score: ArrayLike,
    label: ArrayLike,
    *,
    uncertainty: ArrayLike | None = None,
    precision: str | float | None = None,
    constraint: Constraint | None = None,
    weight: ArrayLike | None = None,
    algorithm: str = Algorithm.VW_DPMT,
    binning: str = Binning.EQUI_WEIGHT,
    uncertainty_bins: int = defaults.UNCERTAINTY_BINS,
    score_bins: ScoreBinCount = defaults.SCORE_BINS,
) -> FittedBoundary:
    """Find the boundary of highest recall on score x uncertainty that keeps a precision.

    The same work as ``uqcli boundary`` on arrays [UB sec. 5].

    Parameters
    ----------
    score, uncertainty : array-like of finite numbers, shape (n,)
        Without uncertainty there is a single uncertainty bin.
    label : array-like of 0/1 or bool, shape (n,)
    precision
        Bound in (0, 1], best as the text of a decimal; a float is read as it prints.
    constraint
        Another constraint instead (see ``parse_constraint``).
    weight : array-like of non-negative integers, shape (n,), optional

    Returns
    -------
    FittedBoundary
        Thresholds, counts on these rows, and ``decide`` for new rows.

    Raises
    ------
    UsageError, DataError
        An option or a value is out of range.
    InfeasibleError
        No boundary meets the bound.

    Examples
    --------
    >>> found = find_boundary([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1], precision="0.6", score_bins="all")
    >>> found.thresholds, found.fit.recall
    ((0.4,), 1.0)
    """
    if (precision is None) == (constraint is None):
        raise UsageError("no constraint or two", expected="precision or constraint")
    asked = constraint or parse_constraint(ConstraintKind.PRECISION, str(precision))
    grid = GridOptions(
        binning=Binning(binning),
        uncertainty_bins=1 if uncertainty is None else uncertainty_bins,
        score_bins=score_bins,
    )
    scores = checked_numbers("score", score)
    rows = HoldOut(
        score=scores,
        uncertainty=None if uncertainty is None else checked_numbers("uncertainty", uncertainty, len(scores)),
        positive=checked_labels("label", label, len(scores)),
        weight=checked_weights(weight, len(scores)),
    )
    material = Rows(
        table=ArrayTable(hold_out=rows),
        uncertain=uncertainty is not None,
        spec=grid.spec(),
        constraint=asked,
    )
    require_applicable(material, Algorithm(algorithm), asked)
    result = material.optimum(Algorithm(algorithm), asked)
    if result.found is None:
        reason = "" if rows.positive.any() else "; no row is positive"
        raise InfeasibleError(f"no boundary gives {asked.promise()}{reason}")
    return result.found
