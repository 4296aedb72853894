"""Net benefit of a boundary at the odds of its constraint, and the difference of two."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from uqcli.base.records import dataclass
from uqcli.evaluate.report import points_cell
from uqcli.evaluate.statements import MoreRate


@dataclass(frozen=True, kw_only=True)
class NetBenefit(MoreRate):
    """Net benefit; UNKNOWN if the odds are infinite, hence None."""

    odds: Fraction | None


class BenefitDifference(MoreRate):
    """Net benefit of a second rule less that of a first."""

    def cells(self, *, brief: bool) -> Mapping[str, str]:
        return {self.row: points_cell(self.estimate, brief=False)}
