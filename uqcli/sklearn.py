"""Estimators for scikit-learn, over columns of scores.

``X`` holds model outputs instead of features: a column of scores, possibly one of uncertainties, or a column
of probabilities for each class. So the estimators follow a classifier whose predictions on other rows are at
hand. scikit-learn is an extra: ``pip install 'uqcli[trees]'``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from uqcli.api.boundary import Boundary, find_boundary
from uqcli.api.calibrate import Calibrator
from uqcli.base.errors import DataError, MissingExtraError, UsageError

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import Tags
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ModuleNotFoundError as error:
    raise MissingExtraError(
        "uqcli.sklearn needs scikit-learn", expected="the extra 'trees'", remedy="pip install 'uqcli[trees]'"
    ) from error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from uqcli.api.decimals import Decimal
    from uqcli.base.counts import Bools, Floats, Ints

ColumnKey = int | str
"""Position of a column of ``X``, or its name if ``X`` is a data frame."""


class _OverScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of both estimators: reading ``X``, labels and weights."""

    score_column: ColumnKey
    uncertainty_column: ColumnKey | None

    def __sklearn_tags__(self) -> Tags:
        """Describe the estimator to scikit-learn: two classes, unless each has a column."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _fitting(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, Ints]:  # noqa: N803
        """Check ``X`` and ``y``, and remember columns and classes; return ``X`` and the class indices."""
        table, label = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(label)
        self.classes_, index = np.unique(label, return_inverse=True)
        return table, index

    def _checked(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Check new rows."""
        check_is_fitted(self)
        table: Floats = validate_data(self, X, reset=False, dtype=np.float64)
        return table

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

    def _uncertainty(self, table: Floats) -> Floats | None:
        key = self.uncertainty_column
        return None if key is None else self._column(table, key)

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
    random_state
        Seed of the folds.

    Attributes
    ----------
    classes_ : shape (C,)
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
        random_state: int = 0,
    ) -> None:
        self.method = method
        self.logit = logit
        self.undersampled = undersampled
        self.score_column = score_column
        self.uncertainty_column = uncertainty_column
        self.random_state = random_state

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
        table, label = self._fitting(X, y)
        weight = _whole_numbers(sample_weight, len(table))
        options: dict[str, Any] = {"method": self.method, "seed": self.random_state}
        with _as_value_errors():
            if self._is_by_class(table):
                classes = [str(index) for index in range(len(self.classes_))]
                self.calibrator_ = Calibrator.fit(table, label, classes=classes, weight=weight, **options)
            else:
                self.calibrator_ = Calibrator.fit(
                    self._column(table, self.score_column),
                    self._positive(label),
                    uncertainty=self._uncertainty(table),
                    weight=weight,
                    logit=self.logit,
                    undersampled=self.undersampled,
                    **options,
                )
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return the calibrated probability of each class; float64, shape (n, C)."""
        table = self._checked(X)
        with _as_value_errors():
            if self._is_by_class(table):
                return self.calibrator_.predict(table)
            uncertainty = self._uncertainty(table)
            positive = self.calibrator_.predict(
                self._column(table, self.score_column), uncertainty=uncertainty
            )
        return np.stack([1 - positive, positive], axis=1)

    def predict(self, X: ArrayLike) -> Any:  # noqa: N803
        """Return the most probable class of each row; shape (n,)."""
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(axis=1)]

    def _is_by_class(self, table: Floats) -> bool:
        """Whether ``X`` has a column of each of more than two classes."""
        return len(self.classes_) > 2 and table.shape[1] == len(self.classes_)


class BoundaryClassifier(_OverScores):
    """Decisions by a boundary over score and uncertainty, as ``uqcli boundary``.

    A row has the second class if its score reaches the threshold of its uncertainty. Give one constraint:
    ``precision``, ``recall`` or both, ``max_selected``, ``max_fpr``, or ``min_specificity``.

    Parameters
    ----------
    precision, recall, max_selected, max_fpr, min_specificity
        As in ``uqcli.find_boundary``.
    algorithm, uncertainty_bins
        None for the default.
    score_column, uncertainty_column
        Columns of ``X``; None for a single threshold.
    random_state
        Seed of the splits.

    Attributes
    ----------
    classes_ : shape (2,)
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
        table, label = self._fitting(X, y)
        score, positive = self._column(table, self.score_column), self._positive(label)
        weight = _whole_numbers(sample_weight, len(table))
        with _as_value_errors():
            self.boundary_: Boundary = find_boundary(
                score,
                positive,
                uncertainty=self._uncertainty(table),
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
        table = self._checked(X)
        with _as_value_errors():
            flagged = self.boundary_.decide(self._column(table, self.score_column), self._uncertainty(table))
        return self.classes_[flagged.astype(np.int64)]

    def decision_function(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return by how much each score is above the greatest number that is not flagged.

        It is positive for flagged rows only. Where no score is flagged it is minus infinity.

        Returns
        -------
        float64, shape (n,)
        """
        table = self._checked(X)
        score, uncertainty = self._column(table, self.score_column), self._uncertainty(table)
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

        They do not depend on the uncertainty. A decision is no comparison of a probability with one half.
        """
        table = self._checked(X)
        with _as_value_errors():
            positive = self.calibrator_.predict(self._column(table, self.score_column))
        return np.stack([1 - positive, positive], axis=1)


def _whole_numbers(sample_weight: ArrayLike | None, rows: int) -> Ints | None:
    """Check weights; None for 1 each."""
    if sample_weight is None:
        return None
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
