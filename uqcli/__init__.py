"""Decision boundaries, calibration and their tests, from saved predictions.

The same work as the command line, on arrays: ``from uqcli import find_boundary, calibration_error``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uqcli.defaults import VERSION

if TYPE_CHECKING:
    from uqcli.choices import (
        CalibrationMethod,
        CalibrationTest,
        LeafMethod,
        Partitioner,
        ScoreBinning,
        SplitCriterion,
    )
    from uqcli.jobs.calibration import CalibrationOptions
    from uqcli.jobs.calibrator import Calibrator
    from uqcli.jobs.measure import MeasureOptions, calibration_error, classwise_calibration_error
    from uqcli.jobs.search import find_boundary
    from uqcli.methods.boundary.result import FittedBoundary
    from uqcli.methods.calibration.scale import Scale

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
    "CalibrationOptions": "uqcli.jobs.calibration",
    "CalibrationTest": "uqcli.choices",
    "Calibrator": "uqcli.jobs.calibrator",
    "FittedBoundary": "uqcli.methods.boundary.result",
    "LeafMethod": "uqcli.choices",
    "MeasureOptions": "uqcli.jobs.measure",
    "Partitioner": "uqcli.choices",
    "Scale": "uqcli.methods.calibration.scale",
    "ScoreBinning": "uqcli.choices",
    "SplitCriterion": "uqcli.choices",
    "calibration_error": "uqcli.jobs.measure",
    "classwise_calibration_error": "uqcli.jobs.measure",
    "find_boundary": "uqcli.jobs.search",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that ``import uqcli`` is quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'uqcli' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
