"""Constraints as typed, and their goals for data of a given size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from uqcli.choices import ConstraintKind
from uqcli.counts import Cells
from uqcli.errors import UsageError
from uqcli.exact import decimal
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
    """

    kind: ConstraintKind
    value: str
    numbers: tuple[Fraction, ...]
    relative: bool = False
    margin: Fraction = Fraction(0)
    recall: str | None = None

    def leaves_recall(self, true_positives: int, positives: int) -> bool:
        """Whether a boundary has the recall that is also required; exact."""
        return self.recall is None or true_positives >= Fraction(self.recall) * positives

    def goal(self, cells: Cells) -> Goal:
        """Return the goal of the constraint on given cells."""
        return RULES[self.kind].goal(self, cells)

    def objective(self, true_positives: int, selected: int) -> Fraction:
        """Compute the objective among boundaries that meet the constraint."""
        return RULES[self.kind].objective(self, true_positives, selected)

    @property
    def sets_odds(self) -> bool:
        """Whether it states how many true positives are worth a false positive."""
        return RULES[self.kind].odds is not None

    @property
    def odds(self) -> Fraction | None:
        """True positives that are worth one false positive; None if not set or, at precision 1, infinite.

        A precision is taken as the threshold probability s, with odds s / (1 - s). A utility has cost / gain.
        """
        odds_of = RULES[self.kind].odds
        return None if odds_of is None else odds_of(self)

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
        Objective, from true positives and selected rows.
    objective_name
        Name of the objective; empty if the description includes it.
    odds
        True positives that are worth one false positive; None if the constraint sets none.
    """

    read: Callable[[str], Constraint]
    goal: Callable[[Constraint, Cells], Goal]
    text: str
    objective: Callable[[Constraint, int, int], Fraction] = lambda _, true_positives, __: Fraction(
        true_positives
    )
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
    """Parse the utility of a true positive and the cost of a false positive.

    Raises
    ------
    UsageError
        A number is invalid, not positive, or the two have too many digits to stay exact.
    """
    numbers = (decimal("gain", gain, above=0), decimal("cost", cost, above=0))
    constraint = Constraint(kind=ConstraintKind.UTILITY, value=f"gain={gain},cost={cost}", numbers=numbers)
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
        share = decimal(f"{kind} %", text.removesuffix("%").rstrip(), above=0, at_most=100) / 100
        return Constraint(kind=kind, value=text, numbers=(share,), relative=True)
    rows = decimal(kind, text, above=0)
    if rows.denominator != 1:
        raise UsageError(f"{kind} '{text}'", expected="a whole number of rows, or a share such as 5%")
    return Constraint(kind=kind, value=text, numbers=(rows,))


def _read_utility(text: str) -> Constraint:
    gain, _, cost = text.removeprefix("gain=").partition(",cost=")
    return utility(gain, cost)


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


def _maximise_utility(constraint: Constraint, cells: Cells) -> Goal:
    del cells
    scale = math.lcm(*(number.denominator for number in constraint.numbers))
    gain, cost = (int(number * scale) for number in constraint.numbers)
    common = math.gcd(gain, cost)
    return MaximiseUtility(gain=gain // common, cost=cost // common)


def _utility_of(constraint: Constraint, true_positives: int, selected: int) -> Fraction:
    gain, cost = constraint.numbers
    return gain * true_positives - cost * (selected - true_positives)


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
            objective=lambda _, true_positives, selected: Fraction(true_positives, selected),
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
