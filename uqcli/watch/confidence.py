"""Confidence sequences: intervals of a rate that cover at all looks together (Howard et al. 2021).

The interval contains the rates that neither side rejects. One side is the evidence against "at least this
rate", the other the evidence against "at most". Each side has half of the risk.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from uqcli.base.counts import Floats, Ints
from uqcli.watch.evidence import log_e_at

_HALVINGS: Final = 40


def rate_interval(successes: float, trials: float, confidence: float) -> tuple[float, float]:
    """Compute the interval of a rate. It covers the rate at all looks together with this probability.

    Parameters
    ----------
    successes, trials
        With ``0 <= successes <= trials``; zero trials give (0, 1).
    confidence
        In (0, 1), of both sides together.

    Examples
    --------
    >>> rate_interval(0, 0, 0.95)
    (0.0, 1.0)
    >>> low, high = rate_interval(900, 1000, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.867, 0.927)
    """
    counts = np.array([[successes], [trials]], dtype=np.float64)
    low, high = rate_intervals(counts[0], counts[1], confidence)
    return float(low[0]), float(high[0])


def rate_intervals(
    successes: Ints | Floats, trials: Ints | Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Compute the interval of each pair of counts, as ``rate_interval`` does.

    Parameters
    ----------
    successes, trials : int64 or float64, shape (m,)

    Returns
    -------
    low, high : float64, shape (m,)
    """
    failures = trials - successes
    highest = math.log(2 / (1 - confidence))
    return 1 - _upper_ends(failures, successes, highest), _upper_ends(successes, failures, highest)


def _upper_ends(successes: Ints | Floats, failures: Ints | Floats, highest: float) -> Floats:
    """Compute by bisection the bound at which the log of the e-value reaches ``highest``.

    The e-value rises with the bound from the observed rate on, where it is at most 1.
    """
    trials = successes + failures
    accepted = np.where(trials > 0, successes / np.where(trials > 0, trials, 1), 1.0)
    rejected = np.ones(len(successes))
    bounded = np.flatnonzero(failures)
    for _ in range(_HALVINGS):
        middle = (accepted[bounded] + rejected[bounded]) / 2
        middle = np.clip(middle, np.finfo(float).tiny, 1 - np.finfo(float).epsneg)
        is_in = log_e_at(successes[bounded], failures[bounded], middle, 1 - middle) < highest
        accepted[bounded[is_in]] = middle[is_in]
        rejected[bounded[~is_in]] = middle[~is_in]
    return rejected
