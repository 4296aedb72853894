"""Fit calibrators to arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from uqcli.api.arguments import (
    CLUSTER,
    Classes,
    as_one_run,
    choice,
    class_rows,
    is_by_class,
    options_of,
    present,
    score_rows,
)
from uqcli.api.fitted import Evaluation, Fitted
from uqcli.api.shift import Shift, shift_artifact
from uqcli.base import defaults
from uqcli.base.choices import OF_UNCERTAINTY, CalibrationChoice, CalibrationMethod
from uqcli.base.counts import Floats
from uqcli.base.errors import UsageError
from uqcli.base.options import OptionalResampling, ResamplingOptions
from uqcli.base.records import dataclass
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.maps import CalibrationMap, ClassMap
from uqcli.calibrate.options import CalibrateRequest, PartOptions
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.calibrate.run import make_calibrator, run_all_methods
from uqcli.calibrate.run_classes import run_classes
from uqcli.calibrate.scale import Scale
from uqcli.jobs.tables import Column, by_name


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Calibrator(Fitted[CalibratorArtifact]):
    """Fitted calibrator: a map from scores to probabilities."""

    _saved_as: ClassVar[type[Any]] = CalibratorArtifact

    @property
    def map(self) -> CalibrationMap | ClassMap:
        """Calibration map with its parameters."""
        return self.artifact.calibration

    @classmethod
    @as_one_run
    def fit(
        cls,
        score: Column | Classes,
        label: Column,
        *,
        classes: Sequence[str] | None = None,
        options: CalibrationOptions | None = None,
        uncertainty: Column | None = None,
        features: Mapping[str, Column] | None = None,
        partition: Mapping[str, Column] | None = None,
        categorical: Sequence[str] = (),
        weight: Column | None = None,
        cluster: Column | None = None,
        shift: Shift | None = None,
        logit: bool = False,
        undersampled: float = 1.0,
        **fitted: Any,
    ) -> Calibrator:
        """Fit a calibration map to labelled scores, as ``uqcli calibrate``; measure it with ``evaluate``."""
        if options is not None and (fitted or logit or undersampled != 1):
            raise UsageError("options and its attributes cannot be combined", remedy="leave one of them out")
        method = choice("method", CalibrationChoice, fitted.pop("method", defaults.CALIBRATION_METHOD))
        tries_all = method is CalibrationChoice.ALL
        if method not in (CalibrationChoice.ALL, CalibrationChoice.AUTO):
            fitted["method"] = CalibrationMethod(method)
        scale = Scale(real=logit, undersampled=undersampled)
        calibration = options or options_of(
            CalibrationOptions, {"scale": scale, "trees": partition is None, **fitted}
        )
        if not calibration.trees and partition is None:
            features, partition = None, features
        if not tries_all and calibration.method in OF_UNCERTAINTY and uncertainty is None:
            raise UsageError(
                f"method {calibration.method} without uncertainty", expected="a column of uncertainties"
            )
        features, partition = by_name(features), by_name(partition)
        clusters = None if cluster is None else CLUSTER
        more = {**features, **partition, **present(**{CLUSTER: cluster})}
        if is_by_class(score):
            if uncertainty is not None or features or partition:
                raise UsageError("other columns beside class probabilities", expected="no other columns")
            data = class_rows(score, label, classes=classes, weight=weight, more=more)
        else:
            data = score_rows(score, label, uncertainty=uncertainty, weight=weight, more=more)
        request = CalibrateRequest(
            data=data.clustered_by(clusters),
            calibration=replace(calibration, cluster=clusters),
            parts=PartOptions(
                features=tuple(features), partition=tuple(partition), categorical=tuple(categorical)
            ),
            shift=shift_artifact(shift),
            resampling=OptionalResampling(bootstrap=0),
        )
        if tries_all or data.roles.class_columns is not None:
            fit = run_all_methods if tries_all else run_classes
            best = fit(request)
            assert best.artifact is not None  # always fitted
            notes = tuple(best.report.document().notes)
            return cls(artifact=best.artifact, notes=notes, report=best.report)
        fitted_calibrator = make_calibrator(request)
        return cls(artifact=fitted_calibrator.artifact, notes=tuple(fitted_calibrator.notes))

    def predict(
        self,
        score: Column | Classes,
        *,
        uncertainty: Column | None = None,
        features: Mapping[str, Column] | None = None,
    ) -> Floats:
        """Return calibrated probabilities of new data."""
        return self._probabilities("calibrated", score, uncertainty, features)

    def interval(
        self,
        score: Column | Classes,
        *,
        uncertainty: Column | None = None,
        features: Mapping[str, Column] | None = None,
    ) -> tuple[Floats, Floats]:
        """Return the lower and the upper probability of new data, with method venn-abers."""
        if not self.artifact.calibration.has_interval:
            raise UsageError(f"an interval of method {self.artifact.method}", expected="method venn-abers")
        low, high = (
            self._probabilities(end, score, uncertainty, features)
            for end in (
                ("low", "high") if self.artifact.class_names else ("calibrated_low", "calibrated_high")
            )
        )
        return low, high

    def _probabilities(
        self,
        kind: str,
        score: Column | Classes,
        uncertainty: Column | None,
        features: Mapping[str, Column] | None,
    ) -> Floats:
        """Return an added column, or those of all classes."""
        added = self._added(self._columns_read(score, uncertainty, features))
        classes = self.artifact.class_names
        if not classes:
            return added[kind].astype(np.float64)
        return np.stack([added[f"{kind}_{name}"] for name in classes], axis=1)

    def _columns_read(
        self, score: Column | Classes, uncertainty: Column | None, features: Mapping[str, Column] | None
    ) -> dict[str, Column | None]:
        """Return the columns by the names that the rule file uses."""
        if self.artifact.class_names:
            return self._class_columns(score)
        return {**self._input_columns(score, uncertainty), **by_name(features)}

    @as_one_run
    def evaluate(
        self,
        score: Column | Classes,
        label: Column,
        *,
        uncertainty: Column | None = None,
        features: Mapping[str, Column] | None = None,
        weight: Column | None = None,
        by: Column | None = None,
        cluster: Column | None = None,
        audit: Mapping[str, Column] | None = None,
        bootstrap: int = 0,
        confidence: float = defaults.CONFIDENCE,
        seed: int = defaults.SEED,
    ) -> Evaluation:
        """Measure calibration and ranking before and after the map on a test set."""
        columns = self._columns_read(score, uncertainty, features)
        resampling = ResamplingOptions(bootstrap=bootstrap, confidence=confidence, seed=seed)
        return self._measured(columns, label, weight, by, audit, cluster=cluster, resampling=resampling)
