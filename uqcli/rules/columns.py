"""Column names that override a rule's own, and the form of added columns."""

from __future__ import annotations

from collections.abc import Iterable

from uqcli.base.errors import UsageError
from uqcli.base.records import dataclass
from uqcli.engines.request import ClassColumns


@dataclass(frozen=True, kw_only=True)
class ColumnOverrides:
    """Column names given on the command line; None for the rule's own.

    ``typed`` are the options that may not be ignored: a column that no rule reads is refused.
    """

    score: str | None = None
    uncertainty: str | None = None
    label: str | None = None
    weight: str | None = None
    weighted: bool = True
    proba: ClassColumns | None = None
    typed: frozenset[str] = frozenset()

    def refuse(self, names: Iterable[str], why: str) -> None:
        """Refuse options that may not be ignored but cannot be used."""
        for name in names:
            if name in self.typed:
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} {why}", remedy=f"leave out {option}")


@dataclass(frozen=True, kw_only=True)
class NewColumns:
    """Names and types of added columns.

    A column may contain ``lists``, as in Parquet. With ``no_empty``, empty prediction sets get the most
    probable class.
    """

    prefix: str = ""
    lists: bool = True
    no_empty: bool = False
