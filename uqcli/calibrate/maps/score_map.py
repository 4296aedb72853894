"""Maps of the score only, which are also the components of other maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Floats, ValueCounts
from uqcli.calibrate.maps.base import BaseScoreMap, FittedMap, formula_table
from uqcli.calibrate.maps.formulas import BetaMap, LogisticMap
from uqcli.calibrate.maps.histogram import HistogramMap
from uqcli.calibrate.maps.isotonic import IsotonicMap, VennAbersMap
from uqcli.calibrate.maps.spline import SplineMap
from uqcli.calibrate.scale import Scale
from uqcli.reports.document import Table
from uqcli.rules.expressions import Expression

if TYPE_CHECKING:
    from uqcli.calibrate.fit_options import CalibrationOptions


class IdentityMap(BaseScoreMap, frozen=True, kw_only=True, tag_field="map", tag="identity"):
    """The corrected score as a probability."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset(
        {CalibrationMethod.PRIOR, CalibrationMethod.IDENTITY}
    )

    @classmethod
    def fit(cls, counts: ValueCounts, options: CalibrationOptions) -> FittedMap:
        """See BaseScoreMap."""
        del counts, options
        return FittedMap(map=cls())

    def contradiction(self) -> str:
        """See BaseMap."""
        return ""

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        return scale.probability(corrected)

    def expression(self, corrected: Expression, scale: Scale) -> Expression:
        """See BaseScoreMap."""
        return scale.exported_probability(corrected)

    def formula(self) -> str:
        """See BaseScoreMap."""
        return "the score itself"

    def tables(self, undersampled: float) -> list[Table]:
        """Tabulate the correction, if any."""
        corrected = undersampled > 1
        return [formula_table(f"the odds divided by {undersampled:g}" if corrected else self.formula())]


ScoreMap = LogisticMap | BetaMap | SplineMap | IsotonicMap | VennAbersMap | HistogramMap | IdentityMap
