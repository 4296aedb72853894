"""Histogram calibration with a distribution-free bound [LS Theorem 3]."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from uqcli.counts import Floats, Ints, ValueCounts, binned_cells
from uqcli.methods.calibrate.maps.histogram import HistogramMap
from uqcli.methods.multiple import holm

_CLASSES = 2


def fit_histogram(counts: ValueCounts, edges: Floats, confidence: float) -> HistogramMap:
    """Return the positive rate of each bin, with an error bound.

    With probability ``confidence`` all rates are simultaneously within ``error`` of the true ones. The error
    is half the bound on the 1-norm, ``(2/sqrt(N_m)) sqrt(ln(M 2^K / alpha) / 2)`` for M bins and K = 2
    classes. The bound holds for bins that do not depend on the labels, such as quantile bins.

    Parameters
    ----------
    counts
        Corrected scores.
    edges : float64, shape (M-1,)
    """
    cells = binned_cells(counts, edges)
    rows, positives = cells.count, cells.positives
    filled = np.flatnonzero(rows)
    source = filled[np.minimum(np.searchsorted(filled, np.arange(len(rows))), len(filled) - 1)]
    return HistogramMap(
        edges=edges.tolist(),
        rate=(positives[source] / rows[source]).tolist(),
        count=rows.tolist(),
        error=[min(1.0, bound(n, len(rows), confidence) / 2) if n else None for n in rows.tolist()],
        confidence=confidence,
    )


def target_bound(weights: Sequence[float], norm: float, unsure: float) -> float:
    """Return the bound on the 1-norm after the correction for label shift [LS Theorem 4].

    ``2 kappa norm + 2 unsure / min w`` with kappa the ratio of the largest to the smallest weight.

    Parameters
    ----------
    weights
        w(y), all positive.
    norm
        Bound on the 1-norm before the correction.
    unsure
        Bound on the error of the weights.

    Examples
    --------
    >>> target_bound([1.0, 1.0], 0.1, 0.0)
    0.2
    """
    smallest = min(weights)
    return 2 * max(weights) / smallest * norm + 2 * unsure / smallest


def bound(rows: int, bins: int, confidence: float, classes: int = _CLASSES) -> float:
    """Compute the simultaneous bound on the 1-norm between class frequencies and probabilities of all bins.

    Examples
    --------
    >>> round(bound(10_000, 10, 0.95), 4)
    0.0366
    """
    alpha = 1 - confidence
    return 2 / math.sqrt(rows) * math.sqrt(0.5 * math.log(bins * 2**classes / alpha))


def error_p_values(
    positives: Ints, count: Ints, rate: Sequence[float], error: Sequence[float | None]
) -> dict[int, float]:
    """Compute the p-values of labels in new data if all rates are within their errors, by bin (Holm).

    Exact and two-sided: doubled binomial tails at the nearer end of each range.

    Parameters
    ----------
    positives, count : int64, shape (M,)
        Positives and rows of each bin in new data.
    rate, error
        Rates and errors of the rule; no error if the bin had no row.

    Returns
    -------
    By bin number, for bins with rows and an error.
    """
    from scipy.special import bdtr, bdtrc

    p_values = {}
    for number, (k, n, middle, off) in enumerate(
        zip(positives.tolist(), count.tolist(), rate, error, strict=True)
    ):
        if n and off is not None:
            low, high = max(0.0, middle - off), min(1.0, middle + off)
            lower_tail = float(bdtr(float(k), n, low)) if k < n else 1.0
            upper_tail = float(bdtrc(k - 1.0, n, high)) if k > 0 else 1.0
            p_values[str(number)] = min(1.0, 2 * min(lower_tail, upper_tail))
    return {int(number): p for number, p in holm(p_values).items()}
