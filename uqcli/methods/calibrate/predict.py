"""Calibrated probabilities of scores under a fitted map."""

from __future__ import annotations

from collections.abc import Mapping

from uqcli.counts import Floats
from uqcli.methods.calibrate.maps import CalibrationMap
from uqcli.methods.calibrate.maps.base import Calibrated
from uqcli.methods.calibrate.scale import Scale

__all__ = ["Calibrated", "predict"]


def predict(
    map_: CalibrationMap,
    score: Floats,
    scale: Scale,
    uncertainty: Floats | None = None,
    features: Mapping[str, Floats] | None = None,
) -> Calibrated:
    """Calibrate rows; scores as given, the scale's correction is applied here."""
    return map_.predict(scale.corrected(score), scale, uncertainty, features)
