"""Constraints as typed, and their goals for data of a given size.

``RULES`` is the one place that knows what a kind of constraint is. Others ask a constraint, or its rule.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from uqcli.base.amounts import UNITS
from uqcli.base.counts import Bools, Cells, Ints
from uqcli.base.errors import UsageError
from uqcli.base.exact_numbers import decimal, is_number, percent_text, share_text
from uqcli.base.records import dataclass
from uqcli.boundary.search.goals import (
    Goal,
    KeepBounds,
    KeepRecall,
    Margin,
    MaximiseUtility,
    keep_budget,
    precision_bound,
)
from uqcli.estimates.confusion import Confusion, Rate

if TYPE_CHECKING:
    from uqcli.shift.rule import BinaryWeights

_MAX_UTILITY: Final = 2**31
_BOUND_OFFSETS: Final = (Fraction(-1, 10), Fraction(-1, 20), Fraction(0), Fraction(1, 20))
_BOUND_FACTORS: Final = (Fraction(9, 10), Fraction(1), Fraction(11, 10))
"""Offsets (precision) and factors (otherwise) of the requested bound, for bounds near it."""


class ConstraintKind(StrEnum):
    """Constraint of a boundary."""

    PRECISION = "precision"
    RECALL = "recall"
    MAX_SELECTED = "max-selected"
    MAX_FPR = "max-fpr"
    MIN_SPECIFICITY = "min-specificity"
    MAX_OMISSION = "max-omission"
    UTILITY = "utility"


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """A constraint on a boundary, as typed and as exact fractions: its bound, or gain and cost.

    The bound of max-selected may be ``relative``, a fraction of the rows. The margin of the precision over
    its bound is in standard errors, for nested boundaries. ``also`` are further bounds that hold together
    with it. A boundary of the highest recall within the others decides whether a recall is met, so that goals
    ignore it. ``amounts`` is the column of the amounts of each row by role (``gain``, ``cost``), in place of
    a number of a utility.
    """

    kind: ConstraintKind
    value: str
    numbers: tuple[Fraction, ...]
    relative: bool = False
    margin: Fraction = Fraction(0)
    also: tuple[Constraint, ...] = ()
    amounts: Mapping[str, str] = field(default_factory=dict)

    @property
    def rule(self) -> ConstraintRule:
        """Definition of its kind."""
        return RULES[self.kind]

    @property
    def is_utility(self) -> bool:
        """Whether it is the gain and the cost of a flagged row, and no bound."""
        return self.kind is ConstraintKind.UTILITY

    @property
    def limits_alerts(self) -> bool:
        """Whether it bounds the flagged rows, by number or share."""
        return self.rule.rate is Rate.ALERTS

    @property
    def counts_rows(self) -> bool:
        """Whether its bound is a number of rows."""
        return self.limits_alerts and not self.relative

    @property
    def rate(self) -> Rate | None:
        """Rate that it bounds; None for a utility, and for a number of rows."""
        return None if self.counts_rows else self.rule.rate

    @property
    def bounds(self) -> tuple[Constraint, ...]:
        """Each bound by itself, the first one with its margin."""
        return (replace(self, also=()), *self.also)

    def bound_on(self, *rates: Rate) -> Constraint | None:
        """Return the first bound on any of some rates, which for alerts may be a number of rows; or None."""
        return next((bound for bound in self.bounds if bound.rule.rate in rates), None)

    @property
    def easier(self) -> str:
        """What to do if no rule meets it, for a sentence: ask for less."""
        if self.also:
            return "relax a bound"
        if self.limits_alerts:
            return "allow more flagged rows"
        return "allow a higher rate" if self.rule.is_upper else "lower the target"

    @property
    def limits(self) -> Constraint:
        """The bounds within which the recall is the highest: all but one on recall beside others."""
        return replace(self, also=tuple(bound for bound in self.also if bound.rate is not Rate.RECALL))

    def is_met(self, fit: Confusion[int]) -> bool:
        """Whether a boundary is within all bounds, without any margin; exact."""
        return all(_is_met(bound, fit) for bound in self.bounds)

    def leaves_recall(self, fit: Confusion[int]) -> bool:
        """Whether a boundary has the recall that is required, if any; exact."""
        recall = self.bound_on(Rate.RECALL)
        return recall is None or recall.is_met(fit)

    def goal(self, cells: Cells) -> Goal:
        """Return the goal of the constraint on given cells."""
        goal = self.rule.goal(self, cells)
        for bound in self.limits.also:
            other = bound.goal(cells)
            assert isinstance(goal, KeepBounds)  # the kinds that combine have such goals
            assert isinstance(other, KeepBounds)
            goal = goal.within(other)
        return goal

    def objective(self, fit: Confusion[int]) -> Fraction:
        """Compute the objective among boundaries that meet the constraint."""
        return self.rule.objective(self, fit)

    def value_of(self, fit: Confusion[int]) -> tuple[Fraction, float | None] | None:
        """Compute the value of a boundary: gains less costs, and the share of all positives' gain.

        None if the constraint is no utility; the share is None if the positives have no gain.
        """
        if not self.is_utility:
            return None
        gained, lost = (
            self._amount_of("gain", fit, positive=True),
            self._amount_of("cost", fit, positive=False),
        )
        everything = replace(fit, selected=fit.rows, true_positives=fit.positives, sums_selected=fit.sums)
        total = self._amount_of("gain", everything, positive=True)
        return gained - lost, float(gained / total) if total else None

    def in_source(self, weights: BinaryWeights) -> Constraint:
        """Convert a constraint on the target data to one on the source data, in exact fractions.

        This cannot be done for max-selected and a utility, nor if the weight of a class is 0.
        """
        positive, negative = Fraction(weights.positive), Fraction(weights.negative)
        if not positive > 0 or not negative > 0:
            raise UsageError(
                "a class has weight 0 in the new data", expected="a positive weight for both classes"
            )
        if self.rule.in_target is None:
            options = listed(rule.options for rule in RULES.values() if rule.in_target is not None)
            raise UsageError(f"--shift with {self.kind}", expected=options)
        return self.rule.in_target(self, positive, negative)

    def values(self, positive: Bools, amounts: Ints) -> Ints:
        """Return the value of flagging each row: its gain if it is positive, else minus its cost.

        Amounts, int64 of shape (amounts, n), are in the order of ``self.amounts``. The values, shape (n,),
        are in ten-thousandths; for a utility of numbers alone in units of ``unit``.
        """
        goal = _maximise_utility(self)
        gain = goal.gain if goal.gain_index is None else amounts[goal.gain_index]
        cost = goal.cost if goal.cost_index is None else amounts[goal.cost_index]
        return np.where(positive, gain, -cost)

    @property
    def utility_goal(self) -> MaximiseUtility | None:
        """Goal of a utility with amounts; None without amounts."""
        return _maximise_utility(self) if self.amounts else None

    @property
    def unit(self) -> Fraction:
        """Unit of ``values``."""
        if self.amounts:
            return Fraction(1, UNITS)
        return self.numbers[0] / _maximise_utility(self).gain

    def _amount_of(self, role: str, fit: Confusion[int], *, positive: bool) -> Fraction:
        """Compute the gain of the selected positive rows, or the cost of the selected negative rows."""
        if role not in self.amounts:
            rows = fit.true_positives if positive else fit.selected - fit.true_positives
            return self.numbers[0 if positive else 1] * rows
        assert fit.sums_selected is not None  # amounts were summed
        of_all, of_positives = (sums[list(self.amounts).index(role)] for sums in fit.sums_selected)
        return Fraction(of_positives if positive else of_all - of_positives, UNITS)

    @property
    def sets_odds(self) -> bool:
        """Whether it states how many true positives are worth a false positive."""
        return self.rule.odds is not None and not self.amounts

    @property
    def odds(self) -> Fraction | None:
        """True positives that are worth one false positive; None if not set or, at precision 1, infinite.

        A precision is taken as the threshold probability s, with odds s / (1 - s). A utility has cost / gain.
        """
        odds_of = self.rule.odds
        return None if odds_of is None or self.amounts else odds_of(self)

    def text(self) -> str:
        """Describe the constraint."""
        return listed((bound.rule.text.format(bound.bound) for bound in self.bounds), "and")

    def as_typed(self) -> str:
        """Describe the constraint with the bounds as they were typed, for programs."""
        return listed((bound.rule.text.format(bound.value) for bound in self.bounds), "and")

    @property
    def bound(self) -> str:
        """The bound in words: a rate in percent, with all digits that were typed."""
        return self.value if self.rate is None else percent_text(self.value)

    def target(self) -> str:
        """Describe the constraint, as a target if it can be promised."""
        can_be_promised = any(bound.rule.is_promise for bound in self.bounds)
        return f"target {self.text()}" if can_be_promised else self.text()

    def aim(self, bound: str = "") -> str:
        """Describe objective and constraint; ``bound`` replaces the constraint's own description."""
        if self.rule.maximised is None:
            return f"the {bound or self.text()}"
        return f"the highest {self.rule.maximised} with {bound or self.text()}"

    def nearby(self, share: Fraction) -> list[Constraint]:
        """Return constraints with bounds around the requested one, for a share of the rows."""
        if self.rule.nearby is None:
            return [self]
        also = tuple(
            replace(bound, numbers=(bound.numbers[0] * share,)) if bound.counts_rows else bound
            for bound in self.also
        )
        numbers = self.rule.nearby(self, share) or self.numbers
        return [replace(self, numbers=(bound,), also=also) for bound in numbers]


