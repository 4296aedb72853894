"""Request of ``uqcli uncertainty``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base.options import RowOutput, filled, option
from uqcli.base.records import dataclass

if TYPE_CHECKING:
    from uqcli.engines.request import DataRequest


@dataclass(frozen=True, kw_only=True)
class UncertaintyRequest:
    """Columns from which scores and uncertainties are computed: Beta parameters, or ensemble members."""

    panel: ClassVar = "Model"

    alpha1: str | None = option("COL", "Beta parameter of the positive class (with --alpha0).", common=True)
    alpha0: str | None = option("COL", "Beta parameter of the negative class (with --alpha1).", common=True)
    members: str | None = option("PATTERN", 'Ensemble members\' probabilities: "m_*", or a,b,c.', common=True)
    data: DataRequest = filled()
    output: RowOutput = RowOutput()
