"""Temperature scaling with scikit-learn: ``python -m reproduction.peer_temperature FILE``.

It prints the temperature, and the log loss before and after in five folds, as ``calibrate`` does.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

Probabilities = np.ndarray[Any, np.dtype[np.float64]]
Labels = np.ndarray[Any, np.dtype[np.int64]]


class Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that has predicted already: its features are its probabilities."""

    def fit(self, _: Probabilities, label: Labels) -> Given:
        """Learn the names of the classes."""
        self.classes_ = np.unique(label)
        return self

    def predict_proba(self, probabilities: Probabilities) -> Probabilities:
        """Return the features."""
        return probabilities

    def predict(self, probabilities: Probabilities) -> Labels:
        """Return the most probable class."""
        predicted: Labels = self.classes_[probabilities.argmax(axis=1)]
        return predicted


def fitted(probabilities: Probabilities, label: Labels) -> CalibratedClassifierCV:
    """Fit a temperature to all rows."""
    given = FrozenEstimator(Given().fit(probabilities, label))
    return CalibratedClassifierCV(given, method="temperature").fit(probabilities, label)


rows = pl.read_parquet(sys.argv[1])
probabilities = rows.select("^p.*$").to_numpy()
label = rows["label"].cast(pl.Int64).to_numpy()  # texts take several times as long
scaled = np.empty_like(probabilities)
for train, held_out in StratifiedKFold(5, shuffle=True, random_state=0).split(probabilities, label):
    part = fitted(probabilities[train], label[train])
    scaled[held_out] = part.predict_proba(probabilities[held_out])
whole = fitted(probabilities, label).calibrated_classifiers_[0].calibrators[0]
sys.stdout.write(
    f"1/T {whole.beta_:.6f}, log loss {log_loss(label, probabilities):.6f}, {log_loss(label, scaled):.6f}\n"
)
