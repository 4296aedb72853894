"""Column names that override a rule's own, and the form of added columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from uqcli.base.errors import Opt, UsageError, words
from uqcli.base.records import dataclass
from uqcli.base.running.messages import caution, suspect
from uqcli.engines.request import ClassColumns


@dataclass(frozen=True, kw_only=True)
class ColumnOverrides:
    """Column names given on the command line or in a configuration, by role; others are the rule's own.

    ``proba`` are those of class probabilities. ``typed`` are the options that may not be ignored: a column
    that no rule reads is refused. ``places`` are what named the columns, for cautions that a rule was made
    with others. Those in ``gaps`` only fill roles for which the rules name no column.
    """

    named: Mapping[str, str] = field(default_factory=dict)
    weighted: bool = True
    proba: ClassColumns | None = None
    typed: frozenset[str] = frozenset()
    places: Mapping[str, str] = field(default_factory=dict)
    gaps: frozenset[str] = frozenset()

    def replaces(self, role: str) -> bool:
        """Whether a column is named for a role, and comes before those of the rules."""
        return role in self.named and role not in self.gaps

    def column(self, role: str, own: str | None) -> str | None:
        """Return the column of a role, where ``own`` is the one of the rules, and warn if it is another."""
        if role not in self.named or (own is not None and role in self.gaps):
            return own
        self.warn_of(role, self.named[role], own)
        return self.named[role]

    def warn_of(self, role: str, named: str, own: str | None) -> None:
        """Warn of a column that replaces the one of the rules; one that was typed is meant."""
        if own not in {None, named} and role in self.places:
            sentence = f"{self.places[role]} sets {role} to '{named}', but the rule was made with '{own}'."
            (suspect if role in self.typed else caution)("replaced-column", sentence)

    def refuse(self, names: Iterable[str], why: str) -> None:
        """Refuse options that may not be ignored but cannot be used."""
        for name in names:
            if name in self.typed:
                option = Opt(name)
                raise UsageError(words("{} {}", option, why), remedy=words("leave out {}", option))


@dataclass(frozen=True, kw_only=True)
class NewColumns:
    """Names and types of added columns.

    A column may contain ``lists``, as in Parquet. With ``no_empty``, empty prediction sets get the most
    probable class.
    """

    prefix: str = ""
    lists: bool = True
    no_empty: bool = False
