"""What every engine does: five verbs, of which a job asks for the least it needs.

``pooled``, ``edges`` and ``counted`` of a table turn files into checked counts; ``rows`` hands out single
rows to what cannot do with counts; ``stream`` sends files through a saved model. Jobs see this protocol
only, so another engine gives the same answers by passing the same tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from uqcli.choices import FileFormat
from uqcli.counts import Bools, Feature, Floats, Ints, RangeCounts, ValueCounts
from uqcli.engines.request import DataRequest, Roles
from uqcli.files import Held

if TYPE_CHECKING:
    import polars as pl


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


@dataclass(frozen=True, kw_only=True)
class CheckedRows:
    """Checked values of one batch; every array has a value for every row.

    Attributes
    ----------
    valid : bool, shape (rows,)
        Rows whose needed values can be used; values in other rows mean nothing.
    numbers : float64, by role
    positive : bool; label_class, weight : int64
        None where the role was not asked for; labels are positive or not, or name a class.
    keys : int64, by column
        Number of each row's group, in the order of the checker's ``levels``.
    features : float64, by column
        As in ``Feature``, of features whose levels are known.
    raw
        Columns of the other features.
    first_row
        Position of the batch's first row over all inputs.
    kept : int64, shape (rows,), or None
        Positions in the batch of rows that were not left out; None for all.
    """

    valid: Bools
    numbers: Mapping[str, Floats]
    positive: Bools | None
    label_class: Ints | None
    weight: Ints | None
    keys: Mapping[str, Ints]
    features: Mapping[str, Floats]
    raw: Mapping[str, pl.Series]
    first_row: int
    kept: Ints | None = None

    @property
    def position(self) -> Ints:
        """Positions of the rows over all inputs."""
        return self.first_row + (np.arange(len(self.valid)) if self.kept is None else self.kept)

    @property
    def score(self) -> Floats:
        """The score of every row."""
        return self.numbers["score"]

    @property
    def uncertainty(self) -> Floats | None:
        """The uncertainty of every row, where it was asked for."""
        return self.numbers.get("uncertainty")

    def usable(self) -> CheckedRows:
        """The valid rows only."""
        mask = self.valid
        if mask.all():
            return self
        return CheckedRows(
            valid=mask[mask],
            numbers={role: value[mask] for role, value in self.numbers.items()},
            positive=None if self.positive is None else self.positive[mask],
            label_class=None if self.label_class is None else self.label_class[mask],
            weight=None if self.weight is None else self.weight[mask],
            keys={column: value[mask] for column, value in self.keys.items()},
            features={column: value[mask] for column, value in self.features.items()},
            raw=_only(self.raw, mask),
            first_row=self.first_row,
            kept=np.flatnonzero(mask) if self.kept is None else self.kept[mask],
        )


def _only(columns: Mapping[str, pl.Series], mask: Bools) -> Mapping[str, pl.Series]:
    import polars as pl

    return {name: column.filter(pl.Series(mask)) for name, column in columns.items()}


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
    weight: Ints | None
    facts: SourceFacts
    label_class: Ints | None = None
    classes: tuple[str, ...] = ()
    groups: Mapping[str, Groups] = field(default_factory=dict)
    features: Mapping[str, Feature] = field(default_factory=dict)
    unnormalised: float = 0.0


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


Unsettled = Callable[[Sequence[RangeCounts]], Sequence[Bools]]
"""From counts of ranges to a mask over each: the ranges inside which an answer still lies."""


class Table(Protocol):
    """The rows of a request, counted as often as is asked; only roles of numbers and a label of two classes.

    Uncertainty edges have shape (K-1,) and make K bins (see ``counts.Cells``); without any there is one.
    """

    @property
    def facts(self) -> SourceFacts:
        """What was read."""

    def edges(self, role: str, ranks: Callable[[int], Ints]) -> ValueCounts:
        """Counts of a column, exact at some ranks.

        Parameters
        ----------
        ranks
            From the number of rows to 0-based ranks.
        """

    def counted(self, by: Floats, unsettled: Unsettled) -> tuple[RangeCounts, ...]:
        """Counts of the scores in each uncertainty bin, and last of all rows together.

        Parameters
        ----------
        unsettled
            Is given the counts so far and asked until it names no range: these are then exact.
        """

    def pooled(self, by: Floats) -> tuple[ValueCounts, ...]:
        """Exact tie-pooled counts of the scores in each uncertainty bin."""

    def isotonic(self, by: Floats) -> tuple[ValueCounts, ...]:
        """Blocks of the isotonic fit to the scores of each uncertainty bin, and last of all rows.

        Each block stands at its first score.
        """

    def rows(self) -> LabelledRows:
        """Every row of positive weight, in any order, for what cannot do with counts."""


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

    def table(self, request: DataRequest) -> Table:
        """Rows to be counted; nothing is read before the first question."""

    def rows(self, request: DataRequest) -> LabelledRows:
        """Read everything that a fit needs."""

    def batches(self, request: DataRequest) -> CheckedBatches:
        """Stream checked rows in order, for counting."""

    def stream(self, request: ApplyRequest) -> ApplyFacts:
        """Stream files through a model, keeping order and other columns."""
