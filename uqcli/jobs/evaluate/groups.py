"""Results of a rule by group: counts of groups, and exact tests of the bound on each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from uqcli import defaults
from uqcli.counts import Ints
from uqcli.document import Estimate, Metrics, in_order
from uqcli.methods.evaluate.groups import BoundedRate
from uqcli.methods.multiple import holm
from uqcli.reports.evaluate.groups import EvaluatedGroup, GroupEvaluation


class GroupTally:
    """Sums of several columns by group; groups are numbered in the order in which they are first seen."""

    def __init__(self, columns: int) -> None:
        self.sums: Ints = np.zeros((0, columns), dtype=np.int64)

    def add(self, group: Ints, *columns: Ints) -> None:
        """Add the values of rows to their groups; int64 arrays, shape (rows,)."""
        if len(group):
            self._reach(group)
            np.add.at(self.sums, group, np.stack(columns, axis=1))

    def add_at(self, group: Ints, column: Ints, value: Ints) -> None:
        """Add a value of each row to a column of its group; int64 arrays, shape (rows,)."""
        if len(group):
            self._reach(group)
            np.add.at(self.sums, (group, column), value)

    def _reach(self, group: Ints) -> None:
        """Make room for the groups."""
        missing = int(group.max()) + 1 - len(self.sums)
        if missing > 0:
            self.sums = np.pad(self.sums, ((0, missing), (0, 0)))

    def of_names(self, levels: Mapping[str, int]) -> dict[str, list[int]]:
        """Return the sums by name, without groups whose first column is 0."""
        sums = {name: self.sums[index].tolist() for name, index in levels.items() if index < len(self.sums)}
        return {name: sums[name] for name in in_order(sums) if sums[name][0]}


@dataclass(frozen=True, kw_only=True)
class GroupResult:
    """Results of a group before the tests of all groups are corrected.

    Attributes
    ----------
    rate
        Rate that is tested, and its estimate; None if there is none.
    has_target
        Whether the rule has a target for the group.
    reason
        Why no group is tested; empty if groups are.
    """

    rows: int
    metrics: Metrics
    cells: tuple[str, ...]
    rate: tuple[BoundedRate, Estimate] | None = None
    has_target: bool = True
    reason: str = ""

    def untested(self) -> str:
        """Return the reason why the group is not tested."""
        if not self.has_target:
            return "without a rule of their own, not tested"
        if self.reason:
            return f"not tested, since {self.reason}"
        if self.rows < defaults.MIN_GROUP_ROWS:
            return f"too small to test (below {defaults.MIN_GROUP_ROWS} rows)"
        return "not tested, since no row counts for the target"


def group_evaluation(
    by: str,
    results: Mapping[str, GroupResult],
    header: tuple[str, ...],
    bound: str,
    level: float,
    *,
    labels_missing: bool = False,
) -> GroupEvaluation:
    """Test the bound in each group that is large enough, at one level for all (Holm)."""
    p_values = {}
    for name, result in results.items():
        p_value = None if result.rate is None else result.rate[0].p_value()
        if p_value is not None and result.rows >= defaults.MIN_GROUP_ROWS:
            p_values[name] = p_value
    adjusted = holm(p_values)
    groups = [
        EvaluatedGroup(
            name=name,
            rows=result.rows,
            metrics=result.metrics,
            cells=result.cells,
            rate=None if result.rate is None else result.rate[1],
            p_value=adjusted.get(name),
            unadjusted=p_values.get(name),
            untested="" if name in adjusted else result.untested(),
            detectable=result.rate[0].detectable(level / len(adjusted))
            if result.rate is not None and name in adjusted
            else None,
        )
        for name, result in results.items()
    ]
    bounds = [float(result.rate[0].bound) for result in results.values() if result.rate is not None]
    return GroupEvaluation(
        by=by,
        groups=tuple(groups),
        header=header,
        bound=bound,
        target=bounds[0] if bounds else None,
        level=level,
        min_rows=defaults.MIN_GROUP_ROWS,
        labels_missing=labels_missing,
    )
