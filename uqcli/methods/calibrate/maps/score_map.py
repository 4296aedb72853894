"""Maps of the score only, which are also the components of other maps."""

from __future__ import annotations

from uqcli.methods.calibrate.maps.beta import BetaMap
from uqcli.methods.calibrate.maps.histogram import HistogramMap
from uqcli.methods.calibrate.maps.identity import IdentityMap
from uqcli.methods.calibrate.maps.isotonic import IsotonicMap
from uqcli.methods.calibrate.maps.logistic import LogisticMap
from uqcli.methods.calibrate.maps.spline import SplineMap
from uqcli.methods.calibrate.maps.venn_abers import VennAbersMap

ScoreMap = LogisticMap | BetaMap | SplineMap | IsotonicMap | VennAbersMap | HistogramMap | IdentityMap
