"""Constraints as typed, and their goals for data of a given size."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Final

import numpy as np

from uqcli.amounts import UNITS
from uqcli.choices import ConstraintKind
from uqcli.confusion import Confusion
from uqcli.counts import Bools, Cells, Ints
from uqcli.errors import UsageError
from uqcli.exact import decimal, is_number
from uqcli.methods.boundary.goals import Goal, KeepBudget, KeepPrecision, KeepRecall, MaximiseUtility
from uqcli.methods.boundary.precision import Margin, precision_bound

_MAX_UTILITY: Final = 2**31


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """A constraint on a boundary.

    Attributes
    ----------
    kind
        Kind of constraint.
    value
        As typed; for a utility ``gain=G,cost=C``.
    numbers
        Its bound, or gain and cost, as exact fractions.
    relative
        Whether the bound is a fraction of the rows (max-selected).
    margin
        Margin of the precision over its bound in standard errors, for nested boundaries.
    recall
        Recall that a bound on precision must also leave, as typed; None for none. The boundary of highest
        recall is the same, so that goals ignore it.
    amounts
        Column of the amounts of each row by role (``gain``, ``cost``), in place of a number of a utility.
    """

    kind: ConstraintKind
    value: str
    numbers: tuple[Fraction, ...]
    relative: bool = False
    margin: Fraction = Fraction(0)
    recall: str | None = None
    amounts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_upper(self) -> bool:
        """Whether its bound is an upper one."""
        return self.kind in (ConstraintKind.MAX_SELECTED, ConstraintKind.MAX_FPR)

    def leaves_recall(self, true_positives: int, positives: int) -> bool:
        """Whether a boundary has the recall that is also required; exact."""
        return self.recall is None or true_positives >= Fraction(self.recall) * positives

    def goal(self, cells: Cells) -> Goal:
        """Return the goal of the constraint on given cells."""
        return RULES[self.kind].goal(self, cells)

    def objective(self, fit: Confusion[int]) -> Fraction:
        """Compute the objective among boundaries that meet the constraint."""
        return RULES[self.kind].objective(self, fit)

    def value_of(self, fit: Confusion[int]) -> tuple[Fraction, float | None] | None:
        """Compute the value of a boundary: gains less costs, and the share of all positives' gain.

        Returns
        -------
        None if the constraint is no utility; the share is None if the positives have no gain.
        """
        if self.kind is not ConstraintKind.UTILITY:
            return None
        gained, lost = (
            self._amount_of("gain", fit, positive=True),
            self._amount_of("cost", fit, positive=False),
        )
        everything = replace(fit, selected=fit.rows, true_positives=fit.positives, sums_selected=fit.sums)
        total = self._amount_of("gain", everything, positive=True)
        return gained - lost, float(gained / total) if total else None

    def values(self, positive: Bools, amounts: Ints) -> Ints:
        """Return the value of flagging each row: its gain if it is positive, else minus its cost.

        Parameters
        ----------
        positive : bool, shape (n,)
        amounts : int64, shape (amounts, n)
            In the order of ``amounts``.

        Returns
        -------
        int64, shape (n,)
            In ten-thousandths; for a utility of numbers alone in units of ``unit``.
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
        return RULES[self.kind].odds is not None and not self.amounts

    @property
    def odds(self) -> Fraction | None:
        """True positives that are worth one false positive; None if not set or, at precision 1, infinite.

        A precision is taken as the threshold probability s, with odds s / (1 - s). A utility has cost / gain.
        """
        odds_of = RULES[self.kind].odds
        return None if odds_of is None or self.amounts else odds_of(self)

    def text(self) -> str:
        """Describe the constraint."""
        also = "" if self.recall is None else f" and recall >= {self.recall}"
        return f"{RULES[self.kind].text.format(self.value)}{also}"

    def target(self) -> str:
        """Describe the constraint, as a target if it bounds a rate."""
        rates = (ConstraintKind.PRECISION, ConstraintKind.RECALL, ConstraintKind.MAX_FPR)
        return f"target {self.text()}" if self.kind in rates else self.text()

    def aim(self, bound: str = "") -> str:
        """Describe objective and constraint; ``bound`` replaces the constraint's own description."""
        rule = RULES[self.kind]
        if not rule.objective_name:
            return f"the {bound or self.text()}"
        return f"the highest {rule.objective_name} with {bound or self.text()}"


@dataclass(frozen=True, kw_only=True)
class ConstraintRule:
    """Definition of a kind of constraint.

    Attributes
    ----------
    read
        Function from the typed value to a constraint.
    goal
        Function from a constraint and cells to a goal.
    text
        Description, with a placeholder for the typed value.
    objective
        Objective, from the counts of a boundary.
    objective_name
        Name of the objective; empty if the description includes it.
    odds
        True positives that are worth one false positive; None if the constraint sets none.
    """

    read: Callable[[str], Constraint]
    goal: Callable[[Constraint, Cells], Goal]
    text: str
    objective: Callable[[Constraint, Confusion[int]], Fraction] = lambda _, fit: Fraction(fit.true_positives)
    objective_name: str = "recall"
    odds: Callable[[Constraint], Fraction | None] | None = None


def parse_constraint(kind: ConstraintKind, text: str) -> Constraint:
    """Parse a constraint as exact fractions of the typed decimals.

    Raises
    ------
    UsageError
        The value is invalid or out of range.

    Examples
    --------
    >>> parse_constraint(ConstraintKind.PRECISION, "0.7").numbers
    (Fraction(7, 10),)
    """
    return RULES[kind].read(text)


