"""Exact intervals of proportions."""

from __future__ import annotations


def clopper_pearson(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Exact two-sided binomial confidence interval (Clopper and Pearson 1934).

    Parameters
    ----------
    successes, trials
        With ``0 <= successes <= trials``; no trials give (0, 1).
    confidence
        In (0, 1).

    Examples
    --------
    >>> clopper_pearson(0, 0, 0.95)
    (0.0, 1.0)
    """
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    failures = trials - successes
    low = float(betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return low, high