@dataclass(frozen=True, kw_only=True)
class ConstraintRule:
    """Definition of a kind of constraint.

    ``read`` makes a constraint of the typed value, and ``goal`` a goal of a constraint and cells. ``text``
    describes it, with a placeholder for the typed value; ``options`` are those that set it, joined for a
    sentence. ``rate`` is the rate that it bounds, of ``Confusion.trials``; None for a utility, and for a
    number of flagged rows, which is no rate. Its bound may be an upper one. A budget limits flagged rows or
    false positives, so that a rule need not reach a rate to meet it.

    ``maximised`` is the rate that is the objective; None if the text includes the objective, which is
    computed from the counts of a boundary. ``odds`` are the true positives that are worth one false positive;
    None if the constraint sets none. ``nearby`` makes bounds around the one of a constraint, for a share of
    the rows; they choose the number of bins together, so that no single value decides. ``in_target`` converts
    a constraint on target data, by the class weights w(1) and w(0) there, to one on the source data; None if
    it cannot be stated for target data.

    ``is_promise`` says that a rule can promise its rate on new data: as a target, certified, and watched by
    the name of the rate. It then has words: the ``name`` of the rate in sentences, what a certificate
    guarantees, with a placeholder for the bound in percent, what the successes are in a sentence on their
    number (``result``), what ``watch`` counts (``trials``), and what a success is called in an audit.
    """

    read: Callable[[str], Constraint]
    goal: Callable[[Constraint, Cells], Goal]
    text: str
    options: str
    rate: Rate | None = None
    is_upper: bool = False
    is_budget: bool = False
    maximised: Rate | None = Rate.RECALL
    objective: Callable[[Constraint, Confusion[int]], Fraction] = lambda _, fit: Fraction(fit.true_positives)
    odds: Callable[[Constraint], Fraction | None] | None = None
    nearby: Callable[[Constraint, Fraction], Sequence[Fraction]] | None = None
    in_target: Callable[[Constraint, Fraction, Fraction], Constraint] | None = None
    is_promise: bool = False
    name: str = ""
    guarantee: str = ""
    result: str = ""
    trials: str = ""
    success: str = "flagged"

    @property
    def kept(self) -> Rate:
        """Rate with the least value that the bound requires: for an upper bound, the complement."""
        assert self.rate is not None  # as it is asked for promises only
        return self.rate.complement if self.is_upper else self.rate


