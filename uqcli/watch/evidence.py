"""Anytime-valid evidence against a guaranteed rate.

The claim is that every trial succeeds with probability at least sigma, given all earlier trials. After k
successes in n trials the e-value is the likelihood ratio of q and sigma, averaged over q below sigma::

    E = int_0^sigma (q / sigma)^k ((1 - q) / (1 - sigma))^(n - k) dPi(q)

Pi is Beta(20 sigma, 20 (1 - sigma)) cut to (0, sigma). If the claim is true, E is a non-negative
supermartingale that starts at 1. By Ville's inequality (1939) it then ever reaches 1 / delta with probability
at most delta. Looks may therefore be taken at any time, and as often as you like.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from uqcli.base.counts import Floats, Ints

_PRIOR_TRIALS: Final = 20
"""Trials that the prior is worth. Its mean is the bound, because rates just below it are hard to find."""

_NEAR: Final = 45.0
"""Deviance from which the share of the prior below the bound is 1 within rounding, or nearly 0."""

_MIN_SERIES_ARGUMENT: Final = 10.0
_MAX_FRACTION_STEPS: Final = 10_000
_FRACTION_TOLERANCE: Final = 1e-14


def log_e_value(successes: float, trials: float, bound: Fraction) -> float:
    """Compute the log of the e-value against "every trial succeeds with probability at least ``bound``".

    Zero trials give 0. Effective counts of dependent trials are no whole numbers (see
    ``uqcli.estimates.dependence``). A bound of 0 is never in doubt and gives 0; a failure under a bound of 1
    gives infinity.

    Examples
    --------
    >>> log_e_value(0, 0, Fraction(9, 10)), log_e_value(9, 10, Fraction(1))
    (0.0, inf)
    >>> round(log_e_value(80, 100, Fraction(9, 10)), 2)
    3.49
    """
    counts = np.array([[successes], [trials]], dtype=np.float64)
    return float(log_e_values(counts[0], counts[1], bound)[0])


def log_e_values(successes: Ints | Floats, trials: Ints | Floats, bound: Fraction) -> Floats:
    """Compute the log of the e-value of each of m pairs of counts, as ``log_e_value`` does."""
    failures = trials - successes
    if bound <= 0:
        return np.zeros(len(trials))
    if bound >= 1:
        return np.where(failures > 0, np.inf, 0.0)
    log_e = log_e_at(successes, failures, np.float64(bound), np.float64(1 - bound))
    return np.where(trials > 0, log_e, 0.0)


def log_e_at(
    successes: Ints | Floats, failures: Ints | Floats, bound: Floats | np.float64, rest: Floats | np.float64
) -> Floats:
    """Compute the log of the e-value of each of m pairs of counts, at bounds strictly between 0 and 1.

    ``rest`` is 1 less the bound, a scalar or an array as the bound is. Each is exact near 0, where their sum
    hides its digits.
    """
    zero = np.zeros(1, dtype=np.int64)
    return _log_mass(successes, failures, bound, rest) - _log_mass(zero, zero, bound, rest)


def log_e_bounds(successes: Floats, trials: Floats, bound: Fraction) -> Floats:
    """Compute upper bounds of what ``log_e_values`` computes, in a twentieth of the time.

    The bound is strictly between 0 and 1, and shapes are any. Below it they take the integral over all rates
    with the largest error that Stirling's formula may have. Above it they take the tangent at sigma to the
    integrand's logarithm, and at most 1.
    """
    sigma, rest = float(bound), float(1 - bound)
    failures = trials - successes
    x, y = successes + _PRIOR_TRIALS * sigma, failures + _PRIOR_TRIALS * rest
    total, surplus = x + y, successes * rest - failures * sigma
    log_mass = np.log(2 * np.pi * total / (x * y)) / 2 + _largest_error(x) + _largest_error(y)
    log_mass += total * (
        sigma * _excess(surplus / (total * sigma)) + rest * _excess(-surplus / (total * rest))
    )
    zero = np.zeros(1, dtype=np.int64)
    log_bounds: Floats = log_mass - _log_mass(zero, zero, np.float64(sigma), np.float64(rest))[0]
    is_above = surplus >= 0
    slope = (x - 1) * rest - np.maximum(y - 1, 0.0) * sigma
    tangent = log_bounds - log_mass - np.log(np.where(is_above & (slope > 0), slope, 1.0))
    tangent = np.where(slope > 0, np.minimum(tangent, 0.0), 0.0)
    log_bounds[is_above] = np.minimum(log_bounds, tangent)[is_above]
    return log_bounds


def is_alarm(log_e: float, delta: Fraction) -> bool:
    """Return whether an e-value reaches 1 / delta.

    Examples
    --------
    >>> is_alarm(4.7, Fraction(1, 100)), is_alarm(4.5, Fraction(1, 100))
    (True, False)
    """
    return log_e >= -math.log(delta)


def _log_mass(
    successes: Ints | Floats, failures: Ints | Floats, bound: Floats | np.float64, rest: Floats | np.float64
) -> Floats:
    """Compute log int_0^sigma q^(x-1) (1-q)^(y-1) dq - x log sigma - y log(1 - sigma).

    Here ``x = successes + 20 sigma`` and ``y = failures + 20 (1 - sigma)``. The powers of sigma cancel before
    anything is rounded. Of the complete integral, nearly all lies below sigma if the rate is far below it. If
    the rate is far above, the share below sigma leaves the range of doubles, and a continued fraction has it.
    """
    sigma, x, y, rest = np.broadcast_arrays(
        bound, successes + _PRIOR_TRIALS * bound, failures + _PRIOR_TRIALS * rest, rest
    )
    total = x + y
    surplus = successes * rest - failures * bound
    deviance = total * (
        sigma * _excess(surplus / (total * sigma)) + rest * _excess(-surplus / (total * rest))
    )
    smooth = np.log(2 * np.pi * total / (x * y)) / 2
    # Stirling's formula and its error: the logs of gamma functions would lose digits (Loader 2000)
    log_mass: Floats = smooth + deviance + _stirling_error(x) + _stirling_error(y) - _stirling_error(total)
    is_near = deviance < _NEAR
    log_mass[is_near] += np.log(_share_below(*(values[is_near] for values in (x, y, sigma, rest))))
    is_above = ~is_near & (surplus > 0)
    log_mass[is_above] = np.log(_fraction(*(values[is_above] for values in (x, y, sigma))) / x[is_above])
    return log_mass


def _share_below(x: Floats, y: Floats, sigma: Floats, rest: Floats) -> Floats:
    """Compute P(Beta(x, y) < sigma), with the digits of sigma or of 1 - sigma, whichever is smaller."""
    from scipy.special import betainc, betaincc

    share = np.empty_like(x)
    is_low = sigma < 0.5
    share[is_low] = betainc(x[is_low], y[is_low], sigma[is_low])
    share[~is_low] = betaincc(y[~is_low], x[~is_low], rest[~is_low])
    return share


def _excess(change: Floats) -> Floats:
    """Compute ``(1 + t) log(1 + t) - t``, which is at least 0."""
    return (1 + change) * np.log1p(change) - change


def _stirling_error(value: Floats | np.float64) -> Floats:
    """Compute log Gamma less Stirling's formula."""
    from scipy.special import gammaln

    small = np.minimum(value, _MIN_SERIES_ARGUMENT)
    exact = gammaln(small) - (small - 0.5) * np.log(small) + small - np.log(2 * np.pi) / 2
    inverse = 1 / np.maximum(value, _MIN_SERIES_ARGUMENT)
    square = inverse * inverse
    coefficients = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
    series = np.zeros_like(inverse)
    for coefficient in reversed(coefficients):
        series = series * square + coefficient
    error: Floats = np.where(value < _MIN_SERIES_ARGUMENT, exact, series * inverse)
    return error


