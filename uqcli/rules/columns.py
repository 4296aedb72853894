"""Column names that override a rule's own, and the form of added columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from uqcli.base.errors import UsageError
from uqcli.base.records import dataclass
from uqcli.base.running.messages import caution, suspect
from uqcli.engines.request import ClassColumns


@dataclass(frozen=True, kw_only=True)
class ColumnOverrides:
    """Column names given on the command line or in a configuration; None for the rule's own.

    ``typed`` are the options that may not be ignored: a column that no rule reads is refused. ``places`` are
    what named the columns, for cautions that a rule was made with others. Those in ``gaps`` only fill roles
    for which the rules name no column.
    """

    score: str | None = None
    uncertainty: str | None = None
    label: str | None = None
    weight: str | None = None
    weighted: bool = True
    proba: ClassColumns | None = None
    typed: frozenset[str] = frozenset()
    places: Mapping[str, str] = field(default_factory=dict)
    gaps: frozenset[str] = frozenset()

    def replaces(self, role: str, column: str | None) -> bool:
        """Whether a column that is named here comes before those of the rules."""
        return column is not None and role not in self.gaps

    def instead_of(self, role: str, column: str | None, own: str | None) -> str | None:
        """Return the column of a role, named here or by the rules, and caution if it is not theirs."""
        if column is None or (own is not None and role in self.gaps):
            return own
        if own not in {None, column} and role in self.places:
            sentence = f"{self.places[role]} sets {role} to '{column}', but the rule was made with '{own}'."
            (suspect if role in self.typed else caution)(sentence)
        return column

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
