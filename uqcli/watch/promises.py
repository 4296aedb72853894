"""What a rule promises, as rates of trials that succeed with at least some probability."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Final

import msgspec

from uqcli.base.choices import ConformalMode, ReviewKind
from uqcli.base.errors import ArtifactError, UsageError, words
from uqcli.base.exact_numbers import decimal, share_text
from uqcli.base.records import dataclass
from uqcli.base.wording import listed
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_file import SavedExpected
from uqcli.boundary.search.constraint_kinds import PROMISED, promised_rates
from uqcli.conformal.coverage import rank_of
from uqcli.conformal.rule import ConformalArtifact
from uqcli.estimates.dependence import UnitSums
from uqcli.rules.saved import Saved, promise_name

_OTHER_RATES: Final = {"miss": ("miss rate", "positives"), "coverage": ("coverage", "rows")}
"""Names of rates that no constraint bounds, and what they count."""


@dataclass(frozen=True, kw_only=True)
class Promise:
    """A promised rate: one of a constraint that can be promised, miss or coverage.

    The bound is the least rate, or the largest one if ``is_upper``, and the origin says in words where it is
    from. It may be limited to a group or class. ``sides`` is 2 if half of the risk is spent on the bound
    itself, else 1. ``calibration`` is how its calibration rows depend on each other within days, or within
    clusters; None if unknown.
    """

    rate: str
    bound: Fraction
    origin: str
    group: str | None = None
    sides: int = 1
    calibration: UnitSums | None = None

    @property
    def name(self) -> str:
        """Name in metrics and reports."""
        return promise_name(self.rate, self.group)

    @property
    def is_upper(self) -> bool:
        """Whether the rate is at most its bound."""
        return self.rate == "miss" or (self.rate in PROMISED and PROMISED[self.rate].is_upper)

    @property
    def least_success(self) -> Fraction:
        """Least probability of a success, which for an upper bound is that there is no such event."""
        return 1 - self.bound if self.is_upper else self.bound

    @property
    def trials(self) -> str:
        """What it counts, in words."""
        return PROMISED[self.rate].trials if self.rate in PROMISED else _OTHER_RATES[self.rate][1]

    def text(self) -> str:
        """Describe it."""
        where = "" if self.group is None else f" in {self.group}"
        name = PROMISED[self.rate].name if self.rate in PROMISED else _OTHER_RATES[self.rate][0]
        return f"{name} {'<=' if self.is_upper else '>='} {self.bound_in_words}{where}"

    @property
    def bound_in_words(self) -> str:
        """The bound in percent, with the digits of a typed one and at most four of another."""
        return f"{float(100 * self.bound):.4g} %"


def promises_of(
    rule: Saved, bound: str | None, delta: Fraction, unit: str | None = None
) -> tuple[Promise, ...]:
    """Return what a boundary or prediction sets promise.

    The bound, as typed, is watched in place of the rule's own, for which the rule must promise a single rate;
    a boundary that promises none must have it. Of the risk, a part is spent on the coverage of prediction
    sets given their calibration set. The unit is the column of the days, or clusters, within which rows
    depend on each other.
    """
    if isinstance(rule, BoundaryArtifact):
        promises = tuple(
            replace(promise, calibration=rule.sums_by(unit, promise.name))
            for promise in _of_boundary(rule, bound)
        )
    elif isinstance(rule, ConformalArtifact):
        promises = _of_sets(rule, delta)
    else:
        raise ArtifactError(f"the rule file is of kind {rule.kind}", expected="kind boundary or conformal")
    if bound is None:
        return promises
    if len(promises) > 1:
        raise UsageError(words("--bound with a rule of {} targets", len(promises)), expected="a rule of one")
    (promise,) = promises
    given = decimal("bound", share_text(bound), above=0, at_most=1)
    return (replace(promise, bound=given, origin="given", sides=1),)


def _of_boundary(rule: BoundaryArtifact, bound: str | None) -> tuple[Promise, ...]:
    constraint = rule.constraint.parsed()
    rates = {str(rate): bound.numbers[0] for bound in promised_rates(constraint) for rate in bound.rates}
    if not rates and bound is None:
        raise UsageError(
            f"a rule for {constraint.text()} has no rate as its target",
            expected=f"a rule for a {listed((rule.name for rule in PROMISED.values()), 'or')}",
            remedy=words("give --bound S to watch its precision"),
        )
    rates = rates or {"precision": Fraction(0)}
    origin = "certified" if rule.certified is not None or rule.certified_groups else "target"
    if origin == "target":
        rates = {name: _least_expected(rule, name, target) for name, target in rates.items()}
    review = rule.review
    if review is not None and review.kind is not ReviewKind.REVIEW:
        rates["miss" if review.kind is ReviewKind.MISS else "omission"] = review.limit.number
    promises = [
        Promise(rate=name, bound=rate, origin=_origin(rule, name, rate, origin))
        for name, rate in rates.items()
    ]
    if rule.own_key is None:
        return tuple(promises)
    targets = constraint.numbers[0]
    return tuple(
        Promise(rate=promise.rate, bound=targets, origin=origin, group=group)
        for group in rule.promising_groups
        for promise in promises
    )


def _least_expected(rule: BoundaryArtifact, rate: str, target: Fraction) -> Fraction:
    """Return the lower end of what was expected on new rows, if there is one and it is below the target."""
    if not isinstance(rule.expected, SavedExpected) or rate not in ("precision", "recall"):
        return target
    low = getattr(rule.expected, rate).low
    return target if low is None or low <= 0 else min(target, Fraction(str(low)))


def _origin(rule: BoundaryArtifact, rate: str, bound: Fraction, origin: str) -> str:
    """State where the bound of an uncertified rule is from."""
    if origin == "certified" and rate == "miss":
        certificate = rule.certified
        return "certified" if certificate and certificate.cleared is not msgspec.UNSET else "target"
    is_expected = origin == "target" and rate not in ("miss", "omission") and bound != _target(rule, rate)
    if not is_expected:
        return origin
    return f"lower end of what was expected of target {float(_target(rule, rate)):.4g}"


def _target(rule: BoundaryArtifact, rate: str) -> Fraction:
    constraint = rule.constraint.parsed()
    own = next((bound for bound in constraint.bounds if rate in bound.rates), constraint)
    return own.numbers[0]


def _of_sets(rule: ConformalArtifact, delta: Fraction) -> tuple[Promise, ...]:
    """Return the coverage that sets have given their calibration set, at half of the risk."""
    rows = rule.calibration_rows
    if rule.mode is ConformalMode.LABEL_SHIFT or rows is None:
        raise UsageError(
            f"prediction sets of mode {rule.mode}" if rows else "prediction sets of version 0.1.0",
            expected="sets of mode marginal or label-conditional that state their calibration rows",
            remedy="fit them again on current data",
        )
    alpha, own = rule.parameters.alpha, rule.parameters.alpha_by_class or {}
    parts = rule.rows_of_thresholds
    share = delta / len(parts)
    promises = []
    for name, n in parts.items():
        kept = rank_of(n, decimal("alpha", own.get(name or "", alpha)))
        if kept <= n:  # otherwise every label is in the set
            least = coverage_bound(kept, n, share)
            promises.append(Promise(rate="coverage", bound=least, origin=_GIVEN_SET, group=name, sides=2))
    if not promises:
        raise UsageError("prediction sets that contain every class", expected="more calibration rows")
    return tuple(promises)


_GIVEN_SET = "least coverage of such a calibration set"


_DIGITS: Final = 10**12


def coverage_bound(kept: int, calibration_rows: int, delta: Fraction) -> Fraction:
    """Compute the coverage that prediction sets have at least, with probability 1 - delta / 2.

    For exchangeable rows, the coverage given the calibration set is Beta(k, n + 1 - k), where ``kept`` is the
    rank of the threshold among the calibration rows, from 0 to ``calibration_rows + 1``. At the highest rank
    the sets contain every label. The coverage is often below 1 - alpha. The other half of the risk is left
    for the test, whose alarm is at an e-value of 2 / delta. The bound is rounded down to 12 digits.

    Examples
    --------
    >>> float(coverage_bound(901, 1000, Fraction(1, 100)))
    0.874223416491
    """
    from scipy.special import betaincinv

    if kept > calibration_rows:
        return Fraction(1)
    if kept <= 0:
        return Fraction(0)
    quantile = float(betaincinv(kept, calibration_rows + 1 - kept, float(delta / 2)))
    return Fraction(math.floor(quantile * _DIGITS), _DIGITS)
