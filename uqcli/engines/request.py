"""What is asked of an engine: which inputs, which of their columns, and how they are read."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, TypeAlias

from uqcli import defaults
from uqcli.choices import EngineName, FileFormat, OnInvalid
from uqcli.errors import DataError, UsageError

if TYPE_CHECKING:
    import polars as pl

Inputs: TypeAlias = "tuple[str, ...] | pl.DataFrame"
"""INPUT arguments in order, or a data frame."""

INPUT = "\0input"
"""The key that tells rows apart by the input they are from; no column has this name."""

PROBA = "proba."
"""Class probabilities have the role ``proba.<class>``."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How files are read, as given on the command line.

    Attributes
    ----------
    format
        Format of inputs whose name does not tell it (standard input, FIFOs).
    delimiter
        Field separator of CSV inputs; None means what the name says, a comma by default.
    null_values
        Texts in CSV that mean null, beside the empty field.
    needed
        Columns, or patterns of their names, that tell whether a header was split where it should be.
    """

    format: FileFormat = defaults.FILE_FORMAT
    format_given: bool = False
    delimiter: str | None = None
    null_values: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FeatureRequest:
    """A feature column to read.

    Attributes
    ----------
    text
        Whether it holds texts even if these look like numbers; None where the column itself tells.
    levels
        The texts that are told apart, once they are known.
    """

    name: str
    text: bool | None = None
    levels: tuple[str, ...] | None = None

    @property
    def known(self) -> bool:
        """Whether values can be numbered batch by batch."""
        return self.text is False or self.levels is not None


@dataclass(frozen=True, kw_only=True)
class ClassColumns:
    """Which columns hold class probabilities, as asked for.

    Attributes
    ----------
    columns
        A pattern with one ``*``, or names separated by commas.
    names
        Names of the classes in the order of the columns; None means what ``*`` matched, or the columns'
        own names.
    """

    columns: str
    names: tuple[str, ...] | None = None

    def found_in(self, columns: Sequence[str], shown: str) -> dict[str, str]:
        """Class to column, in the order of the classes; ``shown`` is what messages call the input.

        Raises
        ------
        DataError
            The pattern matches fewer than two columns.
        UsageError
            Names that are repeated, or not one for each column.
        """
        if "*" in self.columns:
            matched = _matched(self.columns, columns)
        else:
            listed = [name.strip() for name in self.columns.split(",")]
            matched = {name: name for name in listed}
            if len(matched) < len(listed):
                raise UsageError(f"--proba '{self.columns}' repeats a column", expected="each column once")
        if len(matched) < 2:
            raise DataError(
                f"'{self.columns}' matches {len(matched)} columns of {shown}",
                expected="the probabilities of at least two classes",
                remedy="check --proba and its quoting",
            )
        names = self.names or tuple(matched)
        if len(set(names)) != len(matched):
            raise UsageError(
                f"--classes names {len(set(names))} classes for {len(matched)} columns",
                expected="one name for each column",
            )
        return dict(zip(names, matched.values(), strict=True))

    def renaming(self, classes: Sequence[str]) -> dict[str, str]:
        """Class to column for classes that are known beforehand.

        Raises
        ------
        UsageError
            Not one column for each class, or names of other classes.
        """
        if "*" in self.columns:
            if self.columns.count("*") > 1 or self.names is not None:
                raise UsageError(
                    f"--proba '{self.columns}'",
                    expected="one * without --classes, or names separated by commas",
                )
            return {name: self.columns.replace("*", name) for name in classes}
        listed = [name.strip() for name in self.columns.split(",")]
        names = classes if self.names is None else self.names
        if len(set(listed)) != len(classes) or len(listed) != len(classes) or set(names) != set(classes):
            raise UsageError(
                f"--proba '{self.columns}' names {len(set(listed))} columns",
                expected=f"one for each of the classes {', '.join(list(classes)[:12])}",
            )
        column_of = dict(zip(names, listed, strict=True))
        return {name: column_of[name] for name in classes}


def _matched(pattern: str, columns: Sequence[str]) -> dict[str, str]:
    if pattern.count("*") > 1:
        raise UsageError(f"--proba '{pattern}'", expected="one *, or names separated by commas")
    before, after = map(re.escape, pattern.split("*"))
    hits = [(re.fullmatch(f"{before}(.+){after}", column, re.DOTALL), column) for column in columns]
    found = {hit[1].strip(): column for hit, column in hits if hit}
    integers = all(re.fullmatch(r"-?\d+", name) for name in found)
    return {name: found[name] for name in sorted(found, key=int if integers else str)}


@dataclass(frozen=True, kw_only=True)
class Roles:  # noqa: PLW1641 (mappings in it cannot be hashed)
    """The columns a command needs, by role.

    Two are equal only where roles and classes also come in the same order.

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
        Columns whose text tells groups apart; ``INPUT`` is a key, too.
    features
        Columns of numbers or texts, where values may be missing.
    amounts
        Roles among the numbers that are summed beside counts, as integers (see uqcli.engines.amounts).
    """

    numbers: Mapping[str, str]
    label: str | None = None
    weight: str | None = None
    pattern: str | None = None
    class_columns: ClassColumns | None = None
    classes: Mapping[str, str] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    features: tuple[FeatureRequest, ...] = ()
    amounts: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        """Whether the same is read in the same order: thresholds and class numbers go by it."""
        return _in_order(self) == _in_order(other) if isinstance(other, Roles) else NotImplemented

    def expanded(self, columns: Sequence[str], shown: str) -> Roles:
        """With the columns of an input that the patterns match; ``shown`` is what messages call it.

        Raises
        ------
        DataError, UsageError
            A pattern matches none, or see ``ClassColumns``.
        """
        if self.class_columns is not None:
            return replace(self, classes=self.class_columns.found_in(columns, shown), class_columns=None)
        if self.pattern is None:
            return self
        if any(sign in self.pattern for sign in "*?["):
            matched = sorted(fnmatch.filter(columns, self.pattern))
        else:
            matched = [name.strip() for name in self.pattern.split(",")]
        if not set(matched) & set(columns):
            raise DataError(
                f"no column of {shown} matches '{self.pattern}'",
                expected=f"columns such as {listing(columns)}",
                remedy="check the pattern and its quoting",
            )
        return replace(self, numbers={**self.numbers, **{name: name for name in matched}}, pattern=None)

    def named(self) -> dict[str, str]:
        """Role to column name, of the roles that are needed."""
        others = (("label", self.label), ("weight", self.weight))
        return {
            **self.all_numbers(),
            **{role: name for role, name in others if name is not None},
            **{f"by.{name}": name for name in self.keys if name != INPUT},
            **{f"features.{each.name}": each.name for each in self.features},
        }

    def all_numbers(self) -> dict[str, str]:
        """Role to column name of the numbers, class probabilities included."""
        return {**self.numbers, **{PROBA + name: column for name, column in self.classes.items()}}

    def wanted(self) -> tuple[str, ...]:
        """Names of the columns, and the patterns that stand for some, before any input is opened."""
        patterns = [self.pattern, None if self.class_columns is None else self.class_columns.columns]
        listed = [name.strip() for each in patterns if each for name in each.split(",")]
        return (*self.columns(), *listed)

    def columns(self) -> list[str]:
        """The columns' names, each once."""
        return list(dict.fromkeys(self.named().values()))

    def without(self, role: str) -> Roles:
        """The same without one of the numbers."""
        return replace(self, numbers={key: name for key, name in self.numbers.items() if key != role})


