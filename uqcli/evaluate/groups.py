"""Results of a rule by group: counts of groups, and exact tests of the bound on each."""

from __future__ import annotations

from collections.abc import Mapping

from uqcli.base import defaults
from uqcli.base.records import dataclass
from uqcli.estimates.bounded_rates import BoundedRate
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.multiple import holm
from uqcli.evaluate.groups_report import EvaluatedGroup, GroupEvaluation
from uqcli.reports.document import Metrics


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
    units
        What rows of the group depend on each other within; empty if they are independent.
    """

    rows: int
    metrics: Metrics
    cells: tuple[str, ...]
    rate: tuple[BoundedRate, Estimate] | None = None
    has_target: bool = True
    reason: str = ""
    units: str = ""

    def untested(self) -> str:
        """Return the reason why the group is not tested."""
        if not self.has_target:
            return "without a rule of their own, not tested"
        if self.reason:
            return f"not tested, since {self.reason}"
        if self.rows < defaults.MIN_GROUP_ROWS:
            return f"too small to test (below {defaults.MIN_GROUP_ROWS} rows)"
        if self.units and self.rate is not None and self.rate[0].trials:
            return f"not tested, since too few {self.units} have rows that count for the target"
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
