"""Fits of calibrators to arrays: of the map alone, where the command also tests it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, get_type_hints

from uqcli.api.arguments import CLUSTER, Classes, is_by_class, present, rows_of
from uqcli.base import defaults
from uqcli.base.choices import OF_UNCERTAINTY, CalibrationChoice, CalibrationMethod
from uqcli.base.defaults import LABEL, SCORE, UNCERTAINTY
from uqcli.base.errors import UsageError
from uqcli.base.files import InMemory
from uqcli.base.options import OptionalResampling
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.options import CalibrateRequest, PartOptions
from uqcli.calibrate.run import make_calibrator, run_all_methods
from uqcli.calibrate.run_classes import run_classes
from uqcli.calibrate.scale import Scale
from uqcli.calls import wrong_option
from uqcli.engines.request import ClassColumns, DataRequest, Roles, in_memory
from uqcli.jobs.tables import Column, by_name
from uqcli.rules.codec import encode


def fit_calibrator(
    score: Column | Classes,
    label: Column,
    *,
    classes: Sequence[str] | None = None,
    options: CalibrationOptions | None = None,
    uncertainty: Column | None = None,
    features: Any = None,
    partition: Any = None,
    categorical: Sequence[str] = (),
    weight: Column | None = None,
    cluster: Column | None = None,
    shift: Any = None,
    logit: bool = False,
    undersampled: float = 1.0,
    **fitted: Any,
) -> dict[str, Any]:
    """Fit a calibration map alone, without the test of the command; return the fields of a calibrator."""
    if options is not None and (fitted or logit or undersampled != 1):
        raise UsageError("options and its attributes cannot be combined", remedy="leave one of them out")
    method = _method(fitted)
    scale = Scale(real=logit, undersampled=undersampled)
    calibration = options or as_options(
        CalibrationOptions, {"scale": scale, "trees": partition is None, **fitted}
    )
    if not calibration.trees and partition is None:
        features, partition = None, features
    if method is not CalibrationChoice.ALL and calibration.method in OF_UNCERTAINTY and uncertainty is None:
        raise UsageError(
            f"method {calibration.method} without uncertainty", expected="a column of uncertainties"
        )
    features, partition = by_name(features), by_name(partition)
    if is_by_class(score) and (uncertainty is not None or features or partition):
        raise UsageError("other columns beside class probabilities", expected="no other columns")
    more = {**features, **partition, **present(**{CLUSTER: cluster})}
    rows, named = rows_of(score, label, classes=classes, more=more, uncertainty=uncertainty, weight=weight)
    roles = roles_of(rows.columns, named)
    clusters = None if cluster is None else CLUSTER
    request = CalibrateRequest(
        data=DataRequest(inputs=in_memory(rows), roles=roles).clustered_by(clusters),
        calibration=replace(calibration, cluster=clusters),
        parts=PartOptions(
            features=tuple(features), partition=tuple(partition), categorical=tuple(categorical)
        ),
        shift=InMemory("shift", encode(shift.artifact)) if hasattr(shift, "artifact") else shift,
        resampling=OptionalResampling(bootstrap=0),
    )
    if method is CalibrationChoice.ALL or roles.class_columns is not None:
        best = (run_all_methods if method is CalibrationChoice.ALL else run_classes)(request)
        assert best.artifact is not None  # always fitted
        notes = tuple(best.report.document().notes)
        return {"artifact": best.artifact, "notes": notes, "report": best.report}
    made = make_calibrator(request)
    return {"artifact": made.artifact, "notes": tuple(made.notes)}


def _method(fitted: dict[str, Any]) -> CalibrationChoice:
    """Take the method from the keywords, and put it back if it is one."""
    name = fitted.pop("method", defaults.CALIBRATION_METHOD)
    if name not in set(CalibrationChoice):
        raise UsageError(f"method '{name}'", expected=f"one of {', '.join(CalibrationChoice)}")
    if name not in (CalibrationChoice.ALL, CalibrationChoice.AUTO):
        fitted["method"] = CalibrationMethod(name)
    return CalibrationChoice(name)


def roles_of(columns: Sequence[str], named: Mapping[str, Any]) -> Roles:
    """Return the roles of columns of a score, or of class probabilities."""
    if "proba" in named:
        by_class = ClassColumns(columns=named["proba"], names=tuple(named["classes"].split(",")))
        return Roles(numbers={}, label=LABEL, weight=named.get("weight"), class_columns=by_class)
    numbers = {name: name for name in (SCORE, UNCERTAINTY) if name in columns}
    return Roles(numbers=numbers, label=LABEL, weight=named.get("weight"))


def as_options(kind: Any, options: Mapping[str, Any]) -> Any:
    """Build options from keywords, texts becoming choices; refuse unknown ones."""
    hints = get_type_hints(kind)
    for name, value in options.items():
        if name not in hints:
            raise wrong_option(name, [field.name for field in fields(kind)])
        if (
            isinstance(hints[name], type)
            and issubclass(hints[name], StrEnum)
            and value not in set(hints[name])
        ):
            raise UsageError(f"{name} '{value}'", expected=f"one of {', '.join(hints[name])}")
    return kind(
        **{
            name: hints[name](value)
            if isinstance(hints[name], type) and issubclass(hints[name], StrEnum)
            else value
            for name, value in options.items()
        }
    )