def constraints_from(**options: str | None) -> tuple[Constraint, ...]:
    """Parse the given constraint, or one for each bound if bounds are separated by commas.

    Raises
    ------
    UsageError
        See ``constraint_from``; or a bound is given twice.
    """
    set_options = {name: value for name, value in options.items() if value is not None}
    if len(set_options) != 1 or "," not in next(iter(set_options.values())):
        return (constraint_from(**options),)
    ((name, text),) = set_options.items()
    if re.fullmatch(r"0?,\d+", text):
        raise UsageError(
            f"{name} '{text}'",
            expected="a decimal point: commas separate several bounds",
            remedy=f"did you mean {text.replace(',', '.')}?",
        )
    values = [item.strip() for item in text.split(",")]
    if len(set(values)) < len(values):
        raise UsageError(f"{name} '{text}' names a bound twice", expected="different bounds")
    return tuple(constraint_from(**{name: value}) for value in values)


def constraint_from(
    *,
    precision: str | None = None,
    recall: str | None = None,
    max_selected: str | None = None,
    max_fpr: str | None = None,
    gain: str | None = None,
    cost: str | None = None,
) -> Constraint:
    """Parse the given constraint; gain and cost together are a single constraint.

    Raises
    ------
    UsageError
        None or several are given, or see ``parse_constraint``.
    """
    options = {
        ConstraintKind.PRECISION: precision,
        ConstraintKind.RECALL: recall,
        ConstraintKind.MAX_SELECTED: max_selected,
        ConstraintKind.MAX_FPR: max_fpr,
        ConstraintKind.UTILITY: gain or cost,
    }
    chosen = [(kind, value) for kind, value in options.items() if value is not None]
    if [kind for kind, _ in chosen] == [ConstraintKind.PRECISION, ConstraintKind.RECALL]:
        return precision_and_recall(precision or "", recall or "")
    if len(chosen) != 1:
        found = "no constraint given" if not chosen else "more than one constraint given"
        names = "--precision, --recall, both of these, --max-selected, --max-fpr, or --gain and --cost"
        raise UsageError(found, expected=f"exactly one of {names}", remedy="for example --precision 0.7")
    kind, value = chosen[0]
    if kind is not ConstraintKind.UTILITY:
        return parse_constraint(kind, value)
    if gain is None or cost is None:
        raise UsageError("only one of --gain and --cost given", expected="both")
    return utility(gain, cost)


def precision_and_recall(precision: str, recall: str) -> Constraint:
    """Parse a bound on precision and one on recall that must both be met.

    Raises
    ------
    UsageError
        A value is invalid or out of range.
    """
    parse_constraint(ConstraintKind.RECALL, recall)
    return replace(parse_constraint(ConstraintKind.PRECISION, precision), recall=recall)


def with_margin(constraint: Constraint, standard_errors: str | None) -> Constraint:
    """Add a margin in standard errors to a constraint; None adds none.

    Raises
    ------
    UsageError
        It is not a number of at least 0, or the constraint is not a precision.
    """
    if standard_errors is None:
        return constraint
    if constraint.kind is not ConstraintKind.PRECISION:
        raise UsageError(f"--margin with --{constraint.kind}", expected="--precision")
    return replace(constraint, margin=decimal("margin", standard_errors))


def utility(gain: str, cost: str) -> Constraint:
    """Parse the gain of a true positive and the cost of a false positive: numbers, or columns of amounts.

    Raises
    ------
    UsageError
        A number is invalid, not positive, or has too many digits to stay exact.
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
    """Create a parser of shares up to 1."""

    def read(text: str) -> Constraint:
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


def _read_utility(text: str) -> Constraint:
    return utility(*typed_worth(text))


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
    return KeepPrecision(bound=precision_bound(target, cells.total), margin=margin)


def _keep_recall(constraint: Constraint, cells: Cells) -> Goal:
    return KeepRecall(minimum=math.ceil(constraint.numbers[0] * cells.positives))


def _keep_selected(constraint: Constraint, cells: Cells) -> Goal:
    (bound,) = constraint.numbers
    limit = bound * cells.total if constraint.relative else bound
    return KeepBudget(limit=min(math.floor(limit), cells.total), false_only=False)


def _keep_fpr(constraint: Constraint, cells: Cells) -> Goal:
    negatives = cells.total - cells.positives
    return KeepBudget(limit=math.floor(constraint.numbers[0] * negatives), false_only=True)


def _maximise_utility(constraint: Constraint, cells: Cells | None = None) -> MaximiseUtility:
    del cells
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


def _odds_of_utility(constraint: Constraint) -> Fraction:
    gain, cost = constraint.numbers
    return cost / gain


RULES: Final[Mapping[ConstraintKind, ConstraintRule]] = MappingProxyType(
    {
        ConstraintKind.PRECISION: ConstraintRule(
            read=_read_share(ConstraintKind.PRECISION, above=0),
            goal=_keep_precision,
            text="precision >= {}",
            odds=_odds_of_precision,
        ),
        ConstraintKind.RECALL: ConstraintRule(
            read=_read_share(ConstraintKind.RECALL, above=0),
            goal=_keep_recall,
            text="recall >= {}",
            objective=lambda _, fit: Fraction(fit.true_positives, fit.selected),
            objective_name="precision",
        ),
        ConstraintKind.MAX_SELECTED: ConstraintRule(
            read=_read_max_selected, goal=_keep_selected, text="at most {} flagged"
        ),
        ConstraintKind.MAX_FPR: ConstraintRule(
            read=_read_share(ConstraintKind.MAX_FPR),
            goal=_keep_fpr,
            text="false-positive rate <= {}",
        ),
        ConstraintKind.UTILITY: ConstraintRule(
            read=_read_utility,
            goal=_maximise_utility,
            text="highest utility ({})",
            objective=_utility_of,
            objective_name="",
            odds=_odds_of_utility,
        ),
    }
)
