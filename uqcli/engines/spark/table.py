"""The table of a request, on a cluster: each question answered from counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from uqcli.counts import Bools, Floats, Ints, RangeCounts, ValueCounts, merge
from uqcli.engines.protocol import SourceFacts, Unsettled
from uqcli.engines.request import DataRequest
from uqcli.engines.spark.check import CheckedFrame, checked
from uqcli.engines.spark.distinct import distinct_rows
from uqcli.engines.spark.pooling import pooled_by
from uqcli.engines.spark.ranges import count_ranges
from uqcli.engines.spark.session import runs_functions, session_of
from uqcli.kernels.pava import isotonic_sums
from uqcli.rows import Rows


class SparkTable:
    """Rows that stay on the cluster (see uqcli.engines.protocol.Table)."""

    def __init__(self, request: DataRequest, *, expressions: bool | None) -> None:
        self._request = request
        self._asked = expressions

    @cached_property
    def _checked(self) -> CheckedFrame:
        return checked(session_of(self._request.spark), self._request)

    @cached_property
    def _expressions(self) -> bool:
        if self._asked is not None:
            return self._asked
        return not runs_functions(session_of(self._request.spark))

    @property
    def facts(self) -> SourceFacts:
        """What was read."""
        return self._checked.facts

    def edges(self, role: str, ranks: Callable[[int], Ints]) -> ValueCounts:
        """Counts of a column, exact at some ranks."""

        def unsettled(counts: Sequence[RangeCounts]) -> list[Bools]:
            return [each.holding(ranks(each.rows)) for each in counts]

        return self._ranges(role, np.empty(0), unsettled)[0].counts

    def counted(self, by: Floats, unsettled: Unsettled) -> tuple[RangeCounts, ...]:
        """Counts of the scores in each uncertainty bin, and last of all rows together."""
        return self._ranges("score", by, unsettled)

    def pooled(self, by: Floats) -> tuple[ValueCounts, ...]:
        """Exact tie-pooled counts of the scores in each uncertainty bin."""
        return pooled_by(self._checked, "score", by)

    def isotonic(self, by: Floats) -> tuple[ValueCounts, ...]:
        """Blocks of the isotonic fit to the scores of each uncertainty bin, and last of all rows."""
        parts = pooled_by(self._checked, "score", by)
        return tuple(_blocks(each) for each in (*parts, merge(parts)))

    def rows(self) -> Rows:
        """Distinct rows with their weights, if they are not too many."""
        return distinct_rows(self._checked)[0]

    def _ranges(self, role: str, by: Floats, unsettled: Unsettled) -> tuple[RangeCounts, ...]:
        return count_ranges(self._checked, role, by, unsettled, expressions=self._expressions)


def _blocks(counts: ValueCounts) -> ValueCounts:
    if len(counts.value) == 0:
        return counts
    first, count, positives = isotonic_sums(counts.positives, counts.count)
    return ValueCounts(value=counts.value[first], count=count, positives=positives)
