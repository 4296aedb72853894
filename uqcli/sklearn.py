"""Estimators for scikit-learn, over columns of scores.

``X`` holds model outputs instead of features: a column of scores, possibly one of uncertainties, or a column
of probabilities for each class. So the estimators follow a classifier whose predictions on other rows are at
hand. With ``estimator`` they wrap a classifier of features instead. scikit-learn is an extra: ``pip install
'uqcli[trees]'``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from uqcli.api.fitted import Boundary, Calibrator
from uqcli.api.functions import find_boundary
from uqcli.base.errors import DataError, MissingExtraError, UsageError
from uqcli.calibrate.run_classes import CLASS_FITS

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.frozen import FrozenEstimator
    from sklearn.model_selection import cross_val_predict
    from sklearn.utils import Tags, _safe_indexing, column_or_1d, get_tags, indexable
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import (
        _num_samples,
        assert_all_finite,
        check_is_fitted,
        has_fit_parameter,
        validate_data,
    )
except ModuleNotFoundError as error:
    raise MissingExtraError(
        "uqcli.sklearn needs scikit-learn", expected="the extra 'trees'", remedy='pip install "uqcli[trees]"'
    ) from error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from uqcli.base.counts import Bools, Floats, Ints
    from uqcli.jobs.tables import Decimal

    _Scores = tuple[Floats, Floats | None]
    """Scores, shape (n,), or (n, C) for the probabilities of more than two classes; and uncertainties."""

ColumnKey = int | str
"""Position of a column of ``X``, or its name if ``X`` is a data frame."""


class _OverScores(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # has no types
    """Base of both estimators: reading ``X``, labels and weights."""

    _takes_classes = False
    """Whether more than two classes are possible."""

    estimator: Any
    cv: Any
    score_column: ColumnKey
    uncertainty_column: ColumnKey | None

    def __sklearn_tags__(self) -> Tags:
        """Describe the estimator to scikit-learn: two classes, unless each has a column."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        if self.estimator is not None:
            tags.classifier_tags.multi_class = self._takes_classes
            of_estimator = get_tags(self.estimator).input_tags
            tags.input_tags.sparse = of_estimator.sparse
            tags.input_tags.pairwise = of_estimator.pairwise
            tags.input_tags.allow_nan = of_estimator.allow_nan
        return tags

    def _fitting(self, X: ArrayLike, y: ArrayLike, weight: Ints | None) -> tuple[_Scores, Ints]:  # noqa: N803
        """Read scores and labels, and remember columns and classes; return scores and class indices.

        With an estimator the scores are those of its predictions for rows that it was not fitted on.
        """
        if self.estimator is None:
            table, label = validate_data(self, X, y, dtype=np.float64)
            check_classification_targets(label)
            self.classes_, index = np.unique(label, return_inverse=True)
            return self._of_columns(table), index
        X, y = indexable(X, y)  # noqa: N806
        label = column_or_1d(y, warn=True)
        assert_all_finite(label)
        check_classification_targets(label)
        self.classes_, index = np.unique(label, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("The classifier needs 2 classes; y has 1 class.")
        score = self._out_of_fold(X, label, weight)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self._with_uncertainty(score, X), index

    def _out_of_fold(self, X: ArrayLike, label: Any, weight: Ints | None) -> Floats:  # noqa: N803
        """Fit the estimator to all rows, unless it is frozen; return scores by fits without the row."""
        if isinstance(self.estimator, FrozenEstimator):
            self.estimator_ = self.estimator
            if list(self.estimator.classes_) != list(self.classes_):
                raise ValueError("y has other classes than those that the frozen estimator was fitted to")
            return self._predicted(X)
        parameters = {}
        if weight is not None and has_fit_parameter(self.estimator, "sample_weight"):
            parameters = {"sample_weight": weight}
        self.estimator_ = clone(self.estimator).fit(X, label, **parameters)
        method = self._method
        return _of_second_class(
            cross_val_predict(clone(self.estimator), X, label, cv=self.cv, method=method, params=parameters)
        )

    @property
    def _method(self) -> str:
        """Method of the estimator that gives scores: probabilities, if it has any."""
        estimator = getattr(self, "estimator_", self.estimator)
        if estimator is None:  # X holds probabilities
            return "predict_proba"
        return "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"

    def _predicted(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return the scores of the fitted estimator, for the second class if there are two."""
        return _of_second_class(getattr(self.estimator_, self._method)(X))

    def _with_uncertainty(self, score: Floats, X: ArrayLike) -> _Scores:  # noqa: N803
        key = self.uncertainty_column
        uncertainty = None
        if key is not None:
            uncertainty = np.asarray(_safe_indexing(X, key, axis=1), dtype=np.float64)
        return np.asarray(score, dtype=np.float64), uncertainty

    def _checked(self, X: ArrayLike) -> _Scores:  # noqa: N803
        """Read the scores of new rows."""
        check_is_fitted(self)
        if self.estimator is not None:
            return self._with_uncertainty(self._predicted(X), X)
        return self._of_columns(validate_data(self, X, reset=False, dtype=np.float64))

    def _of_columns(self, table: Floats) -> _Scores:
        """Return the columns of scores and uncertainties."""
        is_by_class = isinstance(self, CalibratedScores) and 2 < len(self.classes_) == table.shape[1]
        score = table if is_by_class else self._column(table, self.score_column)
        key = self.uncertainty_column
        return score, None if key is None or is_by_class else self._column(table, key)

    def _column(self, table: Floats, key: ColumnKey) -> Floats:
        index = key
        if isinstance(key, str):
            names = list(getattr(self, "feature_names_in_", ()))
            if key not in names:
                raise ValueError(
                    f"no column '{key}' in X; expected one of {', '.join(names) or 'a data frame'}"
                )
            index = names.index(key)
        if not -table.shape[1] <= int(index) < table.shape[1]:
            raise ValueError(f"column {key} of X; expected one of its {table.shape[1]} columns")
        column: Floats = table[:, int(index)]
        return column

    def _positive(self, label: Ints) -> Bools:
        """Return which rows have the second of two classes."""
        if len(self.classes_) > 2:
            target = type_of_target(self.classes_[label])
            raise ValueError(f"Only binary classification is supported. The type of the target is {target}.")
        if len(self.classes_) < 2:
            raise ValueError("The classifier needs 2 classes; y has 1 class.")
        positive: Bools = label == 1
        return positive


class CalibratedScores(_OverScores):
    """Calibrated probabilities from scores, as ``uqcli calibrate``.

    With more than two classes ``X`` has one column of probabilities for each class, in the order of
    ``classes_``.

    Parameters
    ----------
    method
        Calibration method; ``auto`` takes the simplest that fits.
    logit
        Whether scores are real numbers such as logits instead of probabilities.
    undersampled
        Negatives were kept in training with probability 1/undersampled.
    score_column, uncertainty_column
        Columns of ``X``; an uncertainty is needed by method mist.
    estimator
        Classifier whose scores are used, so that ``X`` holds features. A ``FrozenEstimator`` stays as it is.
        Another one is fitted to all rows, and its scores for the rest come from cross-validation. None if
        ``X`` holds scores.
    cv
        Folds of that cross-validation, as in scikit-learn.
    random_state
        Seed of the folds of the calibration method.

    Attributes
    ----------
    classes_ : shape (C,)
    estimator_
        The fitted classifier, if there is one.
    calibrator_
        The fitted ``uqcli.Calibrator``, which saves and exports.

    Examples
    --------
    >>> model = CalibratedScores(method="platt").fit([[0.1], [0.4], [0.6], [0.9]], [0, 1, 0, 1])
    >>> model.predict_proba([[0.5]]).round(3).tolist()
    [[0.5, 0.5]]
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        logit: bool = False,
        undersampled: float = 1.0,
        score_column: ColumnKey = 0,
        uncertainty_column: ColumnKey | None = None,
        estimator: Any = None,
        cv: Any = None,
        random_state: int = 0,
    ) -> None:
        self.method = method
        self.logit = logit
        self.undersampled = undersampled
        self.score_column = score_column
        self.uncertainty_column = uncertainty_column
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state

    @property
    def _takes_classes(self) -> bool:  # type: ignore[override]
        """Whether the method is one of many classes, and the estimator has their probabilities."""
        return self._method == "predict_proba" and (self.method == "auto" or self.method in CLASS_FITS)

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Fit the calibration map.

        Parameters
        ----------
        X : shape (n, columns)
        y : shape (n,)
        sample_weight : whole numbers, shape (n,), optional
            Multiplicity of each row.

        Raises
        ------
        ValueError
            A value or an option is out of range.
        """
        weight = _whole_numbers(sample_weight, X)
        (score, uncertainty), label = self._fitting(X, y, weight)
        options: dict[str, Any] = {"method": self.method, "seed": self.random_state}
        with _as_value_errors():
            if score.ndim > 1 and (self.estimator is None or self._takes_classes):
                classes = [str(index) for index in range(len(self.classes_))]
                self.calibrator_ = Calibrator.fit(score, label, classes=classes, weight=weight, **options)
            else:
                is_logit = self.estimator is not None and self._method == "decision_function"
                self.calibrator_ = Calibrator.fit(
                    score,
                    self._positive(label),
                    uncertainty=uncertainty,
                    weight=weight,
                    logit=self.logit or is_logit,
                    undersampled=self.undersampled,
                    **options,
                )
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return the calibrated probability of each class; float64, shape (n, C)."""
        score, uncertainty = self._checked(X)
        with _as_value_errors():
            if score.ndim > 1:
                return self.calibrator_.predict(score)
            positive = self.calibrator_.predict(score, uncertainty=uncertainty)
        return np.stack([1 - positive, positive], axis=1)

    def predict(self, X: ArrayLike) -> Any:  # noqa: N803
        """Return the most probable class of each row; shape (n,)."""
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(axis=1)]


