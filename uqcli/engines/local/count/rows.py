"""Rows to count: parts in memory, and rows beyond them that every pass reads again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeVar

import numpy as np

from uqcli.base.counts import Ints
from uqcli.base.running.concurrency import parallel_map
from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.local.count.keys import ColumnSummary, least_keys
from uqcli.engines.local.count.part import Division, Part
from uqcli.engines.protocol import ALL_ROWS, Partition, SourceSummary
from uqcli.engines.request import DataRequest
from uqcli.kernels.keys import keys_of

R = TypeVar("R")


class CountableRows(ABC):
    """Rows of positive weight of a request, or of some of its groups.

    Attributes
    ----------
    request
        Request of all rows.
    only
        Group text of each key column that the rows are limited to.
    beyond
        Number of rows that are not in memory; known after ``read``.
    """

    request: DataRequest
    only: Mapping[str, str]
    beyond: int
    _parts: list[Part]
    _by: Partition

    @property
    def summary(self) -> SourceSummary:
        """Summary of the rows read."""
        return self.read().summary_of(self.only)

    @property
    def size(self) -> int:
        """Number of rows, unweighted."""
        self.read()
        return self.beyond + sum(part.rows for part in self._parts)

    @property
    @abstractmethod
    def keeps_uncertainty(self) -> bool:
        """Whether parts keep the uncertainty after they are divided by it."""

    @abstractmethod
    def read(self) -> LocalBatches:
        """Read and check all rows, once."""

    @abstractmethod
    def column(self, role: str) -> ColumnSummary:
        """Return the summary of a column's values."""

    @abstractmethod
    def kept(self) -> Iterator[Part]:
        """Iterate over the parts in memory, undivided and with all columns."""

    @abstractmethod
    def remaining(self) -> Iterator[Part]:
        """Read the other rows again, in undivided parts.

        Raises
        ------
        DataError
            The rows changed since they were first read.
        """

    def undivided(self, roles: Sequence[str]) -> Iterator[Part]:
        """Iterate over all parts, which have these columns; keys of one column may differ in width."""
        return self.each(lambda part: part, roles)

    def groups(self, column: str) -> tuple[str, ...]:
        """Return the sorted group texts of a key column that occur in the rows."""
        return self.read().groups(column, self.only)

    def parts(self, by: Partition) -> int:
        """Return the number of parts of a partition."""
        return self.division(by, keep=True).groups

    def each(self, work: Callable[[Part], R], roles: Sequence[str], by: Partition = ALL_ROWS) -> Iterator[R]:
        """Map a function over all parts, in row order.

        Parameters
        ----------
        roles
            Columns that the function uses; parts may hold others.
        by
            Partition of each part's rows.

        Raises
        ------
        DataError
            The rows are unusable, or changed since they were first read.
        """
        del roles
        self.read()
        if by.divides:
            self._divide(by)
        kept = iter(self._parts) if by.divides else (part.undivided() for part in self._parts)
        if not self.beyond:
            return parallel_map(work, kept) if len(self._parts) > 1 else map(work, kept)
        division = self.division(by, keep=False)

        def divided(part: Part) -> R:
            return work(division.sort(part) if by.divides else part)

        return chain(parallel_map(work, kept), parallel_map(divided, self.remaining()))

    def division(self, by: Partition, *, keep: bool) -> Division:
        """Resolve a partition to keys and group ranks, groups sorted by text."""
        batches = self.read()
        ranks: dict[str | None, tuple[Ints, int]] = {}
        for column in by.groups:
            _, numbers = batches.ranked(column, self.only)
            rank = np.zeros(len(batches.levels[column]), dtype=np.int64)
            rank[numbers] = np.arange(len(numbers))
            ranks[column] = rank, len(numbers)
        if by.classes:
            ranks[None] = np.arange(len(batches.roles.classes)), len(batches.roles.classes)
        edges = by.edges
        keys = least_keys(edges, self.column("uncertainty").width) if len(edges) else keys_of(edges)
        return Division(edges=keys, ranks=ranks, keep=keep)

    def _divide(self, by: Partition) -> None:
        """Partition the rows in memory."""
        if by == self._by:
            return
        undivided, self._parts = [part.undivided() for part in reversed(self._parts)], []

        def each() -> Iterator[Part]:
            while undivided:
                yield undivided.pop()

        division = self.division(by, keep=self.keeps_uncertainty)
        self._parts += (map if len(undivided) == 1 else parallel_map)(division.sort, each())
        self._by = by
