"""Refuse options of ``boundary`` that cannot be combined, and name those that can be added."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Final

from uqcli.base.choices import Algorithm, AlgorithmChoice, GroupBound, ReviewKind
from uqcli.base.errors import Opt, UsageError, words
from uqcli.base.exact_numbers import decimal, share_text
from uqcli.base.options import caution_confidence
from uqcli.base.wording import listed
from uqcli.boundary.options import BoundaryRequest
from uqcli.boundary.search.constraint_kinds import PROMISED, uncertified_omission
from uqcli.boundary.statements import CERTIFY, MARGIN
from uqcli.engines.request import PREDICTED

_CERTIFIED_ALGORITHMS: Final = (AlgorithmChoice(Algorithm.SMOOTH), AlgorithmChoice(Algorithm.ST))
_REVIEWED: Final = (Algorithm.SMOOTH, Algorithm.VW_DPMT, Algorithm.ST)
_GROUPED: Final = (Algorithm.SMOOTH, Algorithm.VW_DPMT)
"""Algorithms that support a certificate, a review, and groups."""


def checked(request: BoundaryRequest) -> BoundaryRequest:
    """Return a request as it runs, after a check of its options."""
    if request.certify is not None:
        request = with_one_threshold(request)
        checked_delta(request)
    elif request.pilot is not None:
        raise UsageError(words("--pilot is given without --certify"), remedy=words("add --certify DELTA"))
    elif request.constraint.margin and request.searched is not AlgorithmChoice(Algorithm.SMOOTH):
        raise UsageError(
            words("--margin with --algorithm {}", request.searched), expected=words("--algorithm smooth")
        )
    refuse_conflicts(request)
    return request


def is_accepted(request: BoundaryRequest) -> bool:
    """Whether its options can be combined."""
    try:
        checked(request)
    except UsageError:
        return False
    return True


def safer_options(request: BoundaryRequest) -> tuple[str, ...]:
    """Return the options that the same command takes, and that make it miss a precision less often."""
    if not request.constraint.takes_margin:
        return ()
    constraint = request.constraint
    cautious = {
        MARGIN: replace(request, constraint=replace(constraint, margin=Fraction(1))),
        CERTIFY: replace(request, constraint=replace(constraint, margin=Fraction(0)), certify="0.1"),
    }
    return tuple(option for option, changed in cautious.items() if is_accepted(changed))


def with_one_threshold(request: BoundaryRequest) -> BoundaryRequest:
    """Let a request for a single threshold rank the scores alone; other requests stay as they are.

    What may be dropped unseen is one threshold unless a number of bins is given.
    """
    by_default = request.constraint.is_of_cleared and request.is_auto(Algorithm.SMOOTH)
    if request.searched is not AlgorithmChoice(Algorithm.ST) and not by_default:
        return request
    return replace(request, uncertainty_bins=1)


def checked_delta(request: BoundaryRequest) -> Fraction:
    """Return the risk of the certificate, after a check of all other options."""
    delta = decimal("certify", share_text(request.certify or ""), above=0, below=1)
    caution_confidence("--certify", float(delta))
    request.spec(Algorithm.SMOOTH).check()
    if request.searched not in _CERTIFIED_ALGORITHMS:
        raise UsageError(
            words("--certify with --algorithm {}", request.searched),
            expected=words("--algorithm smooth, or st"),
        )
    if request.constraint.margin:
        raise UsageError(words("--margin and --certify cannot be combined"), remedy="leave one of them out")
    if len(request.compared) > 1:  # choosing the best column uses all rows, including those of the test
        raise UsageError(
            words("--certify with {} columns in --uncertainty", len(request.compared)),
            expected="one",
            remedy="choose it on other rows first",
        )
    if request.curve is not None:
        raise UsageError(words("--frontier and --certify cannot be combined"), remedy="leave one of them out")
    if request.grid is not None or request.shift is not None:
        raise UsageError(words("--certify beside --grid or --shift"), expected="the rows themselves")
    for bound in request.constraint.bounds:
        if not bound.is_promise:
            options = listed((rule.options for rule in PROMISED.values()), "or")
            raise UsageError(words("--certify with {}", bound.options), expected=options)
    if request.data.roles.cluster is not None and (
        not request.constraint.is_proportion_of_flagged
        or request.constraint.also
        or (request.limit is not None and request.limit.kind is not ReviewKind.REVIEW)
    ):
        raise UsageError(
            words("--certify with {}", request.dependence_option), expected=words("--precision alone")
        )
    if request.by is not None and request.bound is not GroupBound.EACH:
        raise UsageError(
            words("--certify and --bound overall cannot be combined"), remedy=words("add --bound each")
        )
    return delta


def refuse_conflicts(request: BoundaryRequest) -> None:
    """Refuse a second bound, a review or groups with options that they do not support."""
    review = "" if request.limit is None else f"--{request.limit.kind}"
    groups = "" if request.by is None else Opt("proba") if request.by == PREDICTED else Opt("by")
    given = {
        Opt("shift"): request.shift is not None,
        Opt("compare"): bool(request.compared),
        Opt("frontier"): request.curve is not None,
        Opt("grid"): request.grid is not None,
        review: bool(review),
        groups: bool(groups),
    }
    if request.data.roles.cluster is not None:
        _refuse_with_cluster(request, given)
    if request.constraint.also:
        options = listed(bound.options for bound in request.constraint.bounds)
        _refuse(options, given, (Opt("shift"), review, groups))
    if request.constraint.amounts:
        columns = " and ".join(f"--{role} {column}" for role, column in request.constraint.amounts.items())
        _refuse(columns, given, (Opt("shift"), Opt("grid"), groups))
    if groups:
        _require_algorithm(groups, request, _GROUPED)
        _refuse(groups, given, (Opt("shift"), Opt("compare"), Opt("frontier"), Opt("grid"), review))
    if review:
        if not request.constraint.is_proportion_of_flagged:
            raise UsageError(
                words("{} with {}", review, request.constraint.options), expected=words("--precision")
            )
        _require_algorithm(review, request, _REVIEWED)
        _refuse(review, given, (Opt("shift"),))
    if request.constraint.is_of_cleared or (
        request.limit is not None and request.limit.kind is ReviewKind.OMISSION
    ):
        if request.certify is None:
            raise uncertified_omission()
        _refuse(Opt("max-omission"), given, (Opt("compare"), groups))


def _refuse_with_cluster(request: BoundaryRequest, given: dict[str, bool]) -> None:
    """Refuse options whose counts or intervals are of independent rows."""
    option = request.dependence_option
    _refuse(option, given, (Opt("grid"),))
    if request.by == request.data.roles.cluster:
        raise UsageError(words("{} and --by {}", option, request.by), expected="different columns")
    if request.constraint.margin:
        raise UsageError(words("{} and --margin cannot be combined", option), remedy="leave one of them out")
    if request.searched in (AlgorithmChoice.ALL, AlgorithmChoice(Algorithm.HR)):
        raise UsageError(
            words("{} with --algorithm {}", option, request.searched),
            expected="another algorithm, as its ranking or interval is of independent rows",
        )


def _refuse(option: str, given: dict[str, bool], others: Iterable[str]) -> None:
    for other in others:
        if given[other]:
            raise UsageError(
                words("{} and {} cannot be combined", option, other), remedy="leave one of them out"
            )


def _require_algorithm(option: str, request: BoundaryRequest, supported: tuple[Algorithm, ...]) -> None:
    if str(request.searched) not in supported:
        names = ", ".join(supported)
        raise UsageError(
            words("{} with --algorithm {}", option, request.searched), expected=f"one of: {names}"
        )
