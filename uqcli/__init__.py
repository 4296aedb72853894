"""Decision boundaries, calibration and their tests, from saved predictions.

The same work as the command line, on arrays: ``from uqcli import find_boundary, calibration_error``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uqcli.defaults import VERSION

if TYPE_CHECKING:
    from uqcli.api.boundary import find_boundary
    from uqcli.api.calibrator import Calibrator
    from uqcli.api.tce import calibration_error, classwise_calibration_error
    from uqcli.choices import (
        CalibrationMethod,
        CalibrationTest,
        LeafMethod,
        Partitioner,
        ScoreBinning,
        SplitCriterion,
    )
    from uqcli.jobs.calibrate.fit import CalibrationOptions
    from uqcli.jobs.tce.measure import MeasureOptions
    from uqcli.methods.boundary.result import FittedBoundary
    from uqcli.methods.calibrate.scale import Scale

__version__ = VERSION
__all__ = [
    "CalibrationMethod",
    "CalibrationOptions",
    "CalibrationTest",
    "Calibrator",
    "FittedBoundary",
    "LeafMethod",
    "MeasureOptions",
    "Partitioner",
    "Scale",
    "ScoreBinning",
    "SplitCriterion",
    "__version__",
    "calibration_error",
    "classwise_calibration_error",
    "find_boundary",
]

_HOMES = {
    "CalibrationMethod": "uqcli.choices",
    "CalibrationOptions": "uqcli.jobs.calibrate.fit",
    "CalibrationTest": "uqcli.choices",
    "Calibrator": "uqcli.api.calibrator",
    "FittedBoundary": "uqcli.methods.boundary.result",
    "LeafMethod": "uqcli.choices",
    "MeasureOptions": "uqcli.jobs.tce.measure",
    "Partitioner": "uqcli.choices",
    "Scale": "uqcli.methods.calibrate.scale",
    "ScoreBinning": "uqcli.choices",
    "SplitCriterion": "uqcli.choices",
    "calibration_error": "uqcli.api.tce",
    "classwise_calibration_error": "uqcli.api.tce",
    "find_boundary": "uqcli.api.boundary",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that ``import uqcli`` is quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'uqcli' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