def parse_constraint(kind: ConstraintKind, text: str) -> Constraint:
    """Parse a constraint as exact fractions of the typed decimals.

    Examples
    --------
    >>> parse_constraint(ConstraintKind.PRECISION, "0.7").numbers
    (Fraction(7, 10),)
    """
    return RULES[kind].read(text)


def constraints_from(**options: str | None) -> tuple[Constraint, ...]:
    """Parse the given constraint, or one for each bound if bounds are separated by commas; none twice."""
    set_options = {name: value for name, value in options.items() if value is not None}
    lists = [
        (name, text) for name, text in set_options.items() if "," in text and name not in {"gain", "cost"}
    ]
    if not lists:
        return (constraint_from(**options),)
    name, text = lists[0]
    if re.fullmatch(r"0?,\d+", text):
        raise UsageError(
            f"{name} '{text}'",
            expected="a decimal point: commas separate several bounds",
            remedy=f"did you mean {text.replace(',', '.')}?",
        )
    if len(set_options) > 1:
        raise UsageError(
            f"{name} '{text}' beside other bounds", expected="one value", remedy="run the command for each"
        )
    values = [item.strip() for item in text.split(",")]
    constraints = tuple(constraint_from(**{name: value}) for value in values)
    if len({constraint.numbers for constraint in constraints}) < len(constraints):
        raise UsageError(f"{name} '{text}' names a bound twice", expected="different bounds")
    return constraints


