"""Inductive Venn-Abers prediction: isotonic fits with the new row, once as a negative and once as a positive.

Vovk, Petej and Fedorova (2015), "Large-scale probabilistic predictors with and without guarantees of
validity".
"""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import ValueCounts
from uqcli.calibrate.maps.venn_abers import VennAbersMap
from uqcli.kernels.venn_abers import fits_with_one_more


def fit_venn_abers(counts: ValueCounts) -> VennAbersMap:
    """Compute both fits for every score.

    Between two calibration scores, a negative row has the fit of the score below. A positive row has that of
    the score above.

    Parameters
    ----------
    counts
        Corrected scores, at least one.
    """
    low, high = fits_with_one_more(counts.count, counts.positives)
    first = np.append(True, low[1:] > low[:-1])
    last = np.append(high[1:] > high[:-1], True)
    return VennAbersMap(
        low_from=counts.value[first].tolist(),
        low=low[first].tolist(),
        high_to=counts.value[last].tolist(),
        high=high[last].tolist(),
    )
