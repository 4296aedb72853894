"""How other tools choose one threshold on a score where a bound on precision must hold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def tuned_threshold(score: Floats, label: Bools, bound: float) -> float | None:
    """What scikit-learn's TunedThresholdClassifierCV takes: the best mean recall of folds that keep a bound.

    Parameters
    ----------
    score, label : shape (n,)
    bound
        On precision; a fold that breaks it counts as one that finds nothing.

    Returns
    -------
    None where no threshold keeps the bound in any fold.
    """
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.metrics import make_scorer, precision_score, recall_score
    from sklearn.model_selection import TunedThresholdClassifierCV

    class Saved(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        """Scores that were made before."""

        def fit(self, rows: Floats, labels: Bools) -> Saved:
            del rows
            self.classes_ = np.unique(labels)
            return self

        def predict_proba(self, rows: Floats) -> Floats:
            return np.column_stack([1 - rows[:, 0], rows[:, 0]])

    def recall_at_bound(truth: Bools, found: Bools) -> float:
        kept = precision_score(truth, found, zero_division=0) >= bound
        return float(recall_score(truth, found)) if kept else 0.0

    scoring = make_scorer(recall_at_bound)
    tuned = TunedThresholdClassifierCV(Saved(), scoring=scoring, refit=True, random_state=0)
    tuned.fit(score[:, None], label)
    return float(tuned.best_threshold_) if tuned.best_score_ > 0 else None


def controlled_threshold(score: Floats, label: Bools, bound: float, risk: float) -> float | None:
    """What MAPIE's risk control takes: the most recall among thresholds shown to keep the bound.

    Parameters
    ----------
    risk
        That the threshold breaks it.

    Returns
    -------
    None where no threshold is shown to.
    """
    from mapie.risk_control import BinaryClassificationController

    def probabilities(rows: Floats) -> Floats:
        return np.column_stack([1 - rows[:, 0], rows[:, 0]])

    control = BinaryClassificationController(
        probabilities, risk="precision", target_level=bound, confidence_level=1 - risk
    )
    control.calibrate(score[:, None], label.astype(np.int64))
    best = control.best_predict_param
    return None if best is None else float(best)
