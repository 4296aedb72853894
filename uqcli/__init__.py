"""Decision boundaries, calibration and conformal prediction from saved predictions.

The commands as functions of data frames: ``from uqcli import commands as uq``. The functions for arrays that
stand here are those of earlier versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uqcli.base.defaults import VERSION
from uqcli.base.running.rounding import round_alike

if TYPE_CHECKING:
    from uqcli.api.fitted import (
        Boundary,
        Calibrator,
        ConformalSets,
        Evaluation,
        Fitted,
        Grid,
        ShiftWeights,
        load,
    )
    from uqcli.api.functions import (
        CalibrationErrors,
        CertificateSample,
        bin_counts,
        calibration_error,
        classwise_calibration_error,
        conformal_sets,
        find_boundary,
        sample_for_certificate,
        shift_weights,
        uncertainty_of,
    )
    from uqcli.base.choices import (
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
    from uqcli.base.errors import (
        ArtifactError,
        DataError,
        InfeasibleError,
        MissingExtraError,
        UqcliError,
        UsageError,
    )
    from uqcli.calibrate.fit_options import CalibrationOptions
    from uqcli.calibrate.scale import Scale
    from uqcli.rules.schemas import schema_text
    from uqcli.tce.options import MeasureOptions
    from uqcli.uncertainty.beta import Uncertainties

round_alike()  # before numpy is loaded

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
    "CertificateSample",
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
    "sample_for_certificate",
    "schema_text",
    "shift_weights",
    "uncertainty_of",
]

_NAMES_BY_MODULE = {
    "api.fitted": (
        *("Boundary", "Calibrator", "ConformalSets", "Evaluation", "Fitted", "Grid", "ShiftWeights", "load"),
    ),
    "api.functions": (
        *("CalibrationErrors", "CertificateSample", "bin_counts", "calibration_error", "uncertainty_of"),
        *("classwise_calibration_error", "conformal_sets", "find_boundary", "sample_for_certificate"),
        "shift_weights",
    ),
    "rules.schemas": ("schema_text",),
    "base.choices": (
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
    "base.errors": (
        "ArtifactError",
        "DataError",
        "InfeasibleError",
        "MissingExtraError",
        "UqcliError",
        "UsageError",
    ),
    "calibrate.fit_options": ("CalibrationOptions",),
    "tce.options": ("MeasureOptions",),
    "calibrate.scale": ("Scale",),
    "uncertainty.beta": ("Uncertainties",),
}
"""Names by defining module; each is imported on first use, so that ``import uqcli`` stays fast."""

_INSTEAD = {
    "Boundary": "Rule",
    "CalibrationErrors": "Result",
    "Calibrator": "calibrate",
    "CertificateSample": "Result",
    "ConformalSets": "Rule",
    "Evaluation": "Result",
    "Fitted": "Rule",
    "Grid": "Rule",
    "ShiftWeights": "Rule",
    "bin_counts": "bin",
    "calibration_error": "tce",
    "classwise_calibration_error": "tce",
    "conformal_sets": "conformal",
    "find_boundary": "boundary",
    "load": "load",
    "sample_for_certificate": "sample",
    "shift_weights": "shift",
    "uncertainty_of": "uncertainty",
}
"""What of ``uqcli.commands`` stands in place of the functions for arrays, and of what they return."""

_MODULE_OF = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'uqcli' has no attribute {name!r}")
    from importlib import import_module

    if name in _INSTEAD:
        import warnings

        text = f"uqcli.{name} is deprecated: use uqcli.commands.{_INSTEAD[name]}"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
    return getattr(import_module(f"uqcli.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
