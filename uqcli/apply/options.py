"""Request of ``uqcli apply``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base import defaults
from uqcli.base.options import RowOutput, filled, flag, option
from uqcli.base.records import dataclass
from uqcli.rules.columns import ColumnOverrides

if TYPE_CHECKING:
    from uqcli.engines.request import DataRequest
    from uqcli.reports.checks import Check


@dataclass(frozen=True, kw_only=True)
class ApplyRequest:
    """Request to apply a rule.

    The columns of the rows are those of the rule, unless given in ``columns``. The names of the checks are
    validated before any row is written.
    """

    panel: ClassVar = "Output"

    no_empty: bool = flag("Put the likeliest class into empty prediction sets (raises coverage).")
    only_selected: bool = flag("Write only the flagged rows (boundaries).", common=True)
    top: int | None = option(
        "N",
        "Flag the N highest-ranked rows instead of using thresholds.",
        min=1,
        max=defaults.MAX_ROWS,
        common=True,
    )
    per: str | None = option(
        "COL", "With --top: flag N rows of each value of this column, or of each date of times.", common=True
    )
    data: DataRequest = filled()
    artifact: str = filled()
    output: RowOutput = RowOutput()
    columns: ColumnOverrides = ColumnOverrides()
    checks: tuple[Check, ...] = ()
