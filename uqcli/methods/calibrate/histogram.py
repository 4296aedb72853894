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
    """Compute the positive rate of each bin, with an error bound.

    With probability ``confidence`` all rates are simultaneously within ``error`` of the true ones. The error
    is half the bound on the 1-norm, ``(2/sqrt(N_m)) sqrt(ln(M 2^K / alpha) / 2)`` for M bins and K = 2
    classes. The bound holds for bins that do not depend on the labels, such as quantile bins.

    Parameters
    ----------
    counts
        Scores, corrected for undersampling.
    edges : float64, shape (M-1,)
    """
    cells = binned_cells(counts, edges)
    rows, positives = cells.count, cells.positives
    filled = np.flatnonzero(rows)
    source_bin = filled[np.minimum(np.searchsorted(filled, np.arange(len(rows))), len(filled) - 1)]
    return HistogramMap(
        edges=edges.tolist(),
        rate=(positives[source_bin] / rows[source_bin]).tolist(),
        count=rows.tolist(),
        error=[min(1.0, bound(n, len(rows), confidence) / 2) if n else None for n in rows.tolist()],
        confidence=confidence,
    )


def target_bound(weights: Sequence[float], norm: float, weight_error: float) -> float:
    """Compute the bound on the 1-norm after the correction for label shift [LS Theorem 4].

    ``2 kappa norm + 2 weight_error / min w`` with kappa the ratio of the largest to the smallest weight.

    Parameters
    ----------
    weights
        w(y), all positive.
    norm
        Bound on the 1-norm before the correction.
    weight_error
        Bound on the error of the weights.

    Examples
    --------
    >>> target_bound([1.0, 1.0], 0.1, 0.0)
    0.2
    """
    smallest = min(weights)
    return 2 * max(weights) / smallest * norm + 2 * weight_error / smallest


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
    """Test by bin whether the true rate is within its error bound; return the p-values adjusted by Holm.

    The p-values are exact and two-sided: doubled binomial tails at the nearer end of each range.

    Parameters
    ----------
    positives, count : int64, shape (M,)
        Positives and rows of each bin in new data.
    rate, error
        Rates and error bounds of the rule; None for a bin without calibration rows.

    Returns
    -------
    By bin index, for bins with new rows and an error bound.
    """
    from scipy.special import bdtr, bdtrc

    p_values = {}
    for bin_index, (k, n, bin_rate, error_bound) in enumerate(
        zip(positives.tolist(), count.tolist(), rate, error, strict=True)
    ):
        if n and error_bound is not None:
            low, high = max(0.0, bin_rate - error_bound), min(1.0, bin_rate + error_bound)
            lower_tail = float(bdtr(float(k), n, low)) if k < n else 1.0
            upper_tail = float(bdtrc(k - 1.0, n, high)) if k > 0 else 1.0
            p_values[bin_index] = min(1.0, 2 * min(lower_tail, upper_tail))
    return holm(p_values)