def constraint_from(**options: str | None) -> Constraint:
    """Parse the given constraint; gain and cost together are a single constraint.

    The options are ``gain``, ``cost``, and the kinds of constraints with underscores. None, or several, are a
    UsageError.
    """
    given = {name: value for name, value in options.items() if value is not None}
    gain, cost = given.pop("gain", None), given.pop("cost", None)
    has_worth = (gain or cost) is not None
    kinds = {ConstraintKind(name.replace("_", "-")): value for name, value in given.items()}
    if not kinds and not has_worth:
        names = (
            "--precision, --recall, --max-selected, --max-fpr, --min-specificity, --max-omission, "
            "or --gain and --cost"
        )
        raise UsageError(
            "no constraint given", expected=f"one of {names}", remedy="for example --precision 0.7"
        )
    if len(kinds) + has_worth > 1 and (has_worth or not set(kinds) <= set(COMBINED)):
        both = [RULES[kind].options for kind in kinds]
        both += [RULES[ConstraintKind.UTILITY].options] if has_worth else []
        together = listed((RULES[kind].options for kind in COMBINED), "and")
        raise UsageError(
            f"{' and '.join(both)} cannot be combined",
            expected=f"one bound, or several of {together}",
            remedy="leave one out",
        )
    if kinds:
        return bounds_together(kinds)
    if gain is None or cost is None:
        raise UsageError("only one of --gain and --cost is given", remedy="add the other")
    return utility(gain, cost)


def bounds_together(typed: Mapping[ConstraintKind, str]) -> Constraint:
    """Parse bounds that must all be met, by their kinds; the order in which they are given does not matter.

    Some kinds cannot be combined, which is a UsageError.
    """
    if len(typed) > 1 and not set(typed) <= set(COMBINED):
        raise UsageError(f"bounds {' and '.join(typed)} together", expected=listed(COMBINED))
    first, *others = (
        parse_constraint(kind, typed[kind]) for kind in dict.fromkeys((*COMBINED, *typed)) if kind in typed
    )
    return replace(first, also=tuple(others))


def with_margin(constraint: Constraint, standard_errors: str | None) -> Constraint:
    """Add a margin in standard errors to a precision; None adds none."""
    if standard_errors is None:
        return constraint
    if constraint.rate is not Rate.PRECISION:
        raise UsageError(f"--margin with {constraint.rule.options}", expected="--precision")
    return replace(constraint, margin=decimal("margin", standard_errors))


def utility(gain: str, cost: str) -> Constraint:
    """Parse the gain of a true positive and the cost of a false positive: numbers, or columns of amounts.

    A number is positive, and must not have too many digits to stay exact.
    """
    typed = {"gain": gain, "cost": cost}
    amounts = {role: text for role, text in typed.items() if not is_number(text)}
    if not all(amounts.values()):
        raise UsageError(f"gain '{gain}' and cost '{cost}'", expected="a number or a column for both")
    numbers = tuple(
        Fraction(0) if role in amounts else decimal(role, text, above=0) for role, text in typed.items()
    )
    constraint = Constraint(
        kind=ConstraintKind.UTILITY, value=f"gain={gain},cost={cost}", numbers=numbers, amounts=amounts
    )
    if amounts:
        for role, number in zip(typed, numbers, strict=True):
            if (number * UNITS).denominator != 1 or number >= _MAX_UTILITY:
                raise UsageError(
                    f"{role} '{typed[role]}' beside a column of amounts",
                    expected=f"at most 4 decimals, and below {_MAX_UTILITY}",
                )
        return constraint
    scale = math.lcm(*(number.denominator for number in numbers))
    common = math.gcd(*(int(number * scale) for number in numbers))
    if max(int(number * scale) for number in numbers) // common >= _MAX_UTILITY:
        raise UsageError(f"gain {gain} and cost {cost} have too many digits", expected="a simpler ratio")
    return constraint


def _read_share(kind: ConstraintKind, *, above: int | None = None) -> Callable[[str], Constraint]:
    def read(text: str) -> Constraint:
        text = share_text(text)
        return Constraint(kind=kind, value=text, numbers=(decimal(kind, text, above=above, at_most=1),))

    return read