class BoundaryClassifier(_OverScores):
    """Decisions by a boundary over score and uncertainty, as ``uqcli boundary``.

    A row has the second class if its score reaches the threshold of its uncertainty. Give one or several of
    the bounds ``precision``, ``recall``, ``max_selected``, ``max_fpr`` and ``min_specificity``.

    Parameters
    ----------
    precision, recall, max_selected, max_fpr, min_specificity
        As in ``uqcli.commands.boundary``.
    algorithm, uncertainty_bins
        None for the default.
    score_column, uncertainty_column
        Columns of ``X``; None for a single threshold.
    estimator, cv
        As in ``CalibratedScores``.
    random_state
        Seed of the splits.

    Attributes
    ----------
    classes_ : shape (2,)
    estimator_
        The fitted classifier, if there is one.
    boundary_
        The fitted ``uqcli.Boundary``, which saves and exports.
    calibrator_
        The ``uqcli.Calibrator`` of the scores, for ``predict_proba``.

    Examples
    --------
    >>> model = BoundaryClassifier(precision=0.6).fit([[0.1], [0.4], [0.6], [0.9]], [0, 1, 0, 1])
    >>> model.predict([[0.2], [0.5]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        *,
        precision: Decimal | None = None,
        recall: Decimal | None = None,
        max_selected: Decimal | None = None,
        max_fpr: Decimal | None = None,
        min_specificity: Decimal | None = None,
        algorithm: str | None = None,
        uncertainty_bins: int | None = None,
        score_column: ColumnKey = 0,
        uncertainty_column: ColumnKey | None = None,
        estimator: Any = None,
        cv: Any = None,
        random_state: int = 0,
    ) -> None:
        self.precision = precision
        self.recall = recall
        self.max_selected = max_selected
        self.max_fpr = max_fpr
        self.min_specificity = min_specificity
        self.algorithm = algorithm
        self.uncertainty_bins = uncertainty_bins
        self.score_column = score_column
        self.uncertainty_column = uncertainty_column
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Find the boundary; parameters as in ``CalibratedScores.fit``.

        Raises
        ------
        ValueError
            A value or an option is out of range.
        InfeasibleError
            No boundary meets the constraint.
        """
        weight = _whole_numbers(sample_weight, X)
        (score, uncertainty), label = self._fitting(X, y, weight)
        positive = self._positive(label)
        with _as_value_errors():
            self.boundary_: Boundary = find_boundary(
                score,
                positive,
                uncertainty=uncertainty,
                weight=weight,
                precision=self.precision,
                recall=self.recall,
                max_selected=self.max_selected,
                max_fpr=self.max_fpr,
                min_specificity=self.min_specificity,
                algorithm=self.algorithm,
                uncertainty_bins=self.uncertainty_bins,
                seed=self.random_state,
            )
            is_probability = bool(((score >= 0) & (score <= 1)).all())
            self.calibrator_ = Calibrator.fit(
                score, positive, weight=weight, logit=not is_probability, seed=self.random_state
            )
        return self

    def predict(self, X: ArrayLike) -> Any:  # noqa: N803
        """Return the second class for flagged rows, the first for others; shape (n,)."""
        score, uncertainty = self._checked(X)
        with _as_value_errors():
            flagged = self.boundary_.decide(score, uncertainty)
        return self.classes_[flagged.astype(np.int64)]

    def decision_function(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return by how much each score is above the greatest number that is not flagged.

        It is positive for flagged rows only. Where no score is flagged it is minus infinity.

        Returns
        -------
        float64, shape (n,)
        """
        score, uncertainty = self._checked(X)
        edges = self.boundary_.uncertainty_edges
        row = np.zeros(len(score), dtype=np.int64)
        if len(edges):
            assert uncertainty is not None  # the boundary was found with it
            row = np.searchsorted(edges, uncertainty, side="right")
        thresholds = [np.inf if value is None else value for value in self.boundary_.thresholds]
        with np.errstate(over="ignore"):
            margin: Floats = score - np.nextafter(thresholds, -np.inf)[row]
        never = np.isinf(thresholds)[row]
        return np.where(never, -np.inf, margin)

    def predict_proba(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return calibrated probabilities of both classes; float64, shape (n, 2).

        They do not depend on the uncertainty. A decision is no comparison of a probability with one half. If
        the boundary was found with scores from 0 to 1, a score beyond them has the probability of the end.
        """
        score, _ = self._checked(X)
        if not self.calibrator_.artifact.logit:
            score = np.clip(score, 0.0, 1.0)
        with _as_value_errors():
            positive = self.calibrator_.predict(score)
        return np.stack([1 - positive, positive], axis=1)


def _of_second_class(score: Floats) -> Floats:
    """Return the scores for the second class if there are columns of two, else all."""
    return score[:, 1] if score.ndim == 2 and score.shape[1] == 2 else score


def _whole_numbers(sample_weight: ArrayLike | None, X: ArrayLike) -> Ints | None:  # noqa: N803
    """Check the weights of rows; None for 1 each."""
    if sample_weight is None:
        return None
    rows = _num_samples(X)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(rows, float(weight))
    if weight.shape != (rows,):
        raise ValueError(f"sample_weight has shape {weight.shape}; expected ({rows},)")
    if not ((weight >= 0) & (weight == np.floor(weight))).all():
        raise ValueError("sample_weight has fractions or negative numbers; expected whole numbers")
    if not weight.any():
        raise ValueError("every sample_weight is zero; expected a positive one")
    return weight.astype(np.int64)


@contextmanager
def _as_value_errors() -> Iterator[None]:
    """Raise errors of values and options as scikit-learn expects them."""
    try:
        yield
    except (DataError, UsageError) as error:
        raise ValueError(str(error)) from error
