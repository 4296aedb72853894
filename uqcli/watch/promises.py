"""What a rule promises, as rates of trials that succeed with at least some probability."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Final

from uqcli.base.choices import ConformalMode
from uqcli.base.errors import ArtifactError, UsageError, words
from uqcli.base.exact_numbers import decimal, share_text
from uqcli.boundary.promise import Promise
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.conformal.coverage import rank_of
from uqcli.conformal.rule import ConformalArtifact
from uqcli.rules.saved import Saved


def require_promises(rule: Saved) -> None:
    """Refuse a rule of a kind that promises nothing, before rows are read for it."""
    if not isinstance(rule, BoundaryArtifact | ConformalArtifact):
        raise ArtifactError(f"the rule file is of kind {rule.kind}", expected="kind boundary or conformal")


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
        if bound is None and (refusal := rule.unpromised()):
            raise refusal
        promises = tuple(
            replace(promise, calibration=rule.sums_by(unit, promise.name)) for promise in rule.promises()
        )
    else:
        assert isinstance(rule, ConformalArtifact)  # see require_promises
        promises = _of_sets(rule, delta)
    if bound is None:
        return promises
    if len(promises) > 1:
        raise UsageError(words("--bound with a rule of {} targets", len(promises)), expected="a rule of one")
    (promise,) = promises
    given = decimal("bound", share_text(bound), above=0, at_most=1)
    return (replace(promise, bound=given, origin="given", sides=1),)


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
