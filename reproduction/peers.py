"""Single thresholds of other tools for a bound on precision."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def tuned_threshold(score: Floats, label: Bools, bound: float) -> float | None:
    """Choose the threshold of scikit-learn's TunedThresholdClassifierCV: the best mean recall over folds.

    Parameters
    ----------
    score, label : shape (n,)
    bound
        Bound on precision; a fold that misses it counts as recall 0.

    Returns
    -------
    The threshold, or None if no threshold meets the bound in any fold.
    """
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.metrics import make_scorer, precision_score, recall_score
    from sklearn.model_selection import TunedThresholdClassifierCV

    class SavedScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        """A classifier of saved scores."""

        def fit(self, rows: Floats, labels: Bools) -> SavedScores:
            del rows
            self.classes_ = np.unique(labels)
            return self

        def predict_proba(self, rows: Floats) -> Floats:
            return np.column_stack([1 - rows[:, 0], rows[:, 0]])

    def recall_at_bound(truth: Bools, predicted: Bools) -> float:
        is_met = precision_score(truth, predicted, zero_division=0) >= bound
        return float(recall_score(truth, predicted)) if is_met else 0.0

    scoring = make_scorer(recall_at_bound)
    tuned = TunedThresholdClassifierCV(SavedScores(), scoring=scoring, refit=True, random_state=0)
    tuned.fit(score[:, None], label)
    return float(tuned.best_threshold_) if tuned.best_score_ > 0 else None


def controlled_threshold(
    score: Floats, label: Bools, bound: float, risk: float, *, from_the_top: bool = False
) -> float | None:
    """Choose the threshold of MAPIE's risk control for a precision, with the settings of its guide.

    Parameters
    ----------
    from_the_top
        Whether thresholds are tested one after another from the highest down.

    Others, and what is returned, are those of ``controlled``.
    """
    return controlled(score, label, {"precision": bound}, risk, OWN_THRESHOLDS, from_safest=from_the_top)


OWN_THRESHOLDS = np.linspace(0, 0.99, 100)
"""Thresholds that MAPIE tries unless it is given others."""


def controlled(
    score: Floats,
    label: Bools,
    bounds: Mapping[str, float],
    risk: float,
    thresholds: Floats,
    *,
    from_safest: bool = False,
    learns: Bools | None = None,
) -> float | None:
    """Choose the threshold of MAPIE's risk control: the best among certified thresholds.

    Parameters
    ----------
    score, label : shape (n,)
    bounds
        Bounds on rates, by their names there; together.
    risk
        Risk that the threshold misses a bound.
    thresholds
        Thresholds to try, ascending.
    from_safest
        Whether thresholds are tested one after another from the safest until one fails, which MAPIE calls a
        fixed sequence. By default it tests them together (Bonferroni-Holm).
    learns
        Rows from which the order of such a sequence is learned, which then test nothing.

    Returns
    -------
    The threshold, or None if none is certified.
    """
    from mapie.risk_control import BinaryClassificationController

    def probabilities(rows: Floats) -> Floats:
        return np.column_stack([1 - rows[:, 0], rows[:, 0]])

    names = list(bounds)
    control = BinaryClassificationController(
        probabilities,
        risk=names if len(names) > 1 else names[0],
        target_level=[bounds[name] for name in names] if len(names) > 1 else bounds[names[0]],
        confidence_level=1 - risk,
        # of several thresholds the one that finds most; for several risks the default is the first of them
        best_predict_param_choice="recall" if len(names) > 1 else "auto",
        # a sequence is tested from its end
        list_predict_params=thresholds[::-1] if from_safest and names == ["recall"] else thresholds,
        fwer_method="split_fixed_sequence"
        if learns is not None
        else "fixed_sequence"
        if from_safest
        else "bonferroni_holm",
    )
    tests = np.ones(len(label), dtype=np.bool_)
    if learns is not None:
        control.learn_fixed_sequence_order(score[learns, None], label[learns].astype(np.int64))
        tests = ~learns
    control.calibrate(score[tests, None], label[tests].astype(np.int64))
    best = control.best_predict_param
    return None if best is None else float(best)