def _largest_error(value: Floats) -> Floats:
    """Return an upper bound of ``_stirling_error``: 1 / 12x, and below 1 that for Gamma(1 + x) <= 1."""
    small: Floats = value - np.log(2 * np.pi) / 2 - (value + 0.5) * np.log(value)
    return np.where(value < 1, small, 1 / (12 * value))


def _fraction(x: Floats, y: Floats, sigma: Floats) -> Floats:
    """Compute 2F1(x + y, 1; x + 1; sigma) by its continued fraction (DLMF 8.17.22, Lentz's algorithm).

    It converges fast if sigma is far below ``x / (x + y)``.
    """
    tiny = 1e-300
    numerator, denominator = np.ones_like(x), 1 - (x + y) * sigma / (x + 1)
    denominator = 1 / np.where(np.abs(denominator) < tiny, tiny, denominator)
    value = denominator.copy()
    for step in range(1, _MAX_FRACTION_STEPS):
        even = step * (y - step) * sigma / ((x + 2 * step - 1) * (x + 2 * step))
        odd = -(x + step) * (x + y + step) * sigma / ((x + 2 * step) * (x + 2 * step + 1))
        before = value
        for coefficient in (even, odd):
            denominator = 1 / (1 + coefficient * denominator)
            numerator = 1 + coefficient / numerator
            value = value * denominator * numerator
        if np.all(np.abs(value - before) <= _FRACTION_TOLERANCE * value):
            break
    return value


def log_change_evidence(
    batches: Sequence[tuple[int, int]] | Ints, bound: Fraction, used: float | Floats = 1.0
) -> float:
    """Compute the log of the evidence of a change after the last of some batches, in order.

    No batches, of successes and trials, give minus infinity. The bound is as for ``log_e_value``. Since
    trials of a batch depend on each other, counts are divided by ``used``: one number for all, or one for
    those since each batch.

    Examples
    --------
    >>> log_change_evidence([(0, 0), (0, 0)], Fraction(9, 10)) == math.log(2)
    True
    """
    counts = np.zeros((len(batches) + 1, 2), dtype=np.int64)
    counts[1:] = np.array(batches, dtype=np.int64).reshape(-1, 2)
    totals = counts.cumsum(axis=0)
    since_each = (totals[-1] - totals[:-1]).T
    log_e = log_e_values(since_each[0] / used, since_each[1] / used, bound)
    highest = float(log_e.max(initial=-math.inf))
    if math.isinf(highest):
        return highest
    return highest + math.log(float(np.exp(log_e - highest).sum()))


def is_change_alarm(log_evidence: float, run_length: int) -> bool:
    """Return whether the evidence of a change reaches the run length.

    Examples
    --------
    >>> is_change_alarm(7.0, 1000), is_change_alarm(6.9, 1000)
    (True, False)
    """
    return log_evidence >= math.log(run_length)


_HALVINGS: Final = 40


def rate_interval(successes: float, trials: float, confidence: float) -> tuple[float, float]:
    """Compute the interval of a rate. It covers the rate at all looks together with this probability.

    The confidence is that of both sides together. Zero trials give (0, 1).

    Examples
    --------
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
    """Compute the interval of each of m pairs of counts, as ``rate_interval`` does: low and high ends."""
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
