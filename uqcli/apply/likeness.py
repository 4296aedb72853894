"""Whether rows that a rule decided are like its calibration rows, without labels."""

from __future__ import annotations

from typing import Final

from uqcli.base.records import dataclass

LEVEL: Final = 0.999
"""Level of the range of flagged rows, and of the limit on rows outside the range of the calibration rows."""

MOST_OUTSIDE: Final = 0.01
"""Share of rows outside the range of the calibration rows up to which there is no caution."""


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """Comparison of decided rows with the calibration rows of their rule.

    Attributes
    ----------
    rows, selected
        Rows that were decided, and the flagged ones among them.
    explained
        Fewest and most flagged rows that the rate on the calibration rows explains; None if not compared.
    outside
        Rows with a number outside the range of the calibration rows; None if the rule does not know it.
    most_outside
        Most rows outside that range if the rows are like the calibration rows.
    roles
        Numbers with a range.
    """

    rows: int
    selected: int
    explained: tuple[int, int] | None
    outside: int | None
    most_outside: int
    roles: tuple[str, ...]

    @property
    def share_outside(self) -> float | None:
        """Share of the rows outside the range of the calibration rows; None if unknown."""
        return self.outside / self.rows if self.outside is not None and self.rows else None

    @property
    def is_usual(self) -> bool:
        """Whether the rate on the calibration rows explains the flagged rows; true if it is not compared."""
        return self.explained is None or self.explained[0] <= self.selected <= self.explained[1]

    @property
    def cautions(self) -> list[str]:
        """What differs; empty if nothing does."""
        cautions = []
        if self.explained is not None and not self.is_usual:
            rate, low, high = (_rate(count / self.rows) for count in (self.selected, *self.explained))
            cautions.append(
                f"the alert rate is {rate}. For rows like the calibration set, "
                f"its {100 * LEVEL:g} % range is {low} to {high}. Check the columns, or fit the rule again."
            )
        share = self.share_outside
        if share is not None and share > MOST_OUTSIDE and (self.outside or 0) > self.most_outside:
            numbers = "a score or an uncertainty" if len(self.roles) > 1 else "a score"
            cautions.append(
                f"{_rate(share)} of rows have {numbers} outside the range of the calibration set. "
                "Check the columns, or fit the rule again."
            )
        return cautions


def _rate(share: float) -> str:
    return f"{100 * share:.4g} %"
