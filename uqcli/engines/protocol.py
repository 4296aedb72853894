"""What every engine does, and the requests it takes.

An engine turns files into checked counts and streams files through a saved model. Jobs see this
protocol only, so another engine gives the same answers by passing the same tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from uqcli.choices import FileFormat, OnInvalid
from uqcli.counts import Bools, Feature, Floats, Ints
from uqcli.engines.checks import CheckedRows
from uqcli.engines.columns import Roles
from uqcli.engines.inputs import ReadOptions
from uqcli.files import Held


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
        Positive ones among them; None where labels name classes.
    dropped
        Rows left out by ``--on-invalid drop``.
    columns
        Role to column name.
    """

    rows: int
    positives: int | None
    dropped: int
    columns: dict[str, str]


ColumnType = Literal["bool", "int64", "float64", "labels"]
"""``labels`` is a list of texts: computed as a mask of shape (rows, number of ``AddedColumns.labels``)."""


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Rows told apart by the text of a column.

    Attributes
    ----------
    names
        The texts, sorted.
    number : int64, shape (n,)
        Position of each row's text among them.
    """

    names: tuple[str, ...]
    number: Ints


@dataclass(frozen=True, kw_only=True)
class LabelledRows:
    """All rows of the inputs as arrays: checked, finite, without negative zeros.

    Attributes
    ----------
    numbers : float64, shape (n,), by role
    positive : bool, shape (n,), or None where labels name classes
    label_class : int64, shape (n,), or None where labels are positive or not
        Position among ``classes``.
    weight : int64, shape (n,), or None for 1 each
    groups, features
        By column.
    unnormalised
        The farthest from 1 that the class probabilities of a row add up to.
    """

    numbers: Mapping[str, Floats]
    positive: Bools | None
    label_class: Ints | None
    classes: tuple[str, ...]
    weight: Ints | None
    groups: Mapping[str, Groups]
    features: Mapping[str, Feature]
    unnormalised: float
    facts: SourceFacts


@dataclass(frozen=True, kw_only=True)
class AddedColumns:
    """What a model adds to every row.

    Attributes
    ----------
    types
        Name, prefix included, to type, in the order they are added.
    labels
        The texts that lists are made of.
    compute
        From checked rows to arrays of shape (rows,) by name; what it gives for rows that are not valid
        means nothing.
    """

    types: Mapping[str, ColumnType]
    labels: tuple[str, ...] = ()
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
    held
        Where a regular file waits for its commit; None lets it take its place at once.
    """

    data: DataRequest
    added: AddedColumns
    output: str
    output_format: FileFormat | None = None
    overwrite: bool = False
    union: bool = False
    held: Held | None = None


@dataclass(frozen=True, kw_only=True)
class ApplyFacts:
    """What was written: rows, true values added, rows dropped, and rows kept with nulls added."""

    rows: int
    selected: int
    dropped: int
    undecided: int


class CheckedBatches(Protocol):
    """Usable rows in order; all attributes are known once the iteration is over.

    Attributes
    ----------
    roles
        With the columns that patterns matched: known from the first batch on.
    dropped
        Rows left out.
    levels
        Column to the numbers of its groups' texts.
    unnormalised
        See ``LabelledRows``.
    """

    roles: Roles
    dropped: int
    levels: Mapping[str, Mapping[str, int]]
    unnormalised: float

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
