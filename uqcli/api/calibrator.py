"""Calibrators from Python: arrays in, probabilities out, and the same JSON as the command's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uqcli.api.arrays import checked_labels, checked_numbers, checked_probabilities, checked_weights
from uqcli.artifacts.calibrator import CalibratorArtifact
from uqcli.artifacts.codec import encode, load_kind
from uqcli.artifacts.saved import Source
from uqcli.choices import ArtifactKind, CalibrationMethod, OnInvalid
from uqcli.counts import Feature, Floats
from uqcli.defaults import LABEL, SCORE, UNCERTAINTY
from uqcli.engines.open import feature_of
from uqcli.errors import DataError, UsageError
from uqcli.files import write_bytes
from uqcli.jobs.calibrate.fit import CalibrationOptions, fit
from uqcli.jobs.calibrate.parameters import parameters_of
from uqcli.jobs.calibrate.scored_rows import ScoredRows
from uqcli.methods.calibrate.maps import CalibrationMap, FeatureColumn, GroupsMap, TreesMap
from uqcli.methods.calibrate.tree import recoded


@dataclass(frozen=True, kw_only=True)
class Calibrator:
    """A fitted map from scores to probabilities.

    Attributes
    ----------
    artifact
        What ``save`` writes and ``uqcli apply`` reads.
    notes
        What there is to know of the fit, such as classes that a threshold separates.
    """

    artifact: CalibratorArtifact
    notes: tuple[str, ...] = field(default=())

    @property
    def map(self) -> CalibrationMap:
        """The map and its parameters."""
        return self.artifact.calibration

    @classmethod
    def fit(
        cls,
        score: ArrayLike,
        label: ArrayLike,
        *,
        options: CalibrationOptions | None = None,
        uncertainty: ArrayLike | None = None,
        features: Mapping[str, Sequence[Any] | np.ndarray] | None = None,
        weight: ArrayLike | None = None,
    ) -> Calibrator:
        """Fit a map to labelled scores.

        Parameters
        ----------
        score : shape (n,)
            Probabilities, or real scores where ``options.scale.real``.
        label : shape (n,)
            0 and 1.
        options
            Method and its options; None is Platt scaling.
        uncertainty : shape (n,)
            For method mist.
        features
            For method heterogeneous: columns of numbers (NaN is missing) or texts (None is missing).
        weight : shape (n,), optional
            How often each row counts, non-negative integers.

        Raises
        ------
        DataError, UsageError, MissingExtraError
            An array or an option cannot be used.

        Examples
        --------
        >>> fitted = Calibrator.fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
        >>> fitted.predict([0.5]).round(3).tolist()
        [0.5]
        """
        how = CalibrationOptions() if options is None else options
        rows = _rows(score, how.scale.real, uncertainty)
        read = {
            name: _feature(name, values, len(rows.score), text=None if how.trees else True)
            for name, values in (features or {}).items()
        }
        size = len(rows.score)
        weights = checked_weights(weight, size)
        labelled = ScoredRows(
            score=rows.score,
            uncertainty=rows.uncertainty,
            positive=checked_labels("label", label, size),
            weight=rows.weight if weights is None else weights,
            features=read,
        )
        _require_inputs(how, labelled)
        fitted = fit(labelled.pooled(), how)
        columns = {"score": SCORE}
        if how.method is CalibrationMethod.MIST:
            columns["uncertainty"] = UNCERTAINTY
        columns |= {"label": LABEL, **{f"features.{name}": name for name in read}}
        source = Source(rows=size, positives=int(labelled.positive.sum()), dropped=0, columns=columns)
        artifact = CalibratorArtifact(
            kind=ArtifactKind.CALIBRATOR,
            source=source,
            parameters=parameters_of(how, tuple(read), on_invalid=OnInvalid.ERROR, positive=None),
            method=how.method,
            logit=how.scale.real,
            undersampled=how.scale.undersampled,
            calibration=fitted.map,
            weights=None,
        )
        return cls(artifact=artifact, notes=fitted.notes)

    def predict(
        self,
        score: ArrayLike,
        *,
        uncertainty: ArrayLike | None = None,
        features: Mapping[str, Sequence[Any] | np.ndarray] | None = None,
    ) -> Floats:
        """Calibrated probabilities.

        Returns
        -------
        float64, shape (n,)

        Raises
        ------
        DataError
            An array cannot be used, or one that the map looks at is missing.
        """
        rows = _rows(score, self.artifact.logit, uncertainty)
        if self.artifact.needs_uncertainty and rows.uncertainty is None:
            raise DataError("no uncertainty given", expected="the uncertainty that the map looks at")
        values: dict[str, Floats] = {}
        if isinstance(self.map, TreesMap | GroupsMap):
            size = len(rows.score)
            values = {each.name: _recoded(features or {}, each, size) for each in self.map.features}
        return self.artifact.calibrated(rows.score, rows.uncertainty, values).probability

    def save(self, path: str) -> None:
        """Write the artifact; an old file stays until the new one is whole."""
        write_bytes(path, encode(self.artifact))

    @classmethod
    def load(cls, path: str) -> Calibrator:
        """Read what ``save`` or ``uqcli calibrate`` wrote.

        Raises
        ------
        DataError, ArtifactError
            The file is missing, or is no calibrator.
        """
        return cls(artifact=load_kind(path, CalibratorArtifact))


def _rows(score: ArrayLike, real: bool, uncertainty: ArrayLike | None) -> ScoredRows:
    scores = checked_numbers("score", score) if real else checked_probabilities("score", score)
    size = len(scores)
    return ScoredRows(
        score=scores,
        uncertainty=None if uncertainty is None else checked_numbers("uncertainty", uncertainty, size),
        positive=np.zeros(size, dtype=np.bool_),
        weight=np.ones(size, dtype=np.int64),
        features={},
    )


def _feature(name: str, values: Sequence[Any] | np.ndarray, rows: int, *, text: bool | None) -> Feature:
    feature = feature_of(name, values, text=text)
    if len(feature.value) != rows:
        raise DataError(f"feature '{name}' has {len(feature.value)} values", expected=f"{rows}")
    return feature


def _recoded(features: Mapping[str, Sequence[Any] | np.ndarray], column: FeatureColumn, rows: int) -> Floats:
    if column.name not in features:
        raise DataError(f"no feature '{column.name}' given", expected="every feature of the map")
    is_text = column.levels is not None
    feature = _feature(column.name, features[column.name], rows, text=is_text)
    if (feature.levels is not None) != is_text:
        raise DataError(f"feature '{column.name}' holds texts", expected="numbers, as in the fit")
    return recoded(feature, column)


def _require_inputs(how: CalibrationOptions, rows: ScoredRows) -> None:
    if how.method is CalibrationMethod.MIST and rows.uncertainty is None:
        raise UsageError("method mist without uncertainty", expected="an array of uncertainties")
    if how.method is CalibrationMethod.HETEROGENEOUS and not rows.features:
        raise UsageError("method heterogeneous without features", expected="columns that tell rows apart")
