"""Fit calibrators to arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from uqcli import defaults
from uqcli.api.columns import CLUSTER, Column, Labelled, by_name
from uqcli.api.fitted import Evaluation, Fitted
from uqcli.api.options import choice, options_of
from uqcli.api.shift.weights import Shift, shift_artifact
from uqcli.artifacts.calibrator import CalibratorArtifact
from uqcli.choices import CalibrationChoice, CalibrationMethod
from uqcli.counts import Floats
from uqcli.errors import UsageError
from uqcli.jobs.calibrate.all_methods import run_all_methods
from uqcli.jobs.calibrate.fit import CalibrationOptions
from uqcli.jobs.calibrate.fitted import CalibrateRequest, make_calibrator
from uqcli.methods.calibrate.maps import CalibrationMap
from uqcli.methods.calibrate.scale import Scale


@dataclass(frozen=True, kw_only=True, repr=False)
class Calibrator(Fitted[CalibratorArtifact]):
    """Fitted calibrator: a map from scores to probabilities."""

    _saved_as: ClassVar[type[Any]] = CalibratorArtifact

    @property
    def map(self) -> CalibrationMap:
        """Calibration map with its parameters."""
        return self.artifact.calibration_of_rows

    @classmethod
    def fit(
        cls,
        score: Column,
        label: Column,
        *,
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
        """Fit a calibration map to labelled scores, as ``uqcli calibrate``; measure it with ``evaluate``.

        Parameters
        ----------
        score : shape (n,)
            Probabilities, or real scores such as logits with ``logit``.
        label : 0 and 1, shape (n,)
        options
            Method and its options as one object, instead of ``logit``, ``undersampled`` and ``fitted``.
        uncertainty : shape (n,)
            Required by method mist.
        features, partition
            For method heterogeneous: features of the trees, or a column whose texts are the partition.
            Numbers (NaN is missing) or texts (None is missing).
        categorical
            Features whose numbers name categories.
        weight : non-negative integers, shape (n,), optional
            Multiplicity of each row.
        cluster : texts or integers, shape (n,), optional
            Customer of each row, whose rows stay in one half or fold.
        shift
            Class weights of target data, applied to the probabilities after the map.
        undersampled
            Undersampling factor of the model's training: negatives were kept with probability 1/undersampled.
        **fitted
            Attributes of ``CalibrationOptions``: method, n_bins, uncertainty_bins, leaf_method, min_leaf,
            partitioner, max_depth, split, confidence, seed. ``method="auto"``, the default, takes the
            simplest map of the score that fits. ``method="all"`` tries every applicable method and keeps the
            one with the lowest cross-validated log loss. ``notes`` name the method.

        Raises
        ------
        DataError, UsageError, MissingExtraError
            A column or an option is invalid.

        Examples
        --------
        >>> fitted = Calibrator.fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1], method="platt")
        >>> fitted.predict([0.5]).round(3).tolist()
        [0.5]
        """
        if options is not None and (fitted or logit or undersampled != 1):
            raise UsageError("options and its attributes together", expected="one of them")
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
        if not tries_all and calibration.method is CalibrationMethod.MIST and uncertainty is None:
            raise UsageError("method mist without uncertainty", expected="a column of uncertainties")
        features, partition = by_name(features), by_name(partition)
        clusters = None if cluster is None else CLUSTER
        more = {**features, **partition, **({} if cluster is None else {CLUSTER: cluster})}
        rows = Labelled(score=score, label=label, uncertainty=uncertainty, weight=weight, more=more)
        request = CalibrateRequest(
            data=rows.request().clustered_by(clusters),
            calibration=replace(calibration, cluster=clusters),
            features=tuple(features),
            partition=tuple(partition),
            categorical=tuple(categorical),
            shift=None if shift is None else shift_artifact(shift),
            bootstrap=0,
        )
        if tries_all:
            best = run_all_methods(request)
            return cls(artifact=best.artifact, notes=tuple(best.report.document().notes))
        fitted_calibrator = make_calibrator(request)
        return cls(artifact=fitted_calibrator.artifact, notes=tuple(fitted_calibrator.notes))

    def predict(
        self,
        score: Column,
        *,
        uncertainty: Column | None = None,
        features: Mapping[str, Column] | None = None,
    ) -> Floats:
        """Return calibrated probabilities of new data.

        Parameters
        ----------
        score : shape (n,)
        uncertainty : shape (n,)
            Required if the map uses it.
        features
            Every feature that the map uses, by name.

        Returns
        -------
        float64, shape (n,)

        Raises
        ------
        DataError
            A value is invalid, or a required column is missing.
        """
        columns = {**self._input_columns(score, uncertainty), **by_name(features)}
        return self._added(columns)["calibrated"].astype(np.float64)

    def evaluate(
        self,
        score: Column,
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
        """Measure calibration and ranking before and after the map on a test set.

        Same as ``uqcli evaluate``.

        Parameters
        ----------
        score, uncertainty, features
            As in ``predict``.
        label : 0 and 1, or bool, shape (n,)
        weight : non-negative integers, shape (n,), optional
        by : texts or integers, shape (n,), optional
            Groups to measure separately; see ``Evaluation.groups``.
        cluster : texts or integers, shape (n,), optional
            Customer, session or patient of each row; rows of one depend on each other.
        audit
            Columns by name, each of shape (n,): every value, and every pair of values of two columns, is
            tested; see ``Evaluation.segments``.
        bootstrap
            Bootstrap resamples for the intervals; 0 for none.

        Raises
        ------
        UsageError, DataError
            An option or a value is out of range.
        """
        columns = {**self._input_columns(score, uncertainty), **by_name(features)}
        options = {"bootstrap": bootstrap, "confidence": confidence, "seed": seed}
        return self._measured(columns, label, weight, by, audit, cluster=cluster, **options)