def _read_max_selected(text: str) -> Constraint:
    kind = ConstraintKind.MAX_SELECTED
    if text.endswith("%"):
        share = decimal(str(kind), text.removesuffix("%").rstrip(), above=0, at_most=100, unit="%") / 100
        return Constraint(kind=kind, value=text, numbers=(share,), relative=True)
    rows = decimal(kind, text, above=0)
    if rows.denominator != 1:
        raise UsageError(f"{kind} '{text}'", expected="a whole number of rows, or a share such as 5%")
    return Constraint(kind=kind, value=text, numbers=(rows,))


def typed_worth(text: str) -> tuple[str, str]:
    """Split the saved text of a utility into its gain and cost as typed.

    Examples
    --------
    >>> typed_worth("gain=amount,cost=5")
    ('amount', '5')
    """
    gain, _, cost = text.removeprefix("gain=").rpartition(",cost=")
    return gain, cost


def _keep_precision(constraint: Constraint, cells: Cells) -> Goal:
    (target,) = constraint.numbers
    margin = Margin(target=target, standard_errors=constraint.margin) if constraint.margin else None
    return KeepBounds(precision=precision_bound(target, cells.total), margin=margin)


def _keep_selected(constraint: Constraint, cells: Cells) -> Goal:
    (bound,) = constraint.numbers
    limit = bound * cells.total if constraint.relative else bound
    return keep_budget(min(math.floor(limit), cells.total), false_only=False)


def _keep_false_positives(share: Fraction, cells: Cells) -> Goal:
    return keep_budget(math.floor(share * (cells.total - cells.positives)), false_only=True)


def _is_met(bound: Constraint, fit: Confusion[int]) -> bool:
    if bound.counts_rows:
        return fit.selected <= bound.numbers[0]
    assert bound.rate is not None  # a utility is no bound
    successes, trials = fit.trials(bound.rate)
    least = bound.numbers[0] * trials
    return successes <= least if bound.rule.is_upper else successes >= least


def uncertified_omission() -> UsageError:
    """Return the error of a bound on what may be dropped that is not certified."""
    return UsageError("--max-omission is given without --certify", remedy="add --certify DELTA")


def _only_certified(constraint: Constraint, cells: Cells) -> Goal:
    del constraint, cells
    raise uncertified_omission()


