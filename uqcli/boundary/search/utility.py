"""The value of flagged rows: the gain of a true positive, and the cost of a false positive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from uqcli.base.amounts import UNITS
from uqcli.base.counts import Bools, Cells, Ints
from uqcli.base.errors import UsageError, words
from uqcli.base.exact_numbers import decimal, is_number
from uqcli.base.wording import rounded_money
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.goals import MaximiseUtility, Own, Same, TopRuns
from uqcli.estimates.confusion import Confusion

_MAX_UTILITY: Final = 2**31


class Utility(Constraint):
    """The gain and the cost of a flagged row, whose total is maximised."""

    kind = "utility"
    options = words("--gain and --cost")
    wording = "highest utility ({})"
    aimed = "the {}"
    is_bound = False

    @classmethod
    def read(cls, text: str) -> Constraint:
        """See Constraint."""
        return utility(*typed_worth(text))

    def numbers_nearby(self, share: Fraction) -> Sequence[Fraction]:
        """See Constraint: other gains and costs are other questions."""
        del share
        return ()

    def goal_alone(self, cells: Cells) -> MaximiseUtility:
        """See Constraint."""
        del cells
        return self._goal

    @property
    def _goal(self) -> MaximiseUtility:
        worth: dict[str, Same | Own] = {
            role: Same(amount=int(number / self.unit))
            for role, number in zip(("gain", "cost"), self.numbers, strict=True)
        }
        worth |= {role: Own(index=index) for index, role in enumerate(self.amounts)}
        return MaximiseUtility(gain=worth["gain"], cost=worth["cost"])

    def objective(self, fit: Confusion[int]) -> Fraction:
        """See Constraint: gains less costs."""
        return self._amount_of("gain", fit, positive=True) - self._amount_of("cost", fit, positive=False)

    def reached(self, fit: Confusion[int]) -> tuple[str, str]:
        """See Constraint."""
        return "a net value of", rounded_money(float(self.objective(fit)))

    def expected_objective(self, fit: Confusion[int], precision: float, recall: float) -> float:
        """See Constraint; with amounts the objective itself, since those of other rows are unknown."""
        del recall
        return float(self.objective(fit)) if self.amounts else self.expected_value(fit.selected, precision)

    def expected_value(self, selected: int, precision: float) -> float:
        """See Constraint."""
        gain, cost = map(float, self.numbers)
        return selected * (gain * precision - cost * (1 - precision))

    def value_of(self, fit: Confusion[int]) -> dict[str, float | None]:
        """See Constraint."""
        everything = replace(fit, selected=fit.rows, true_positives=fit.positives, sums_selected=fit.sums)
        gained, total = (self._amount_of("gain", rows, positive=True) for rows in (fit, everything))
        caught = float(gained / total) if total else None
        return {"value": float(self.objective(fit)), "value_caught": caught}

    def values(self, positive: Bools, amounts: Ints) -> Ints:
        """See Constraint: the gain of a positive row, else minus its cost."""
        goal = self._goal
        return np.where(positive, goal.gain.of_rows(amounts), -goal.cost.of_rows(amounts))

    @property
    def unit(self) -> Fraction:
        """See Constraint: ten-thousandths, or of numbers alone a common unit."""
        if self.amounts:
            return Fraction(1, UNITS)
        scale = math.lcm(*(number.denominator for number in self.numbers))
        return Fraction(math.gcd(*(int(number * scale) for number in self.numbers)), scale)

    def worth(self, runs: TopRuns) -> tuple[Ints, int]:
        """See Constraint; of numbers alone, the recall is compared."""
        if not self.amounts:
            return super().worth(runs)
        return self._goal.utility(runs), int(self._goal.gained(runs)[-1])

    @property
    def sets_odds(self) -> bool:
        """See Constraint."""
        return not self.amounts

    @property
    def odds(self) -> Fraction | None:
        """See Constraint."""
        return self.numbers[1] / self.numbers[0] if self.sets_odds else None

    @property
    def arguments(self) -> tuple[str, ...]:
        """See Constraint."""
        gain, cost = (f"{float(number):g}" for number in self.numbers)
        return "--gain", gain, "--cost", cost

    def finding(self, flagged: str, value: str) -> str:
        """See Constraint."""
        del flagged
        return f"has a value of {value}."

    def _amount_of(self, role: str, fit: Confusion[int], *, positive: bool) -> Fraction:
        """Compute the gain of the selected positive rows, or the cost of the selected negative rows."""
        if role not in self.amounts:
            rows = fit.true_positives if positive else fit.selected - fit.true_positives
            return self.numbers[0 if positive else 1] * rows
        of_all, of_positives = (sums[list(self.amounts).index(role)] for sums in fit.sums_selected)
        return Fraction(of_positives if positive else of_all - of_positives, UNITS)


def utility(gain: str, cost: str) -> Utility:
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
    constraint = Utility(value=f"gain={gain},cost={cost}", numbers=numbers, amounts=amounts)
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


def typed_worth(text: str) -> tuple[str, str]:
    """Split the saved text of a utility into its gain and cost as typed.

    Examples
    --------
    >>> typed_worth("gain=amount,cost=5")
    ('amount', '5')
    """
    gain, _, cost = text.removeprefix("gain=").rpartition(",cost=")
    return gain, cost
