"""Whether new rows break a promised coverage, or chance explains what they show [LS sec. 2].

The coverage that n calibration rows give is itself random: for exchangeable rows it has the law
Beta(k, n+1-k) with k = ceil((1-alpha)(n+1)), so how many of m new rows are covered is beta-binomial. A test
that takes 1 - alpha for the coverage of every single calibration raises false alarms, and more of them the
more classes there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from uqcli.counts import Floats, Ints

_FAR = 40
"""Standard deviations beyond which no outcome adds to a sum of doubles."""


def rank_of(rows: int, alpha: Fraction) -> int:
    """Which of the calibration scores is the threshold, ``ceil((1-alpha)(n+1))``; n + 1 for every label.

    Examples
    --------
    >>> rank_of(9, Fraction(1, 10)), rank_of(8, Fraction(1, 10))
    (9, 9)
    """
    return min(rows + 1, -((alpha - 1) * (rows + 1) // 1))


def coverage_p_value(covered: int, rows: int, calibration_rows: int, alpha: Fraction) -> float:
    """How likely so few, or fewer, of the rows are covered by a promise that is kept.

    Parameters
    ----------
    covered, rows
        New rows whose set holds their label, of all of them.
    calibration_rows
        Rows that the threshold was found on.

    Examples
    --------
    >>> round(coverage_p_value(80, 100, 100, Fraction(1, 10)), 3)
    0.022
    """
    rank = rank_of(calibration_rows, alpha)
    if rank > calibration_rows or covered >= rows:
        return 1.0
    return _beta_binomial_cdf(covered, rows, rank, calibration_rows + 1 - rank)


def _beta_binomial_cdf(successes: int, trials: int, a: int, b: int) -> float:
    from scipy.special import betaln, gammaln

    mean = a / (a + b)
    variance = trials * mean * (1 - mean) * (a + b + trials) / (a + b + 1)
    lowest = max(0, min(successes, math.floor(trials * mean)) - math.ceil(_FAR * math.sqrt(variance) + _FAR))
    outcome = np.arange(lowest, successes + 1, dtype=np.float64)
    choose = gammaln(trials + 1) - gammaln(outcome + 1) - gammaln(trials - outcome + 1)
    log_p = choose + betaln(outcome + a, trials - outcome + b) - betaln(a, b)
    return min(1.0, float(np.exp(log_p).sum()))


def effective_rows(
    rows_of_class: Sequence[int],
    weights: Sequence[float],
    missed: Ints,
    tested: Ints,
    alpha: Fraction,
) -> int:
    """How many unweighted calibration rows would give a coverage that varies as much.

    It is ``(sum w)^2 / sum w^2``, or fewer where classes of large weights are missed more often: the weighted
    coverage at the threshold varies by ``sum w^2 (miss - alpha)^2``.

    Parameters
    ----------
    missed, tested : int64, shape (C,)
        New rows of each class whose set does not hold it, and all of them: they tell how often it is missed.
    """
    lines = list(zip(rows_of_class, weights, missed.tolist(), tested.tolist(), strict=True))
    total = math.fsum(rows * weight for rows, weight, _, _ in lines)
    squares = math.fsum(rows * weight**2 for rows, weight, _, _ in lines)
    if not squares:
        return 0
    a = float(alpha)
    spread = math.fsum(
        rows * weight**2 * ((k + 1) / (n + 2) * (1 - a) ** 2 + (n - k + 1) / (n + 2) * a**2)
        for rows, weight, k, n in lines
    )
    return math.floor(total**2 / max(squares, spread / (a * (1 - a))))


def shifted_p_value(
    coverage: Floats, calibration_rows: int, alpha: Fraction, random: np.random.Generator
) -> float:
    """The same where coverage is known by draws, as in a target with estimated class weights.

    Parameters
    ----------
    coverage : float64, shape (B,)
        What the coverage may be, given the rows and the weights.
    """
    rank = rank_of(calibration_rows, alpha)
    if rank > calibration_rows:
        return 1.0
    promised = random.beta(rank, calibration_rows + 1 - rank, len(coverage))
    return float((1 + np.count_nonzero(coverage >= promised)) / (len(coverage) + 1))