def _maximise_utility(constraint: Constraint) -> MaximiseUtility:
    if constraint.amounts:
        gain, cost = (int(number * UNITS) for number in constraint.numbers)
        indices = {role: index for index, role in enumerate(constraint.amounts)}
        return MaximiseUtility(
            gain=gain, cost=cost, gain_index=indices.get("gain"), cost_index=indices.get("cost")
        )
    scale = math.lcm(*(number.denominator for number in constraint.numbers))
    gain, cost = (int(number * scale) for number in constraint.numbers)
    common = math.gcd(gain, cost)
    return MaximiseUtility(gain=gain // common, cost=cost // common)


def _utility_of(constraint: Constraint, fit: Confusion[int]) -> Fraction:
    value = constraint.value_of(fit)
    assert value is not None  # of a utility
    return value[0]


def _odds_of_precision(constraint: Constraint) -> Fraction | None:
    (precision,) = constraint.numbers
    return precision / (1 - precision) if precision < 1 else None


def _by_offsets(constraint: Constraint, share: Fraction) -> list[Fraction]:
    del share
    return _rates(constraint.numbers[0] + offset for offset in _BOUND_OFFSETS)


def _by_factors(constraint: Constraint, share: Fraction) -> list[Fraction]:
    if constraint.counts_rows:
        return [constraint.numbers[0] * factor * share for factor in _BOUND_FACTORS]
    return _rates(constraint.numbers[0] * factor for factor in _BOUND_FACTORS)


def _by_factors_of_complement(constraint: Constraint, share: Fraction) -> list[Fraction]:
    del share
    return [1 - bound for bound in _rates((1 - constraint.numbers[0]) * factor for factor in _BOUND_FACTORS)]


def _rates(bounds: Iterable[Fraction]) -> list[Fraction]:
    return [bound for bound in bounds if 0 < bound <= 1]


def _precision_in_source(constraint: Constraint, positive: Fraction, negative: Fraction) -> Constraint:
    """Convert a precision ``TP w(1) / (TP w(1) + FP w(0)) >= s`` on target data.

    On the source data it is ``TP / (TP + FP) >= s w(0) / (s w(0) + (1-s) w(1))``.
    A false omission rate has the same one as an upper bound.
    """
    (precision,) = constraint.numbers
    bound = precision * negative / (precision * negative + (1 - precision) * positive)
    return replace(constraint, numbers=(bound,))


def _same_in_source(constraint: Constraint, positive: Fraction, negative: Fraction) -> Constraint:
    """Return a constraint on a rate of one class, which does not depend on the class priors."""
    del positive, negative
    return constraint


RULES: Final[Mapping[ConstraintKind, ConstraintRule]] = MappingProxyType(
    {
        ConstraintKind.PRECISION: ConstraintRule(
            read=_read_share(ConstraintKind.PRECISION, above=0),
            goal=_keep_precision,
            text="precision >= {}",
            options="--precision",
            rate=Rate.PRECISION,
            odds=_odds_of_precision,
            nearby=_by_offsets,
            in_target=_precision_in_source,
            is_promise=True,
            name="precision",
            guarantee="precision is at least {:g} %",
            result="flagged rows are positive",
            trials="alerts",
            success="true positive",
        ),
        ConstraintKind.RECALL: ConstraintRule(
            read=_read_share(ConstraintKind.RECALL, above=0),
            goal=lambda bound, cells: KeepRecall(minimum=math.ceil(bound.numbers[0] * cells.positives)),
            text="recall >= {}",
            options="--recall",
            rate=Rate.RECALL,
            maximised=Rate.PRECISION,
            objective=lambda _, fit: Fraction(fit.true_positives, fit.selected),
            nearby=_by_factors,
            in_target=_same_in_source,
            is_promise=True,
            name="recall",
            guarantee="recall is at least {:g} %",
            result="positive rows are flagged",
            trials="positives",
        ),
        ConstraintKind.MAX_SELECTED: ConstraintRule(
            read=_read_max_selected,
            goal=_keep_selected,
            text="at most {} flagged",
            options="--max-selected",
            rate=Rate.ALERTS,
            is_upper=True,
            is_budget=True,
            nearby=_by_factors,
        ),
        ConstraintKind.MAX_FPR: ConstraintRule(
            read=_read_share(ConstraintKind.MAX_FPR),
            goal=lambda bound, cells: _keep_false_positives(bound.numbers[0], cells),
            text="false-positive rate <= {}",
            options="--max-fpr",
            rate=Rate.FPR,
            is_upper=True,
            is_budget=True,
            nearby=_by_factors,
            in_target=_same_in_source,
            is_promise=True,
            name="false-positive rate",
            guarantee="the false-positive rate is at most {:g} %",
            result="negative rows are flagged",
            trials="negatives",
        ),
        ConstraintKind.MIN_SPECIFICITY: ConstraintRule(
            read=_read_share(ConstraintKind.MIN_SPECIFICITY),
            goal=lambda bound, cells: _keep_false_positives(1 - bound.numbers[0], cells),
            text="specificity >= {}",
            options="--min-specificity",
            rate=Rate.SPECIFICITY,
            is_budget=True,
            nearby=_by_factors_of_complement,
            in_target=_same_in_source,
            is_promise=True,
            name="specificity",
            guarantee="specificity is at least {:g} %",
            result="negative rows are not flagged",
            trials="negatives",
            success="not flagged",
        ),
        ConstraintKind.MAX_OMISSION: ConstraintRule(
            read=_read_share(ConstraintKind.MAX_OMISSION),
            goal=_only_certified,
            text="false omission rate <= {}",
            options="--max-omission",
            rate=Rate.OMISSION,
            is_upper=True,
            in_target=_precision_in_source,
            is_promise=True,
            name="false omission rate",
            guarantee="at most {:g} % of the rows that are not flagged are positive",
            result="rows that are not flagged are positive",
            trials="cleared rows",
            success="positive",
        ),
        ConstraintKind.UTILITY: ConstraintRule(
            read=lambda text: utility(*typed_worth(text)),
            goal=lambda utility, _: _maximise_utility(utility),
            text="highest utility ({})",
            options="--gain and --cost",
            maximised=None,
            objective=_utility_of,
            odds=lambda utility: utility.numbers[1] / utility.numbers[0],
        ),
    }
)

PROMISED: Final[Mapping[str, ConstraintRule]] = MappingProxyType(
    {str(rule.rate): rule for rule in RULES.values() if rule.is_promise}
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


def listed(words: Iterable[str], last_by: str = "or") -> str:
    """Join words, by default for what may be chosen.

    Examples
    --------
    >>> listed(["--precision", "--recall", "--max-fpr"])
    '--precision, --recall or --max-fpr'
    """
    *others, last = words
    return f"{', '.join(others)} {last_by} {last}" if others else last
