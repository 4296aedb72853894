"""Apply a boundary to new data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqcli.base.counts import Bools, Floats, bin_of
from uqcli.base.errors import DataError


def decide(
    score: Floats,
    uncertainty: Floats | None,
    uncertainty_edges: Sequence[float] | Floats,
    thresholds: Sequence[float | None],
) -> Bools:
    """Decide which rows are flagged: those whose score reaches the threshold of their uncertainty bin.

    Parameters
    ----------
    score : float64, shape (n,)
        Finite.
    uncertainty : float64, shape (n,), or None
        Used only if there are several thresholds.

    Returns
    -------
    bool, shape (n,)

    Raises
    ------
    DataError
        Uncertainty is missing.

    Examples
    --------
    >>> decide(np.array([0.2, 0.9]), None, [], [0.5]).tolist()
    [False, True]
    """
    bin_thresholds = np.array([np.inf if threshold is None else threshold for threshold in thresholds])
    if len(bin_thresholds) == 1:
        flagged: Bools = score >= bin_thresholds[0]
        return flagged
    if uncertainty is None:
        raise DataError("no uncertainty given", expected=f"values for {len(bin_thresholds)} uncertainty bins")
    edges = np.asarray(uncertainty_edges, dtype=np.float64)
    decisions: Bools = score >= bin_thresholds[bin_of(uncertainty, edges)]
    return decisions
