"""Sums of probabilities over rows, exact or in the order of the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats, Ints

Matrix = NDArray[np.float64]

_UNITS_PER_ONE = 1 << 45
"""Probabilities are added in integer units of 2**-45."""

_ROWS_PER_PART = 1 << 14


def exact_sums(values: Matrix, weight: Ints) -> Floats:
    """Compute the weighted column sums of numbers in [0, 1], added as integers.

    Parameters
    ----------
    values : float64, shape (n, C)
    weight : int64, shape (n,)

    Returns
    -------
    float64, shape (C,)
    """
    total = [0] * values.shape[1]
    for start in range(0, len(values), _ROWS_PER_PART):
        part, times = values[start : start + _ROWS_PER_PART], weight[start : start + _ROWS_PER_PART]
        for multiplicity in np.unique(times[times > 0]).tolist():
            units = np.rint(part[times == multiplicity] * _UNITS_PER_ONE).astype(np.int64)
            total = [
                old + multiplicity * new for old, new in zip(total, units.sum(axis=0).tolist(), strict=True)
            ]
    return np.array([column_total / _UNITS_PER_ONE for column_total in total])


def mean_responsibilities(probability: Matrix, weight: Ints | Floats) -> Callable[[Floats], Floats]:
    """Build the function from w to the mean over rows of ``w(y) p(y|x) / sum over k of w(k) p(k|x)``.

    Sums are in the order of the rows; sorted rows give the same result for any order of the inputs.

    Parameters
    ----------
    probability : float64, shape (n, C)
    weight : int64 or float64, shape (n,)
    """
    share = weight / weight.sum()

    def mean(weights: Floats) -> Floats:
        mixture = np.maximum(np.einsum("ij,j->i", probability, weights), 1e-300)
        total: Floats = weights * np.einsum("ij,i->j", probability, share / mixture)
        return total

    return mean
