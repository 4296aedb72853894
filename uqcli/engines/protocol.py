"""Engine protocol: the operations that every engine implements.

``pooled``, ``edges`` and ``range_counts`` of a table turn files into checked counts. ``rows`` returns single
rows, for methods that counts do not suffice for. ``stream`` applies a rule to files. Jobs use this protocol
only, and every engine must pass the same tests with equal results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Final, Literal, Protocol, TypeVar

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints, Matrix, RangeCounts, ValueCounts, bin_of, containing_ranks
from uqcli.base.options import RowOutput
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.running.left_out import LeftOut
from uqcli.engines.notation import Form
from uqcli.engines.request import DataRequest, Roles

FIRST_ROWS: Final = 1000
"""Rows by which columns are told apart, unless a run has failed and more are looked at."""

R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class GroupSize:
    """Unweighted numbers of usable rows of some groups: all, positive ones, and those of positive weight."""

    rows: int
    positives: int
    counted: int


@dataclass(frozen=True, kw_only=True)
class SourceSummary:
    """Summary of the rows read: unweighted numbers of usable, positive and dropped ones; column by role.

    There are no positive rows if labels are class names. All rows without a label were dropped.
    """

    rows: int
    positives: int | None
    dropped: int
    columns: dict[str, str]
    unlabelled: int = 0

    def of_groups(self, size: GroupSize) -> SourceSummary:
        """Return the summary of the rows of some groups."""
        positives = None if self.positives is None else size.positives
        return replace(self, rows=size.rows, positives=positives, dropped=0, unlabelled=0)


@dataclass(frozen=True, kw_only=True)
class ReadRows:
    """All usable rows of the inputs, with their summary.

    Groups of the rows are numbered in the order of their sorted names, by key column; clusters, which have no
    names unless they are groups as well, by ``cluster_keys``, the keys of their texts (see ``text_keys``).
    ``unnormalised`` is max |sum p - 1| over rows.
    """

    rows: Rows
    summary: SourceSummary
    classes: tuple[str, ...] = ()
    group_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cluster_keys: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    unnormalised: float = 0.0


ColumnType = Literal["bool", "int64", "float64", "labels", "text"]
"""Type of an added column; two are computed in a numeric form.

``labels`` is a list of texts, computed as a mask of shape (rows, number of ``AddedColumns.labels``). ``text``
is computed as int64 indices into the column's ``AddedColumns.texts``, of shape (rows,); -1 is null.
"""


@dataclass(frozen=True, kw_only=True)
class AddedColumns:
    """Columns that a rule adds to every row: their types by name (with prefix), in output order.

    ``labels`` are the texts of the lists, and ``texts`` those of each ``text`` column. ``compute`` is a
    function from rows, with positions and with features of known levels, to arrays of shape (rows,) by name;
    values in invalid rows are undefined. ``made_by`` is the digest of the rule, stored as file metadata if
    the format allows; empty for none.
    """

    types: Mapping[str, ColumnType]
    labels: tuple[str, ...] = ()
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    compute: Callable[[Rows], Mapping[str, Bools | Ints | Floats]]
    made_by: str = ""


@dataclass(frozen=True, kw_only=True)
class StreamRequest:
    """Request to apply a rule to files; the rows need no label.

    ``only`` is the added column of the rows that are written: those in which it is true, or not 0; None to
    write all. Rows with a number outside its closed range, by role, are counted; the score of class
    probabilities is the largest.
    """

    data: DataRequest
    added: AddedColumns
    output: RowOutput
    only: str | None = None
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class StreamSummary:
    """Counts of rows, true values added, rows dropped, and rows with nulls.

    Rows are counted whether they are written or not (``StreamRequest.only``), except dropped ones. If an
    added number selects the rows to write, ``selected`` counts them. ``texts`` counts the rows of each added
    text. ``outside`` counts the usable rows outside ``StreamRequest.ranges``, and ``unknown`` those with a
    category that the rule does not know. ``reasons`` counts unusable values by column and by what they are.
    """

    rows: int
    selected: int
    dropped: int
    undecided: int
    texts: Mapping[str, int] = field(default_factory=dict)
    outside: int = 0
    unknown: int = 0
    reasons: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @property
    def left_out(self) -> LeftOut:
        """All rows, and those that were dropped."""
        return LeftOut(rows=self.rows + self.dropped, dropped=self.dropped, reasons=self.reasons)


@dataclass(frozen=True, kw_only=True)
class Keys:
    """Columns of the inputs that can be keys, by their first rows, in the order of the inputs.

    ``dates`` hold dates or times, or texts that begin with a date such as 2026-03-31. The others hold texts
    or whole numbers.
    """

    dates: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Columns that all inputs have, in order, by their first rows, without those that an input repeats.

    Attributes
    ----------
    numeric
        Those that hold numbers, with more than two different ones if the rows can be read.
    shares
        Those of them whose numbers are from 0 to 1, and not all whole.
    binary
        Those with two values, which can be labels.
    missing
        Those in which a value is missing.
    texts
        The different texts of the columns of text that hold few.
    forms
        How the texts of columns are written.
    delimiter
        Field separator of CSV; empty for other formats.
    settings
        Options of reading that the format takes.
    """

    names: tuple[str, ...]
    numeric: tuple[str, ...]
    shares: tuple[str, ...] = ()
    binary: tuple[str, ...] = ()
    missing: frozenset[str] = frozenset()
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    forms: Mapping[str, Form] = field(default_factory=dict)
    delimiter: str = ""
    settings: frozenset[str] = frozenset()


