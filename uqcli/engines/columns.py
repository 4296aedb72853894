"""Which columns a command needs, and finding them by name."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, replace

from uqcli.engines.sources import Source
from uqcli.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The columns a command needs, by role.

    Attributes
    ----------
    numbers
        Role to column name of the columns read as finite numbers, such as score and uncertainty.
    label, weight
        Column names; None where a command does not need the role.
    pattern
        Further numbers: all columns of the first input that match, by their own names.
    """

    numbers: Mapping[str, str]
    label: str | None = None
    weight: str | None = None
    pattern: str | None = None

    def expanded(self, source: Source) -> Roles:
        """With the columns that the pattern matches in a source, in alphabetical order.

        Raises
        ------
        DataError
            It matches none.
        """
        if self.pattern is None:
            return self
        matched = sorted(fnmatch.filter(source.columns, self.pattern))
        if not matched:
            raise DataError(
                f"no column of '{source.file.name}' matches '{self.pattern}'",
                expected=f"columns such as {_listing(source.columns)}",
                remedy="check the pattern and its quoting",
            )
        return replace(self, numbers={**self.numbers, **{name: name for name in matched}}, pattern=None)

    def named(self) -> dict[str, str]:
        """Role to column name, of the roles that are needed."""
        others = (("label", self.label), ("weight", self.weight))
        return {**self.numbers, **{role: name for role, name in others if name is not None}}

    def columns(self) -> list[str]:
        """The columns' names, each once."""
        return list(dict.fromkeys(self.named().values()))

    def without(self, role: str) -> Roles:
        """The same without one of the numbers."""
        return replace(self, numbers={key: name for key, name in self.numbers.items() if key != role})


def require_columns(source: Source, roles: Roles) -> None:
    """Check that every needed column is there, once.

    Raises
    ------
    DataError
        A column is missing (with the nearest names) or appears twice.
    """
    for role, name in roles.named().items():
        times = source.columns.count(name)
        if times == 0:
            raise _missing(source, role, name)
        if times > 1:
            raise DataError(
                f"column '{name}' appears {times} times in '{source.file.name}'", expected="unique names"
            )


def _missing(source: Source, role: str, name: str) -> DataError:
    folded = {column.casefold(): column for column in source.columns}
    near = difflib.get_close_matches(name.casefold(), folded, n=3)
    names = [folded[each] for each in near]
    guess = f"did you mean {' or '.join(map(repr, names))}? " if names else ""
    return DataError(
        f"no column '{name}' in '{source.file.name}'",
        expected=f"one of {_listing(source.columns)}",
        remedy=f"{guess}give --{role} COLUMN",
    )


def _listing(columns: tuple[str, ...]) -> str:
    shown = ", ".join(columns[:12])
    return f"{shown} and {len(columns) - 12} more" if len(columns) > 12 else shown
