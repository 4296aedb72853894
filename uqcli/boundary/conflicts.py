"""Refuse options of ``boundary`` that cannot be combined."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from uqcli.base.choices import Algorithm, AlgorithmChoice, ReviewKind
from uqcli.base.errors import UsageError
from uqcli.boundary.options import BoundaryRequest
from uqcli.boundary.search.constraint import ConstraintKind, listed, uncertified_omission
from uqcli.engines.request import PREDICTED
from uqcli.estimates.confusion import Rate

_REVIEWED: Final = (Algorithm.SMOOTH, Algorithm.VW_DPMT, Algorithm.ST)
_GROUPED: Final = (Algorithm.SMOOTH, Algorithm.VW_DPMT)
"""Algorithms that support a review, and groups."""


def refuse_conflicts(request: BoundaryRequest) -> None:
    """Refuse a second bound, a review or groups with options that they do not support.

    Raises
    ------
    UsageError
        There is such an option.
    """
    review = "" if request.limit is None else f"--{request.limit.kind}"
    groups = "" if request.by is None else "--proba" if request.by == PREDICTED else "--by"
    given = {
        "--shift": request.shift is not None,
        "--compare": bool(request.compared),
        "--frontier": request.curve is not None,
        "--grid": request.grid is not None,
        review: bool(review),
        groups: bool(groups),
    }
    if request.data.roles.cluster is not None:
        _refuse_with_cluster(request, given)
    if request.constraint.also:
        options = listed((bound.rule.options for bound in request.constraint.bounds), "and")
        _refuse(options, given, ("--shift", review, groups))
    if request.constraint.amounts:
        columns = " and ".join(f"--{role} {column}" for role, column in request.constraint.amounts.items())
        _refuse(columns, given, ("--shift", "--grid", groups))
    if groups:
        _require_algorithm(groups, request, _GROUPED)
        _refuse(groups, given, ("--shift", "--compare", "--frontier", "--grid", review))
    if review:
        if request.constraint.rate is not Rate.PRECISION:
            raise UsageError(f"{review} with --{request.constraint.kind}", expected="--precision")
        _require_algorithm(review, request, _REVIEWED)
        _refuse(review, given, ("--shift",))
    if request.constraint.kind is ConstraintKind.MAX_OMISSION or (
        request.limit is not None and request.limit.kind is ReviewKind.OMISSION
    ):
        if request.certify is None:
            raise uncertified_omission()
        _refuse("--max-omission", given, ("--compare", groups))


def _refuse_with_cluster(request: BoundaryRequest, given: dict[str, bool]) -> None:
    """Refuse options whose counts or intervals are of independent rows.

    Raises
    ------
    UsageError
        There is such an option.
    """
    option = request.dependence_option
    _refuse(option, given, ("--grid",))
    if request.by == request.data.roles.cluster:
        raise UsageError(f"{option} and --by {request.by}", expected="different columns")
    if request.constraint.margin:
        raise UsageError(f"{option} and --margin cannot be combined", remedy="leave one of them out")
    if request.searched in (AlgorithmChoice.ALL, AlgorithmChoice(Algorithm.HR)):
        raise UsageError(
            f"{option} with --algorithm {request.searched}",
            expected="another algorithm, as its ranking or interval is of independent rows",
        )


def _refuse(option: str, given: dict[str, bool], others: Iterable[str]) -> None:
    for other in others:
        if given[other]:
            raise UsageError(f"{option} and {other} cannot be combined", remedy="leave one of them out")


def _require_algorithm(option: str, request: BoundaryRequest, supported: tuple[Algorithm, ...]) -> None:
    if str(request.searched) not in supported:
        names = ", ".join(supported)
        raise UsageError(f"{option} with --algorithm {request.searched}", expected=f"one of: {names}")
