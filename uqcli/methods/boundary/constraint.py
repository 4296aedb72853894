"""What the user asked for, as typed, and as a goal for data of a given size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from uqcli.choices import ConstraintKind
from uqcli.counts import Cells
from uqcli.errors import UsageError
from uqcli.exact import decimal
from uqcli.methods.boundary.goals import Goal, KeepBudget, KeepPrecision, KeepRecall, MaximiseUtility
from uqcli.methods.boundary.precision import precision_bound

_MOST_UTILITY: Final = 2**31


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """A constraint on a boundary.

    Attributes
    ----------
    kind
        What is constrained.
    value
        As typed; for a utility ``gain=G,cost=C``.
    amounts
        The numbers in it, exact.
    relative
        Whether the number is a share of the rows (max-selected).
    """

    kind: ConstraintKind
    value: str
    amounts: tuple[Fraction, ...]
    relative: bool = False

    def goal(self, cells: Cells) -> Goal:
        """The constraint on these cells."""
        (amount, *rest) = self.amounts
        match self.kind:
            case ConstraintKind.PRECISION:
                return KeepPrecision(bound=precision_bound(amount, cells.total))
            case ConstraintKind.RECALL:
                return KeepRecall(minimum=math.ceil(amount * cells.positives))
            case ConstraintKind.MAX_SELECTED:
                limit = amount * cells.total if self.relative else amount
                return KeepBudget(limit=min(math.floor(limit), cells.total), false_only=False)
            case ConstraintKind.MAX_FPR:
                negatives = cells.total - cells.positives
                return KeepBudget(limit=math.floor(amount * negatives), false_only=True)
            case ConstraintKind.UTILITY:
                scale = math.lcm(amount.denominator, rest[0].denominator)
                gain, cost = int(amount * scale), int(rest[0] * scale)
                common = math.gcd(gain, cost)
                return MaximiseUtility(gain=gain // common, cost=cost // common)

    def objective(self, true_positives: int, selected: int) -> Fraction:
        """What is maximised among boundaries that keep the constraint."""
        if self.kind is ConstraintKind.RECALL:
            return Fraction(true_positives, selected)
        if self.kind is ConstraintKind.UTILITY:
            gain, cost = self.amounts
            return gain * true_positives - cost * (selected - true_positives)
        return Fraction(true_positives)

    def promise(self) -> str:
        """The constraint in words."""
        words = {
            ConstraintKind.PRECISION: f"precision >= {self.value}",
            ConstraintKind.RECALL: f"recall >= {self.value}",
            ConstraintKind.MAX_SELECTED: f"at most {self.value} selected",
            ConstraintKind.MAX_FPR: f"false-positive rate <= {self.value}",
            ConstraintKind.UTILITY: f"highest utility ({self.value})",
        }
        return words[self.kind]


def parse_constraint(kind: ConstraintKind, text: str) -> Constraint:
    """Read a constraint as exact fractions of the decimals that were typed.

    Raises
    ------
    UsageError
        The value is out of range or cannot be read.

    Examples
    --------
    >>> parse_constraint(ConstraintKind.PRECISION, "0.7").amounts
    (Fraction(7, 10),)
    """
    match kind:
        case ConstraintKind.PRECISION | ConstraintKind.RECALL:
            amounts = (decimal(kind, text, above=0, at_most=1),)
        case ConstraintKind.MAX_FPR:
            amounts = (decimal(kind, text, at_most=1),)
        case ConstraintKind.MAX_SELECTED:
            return _max_selected(text)
        case ConstraintKind.UTILITY:
            gain, _, cost = text.removeprefix("gain=").partition(",cost=")
            return utility(gain, cost)
    return Constraint(kind=kind, value=text, amounts=amounts)


def the_constraint(
    *,
    precision: str | None = None,
    recall: str | None = None,
    max_selected: str | None = None,
    max_fpr: str | None = None,
    gain: str | None = None,
    cost: str | None = None,
) -> Constraint:
    """The one constraint that is given; gain and cost are one.

    Raises
    ------
    UsageError
        None or several are given, or see ``parse_constraint``.
    """
    given = {
        ConstraintKind.PRECISION: precision,
        ConstraintKind.RECALL: recall,
        ConstraintKind.MAX_SELECTED: max_selected,
        ConstraintKind.MAX_FPR: max_fpr,
        ConstraintKind.UTILITY: gain or cost,
    }
    chosen = [(kind, value) for kind, value in given.items() if value is not None]
    if len(chosen) != 1:
        found = "no constraint given" if not chosen else "more than one constraint given"
        names = "--precision, --recall, --max-selected, --max-fpr, or --gain and --cost"
        raise UsageError(found, expected=f"exactly one of {names}", remedy="for example --precision 0.7")
    kind, value = chosen[0]
    if kind is not ConstraintKind.UTILITY:
        return parse_constraint(kind, value)
    if gain is None or cost is None:
        raise UsageError("--gain and --cost belong together", expected="both")
    return utility(gain, cost)


def utility(gain: str, cost: str) -> Constraint:
    """Read the utility of a true positive and the cost of a false one.

    Raises
    ------
    UsageError
        A number cannot be read, is not positive, or they have too many digits to stay exact.
    """
    amounts = (decimal("gain", gain, above=0), decimal("cost", cost, above=0))
    made = Constraint(kind=ConstraintKind.UTILITY, value=f"gain={gain},cost={cost}", amounts=amounts)
    scale = math.lcm(*(amount.denominator for amount in amounts))
    common = math.gcd(*(int(amount * scale) for amount in amounts))
    if max(int(amount * scale) for amount in amounts) // common >= _MOST_UTILITY:
        raise UsageError(f"gain {gain} and cost {cost} have too many digits", expected="a simpler ratio")
    return made


def _max_selected(text: str) -> Constraint:
    kind = ConstraintKind.MAX_SELECTED
    if text.endswith("%"):
        share = decimal(f"{kind} %", text.removesuffix("%"), above=0, at_most=100) / 100
        return Constraint(kind=kind, value=text, amounts=(share,), relative=True)
    rows = decimal(kind, text, above=0)
    if rows.denominator != 1:
        raise UsageError(f"{kind} '{text}'", expected="a whole number of rows, or a share such as 5%")
    return Constraint(kind=kind, value=text, amounts=(rows,))
