"""Calibrators from arrays: a map from scores to probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uqcli import defaults
from uqcli.api.columns import Column, Labelled, by_name
from uqcli.api.fitted import Evaluation, Fitted
from uqcli.api.options import options_of
from uqcli.api.shift.weights import Shift, shift_artifact
from uqcli.artifacts.calibrator import CalibratorArtifact
from uqcli.choices import CalibrationChoice, CalibrationMethod
from uqcli.counts import Floats
from uqcli.errors import UsageError
from uqcli.jobs.calibrate.every import run_every
from uqcli.jobs.calibrate.fit import CalibrationOptions
from uqcli.jobs.calibrate.made import CalibrateRequest, make_calibrator
from uqcli.methods.calibrate.maps import CalibrationMap
from uqcli.methods.calibrate.scale import Scale


@dataclass(frozen=True, kw_only=True, repr=False)
class Calibrator(Fitted[CalibratorArtifact]):
    """A fitted map from scores to probabilities."""

    _saved_as: ClassVar[type[Any]] = CalibratorArtifact

    @property
    def map(self) -> CalibrationMap:
        """The map and its parameters."""
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
        weight: Column | None = None,
        shift: Shift | None = None,
        logit: bool = False,
        undersampled: float = 1.0,
        **fitted: Any,
    ) -> Calibrator:
        """Fit a map to labelled scores, as ``uqcli calibrate`` does; ``evaluate`` measures it.

        Parameters
        ----------
        score : shape (n,)
            Probabilities, or real scores such as logits where ``logit``.
        label : 0 and 1, shape (n,)
        options
            Method and its options as one object, instead of ``logit``, ``undersampled`` and ``fitted``.
        uncertainty : shape (n,)
            For method mist.
        features, partition
            For method heterogeneous: columns to learn trees from, or whose texts are the parts.
            Numbers (NaN is missing) or texts (None is missing).
        weight : non-negative integers, shape (n,), optional
            How often each row counts.
        shift
            Class weights of a target for which probabilities are corrected after the map.
        undersampled
            Negatives were kept with probability 1/undersampled where the model learned.
        **fitted
            Attributes of ``CalibrationOptions``: method, n_bins, uncertainty_bins, leaf_method, min_leaf,
            partitioner, max_depth, split, confidence, seed. With ``method="all"`` every method that applies
            is tried, and that of the lowest log loss under cross-fitting is kept; ``notes`` say so.

        Raises
        ------
        DataError, UsageError, MissingExtraError
            A column or an option cannot be used.

        Examples
        --------
        >>> fitted = Calibrator.fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1], method="platt")
        >>> fitted.predict([0.5]).round(3).tolist()
        [0.5]
        """
        if options is not None and (fitted or logit or undersampled != 1):
            raise UsageError("options and its attributes together", expected="one of them")
        every = fitted.get("method") == CalibrationChoice.ALL
        if every:
            del fitted["method"]
        scale = Scale(real=logit, undersampled=undersampled)
        how = options or options_of(
            CalibrationOptions, {"scale": scale, "trees": partition is None, **fitted}
        )
        if not how.trees and partition is None:
            features, partition = None, features
        if not every and how.method is CalibrationMethod.MIST and uncertainty is None:
            raise UsageError("method mist without uncertainty", expected="a column of uncertainties")
        features, partition = by_name(features), by_name(partition)
        more = {**features, **partition}
        rows = Labelled(score=score, label=label, uncertainty=uncertainty, weight=weight, more=more)
        request = CalibrateRequest(
            data=rows.request(),
            calibration=how,
            features=tuple(features),
            partition=tuple(partition),
            shift=None if shift is None else shift_artifact(shift),
            bootstrap=0,
        )
        if every:
            best = run_every(request)
            return cls(artifact=best.artifact, notes=tuple(best.report.document().notes))
        found = make_calibrator(request)
        return cls(artifact=found.artifact, notes=tuple(found.notes))

    def predict(
        self,
        score: Column,
        *,
        uncertainty: Column | None = None,
        features: Mapping[str, Column] | None = None,
    ) -> Floats:
        """Calibrated probabilities of new rows.

        Parameters
        ----------
        score : shape (n,)
        uncertainty : shape (n,)
            Where the map looks at it.
        features
            Every column that the map asks about, by name.

        Returns
        -------
        float64, shape (n,)

        Raises
        ------
        DataError
            A value cannot be used, or a column that the map looks at is missing.
        """
        given = {**self._given(score, uncertainty), **by_name(features)}
        return self._added(given)["calibrated"].astype(np.float64)

    def evaluate(
        self,
        score: Column,
        label: Column,
        *,
        uncertainty: Column | None = None,
        features: Mapping[str, Column] | None = None,
        weight: Column | None = None,
        bootstrap: int = 0,
        confidence: float = defaults.CONFIDENCE,
        seed: int = defaults.SEED,
    ) -> Evaluation:
        """Calibration and ranking before and after the map, on labelled rows it was not fitted on.

        The same work as ``uqcli evaluate``.

        Parameters
        ----------
        score, uncertainty, features
            As for ``predict``.
        label : 0 and 1, or bool, shape (n,)
        weight : non-negative integers, shape (n,), optional
        bootstrap
            Resamplings of the intervals; 0 for none.

        Raises
        ------
        UsageError, DataError
            An option or a value is out of range.
        """
        given = {**self._given(score, uncertainty), **by_name(features)}
        how = {"bootstrap": bootstrap, "confidence": confidence, "seed": seed}
        return self._measured(given, label, weight, **how)
