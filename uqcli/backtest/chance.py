"""What chance alone does to a history: the usual number of periods that meet a target, and exact tests.

In an unchanged world days differ as their rows depend on each other. With n_d trials on day d, the sum of a
day's outcomes has the variance s (1 - s) n_d (1 + (n_d - 1) r) at the target s, with the correlation r of two
rows of one day. A rule that had the rate s + x on its window meets the target in a later period if x less
the error of the window plus that of the period is at least 0. Both errors are sums over days, which rules
and periods share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np

from uqcli.base.counts import Floats, Ints, Matrix
from uqcli.base.records import dataclass

LEVEL: Final = 0.05
"""Share of unchanged histories whose number of met periods is outside the usual range."""

_DRAWS: Final = 4000
_DAYS_AT_ONCE: Final = 4_000_000
"""Random numbers in memory at once."""

MOST_EXACT: Final = 20
"""Differences up to which all signs are tried: a million sums."""

_FLIPS: Final = 99_999

LEAST_FOR_RANGE: Final = 8
"""Differences whose smallest and largest cover another one in 78 % of cases."""

LEAST_FOR_TREND: Final = 5
"""Periods from which the test of a trend can reject at 5 %."""

TREND: Final = 0.1
"""Trend for which the power is stated, in standard deviations a period."""

_POWER_DRAWS: Final = 4000
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowTrials:
    """Trials by day on the window of a rule, and how far its rate there was beyond the target."""

    trials: Ints
    surplus: float


def day_correlation(successes: Sequence[Ints], trials: Sequence[Ints]) -> float:
    """Estimate the correlation of two rows of one day, within periods, by moments; 0 or more.

    Days of a period have one rate, so that changes between periods do not count. With N trials of a period
    and V_d the variance of day d, that of its residual is V_d (1 - 2 n_d / N) + n_d^2 sum(V) / N^2.

    Examples
    --------
    >>> n = np.full(20, 10)
    >>> round(day_correlation([np.array([10, 0] * 10)], [n]), 2), day_correlation([np.full(20, 5)], [n])
    (1.0, 0.0)
    """
    squares, alone, together = list[float](), list[float](), list[float]()
    for hits, sizes in zip(successes, trials, strict=True):
        k, n = hits[sizes > 0].astype(np.float64), sizes[sizes > 0].astype(np.float64)
        total = math.fsum(n)
        rate = math.fsum(k) / total if total else 0.0
        if not 0 < rate < 1:
            continue
        residual = (k - rate * n) ** 2 / (rate * (1 - rate))
        for variance, sums in ((n, alone), (n * (n - 1), together)):
            sums.append(math.fsum(variance * (1 - 2 * n / total) + n**2 / total**2 * math.fsum(variance)))
        squares.append(math.fsum(residual))
    weight = math.fsum(together)
    if weight <= 0:
        return 0.0
    return min(max((math.fsum(squares) - math.fsum(alone)) / weight, 0.0), 1.0)


def design_effect(trials: Sequence[Ints], correlation: float) -> float:
    """Return the factor by which the variance of a rate exceeds that of independent rows."""
    sizes = np.concatenate(trials).astype(np.float64)
    total = math.fsum(sizes)
    return math.fsum(sizes * (1 + (sizes - 1) * correlation)) / total if total else 1.0


def usual_counts(
    trials: Sequence[Ints],
    windows: Sequence[Sequence[tuple[float, WindowTrials]]],
    target: float,
    correlation: float,
    seed: int,
) -> tuple[int, int]:
    """Return the range of the number of periods that meet the target in ``1 - LEVEL`` of unchanged histories.

    Parameters
    ----------
    trials
        Trials of each period by calendar day of the history; int64, shape (days,), 0 outside the period.
    windows
        The rules of each period, with the share of its trials that each decides.
    target, correlation
        See the module.
    seed
        Of the draws.
    """
    errors = errors_by_day(trials, windows, target, correlation)
    surplus = np.array([math.fsum(share * rule.surplus for share, rule in rules) for rules in windows])
    random, met = np.random.Generator(np.random.PCG64(seed)), []
    at_once = max(_DAYS_AT_ONCE // errors.shape[1], 1)
    for start in range(0, _DRAWS, at_once):
        draws = random.standard_normal((min(at_once, _DRAWS - start), errors.shape[1]))
        met.append(((draws @ errors.T + surplus) >= 0).sum(axis=1))
    counts = np.sort(np.concatenate(met))
    outside = int(_DRAWS * LEVEL / 2)
    return int(counts[outside]), int(counts[_DRAWS - 1 - outside])


def errors_by_day(
    trials: Sequence[Ints],
    windows: Sequence[Sequence[tuple[float, WindowTrials]]],
    rate: float,
    correlation: float,
) -> Matrix:
    """Return by how much a standard deviation of each day moves each period against its windows.

    Parameters are those of ``usual_counts``, with a rate in place of the target; shape (periods, days).
    """
    return np.array(
        [_errors(own, rules, rate, correlation) for own, rules in zip(trials, windows, strict=True)]
    )


def unchanged_p(difference: float, first: Matrix, second: Matrix) -> float:
    """Return how often two equal policies differ by so much in an unchanged world, on two sides.

    Rules that are fitted on other days have other rates for as long as they are in use, by what chance did on
    these days, so that their differences of one period repeat in the next. The errors of both policies are
    those of ``errors_by_day``, of which the days are the same.

    Examples
    --------
    >>> round(unchanged_p(1.96, np.array([[1.0, 0.0]]), np.array([[0.0, 0.0]])), 3)
    0.05
    """
    deviation = math.sqrt(math.fsum(np.square((second - first).mean(axis=0))))
    if not deviation:
        return 1.0 if not difference else 0.0
    return math.erfc(abs(difference) / deviation / math.sqrt(2))


def _errors(
    trials: Ints, rules: Sequence[tuple[float, WindowTrials]], target: float, correlation: float
) -> Floats:
    """Return by how much a standard deviation of each day moves a period against its windows."""
    errors = _by_day(trials, target, correlation)
    for share, rule in rules:
        errors = errors - share * _by_day(rule.trials, target, correlation)
    return errors


def _by_day(trials: Ints, target: float, correlation: float) -> Floats:
    """Return the standard deviation of the share that each day adds to a rate."""
    n = trials.astype(np.float64)
    total = math.fsum(n)
    deviation: Floats = np.sqrt(target * (1 - target) * n * (1 + np.maximum(n - 1, 0) * correlation))
    return deviation / total if total else deviation


def sign_flip_p(differences: Sequence[float], seed: int) -> float:
    """Test whether paired differences are symmetric about 0: the p-value of their sum, on two sides.

    All signs are tried for up to ``MOST_EXACT`` differences that are not 0, and else random ones, with the
    signs that were seen among them, so that the level holds either way.

    Examples
    --------
    >>> sign_flip_p([1.0, 2.0, 3.0], 0), sign_flip_p([0.0, 0.0], 0)
    (0.25, 1.0)
    """
    values = np.array([value for value in differences if value], dtype=np.float64)
    if not len(values):
        return 1.0
    limit = abs(math.fsum(values)) * (1 - _ROUNDING)
    if len(values) <= MOST_EXACT:
        sums = np.zeros(1)
        for value in values:
            sums = np.concatenate([sums + value, sums - value])
        return float(np.count_nonzero(np.abs(sums) >= limit)) / len(sums)
    random = np.random.Generator(np.random.PCG64(seed))
    signs = random.integers(0, 2, size=(_FLIPS, len(values)), dtype=np.int8) * 2 - 1
    return float(1 + np.count_nonzero(np.abs(signs @ values) >= limit)) / (1 + _FLIPS)


def mann_kendall_p(values: Sequence[float]) -> tuple[int, float]:
    """Return Kendall's S of values in order, and its exact p-value on two sides (Mann 1945).

    Equal values count as neither a rise nor a fall, which makes the test conservative.

    Examples
    --------
    >>> s, p = mann_kendall_p([1, 2, 3, 4, 5])
    >>> s, round(p, 4)
    (10, 0.0167)
    """
    score = int(_kendall(np.array([values], dtype=np.float64))[0])
    return score, float(_tails(len(values))[abs(score)])


def _kendall(values: Matrix) -> Ints:
    """Return S of each row of values."""
    score: Ints = np.zeros(len(values), dtype=np.int64)
    for lag in range(1, values.shape[1]):
        score += np.sign(values[:, lag:] - values[:, :-lag]).astype(np.int64).sum(axis=1)
    return score


@cache
def _tails(number: int) -> Floats:
    """Return P(abs(S) >= s) for s from 0 to the number of pairs, of so many values in random order."""
    pairs = number * (number - 1) // 2
    inversions = np.ones(1)
    for size in range(2, number + 1):  # inserting the next value adds 0 to size - 1 inversions
        inversions = np.convolve(inversions, np.full(size, 1 / size))
    scores = np.abs(pairs - 2 * np.arange(pairs + 1))
    by_score = np.bincount(scores, weights=inversions, minlength=pairs + 1)
    tails: Floats = np.minimum(np.cumsum(by_score[::-1])[::-1], 1.0)
    return tails


def trend_power(number: int, seed: int) -> float:
    """Simulate how often the test of a trend rejects at 5 % under a trend of ``TREND`` a period."""
    random = np.random.Generator(np.random.PCG64(seed))
    values = random.standard_normal((_POWER_DRAWS, number)) + TREND * np.arange(number)
    rejects = _tails(number)[np.abs(_kendall(values))] <= LEVEL
    return float(np.count_nonzero(rejects)) / _POWER_DRAWS


def next_range(expected: float, differences: Sequence[float]) -> tuple[float, float, float]:
    """Return the range of the next rate, and how often such a range covers it.

    The differences of realised and expected rates, and the next one, are taken as exchangeable: it is below
    the least, or above the largest, of K with probability 1 / (K + 1) each.

    Examples
    --------
    >>> low, high, coverage = next_range(0.5, [-0.1, 0.2] * 4)
    >>> round(low, 2), round(high, 2), round(coverage, 3)
    (0.4, 0.7, 0.778)
    """
    low, high = expected + min(differences), expected + max(differences)
    return max(low, 0.0), min(high, 1.0), 1 - 2 / (len(differences) + 1)
