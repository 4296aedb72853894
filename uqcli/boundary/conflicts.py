"""Refuse options of ``boundary`` that cannot be combined, and name those that can be added."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Final

from uqcli.base.choices import Algorithm, AlgorithmChoice, GroupBound, ReviewKind
from uqcli.base.errors import Opt, UsageError, Words, listed_words, words
from uqcli.base.exact_numbers import decimal, share_text
from uqcli.base.options import caution_confidence
from uqcli.boundary.certificate_rows import SAMPLED_BELOW, was_sampled
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
    if request.certificate.is_asked:
        request = with_one_threshold(request)
        checked_delta(request)
    elif request.certificate.has_pilot:
        raise UsageError(words("--pilot is given without --certify"), remedy=words("add --certify DELTA"))
    elif request.target.constraint.margin and request.searched is not AlgorithmChoice(Algorithm.SMOOTH):
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
    constraint = request.target.constraint
    if not constraint.takes_margin:
        return ()
    certain = replace(request, certificate=replace(request.certificate, certify="0.1"))
    cautious = {
        MARGIN: request.at(replace(constraint, margin=Fraction(1))),
        CERTIFY: certain.at(replace(constraint, margin=Fraction(0))),
    }
    return tuple(option for option, changed in cautious.items() if is_accepted(changed))


def with_one_threshold(request: BoundaryRequest) -> BoundaryRequest:
    """Let a request for a single threshold rank the scores alone; other requests stay as they are.

    What may be dropped unseen is one threshold unless a number of bins is given.
    """
    by_default = request.target.constraint.is_of_cleared and request.bins.is_auto(Algorithm.SMOOTH)
    if request.searched is not AlgorithmChoice(Algorithm.ST) and not by_default:
        return request
    return request.with_one_threshold()


def checked_delta(request: BoundaryRequest) -> Fraction:
    """Return the risk of the certificate, after a check of all other options."""
    constraint, limit, roles = request.target.constraint, request.target.limit, request.data.roles
    delta = decimal("certify", share_text(request.certificate.certify or ""), above=0, below=1)
    caution_confidence("--certify", float(delta))
    request.bins.spec(Algorithm.SMOOTH).check()
    if request.searched not in _CERTIFIED_ALGORITHMS:
        raise UsageError(
            words("--certify with --algorithm {}", request.searched),
            expected=words("--algorithm smooth, or st"),
        )
    if constraint.margin:
        raise UsageError(words("--margin and --certify cannot be combined"), remedy="leave one of them out")
    if len(request.compared) > 1:  # choosing the best column uses all rows, including those of the test
        raise UsageError(
            words("--certify with {} columns in --uncertainty", len(request.compared)),
            expected="one",
            remedy="choose it on other rows first",
        )
    if request.curve is not None:
        raise UsageError(words("--frontier and --certify cannot be combined"), remedy="leave one of them out")
    if request.source.is_grid or request.priors.are_others:
        raise UsageError(words("--certify beside --grid or --shift"), expected="the rows themselves")
    for bound in constraint.bounds:
        if not bound.is_promise:
            options = listed_words((rule.options for rule in PROMISED.values()), "or")
            raise UsageError(words("--certify with {}", bound.options), expected=options)
    if roles.cluster is not None and (
        not constraint.is_proportion_of_flagged or constraint.also or (limit and limit.is_promise)
    ):
        raise UsageError(
            words("--certify with {}", Opt(roles.dependence)), expected=words("--precision alone")
        )
    if request.groups.are_asked and request.groups.bound is not GroupBound.EACH:
        raise UsageError(
            words("--certify and --bound overall cannot be combined"), remedy=words("add --bound each")
        )
    return delta


def refuse_beyond_region(request: BoundaryRequest) -> None:
    """Refuse a certificate that needs labels of other scores than those that were drawn, or no pilot."""
    drawn = words("with rows that sample --for certificate drew")
    if not request.certificate.has_pilot:
        raise UsageError(
            words("--certify {}", drawn),
            expected="the file of the pilot as well",
            remedy=words("add --pilot FILE"),
        )
    constraint, roles = request.target.constraint, request.data.roles
    below = was_sampled(request.data) == SAMPLED_BELOW
    (expected,) = (
        rule for rule in PROMISED.values() if (rule.is_of_cleared if below else rule.is_proportion_of_flagged)
    )
    options = (
        (Opt(constraint.kind), not isinstance(constraint, expected)),
        *((bound.options, True) for bound in constraint.also),
        ("several bounds", len(request.target.bounds) > 1),
        ("a review", bool(request.target.limit)),
        ("groups", request.groups.are_asked),
        (Opt(roles.dependence), roles.cluster is not None),
        (Opt("compare"), bool(request.compared)),
        (words("--uncertainty-bins {}", request.bins.uncertainty_bins), request.bins.are_several),
    )
    for option, is_given in options:
        if is_given:
            raise UsageError(
                words("{} {}", option, drawn),
                expected=words("{} alone", expected.options),
                remedy="certify one threshold: other rules could reach "
                f"{'above' if below else 'below'} the scores that were drawn",
            )


def refuse_conflicts(request: BoundaryRequest) -> None:
    """Refuse a second bound, a review or groups with options that they do not support."""
    constraint, limit = request.target.constraint, request.target.limit
    review, groups = Opt(limit.kind) if limit else "", ""
    if request.groups.are_asked:
        groups = Opt("proba") if request.groups.by == PREDICTED else Opt("by")
    given = {
        Opt("shift"): request.priors.are_others,
        Opt("compare"): bool(request.compared),
        Opt("frontier"): request.curve is not None,
        Opt("grid"): request.source.is_grid,
        review: bool(review),
        groups: bool(groups),
    }
    if request.data.roles.cluster is not None:
        _refuse_with_cluster(request, given)
    if constraint.also:
        options = listed_words(bound.options for bound in constraint.bounds)
        _refuse(options, given, (Opt("shift"), review, groups))
    if constraint.amounts:
        columns = listed_words(
            words("{} {}", Opt(role), column) for role, column in constraint.amounts.items()
        )
        _refuse(columns, given, (Opt("shift"), Opt("grid"), groups))
    if groups:
        _require_algorithm(groups, request.searched, _GROUPED)
        _refuse(groups, given, (Opt("shift"), Opt("compare"), Opt("frontier"), Opt("grid"), review))
    if review:
        if not constraint.is_proportion_of_flagged:
            raise UsageError(words("{} with {}", review, constraint.options), expected=words("--precision"))
        _require_algorithm(review, request.searched, _REVIEWED)
        _refuse(review, given, (Opt("shift"),))
    if constraint.is_of_cleared or (limit and limit.kind is ReviewKind.OMISSION):
        if not request.certificate.is_asked:
            raise uncertified_omission()
        _refuse(Opt("max-omission"), given, (Opt("compare"), groups))


def _refuse_with_cluster(request: BoundaryRequest, given: dict[str, bool]) -> None:
    """Refuse options whose counts or intervals are of independent rows."""
    option, by = Opt(request.data.roles.dependence), request.groups.by
    _refuse(option, given, (Opt("grid"),))
    if by == request.data.roles.cluster:
        raise UsageError(words("{} and --by {}", option, by), expected="different columns")
    if request.target.constraint.margin:
        raise UsageError(words("{} and --margin cannot be combined", option), remedy="leave one of them out")
    if request.searched in (AlgorithmChoice.ALL, AlgorithmChoice(Algorithm.HR)):
        raise UsageError(
            words("{} with --algorithm {}", option, request.searched),
            expected="another algorithm, as its ranking or interval is of independent rows",
        )


def _refuse(option: Words, given: dict[str, bool], others: Iterable[str]) -> None:
    for other in others:
        if given[other]:
            raise UsageError(
                words("{} and {} cannot be combined", option, other), remedy="leave one of them out"
            )


def _require_algorithm(option: str, searched: AlgorithmChoice, supported: tuple[Algorithm, ...]) -> None:
    if str(searched) not in supported:
        names = ", ".join(supported)
        raise UsageError(words("{} with --algorithm {}", option, searched), expected=f"one of: {names}")
