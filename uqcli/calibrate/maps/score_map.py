"""Maps of the score only, which are also the components of other maps."""

from __future__ import annotations

from uqcli.calibrate.maps.beta import BetaMap
from uqcli.calibrate.maps.histogram import HistogramMap
from uqcli.calibrate.maps.identity import IdentityMap
from uqcli.calibrate.maps.isotonic import IsotonicMap
from uqcli.calibrate.maps.logistic import LogisticMap
from uqcli.calibrate.maps.spline import SplineMap
from uqcli.calibrate.maps.venn_abers import VennAbersMap

ScoreMap = LogisticMap | BetaMap | SplineMap | IsotonicMap | VennAbersMap | HistogramMap | IdentityMap
