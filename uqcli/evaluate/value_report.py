"""Value of the rows that boundaries flag, in amounts of money."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from uqcli.base.records import dataclass
from uqcli.base.wording import percent
from uqcli.estimates.estimate import Estimate, direction, ends_of, money_change
from uqcli.reports.document import Metrics

VALUE_ROWS: Final = ("value", "gain caught")
"""Names of the rows of the table."""


@dataclass(frozen=True, kw_only=True)
class MeasuredValue:
    """Value of a boundary on a test set, or the difference of two; with intervals if rows suffice.

    The value is the gains of the flagged positive rows less the costs of the other flagged rows.
    ``value_caught`` is the share of the gain of all positive rows that the flagged ones have; its value is
    None without gain. ``heavy_tailed`` says that a few large amounts decide the value.
    """

    value: Estimate
    value_caught: Estimate
    heavy_tailed: bool = False

    def metrics(self) -> Metrics:
        """By their contract names."""
        return {"value": self.value, "value_caught": self.value_caught}

    def sentence(self, confidence: float) -> str:
        """State what the flagged rows are worth, with its interval, and the share of the possible gain."""
        value, caught = self.value, self.value_caught.value
        worth = f"The flagged rows are worth {_rounded(value.value)}"
        if value.low is not None and value.high is not None:
            ends = f"{_rounded(value.low)} to {_rounded(value.high)}"
            worth = f"{worth} ({100 * confidence:g} % interval {ends})"
        of_all = "" if caught is None else f", which is {percent(caught)} of the gain from all positives"
        return f"{worth}{of_all}."

    def cautions(self, name: str) -> list[str]:
        """Caution that the interval of the value rests on a few large amounts; empty if it does not."""
        if not self.heavy_tailed or self.value.low is None:
            return []
        return [f"{name}: a few large amounts decide it, so its interval may be too short: use more rows."]

    def cells(self) -> tuple[str, str]:
        """Format the cells of one rule, in the order of VALUE_ROWS."""
        caught = self.value_caught
        share = "-" if caught.value is None else f"{caught.value:.3f}{ends_of(caught, '.3f')}"
        high, value = self.value.high, self.value.value
        margin = "" if high is None or value is None else f" ± {_rounded(high - value)}"
        return f"{_rounded(value)}{margin}", share

    def difference_cells(self, *, brief: bool) -> tuple[str, str]:
        """Format the cells of a difference; without intervals if brief."""
        value, caught = self.value, self.value_caught
        share = "-" if caught.value is None else f"{caught.value:+.3f}"
        return (
            f"{_rounded(value.value, '+')}{'' if brief else ends_of(value, '+,.0f')}{_significance(value)}",
            f"{share}{'' if brief else ends_of(caught, '+.3f')}{_significance(caught)}",
        )


def _rounded(value: float | None, sign: str = "") -> str:
    """Format an amount in a table, without decimals if it is large."""
    return "-" if value is None else f"{value:{sign},.{0 if abs(value) >= 1000 else 2}f}"


def _significance(estimate: Estimate) -> str:
    if estimate.low is None or estimate.value is None:
        return ""
    return " (sig.)" if direction(estimate) else " (n.s.)"


def worth_more(names: Sequence[str], difference: MeasuredValue, otherwise: str) -> list[str]:
    """State which of two rules is worth more on the test set, or what to do if neither is significantly."""
    estimate = difference.value
    if not estimate.value or not direction(estimate):
        why = ", too few rows differ" if estimate.low is None else ""
        return [f"The values do not differ significantly ({money_change(estimate)}{why}): {otherwise}."]
    better = names[1] if estimate.value > 0 else names[0]
    size = Estimate(
        value=abs(estimate.value),
        low=min(abs(estimate.low or 0.0), abs(estimate.high or 0.0)),
        high=max(abs(estimate.low or 0.0), abs(estimate.high or 0.0)),
    )
    worth = f"{_rounded(size.value)} ({_rounded(size.low)} to {_rounded(size.high)})"
    return [f"{better} is worth {worth} more on these rows: use it."]
