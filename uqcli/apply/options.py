"""Request of ``uqcli apply``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base.options import FirstRowsOptions, RowOutput, filled, flag
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
    data: DataRequest = filled()
    artifact: str = filled()
    first: FirstRowsOptions = FirstRowsOptions()
    output: RowOutput = RowOutput()
    columns: ColumnOverrides = ColumnOverrides()
    checks: tuple[Check, ...] = ()
