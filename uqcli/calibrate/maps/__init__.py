"""Fitted calibration maps as plain structs, saved in rule files and able to predict.

A map reads scores on one of two scales: probabilities in [0, 1], or real scores such as logits. The interface
is in ``base``. numpy is imported on demand, since describing a rule does not need it.
"""

from __future__ import annotations

from uqcli.calibrate.maps.beta import BetaMap
from uqcli.calibrate.maps.by_uncertainty import UncertaintyMap
from uqcli.calibrate.maps.class_histogram import ClassHistogramMap
from uqcli.calibrate.maps.class_linear import ClassLinearMap
from uqcli.calibrate.maps.class_temperature import ClassTemperatureMap
from uqcli.calibrate.maps.groups import GroupsMap
from uqcli.calibrate.maps.histogram import HistogramMap
from uqcli.calibrate.maps.identity import IdentityMap
from uqcli.calibrate.maps.isotonic import IsotonicMap
from uqcli.calibrate.maps.logistic import LogisticMap
from uqcli.calibrate.maps.one_vs_rest import OneVsRestMap
from uqcli.calibrate.maps.score_map import ScoreMap
from uqcli.calibrate.maps.spline import SplineMap
from uqcli.calibrate.maps.surface import SurfaceMap
from uqcli.calibrate.maps.trees import TreesMap
from uqcli.calibrate.maps.venn_abers import VennAbersMap
from uqcli.calibrate.questions import FeatureColumn

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
