"""Rows that a run read, those that it left out, and why: every report counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from uqcli.base.records import dataclass
from uqcli.base.wording import count, percent, printable, rows_of

_MANY: Final = 0.1
"""Share from which rows that are left out may change a result."""

SHORT: Final = "too short (fewer fields than the header)"
"""Why a record of CSV cannot be used; it concerns no single column."""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Numbers of rows read and left out, and of unusable values by column and by what they are.

    A row may have several unusable values. Of the rows left out, ``unlabelled`` have no label.
    """

    rows: int = 0
    dropped: int = 0
    unlabelled: int = 0
    reasons: Mapping[tuple[str, str], int]

    def __add__(self, other: LeftOut) -> LeftOut:
        """Add those of other inputs."""
        return replace(
            self,
            rows=self.rows + other.rows,
            dropped=self.dropped + other.dropped,
            unlabelled=self.unlabelled + other.unlabelled,
            reasons=Counter(self.reasons) + Counter(other.reasons),
        )

    @property
    def share(self) -> float | None:
        """Share of the rows that were left out; None without rows."""
        return self.dropped / self.rows if self.rows else None

    @property
    def is_doubtful(self) -> bool:
        """Whether the rows that stay may be others; labels that are missing have a caution of their own."""
        return self.dropped - self.unlabelled >= _MANY * max(1, self.rows)

    def payload(self) -> dict[str, Any]:
        """Return the JSON form, in an order that is that of no file."""
        reasons = [
            {"column": column or None, "value": what, "rows": rows}
            for (column, what), rows in sorted(self.reasons.items())
        ]
        return {"rows": self.rows, "dropped": self.dropped, "reasons": reasons}

    def sentence(self) -> str:
        """Say how many rows were read and left out, and why."""
        if not self.dropped:
            return f"Read {rows_of(self.rows)}; none was left out."
        return (
            f"Left out {count(self.dropped)} of {rows_of(self.rows)} ({percent(self.share)}): {self._why()}."
        )

    def caution(self) -> str:
        """Say what to do about many rows that were left out."""
        return (
            f"{percent(self.share)} of the rows were left out ({self._why()}): the results are those of the "
            "other rows. Find out why the values are missing, and mend the column, before you rely on them."
        )

    def _why(self) -> str:
        values: dict[str, list[str]] = {}
        for (column, what), rows in sorted(self.reasons.items()):
            values.setdefault(column, []).append(f"{count(rows)} {what}")
        return "; ".join(
            f"column '{printable(column)}' has {' and '.join(listed)}" if column else f"rows: {listed[0]}"
            for column, listed in values.items()
        )
