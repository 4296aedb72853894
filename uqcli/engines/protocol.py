"""What every engine does, and the requests it takes.

An engine turns files into checked counts and streams files through a saved model. Jobs see this
protocol only, so another engine gives the same answers by passing the same tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from uqcli.choices import FileFormat, OnInvalid
from uqcli.counts import Bools, Floats, Ints
from uqcli.engines.checks import CheckedRows
from uqcli.engines.columns import Roles
from uqcli.engines.inputs import ReadOptions


@dataclass(frozen=True, kw_only=True)
class DataRequest:
    """Rows to read.

    Attributes
    ----------
    inputs
        INPUT arguments in order: together they are one table.
    roles
        The columns that are needed.
    positive_value
        Text of the positive label, or None for 0/1 and true/false.
    """

    inputs: tuple[str, ...]
    roles: Roles
    read: ReadOptions = ReadOptions()
    on_invalid: OnInvalid = OnInvalid.ERROR
    positive_value: str | None = None


@dataclass(frozen=True, kw_only=True)
class SourceFacts:
    """What was read.

    Attributes
    ----------
    rows
        Rows that were used, each counted once whatever its weight.
    positives
        Positive ones among them.
    dropped
        Rows left out by ``--on-invalid drop``.
    columns
        Role to column name.
    """

    rows: int
    positives: int
    dropped: int
    columns: dict[str, str]


ColumnType = Literal["bool", "int64", "float64"]


@dataclass(frozen=True, kw_only=True)
class LabelledRows:
    """All rows of the inputs as arrays: checked, finite, without negative zeros."""

    score: Floats
    uncertainty: Floats | None
    positive: Bools
    weight: Ints | None
    facts: SourceFacts


@dataclass(frozen=True, kw_only=True)
class AddedColumns:
    """What a model adds to every row.

    Attributes
    ----------
    types
        Name, prefix included, to type, in the order they are added.
    compute
        From checked rows to arrays of shape (rows,) by name; what it gives for rows that are not valid
        means nothing.
    """

    types: Mapping[str, ColumnType]
    compute: Callable[[CheckedRows], Mapping[str, Bools | Ints | Floats]]


@dataclass(frozen=True, kw_only=True)
class ApplyRequest:
    """Files to stream through a model.

    Attributes
    ----------
    data
        Rows to read; no label is needed.
    added
        The columns to add.
    output
        Path, or ``-`` for standard output.
    output_format
        None means what the output's name says.
    overwrite
        Whether existing columns of those names are replaced.
    union
        Whether inputs may differ in other columns.
    """

    data: DataRequest
    added: AddedColumns
    output: str
    output_format: FileFormat | None = None
    overwrite: bool = False
    union: bool = False


@dataclass(frozen=True, kw_only=True)
class ApplyFacts:
    """What was written: rows, true values added, rows dropped, and rows kept with nulls added."""

    rows: int
    selected: int
    dropped: int
    undecided: int


class CheckedBatches(Protocol):
    """Usable rows in order; ``dropped`` counts the others once the iteration is over."""

    dropped: int

    def __iter__(self) -> Iterator[CheckedRows]:
        """Read batch by batch."""


class Engine(Protocol):
    """Reads and counts."""

    def labelled_rows(self, request: DataRequest) -> LabelledRows:
        """Read everything that a fit needs."""

    def checked_batches(self, request: DataRequest) -> CheckedBatches:
        """Stream checked rows in order, for counting."""

    def apply(self, request: ApplyRequest) -> ApplyFacts:
        """Stream files through a model, keeping order and other columns."""