def _in_order(roles: Roles) -> list[object]:
    """All fields; of mappings the pairs, since mappings are equal in any order."""
    values = (getattr(roles, each.name) for each in fields(roles))
    return [tuple(each.items()) if isinstance(each, Mapping) else each for each in values]


@dataclass(frozen=True, kw_only=True)
class DataRequest:  # noqa: PLW1641 (mappings in it cannot be hashed)
    """Rows to read.

    Attributes
    ----------
    inputs
        INPUT arguments in order: together they are one table.
    roles
        The columns that are needed.
    positive_value
        Text of the positive label, or None for 0/1 and true/false.
    engine
        What reads them.
    spark
        Address of the cluster for the engine that needs one; None for what the environment says.
    frame
        A data frame of shape (rows, columns) that is read instead of the inputs, as if it were a Parquet
        file.
    """

    inputs: tuple[str, ...]
    roles: Roles = field(default_factory=lambda: Roles(numbers={}))
    read: ReadOptions = ReadOptions()
    on_invalid: OnInvalid = defaults.ON_INVALID
    positive_value: str | None = None
    engine: EngineName = defaults.ENGINE
    spark: str | None = None
    frame: pl.DataFrame | None = field(default=None, compare=False)

    def without(self, role: str) -> DataRequest:
        """The same without one of the numbers."""
        return replace(self, roles=self.roles.without(role))

    def grouped_by(self, column: str | None) -> DataRequest:
        """The same with a column whose text tells groups apart, if one is given."""
        return replace(self, roles=replace(self.roles, keys=() if column is None else (column,)))

    def on(self, inputs: Inputs) -> DataRequest:
        """The same asked of other inputs."""
        if isinstance(inputs, tuple):
            return replace(self, inputs=inputs, frame=None)
        return replace(self, inputs=(), frame=inputs)

    def __eq__(self, other: object) -> bool:
        """Whether the same is asked of the same inputs; frames are the same where they are one object."""
        if not isinstance(other, DataRequest):
            return NotImplemented
        names = [each.name for each in fields(self) if each.compare]
        same = all(getattr(self, name) == getattr(other, name) for name in names)
        return same and self.frame is other.frame


def listing(columns: Sequence[str]) -> str:
    """Some names, and how many more there are."""
    shown = ", ".join(columns[:12])
    return f"{shown} and {len(columns) - 12} more" if len(columns) > 12 else shown
