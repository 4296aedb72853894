"""Which columns a command needs, and finding them by name."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from uqcli.engines.classes import PROBA, ClassColumns
from uqcli.engines.features import FeatureRequest
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
        Further numbers: all columns of the first input that match, or those of a list a,b,c, by their
        own names.
    class_columns
        Class probabilities as asked for; the first input tells which columns these are.
    classes
        Class to column, once that is known. The label then names a class.
    keys
        Columns whose text tells groups apart.
    features
        Columns of numbers or texts, where values may be missing.
    """

    numbers: Mapping[str, str]
    label: str | None = None
    weight: str | None = None
    pattern: str | None = None
    class_columns: ClassColumns | None = None
    classes: Mapping[str, str] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    features: tuple[FeatureRequest, ...] = ()

    def expanded(self, source: Source) -> Roles:
        """With the columns of a source that the patterns match.

        Raises
        ------
        DataError, UsageError
            A pattern matches none, or see ``ClassColumns``.
        """
        if self.class_columns is not None:
            return replace(self, classes=self.class_columns.found_in(source), class_columns=None)
        if self.pattern is None:
            return self
        if any(sign in self.pattern for sign in "*?["):
            matched = sorted(fnmatch.filter(source.columns, self.pattern))
        else:
            matched = [name.strip() for name in self.pattern.split(",")]
        if not set(matched) & set(source.columns):
            raise DataError(
                f"no column of '{source.file.name}' matches '{self.pattern}'",
                expected=f"columns such as {_listing(source.columns)}",
                remedy="check the pattern and its quoting",
            )
        return replace(self, numbers={**self.numbers, **{name: name for name in matched}}, pattern=None)

    def named(self) -> dict[str, str]:
        """Role to column name, of the roles that are needed."""
        others = (("label", self.label), ("weight", self.weight))
        return {
            **self.all_numbers(),
            **{role: name for role, name in others if name is not None},
            **{f"by.{name}": name for name in self.keys},
            **{f"features.{each.name}": each.name for each in self.features},
        }

    def all_numbers(self) -> dict[str, str]:
        """Role to column name of the numbers, class probabilities included."""
        return {**self.numbers, **{PROBA + name: column for name, column in self.classes.items()}}

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
        remedy=f"{guess}give --{role.partition('.')[0]} COLUMN",
    )


def _listing(columns: tuple[str, ...]) -> str:
    shown = ", ".join(columns[:12])
    return f"{shown} and {len(columns) - 12} more" if len(columns) > 12 else shown