RangeQuery = Callable[[Sequence[RangeCounts]], Sequence[Bools]]
"""Function from range counts to one mask each: the ranges that may still contain the answer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Partition:
    """Partition of the rows before counting: one part for each combination of keys.

    Keys are the groups of key columns of the request, numbered as by ``CountTable.groups``, then the classes
    of the labels if these are separated, then the uncertainty bins between the K-1 edges: a row with
    uncertainty v is in bin ``#{edges <= v}``. Parts are numbered in this order, of which the last varies
    fastest. A part may be empty.
    """

    groups: tuple[str, ...] = ()
    classes: bool = False
    edges: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def divides(self) -> bool:
        """Whether there can be more than one part."""
        return bool(self.groups) or self.classes or len(self.edges) > 0

    def __eq__(self, other: object) -> bool:
        """Whether two partitions are equal."""
        if not isinstance(other, Partition):
            return NotImplemented
        keys = (self.groups, self.classes) == (other.groups, other.classes)
        return keys and np.array_equal(self.edges, other.edges)

    def __hash__(self) -> int:
        """Compute the hash consistent with equality."""
        return hash((self.groups, self.classes, *self.edges.tolist()))


ALL_ROWS: Final = Partition()
"""All rows in one part."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """Columns of counts, by the uncertainty bin of a row and its score bin there.

    Attributes
    ----------
    uncertainty_edges : float64, shape (K-1,)
        Edges of the uncertainty bins: a row with uncertainty v is in bin ``#{edges <= v}``.
    score_edges : float64, shape (K, L-1)
        Ascending edges of the score bins of each, infinite for those that no score reaches.
    column : int64, shape (K, L)
        Column of each uncertainty bin and score bin.
    """

    uncertainty_edges: Floats
    score_edges: Matrix
    column: Ints

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.column.max()) + 1

    def of(self, rows: Rows) -> Ints:
        """Return the column of each row; int64, shape (n,)."""
        uncertainty_bin = np.zeros(len(rows), dtype=np.int64)
        if len(self.uncertainty_edges) and rows.uncertainty is not None:
            uncertainty_bin = bin_of(rows.uncertainty, self.uncertainty_edges)
        column = np.empty(len(rows), dtype=np.int64)
        for index, edges in enumerate(self.score_edges):
            inside = uncertainty_bin == index
            column[inside] = self.column[index, bin_of(rows.score[inside], edges)]
        return column


class CountTable(Protocol):
    """Counts of a request's rows, for any number of queries.

    Each query counts one numeric column: a role, or a class's probabilities. Positive rows are those with a
    positive label. With class labels there are none, and ``Partition.classes`` separates the classes. If rows
    become predictions (``Roles.predicted``), the right ones are positive. Amounts (see ``Roles``) are summed
    along with counts.
    """

    @property
    def summary(self) -> SourceSummary:
        """Summary of the rows read."""

    def groups(self, column: str) -> tuple[str, ...]:
        """Return the sorted group texts of a key column among rows of positive weight."""

    def clusters(self, column: str) -> Ints:
        """Return the keys of the texts of the key column of dependent rows, ascending (see ``text_keys``).

        They are those of rows of positive weight, of which there may be millions.
        """

    def only(self, column: str, name: str) -> CountTable:
        """Return the table of the rows of one group of a key column.

        It answers as a table of the same request on inputs that hold only these rows, none of them dropped.
        """

    def edges(
        self, role: str, ranks: Callable[[int], Ints], by: Partition = ALL_ROWS
    ) -> tuple[ValueCounts, ...]:
        """Return the counts of a column in each part, exact at 0-based ranks, given its number of rows."""
        query = partial(containing_ranks, ranks=ranks)
        return tuple(group.counts for group in self.range_counts(by, query, role)[:-1])

    def range_counts(self, by: Partition, query: RangeQuery, role: str = "score") -> tuple[RangeCounts, ...]:
        """Return the counts of a column in each part, then of all rows.

        The query is called with the counts so far until it selects no more ranges; what it selected is then
        exact.
        """

    def pooled(self, by: Partition, role: str = "score") -> tuple[ValueCounts, ...]:
        """Return the exact tie-pooled counts of a column in each part; scores of all rows are pooled once."""
        return self.pool(by, role) if by.divides or role != "score" else self._scores

    @cached_property
    def _scores(self) -> tuple[ValueCounts, ...]:
        return self.pool(ALL_ROWS, "score")

    def pool(self, by: Partition, role: str) -> tuple[ValueCounts, ...]:
        """Compute the exact tie-pooled counts of a column in each part (see ``pooled``)."""

    def isotonic(self, by: Partition) -> tuple[ValueCounts, ...]:
        """Return the isotonic blocks of the scores in each part, then of all rows.

        Each block is at its first score.
        """

    def counted(self, column: str, unit: Ints, places: Places) -> Ints:
        """Count the rows, by weight, by unit, column of places, and label; integers, (units, columns, 2).

        ``unit`` has that of each cluster of the key column of dependent rows, numbered as in ``clusters``.
        """
        rows = self._single
        sums = np.zeros((int(unit.max(initial=-1)) + 1, places.columns, 2), dtype=np.int64)
        index = unit[rows.groups[column]], places.of(rows), rows.labels.astype(np.int64)
        np.add.at(sums, index, rows.weights())
        return sums

    @cached_property
    def _single(self) -> Rows:
        return self.rows()

    def rows(self) -> Rows:
        """Return all rows of positive weight, in any order, for methods that counts do not suffice for.

        Those that depend on each other have the number of their cluster (see ``clusters``).
        """


class CheckedBatches(Protocol):
    """Iterator over usable rows; rows of files are in order and have positions.

    All attributes are known after the iteration: the roles with expanded patterns (after the first batch),
    ``levels``, and ``unnormalised`` (see ``ReadRows``).
    """

    roles: Roles
    dropped: int
    unnormalised: float

    @property
    def levels(self) -> Mapping[str, Mapping[str, int]]:
        """The group index by text for each key column."""

    @property
    def summary(self) -> SourceSummary:
        """Summary of the rows read; rows that the engine pools are each counted."""

    def __iter__(self) -> Iterator[Rows]:
        """Iterate over batches."""

    def mapped(self, work: Callable[[Rows], R]) -> Iterator[R]:
        """Map a function over batches, in several threads if the rows are here; they have no positions."""


class Engine(Protocol):
    """Reads and counts rows."""

    def expected(self, request: DataRequest) -> tuple[int, int] | None:
        """Estimate the rows of the inputs, and count their columns of class probabilities.

        None if the rows are unknown before reading, or if another machine has them.
        """

    def table(self, request: DataRequest) -> CountTable:
        """Return the table of the request's rows; nothing is read before the first query."""

    def rows(self, request: DataRequest) -> ReadRows:
        """Read all requested columns of all rows."""

    def batches(self, request: DataRequest) -> CheckedBatches:
        """Iterate over checked rows in order, for counting."""

    def columns(self, request: DataRequest, rows: int = FIRST_ROWS) -> Columns:
        """Find the columns of the inputs by the first rows, whatever the request's roles are.

        Streams must be kept.
        """

    def keys(self, request: DataRequest) -> Keys:
        """Find columns that can be keys; none where the inputs can be read only once, or on a cluster."""

    def first_rows(self, request: DataRequest, limit: int, keys: Keys) -> Rows:
        """Read the usable ones among the first rows, with groups by some of the columns that ``keys`` finds.

        Dates and times are grouped by day. Group -1 is that of rows without a value.
        """

    def digest(self, request: DataRequest) -> str:
        """Compute the SHA-256 of all bytes of the inputs in order; streams must be kept."""

    def stream(self, request: StreamRequest) -> StreamSummary:
        """Apply a rule to files, keeping row order and other columns."""
