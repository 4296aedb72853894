"""Fitted calibration maps as plain structs, saved in rule files and able to predict.

A map reads scores on one of two scales: probabilities in [0, 1], or real scores such as logits. The interface
is in ``base``. numpy is imported on demand, since describing a rule does not need it.
"""

from __future__ import annotations

from uqcli.methods.calibrate.maps.beta import BetaMap
from uqcli.methods.calibrate.maps.by_uncertainty import UncertaintyMap
from uqcli.methods.calibrate.maps.class_histogram import ClassHistogramMap
from uqcli.methods.calibrate.maps.class_linear import ClassLinearMap
from uqcli.methods.calibrate.maps.class_temperature import ClassTemperatureMap
from uqcli.methods.calibrate.maps.groups import GroupsMap
from uqcli.methods.calibrate.maps.histogram import HistogramMap
from uqcli.methods.calibrate.maps.identity import IdentityMap
from uqcli.methods.calibrate.maps.isotonic import IsotonicMap
from uqcli.methods.calibrate.maps.logistic import LogisticMap
from uqcli.methods.calibrate.maps.one_vs_rest import OneVsRestMap
from uqcli.methods.calibrate.maps.score_map import ScoreMap
from uqcli.methods.calibrate.maps.spline import SplineMap
from uqcli.methods.calibrate.maps.trees import TreesMap
from uqcli.methods.calibrate.maps.venn_abers import VennAbersMap
from uqcli.methods.calibrate.questions import FeatureColumn

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
    "TreesMap",
    "UncertaintyMap",
    "VennAbersMap",
]

CalibrationMap = ScoreMap | UncertaintyMap | TreesMap | GroupsMap
"""Map from a score, and possibly other columns, to the probability of the positive label."""

ClassMap = ClassTemperatureMap | ClassLinearMap | OneVsRestMap | ClassHistogramMap
"""Map from class probabilities to calibrated class probabilities."""
