"""Fitted calibration maps as plain structs, saved in rule files and able to predict.

A map reads scores on one of two scales: probabilities in [0, 1], or real scores such as logits. The interface
is in ``base``.
"""

from __future__ import annotations

from uqcli.calibrate.maps.base import FeatureColumn
from uqcli.calibrate.maps.classes import ClassLinearMap, ClassTemperatureMap, OneVsRestMap
from uqcli.calibrate.maps.formulas import BetaMap, LogisticMap
from uqcli.calibrate.maps.heterogeneous import GroupsMap, TreesMap
from uqcli.calibrate.maps.histogram import ClassHistogramMap, HistogramMap
from uqcli.calibrate.maps.isotonic import IsotonicMap, UncertaintyMap, VennAbersMap
from uqcli.calibrate.maps.score_map import IdentityMap, ScoreMap
from uqcli.calibrate.maps.spline import SplineMap
from uqcli.calibrate.maps.surface import SurfaceMap

__all__ = [
    "BetaMap",
    "CalibrationMap",
    "ClassHistogramMap",
    "ClassLinearMap",
    "ClassMap",
    "ClassTemperatureMap",
    "FeatureColumn",
    "GroupsMap",
    "HistogramMap",
    "IdentityMap",
    "IsotonicMap",
    "LogisticMap",
    "OneVsRestMap",
    "SplineMap",
    "SurfaceMap",
    "TreesMap",
    "UncertaintyMap",
    "VennAbersMap",
]

CalibrationMap = ScoreMap | UncertaintyMap | SurfaceMap | TreesMap | GroupsMap
"""Map from a score, and possibly other columns, to the probability of the positive label."""

ClassMap = ClassTemperatureMap | ClassLinearMap | OneVsRestMap | ClassHistogramMap
"""Map from class probabilities to calibrated class probabilities."""
