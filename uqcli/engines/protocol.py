"""What every engine does: five verbs, of which a job asks for the least it needs.

``pooled``, ``edges`` and ``counted`` of a table turn files into checked counts; ``rows`` hands out single
rows to what cannot do with counts; ``stream`` sends files through a saved model. Jobs see this protocol
only, so another engine gives the same answers by passing the same tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

import numpy as np

from uqcli.choices import FileFormat
from uqcli.counts import Bools, Floats, Ints, RangeCounts, ValueCounts
from uqcli.engines.request import DataRequest, Roles
from uqcli.files import STDIO, Held
from uqcli.rows import Rows


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
    unlabelled
        Rows without a label, all of which were left out.
    """

    rows: int
    positives: int | None
    dropped: int
    columns: dict[str, str]
    unlabelled: int = 0


@dataclass(frozen=True, kw_only=True)
class ReadRows:
    """All usable rows of the inputs, and what there is to know of them.

    Attributes
    ----------
    rows
        With the groups numbered by name.
    classes
        Names of the classes that labels name.
    group_names
        Column to the sorted texts of its groups.
    unnormalised
        The farthest from 1 that the class probabilities of a row add up to.
    """

    rows: Rows
    facts: SourceFacts
    classes: tuple[str, ...] = ()
    group_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unnormalised: float = 0.0


ColumnType = Literal["bool", "int64", "float64", "labels"]
"""``labels`` is a list of texts: computed as a mask of shape (rows, number of ``AddedColumns.labels``)."""


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
        From rows with features whose levels are known, and their positions, to arrays of shape (rows,) by
        name; what it gives for rows that are not valid means nothing.
    made_by
        Digest of the model, kept beside the rows where a format can; empty for none.
    """

    types: Mapping[str, ColumnType]
    labels: tuple[str, ...] = ()
    compute: Callable[[Rows], Mapping[str, Bools | Ints | Floats]]
    made_by: str = ""


@dataclass(frozen=True, kw_only=True)
class Destination:
    """Where rows go.

    Attributes
    ----------
    place
        Path, or ``-`` for standard output.
    file_format
        None means what the place's name says.
    held
        Where a regular file waits for its commit; None lets it take its place at once.
    """

    place: str = STDIO
    file_format: FileFormat | None = None
    held: Held | None = None


@dataclass(frozen=True, kw_only=True)
class StreamRequest:
    """Files to stream through a model.

    Attributes
    ----------
    data
        Rows to read; no label is needed.
    added
        The columns to add.
    overwrite
        Whether existing columns of those names are replaced.
    union
        Whether inputs may differ in other columns.
    """

    data: DataRequest
    added: AddedColumns
    output: Destination
    overwrite: bool = False
    union: bool = False


@dataclass(frozen=True, kw_only=True)
class StreamFacts:
    """What was written: rows, true values added, rows dropped, and rows kept with nulls added."""

    rows: int
    selected: int
    dropped: int
    undecided: int


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What inputs seem to hold, before they are read.

    Attributes
    ----------
    rows
        About how many.
    classes
        Columns of class probabilities.
    """

    rows: int
    classes: int


Unsettled = Callable[[Sequence[RangeCounts]], Sequence[Bools]]
"""From counts of ranges to a mask over each: the ranges inside which an answer still lies."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Partition:
    """How a table's rows are divided before they are counted: a part for each combination of keys.

    Parts are numbered by the group of each column in turn, then by class, then by uncertainty bin, the last
    running fastest; a part may have no rows.

    Attributes
    ----------
    groups
        Columns among the request's keys; their groups are numbered as in ``Table.groups``.
    classes
        Whether the classes that labels name are apart.
    edges : float64, shape (K-1,)
        Where the uncertainty is cut: a row with uncertainty v is in bin ``#{edges <= v}``.
    """

    groups: tuple[str, ...] = ()
    classes: bool = False
    edges: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def divides(self) -> bool:
        """Whether there may be more than one part."""
        return bool(self.groups) or self.classes or len(self.edges) > 0

    def __eq__(self, other: object) -> bool:
        """Whether rows are divided alike."""
        if not isinstance(other, Partition):
            return NotImplemented
        keys = (self.groups, self.classes) == (other.groups, other.classes)
        return keys and np.array_equal(self.edges, other.edges)

    def __hash__(self) -> int:
        """Equal for those that divide alike."""
        return hash((self.groups, self.classes, *self.edges.tolist()))


WHOLE: Final = Partition()
"""All rows in one part."""


class Table(Protocol):
    """The rows of a request, counted as often as is asked.

    Counts are of one column of numbers: a role, or a class's probabilities. Positive rows are those with a
    positive label; of labels that name classes none is, and ``Partition.classes`` tells them apart. Amounts
    (see ``Roles``) are summed beside counts.
    """

    @property
    def facts(self) -> SourceFacts:
        """What was read."""

    def groups(self, column: str) -> tuple[str, ...]:
        """The texts of a key that rows of positive weight have, sorted."""

    def edges(
        self, role: str, ranks: Callable[[int], Ints], by: Partition = WHOLE
    ) -> tuple[ValueCounts, ...]:
        """Counts of a column in each part, exact at some ranks.

        Parameters
        ----------
        ranks
            From the number of rows of a part to 0-based ranks.
        """

    def counted(self, by: Partition, unsettled: Unsettled, role: str = "score") -> tuple[RangeCounts, ...]:
        """Counts of a column in each part, and last of all rows together.

        Parameters
        ----------
        unsettled
            Is given the counts so far and asked until it names no range: these are then exact.
        """

    def pooled(self, by: Partition, role: str = "score") -> tuple[ValueCounts, ...]:
        """Exact tie-pooled counts of a column in each part."""

    def isotonic(self, by: Partition) -> tuple[ValueCounts, ...]:
        """Blocks of the isotonic fit to the scores of each part, and last of all rows.

        Each block stands at its first score.
        """

    def rows(self) -> Rows:
        """Every row of positive weight, in any order, for what cannot do with counts."""


class CheckedBatches(Protocol):
    """Usable rows; those of single files are in order and have positions.

    All attributes are known once the iteration is over.

    Attributes
    ----------
    roles
        With the columns that patterns matched: known from the first batch on.
    dropped
        Rows left out.
    levels
        Column to the numbers of its groups' texts.
    unnormalised
        See ``ReadRows``.
    """

    roles: Roles
    dropped: int
    levels: Mapping[str, Mapping[str, int]]
    unnormalised: float

    @property
    def facts(self) -> SourceFacts:
        """What was read: of an engine that gives equal rows as one, each of them counts."""

    def __iter__(self) -> Iterator[Rows]:
        """Read batch by batch."""


class Engine(Protocol):
    """Reads and counts."""

    def expected(self, request: DataRequest) -> Expected | None:
        """About how much there is; None where only reading tells, or another machine holds it."""

    def table(self, request: DataRequest) -> Table:
        """Rows to be counted; nothing is read before the first question."""

    def rows(self, request: DataRequest) -> ReadRows:
        """Read everything that a fit needs."""

    def batches(self, request: DataRequest) -> CheckedBatches:
        """Stream checked rows in order, for counting."""

    def digest(self, request: DataRequest) -> str:
        """SHA-256 of all bytes of the inputs, one after the other; streams must be kept."""

    def stream(self, request: StreamRequest) -> StreamFacts:
        """Stream files through a model, keeping order and other columns."""
