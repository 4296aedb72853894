"""Calibration errors of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uqcli.api.arrays import checked_labels, checked_numbers, checked_probabilities, checked_weights
from uqcli.counts import pool
from uqcli.errors import DataError
from uqcli.jobs.tce.measure import Measured, MeasureOptions, mean_metrics, measure


@dataclass(frozen=True, kw_only=True)
class Classwise:
    """Means of the one-against-the-rest metrics, and each class by itself."""

    metrics: Mapping[str, float | None]
    by_class: tuple[Measured, ...]


def calibration_error(
    score: ArrayLike,
    label: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    options: MeasureOptions = MeasureOptions(),
) -> Measured:
    """Test-based calibration error, ECE and relatives of arrays [TCE sec. 3].

    Parameters
    ----------
    score : shape (n,)
        Probabilities of the positive label.
    label : shape (n,)
        0 and 1.
    weight : shape (n,), optional
        How often each row counts, non-negative integers.

    Raises
    ------
    DataError, UsageError
        An array has another shape or values, or an option is out of range.

    Examples
    --------
    >>> found = calibration_error([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    >>> found.metrics["tce"], round(found.metrics["ece"], 3)
    (0.0, 0.15)
    """
    options.check()
    values = checked_probabilities("score", score)
    rows = len(values)
    counts = pool(values, checked_labels("label", label, rows), checked_weights(weight, rows))
    return measure(counts, options)


def classwise_calibration_error(
    probability: ArrayLike,
    label: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    options: MeasureOptions = MeasureOptions(),
) -> Classwise:
    """The same for many classes: each against the rest, and the mean.

    Parameters
    ----------
    probability : shape (n, C)
    label : shape (n,)
        Class numbers from 0 to C-1.
    weight : shape (n,), optional

    Raises
    ------
    DataError, UsageError
        See ``calibration_error``.
    """
    options.check()
    matrix = np.asarray(probability, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise DataError(f"probability has shape {matrix.shape}", expected="(n, C) with C of at least 2")
    rows, classes = matrix.shape
    numbers = checked_numbers("label", label, rows)
    if not np.isin(numbers, np.arange(classes)).all():
        raise DataError("label holds other numbers", expected=f"class numbers from 0 to {classes - 1}")
    weights = checked_weights(weight, rows)
    by_class = tuple(
        measure(
            pool(checked_probabilities("probability", matrix[:, each]), numbers == each, weights), options
        )
        for each in range(classes)
    )
    return Classwise(metrics=mean_metrics([each.metrics for each in by_class]), by_class=by_class)
