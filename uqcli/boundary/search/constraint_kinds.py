"""Kinds of constraints: the one place that knows what each is. Others ask a constraint.

A new kind is a line of ``ConstraintKind`` and a class in ``RULES``, which says where it differs from most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, Self

from uqcli.base.counts import Cells
from uqcli.base.errors import Opt, UsageError, listed_words, words
from uqcli.base.exact_numbers import decimal, share_text
from uqcli.base.notices import Notice
from uqcli.base.wording import count, percent, percents
from uqcli.boundary.search.constraint import BOUND_FACTORS, Constraint, rates_of
from uqcli.boundary.search.goals import (
    Goal,
    KeepMargin,
    KeepPrecision,
    KeepRecall,
    Margin,
    keep_budget,
    precision_bound,
)
from uqcli.boundary.search.utility import Utility
from uqcli.estimates.confusion import Confusion, Rate

if TYPE_CHECKING:
    from uqcli.shift.rule import BinaryWeights

_BOUND_OFFSETS: Final = (Fraction(-1, 10), Fraction(-1, 20), Fraction(0), Fraction(1, 20))
"""Offsets of the requested precision, for precisions near it."""


class ConstraintKind(StrEnum):
    """Constraint of a boundary."""

    PRECISION = "precision"
    RECALL = "recall"
    MAX_SELECTED = "max-selected"
    MAX_FPR = "max-fpr"
    MIN_SPECIFICITY = "min-specificity"
    MAX_OMISSION = "max-omission"
    UTILITY = "utility"


class PromisedRate(Constraint):
    """A bound on a rate that a rule can promise on new data: as a target, certified, and watched by its name.

    The bound is ``above`` a number, if there is one. ``kept`` is the rate with the least value that it
    requires: for an upper bound, the complement. ``guarantee`` is what a certificate states, with a
    placeholder for the bound in percent, ``result`` what the successes are in a sentence on their number, and
    ``trials`` what ``watch`` counts.
    """

    is_promise = True
    kept: ClassVar[Rate]
    above: ClassVar[int | None] = None
    guarantee: ClassVar[str]
    result: ClassVar[str]

    @classmethod
    def read(cls, text: str) -> Self:
        """Make a bound of a number or a percentage."""
        text = share_text(text)
        return cls(value=text, numbers=(decimal(cls.kind, text, above=cls.above, at_most=1),))

    @property
    def least(self) -> Fraction:
        """Least value of the rate that is kept."""
        return 1 - self.numbers[0] if self.is_upper else self.numbers[0]

    def is_met_alone(self, fit: Confusion[int]) -> bool:
        """See Constraint."""
        successes, trials = fit.trials(self.kept)
        return successes >= self.least * trials

    def missed(self, fit: Confusion[int]) -> str:
        """See Constraint; with the counts, since the rate may be the bound in three digits."""
        successes, trials = fit.trials(*self.rates)
        rate, _ = percents(successes / trials, float(self.numbers[0]))
        side = "above" if self.is_upper else "below"
        return f"{self.name} {rate} % ({count(successes)} of {count(trials)}), {side} {self.bound}"


class _OfOneDecision(PromisedRate):
    """A bound on the positives among rows of one decision, which depends on the class priors."""

    def converted(self, positive: Fraction, negative: Fraction) -> Self:
        """Convert a precision ``TP w(1) / (TP w(1) + FP w(0)) >= s`` on target data.

        On the source data it is ``TP / (TP + FP) >= s w(0) / (s w(0) + (1-s) w(1))``. A false omission rate
        has the same one as an upper bound.
        """
        (share,) = self.numbers
        return replace(self, numbers=(share * negative / (share * negative + (1 - share) * positive),))


class _Precision(_OfOneDecision):
    """The least share of the flagged rows that are positive."""

    kind = ConstraintKind.PRECISION
    options = Opt("precision")
    wording = "precision >= {}"
    rates = (Rate.PRECISION,)
    kept = Rate.PRECISION
    is_proportion_of_flagged = True
    takes_margin = True
    above = 0
    name = "precision"
    guarantee = "precision is at least {:g} %"
    result = "flagged rows are positive"
    trials = "alerts"
    success = "true positive"

    def goal_alone(self, cells: Cells) -> Goal:
        (target,) = self.numbers
        precision = precision_bound(target, cells.total)
        if not self.margin:
            return KeepPrecision(precision=precision)
        return KeepMargin(precision=precision, margin=Margin(target=target, standard_errors=self.margin))

    @property
    def sets_odds(self) -> bool:
        return True

    @property
    def odds(self) -> Fraction | None:
        (precision,) = self.numbers
        return precision / (1 - precision) if precision < 1 else None

    def reachable_alerts(self, rows: int, positives: int) -> Fraction:
        return min(Fraction(rows), positives / self.numbers[0])

    def numbers_nearby(self, share: Fraction) -> Sequence[Fraction]:
        del share
        return rates_of(self.numbers[0] + offset for offset in _BOUND_OFFSETS)

    def where(self) -> str:
        return super().where() if self.also else f"at precision {self.bound}"

    def shortfall(self, closest: Confusion[int], reason: str, hint: str) -> str:
        none = f"no boundary reaches precision {self.bound}"
        if reason:
            return f"{none}, since {reason}"
        best, _ = percents(closest.precision or 0.0, float(self.numbers[0]))
        found = f"{percent(closest.recall)} ({count(closest.selected)} flagged)"
        return f"{none}; the best is {best} % at recall {found}{hint}"


class _Recall(PromisedRate):
    """The least share of the positive rows that are flagged."""

    kind = ConstraintKind.RECALL
    options = Opt("recall")
    wording = "recall >= {}"
    aimed = "the highest precision with {}"
    rates = (Rate.RECALL,)
    kept = Rate.RECALL
    bounds_recall = True
    above = 0
    name = "recall"
    guarantee = "recall is at least {:g} %"
    result = "positive rows are flagged"
    trials = "positives"

    def goal_alone(self, cells: Cells) -> Goal:
        return KeepRecall(minimum=math.ceil(self.numbers[0] * cells.positives))

    def objective(self, fit: Confusion[int]) -> Fraction:
        return Fraction(fit.true_positives, fit.selected)

    def reached(self, fit: Confusion[int]) -> tuple[str, str]:
        return "precision", percent(fit.precision)

    def expected_objective(self, fit: Confusion[int], precision: float, recall: float) -> float:
        del fit, recall
        return precision


class _MaxFpr(PromisedRate):
    """The largest share of the negative rows that are flagged."""

    kind = ConstraintKind.MAX_FPR
    options = Opt("max-fpr")
    wording = "false-positive rate <= {}"
    easier_alone = "allow a higher rate"
    rates = (Rate.FPR,)
    kept = Rate.SPECIFICITY
    is_upper = True
    is_budget = True
    own_column = "FPR"
    name = "false-positive rate"
    guarantee = "the false-positive rate is at most {:g} %"
    result = "negative rows are flagged"
    trials = "negatives"

    def goal_alone(self, cells: Cells) -> Goal:
        negatives = cells.total - cells.positives
        return keep_budget(math.floor(self.numbers[0] * negatives), false_only=True)

    def beside_expectation(self, fit: Confusion[int]) -> str:
        flagged, negatives = fit.trials(Rate.FPR)
        return f"Of the negatives, {percent(flagged / negatives)} are flagged here." if negatives else ""


class _MinSpecificity(PromisedRate):
    """Another wording of the false-positive rate: its rows, of which the least share is not flagged."""

    kind = ConstraintKind.MIN_SPECIFICITY
    options = Opt("min-specificity")
    wording = "specificity >= {}"
    rates = (Rate.SPECIFICITY,)
    kept = Rate.SPECIFICITY
    is_budget = True
    own_column = "specificity"
    added_metrics = (Rate.SPECIFICITY,)
    name = "specificity"
    guarantee = "specificity is at least {:g} %"
    result = "negative rows are not flagged"
    trials = "negatives"
    success = "not flagged"

    @property
    def _reworded(self) -> _MaxFpr:
        return _MaxFpr(value=self.value, numbers=(1 - self.numbers[0],))

    def goal_alone(self, cells: Cells) -> Goal:
        return self._reworded.goal_alone(cells)

    def numbers_nearby(self, share: Fraction) -> Sequence[Fraction]:
        return [1 - number for number in self._reworded.numbers_nearby(share)]

    def beside_expectation(self, fit: Confusion[int]) -> str:
        return self._reworded.beside_expectation(fit)


class _MaxOmission(_OfOneDecision):
    """The largest share of the rows that are not flagged that are positive."""

    kind = ConstraintKind.MAX_OMISSION
    options = Opt("max-omission")
    wording = "false omission rate <= {}"
    easier_alone = "allow a higher rate"
    rates = (Rate.OMISSION,)
    kept = Rate.NPV
    is_upper = True
    is_of_cleared = True
    own_column = "false omission"
    name = "false omission rate"
    guarantee = "at most {:g} % of the rows that are not flagged are positive"
    result = "rows that are not flagged are positive"
    trials = "cleared rows"
    success = "positive"

    def goal_alone(self, cells: Cells) -> Goal:
        del cells
        raise uncertified_omission()

    def beside_answer(self, fit: Confusion[int]) -> str:
        omitted, dropped = fit.trials(Rate.OMISSION)
        return (
            f"Of the {count(dropped)} rows that it does not flag ({percent(dropped / fit.rows)}), "
            f"{percent(omitted / max(1, dropped))} are positive."
        )


def uncertified_omission() -> UsageError:
    """Return the error of a bound on what may be dropped that is not certified."""
    return UsageError(words("--max-omission is given without --certify"), remedy=words("add --certify DELTA"))


class _MaxSelected(Constraint):
    """The most flagged rows, as a share of all rows."""

    kind = ConstraintKind.MAX_SELECTED
    options = Opt("max-selected")
    wording = "at most {} flagged"
    easier_alone = "allow more flagged rows"
    rates: ClassVar[tuple[Rate, ...]] = (Rate.ALERTS,)
    is_upper = True
    is_budget = True
    limits_alerts = True
    is_share = True

    @classmethod
    def read(cls, text: str) -> Constraint:
        if text.endswith("%"):
            share = decimal(cls.kind, text.removesuffix("%").rstrip(), above=0, at_most=100, unit="%") / 100
            return cls(value=text, numbers=(share,))
        rows = decimal(cls.kind, text, above=0)
        if rows.denominator != 1:
            raise UsageError(f"{cls.kind} '{text}'", expected="a whole number of rows, or a share such as 5%")
        return _MaxRows(value=text, numbers=(rows,))

    def most_of(self, rows: int) -> Fraction:
        """Compute the most flagged rows of a number of rows."""
        return self.numbers[0] * rows

    def goal_alone(self, cells: Cells) -> Goal:
        return keep_budget(math.floor(self.most_of(cells.total)), false_only=False)

    def is_met_alone(self, fit: Confusion[int]) -> bool:
        return fit.selected <= self.most_of(fit.rows)

    def among(self) -> str:
        return f"among {self.bound} of rows"

    def missed(self, fit: Confusion[int]) -> str:
        return f"{count(fit.selected)} of {count(fit.rows)} rows flagged, above {self.bound}"

    def cautions(self, fit: Confusion[int], rows: int) -> list[Notice]:
        (limit,) = self.numbers
        error = math.sqrt(limit * (1 - limit) / rows) if rows else 0
        if fit.selected < (limit - error) * rows:
            return []
        more = f"new data may have more than {self.bound} flagged (about as likely as not)"
        return [Notice("limit-exceeded", f"{more}: ask for less if that is a hard limit.")]


class _MaxRows(_MaxSelected):
    """The most flagged rows, as a number of those of the calibration set."""

    rates = ()
    is_share = False

    @property
    def bound(self) -> str:
        return self.value

    def most_of(self, rows: int) -> Fraction:
        return min(self.numbers[0], Fraction(rows))

    def numbers_nearby(self, share: Fraction) -> Sequence[Fraction]:
        return [self.numbers[0] * factor * share for factor in BOUND_FACTORS]

    def for_share(self, share: Fraction) -> Self:
        return replace(self, numbers=(self.numbers[0] * share,))

    def missed(self, fit: Confusion[int]) -> str:
        return f"{count(fit.selected)} flagged rows, above {self.bound}"

    def cautions(self, fit: Confusion[int], rows: int) -> list[Notice]:
        del fit
        (limit,) = self.numbers
        if limit * 1000 >= rows or limit > 100:
            return []
        few = f"the rule flags at most {limit} of {count(rows)} rows"
        return [Notice("count-as-share", f"{few}: write {limit}% if you meant a share.")]


RULES: Final[Mapping[ConstraintKind, type[Constraint]]] = MappingProxyType(
    {
        ConstraintKind(rule.kind): rule
        for rule in (_Precision, _Recall, _MaxSelected, _MaxFpr, _MinSpecificity, _MaxOmission, Utility)
    }
)

PROMISED: Final[Mapping[str, type[PromisedRate]]] = MappingProxyType(
    {str(rate): rule for rule in RULES.values() if issubclass(rule, PromisedRate) for rate in rule.rates}
)
"""Kinds of constraints that a rule can promise on new data, by the name of their rate."""

COMBINED: Final = (
    ConstraintKind.PRECISION,
    ConstraintKind.MAX_FPR,
    ConstraintKind.MIN_SPECIFICITY,
    ConstraintKind.MAX_SELECTED,
    ConstraintKind.RECALL,
)
"""Kinds that hold together, in the order in which they are stated: the first given has the main bound."""


def promised_rates(constraint: Constraint) -> tuple[PromisedRate, ...]:
    """Return the bounds of a constraint that a rule can promise on new data."""
    return tuple(bound for bound in constraint.bounds if isinstance(bound, PromisedRate))


def in_source(constraint: Constraint, weights: BinaryWeights) -> Constraint:
    """Convert a constraint on the target data to one on the source data, in exact fractions.

    This is defined for rates that can be promised, and unless the weight of a class is 0.
    """
    positive, negative = Fraction(weights.positive), Fraction(weights.negative)
    if not positive > 0 or not negative > 0:
        raise UsageError(
            "a class has weight 0 in the new data", expected="a positive weight for both classes"
        )
    if not constraint.is_promise:
        expected = listed_words((rule.options for rule in PROMISED.values()), "or")
        raise UsageError(words("--shift with {}", constraint.kind), expected=expected)
    return constraint.converted(positive, negative)
