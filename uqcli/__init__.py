"""Decision boundaries, calibration and conformal prediction from saved predictions.

The commands as functions on arrays and data frames: ``from uqcli import find_boundary``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uqcli.defaults import VERSION

if TYPE_CHECKING:
    from uqcli.api.bin.counts import Grid, bin_counts
    from uqcli.api.boundary.boundary import Boundary, find_boundary
    from uqcli.api.calibrate.calibrator import Calibrator
    from uqcli.api.conformal.sets import ConformalSets, conformal_sets
    from uqcli.api.fitted import Evaluation, Fitted
    from uqcli.api.load import load
    from uqcli.api.shift.weights import ShiftWeights, shift_weights
    from uqcli.api.tce.calibration_errors import (
        CalibrationErrors,
        calibration_error,
        classwise_calibration_error,
    )
    from uqcli.api.uncertainty.uncertainties import uncertainty_of
    from uqcli.artifacts.schemas import schema_text
    from uqcli.choices import (
        Algorithm,
        Binning,
        BinSizing,
        CalibrationMethod,
        CalibrationTest,
        ConformalMethod,
        ConformalMode,
        LeafMethod,
        Partitioner,
        ScoreBinning,
        ShiftEstimator,
        SplitCriterion,
    )
    from uqcli.errors import (
        ArtifactError,
        DataError,
        InfeasibleError,
        MissingExtraError,
        UqcliError,
        UsageError,
    )
    from uqcli.jobs.calibrate.fit import CalibrationOptions
    from uqcli.jobs.tce.request import MeasureOptions
    from uqcli.methods.calibrate.scale import Scale
    from uqcli.methods.uncertainty.beta import Uncertainties

__version__ = VERSION

__all__ = [
    "Algorithm",
    "ArtifactError",
    "BinSizing",
    "Binning",
    "Boundary",
    "CalibrationErrors",
    "CalibrationMethod",
    "CalibrationOptions",
    "CalibrationTest",
    "Calibrator",
    "ConformalMethod",
    "ConformalMode",
    "ConformalSets",
    "DataError",
    "Evaluation",
    "Fitted",
    "Grid",
    "InfeasibleError",
    "LeafMethod",
    "MeasureOptions",
    "MissingExtraError",
    "Partitioner",
    "Scale",
    "ScoreBinning",
    "ShiftEstimator",
    "ShiftWeights",
    "SplitCriterion",
    "Uncertainties",
    "UqcliError",
    "UsageError",
    "__version__",
    "bin_counts",
    "calibration_error",
    "classwise_calibration_error",
    "conformal_sets",
    "find_boundary",
    "load",
    "schema_text",
    "shift_weights",
    "uncertainty_of",
]

_NAMES_BY_MODULE = {
    "api.bin.counts": ("Grid", "bin_counts"),
    "api.boundary.boundary": ("Boundary", "find_boundary"),
    "api.calibrate.calibrator": ("Calibrator",),
    "api.conformal.sets": ("ConformalSets", "conformal_sets"),
    "api.fitted": ("Evaluation", "Fitted"),
    "api.load": ("load",),
    "api.shift.weights": ("ShiftWeights", "shift_weights"),
    "api.tce.calibration_errors": ("CalibrationErrors", "calibration_error", "classwise_calibration_error"),
    "api.uncertainty.uncertainties": ("uncertainty_of",),
    "artifacts.schemas": ("schema_text",),
    "choices": (
        "Algorithm",
        "Binning",
        "BinSizing",
        "CalibrationMethod",
        "CalibrationTest",
        "ConformalMethod",
        "ConformalMode",
        "LeafMethod",
        "Partitioner",
        "ScoreBinning",
        "ShiftEstimator",
        "SplitCriterion",
    ),
    "errors": (
        "ArtifactError",
        "DataError",
        "InfeasibleError",
        "MissingExtraError",
        "UqcliError",
        "UsageError",
    ),
    "jobs.calibrate.fit": ("CalibrationOptions",),
    "jobs.tce.request": ("MeasureOptions",),
    "methods.calibrate.scale": ("Scale",),
    "methods.uncertainty.beta": ("Uncertainties",),
}
"""Names by defining module; each is imported on first use, so that ``import uqcli`` stays fast."""

_MODULE_OF = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'uqcli' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"uqcli.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
