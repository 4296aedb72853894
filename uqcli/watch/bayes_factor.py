"""Bayes factor of days whose rates scatter about one mean, against a guaranteed mean.

Days of n_d trials and k_d successes are independent of each other, and their rates have a beta law with mean
p and overdispersion o, the correlation of trials of a day divided by 1 less it: the days are beta-binomial.
The Bayes factor divides their likelihood at means below the guaranteed sigma by that at sigma, both averaged
over the same grid of overdispersions::

    E = [sum_o v(o) sum_q L(q, o) / 11] / [sum_o v(o) L(sigma, o)]

If o were known, E would be a supermartingale for any days with means of at least sigma, since
beta-binomials have monotone likelihood ratios. With an unknown o it is one nearly, and only on average over
the weights v.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats, Ints
from uqcli.kernels.units import dense_ranks

_DISTANCES: Final = np.array([0.05, 0.1, 0.2, 0.35, 0.55, 0.8, 1.2, 1.7, 2.5, 4, 6])
"""Distances of the means q below sigma, in log-odds."""

_ABOVE: Final = np.array([0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.5, 4])
"""Distances above sigma, also in log-odds, of means that the days before a change may have had."""

_OVERDISPERSIONS: Final = np.concatenate([[0.0], 2.0 ** np.arange(-30, -8), 2.0 ** np.arange(-8, 6.5, 0.5)])
_WEIGHTS: Final = np.where(_OVERDISPERSIONS == 0, 0.25, 0.75 / (len(_OVERDISPERSIONS) - 1))

_NEGLIGIBLE: Final = 0.02
"""Overdispersion, times the trials of the largest day, below which days are as good as independent trials."""

_LEARNED: Final = 0.9
"""Part of the weights that is learned from the days before a change."""

_TOLERANCE: Final = 1e-8
_FARTHEST: Final = 37.0
"""Distance in log-odds within which an end is found, and log-odds that are 1 as a rate."""

_MAX_STEPS: Final = 100


class LogFactors:
    """Logarithms of the Bayes factor against a bound after each day, and since each day.

    Successes and trials are those of each day in order, at least one trial each, shape (t,). The bound is
    strictly between 0 and 1.

    Examples
    --------
    >>> factors = LogFactors(np.array([1, 0, 2]), np.array([10, 10, 10]), Fraction(1, 2))
    >>> factors.after_each().round(2).tolist()
    [1.55, 2.46, 3.35]
    """

    def __init__(self, successes: Ints, trials: Ints, bound: Fraction) -> None:
        self._days = _Days(successes, trials)
        self._trials = trials
        self._log_odds = log_odds(bound)

    def after_each(self) -> Floats:
        """Return those of all days so far; shape (t,)."""
        largest = np.maximum.accumulate(self._trials)
        days = _merged(self._so_far[:, :, 1:], largest)
        return _log_ratio(days, np.log(_WEIGHTS)[:, None])

    def since(self, starts: Ints, look: int) -> Floats:
        """Return those of the days from each start to the look, by what the days before it have shown.

        Starts are numbers of days before, at most ``look``; shape (s,). No days give 0.
        """
        if look == 0:
            return np.zeros(len(starts))
        largest = np.maximum.accumulate(self._trials[:look][::-1])[::-1]
        days = self._so_far[:, :, look, None] - self._so_far[:, :, starts]
        merged = _merged(days, largest[np.minimum(starts, look - 1)])
        return _log_ratio(merged, np.log(self._weights_before[:, starts]))

    @cached_property
    def _so_far(self) -> Floats:
        """Log-likelihoods of the days so far at the bound, and at means below: (means, o, t + 1)."""
        return self._cumulative(np.append(0.0, -_DISTANCES))

    @cached_property
    def _weights_before(self) -> Floats:
        """Weights of overdispersions by the likelihood of the days before each day; shape (o, t + 1)."""
        largest = np.append(1, np.maximum.accumulate(self._trials))
        before = np.concatenate([self._so_far, self._cumulative(_ABOVE)])
        log_likelihood = _log_sum(_merged(before, largest), axis=0)
        posterior = _WEIGHTS[:, None] * np.exp(log_likelihood - log_likelihood.max(axis=0))
        weights: Floats = _LEARNED * posterior / posterior.sum(axis=0) + (1 - _LEARNED) * _WEIGHTS[:, None]
        return weights

    def _cumulative(self, shift: Floats) -> Floats:
        means = self._log_odds + shift
        so_far = np.zeros((len(means), len(_OVERDISPERSIONS), len(self._trials) + 1))
        for index, overdispersion in enumerate(_OVERDISPERSIONS.tolist()):
            if _is_counted(overdispersion, self._trials):
                so_far[:, index, 1:] = np.cumsum(self._days.log_likelihoods(means, overdispersion), axis=1)
        return so_far


def log_factor(successes: Ints, trials: Ints, bound: Fraction) -> float:
    """Compute the logarithm of the Bayes factor of days, or other units, in any order.

    They have at least one trial each, shape (u,). A bound of 0 is never in doubt and gives 0; a failure under
    a bound of 1 gives infinity.

    Examples
    --------
    >>> round(log_factor(np.array([1, 0, 2]), np.array([10, 10, 10]), Fraction(1, 2)), 2)
    3.35
    """
    if bound >= 1:
        return math.inf if (successes < trials).any() else 0.0
    if bound <= 0 or not len(trials):
        return 0.0
    return _log_factor_at(_Days(successes, trials), log_odds(bound))


def log_factors(successes: Ints, trials: Ints, bound: Fraction) -> Floats:
    """Compute what ``log_factor`` is of the days so far, after each day; shape (t,)."""
    if bound >= 1:
        return np.where(np.cumsum(trials - successes) > 0, np.inf, 0.0)
    if bound <= 0 or not len(trials):
        return np.zeros(len(trials))
    return LogFactors(successes, trials, bound).after_each()


def upper_end(successes: Ints, trials: Ints, least: float, log_limit: float) -> float:
    """Find the smallest bound, at least ``least``, at which the Bayes factor reaches a limit; 1 if none does.

    The first bound is where it does already, or where it is reached in steps outwards.
    """
    if least >= 1 or not (successes < trials).any():
        return 1.0
    days = _Days(successes, trials)

    def excess(log_odds: float) -> float:
        return _log_factor_at(days, log_odds) - log_limit

    low = math.log(least) - math.log1p(-least)
    if (at_low := excess(low)) >= 0:
        return least
    step, high = 0.25, low + 0.25
    while (at_high := excess(high)) < 0:
        step *= 2
        low, at_low, high = high, at_high, high + step
        if low > _FARTHEST:
            return 1.0
    for _ in range(_MAX_STEPS):
        if high - low < _TOLERANCE:
            break
        # regula falsi (Illinois), at least a hundredth of the distance from either end
        part = min(max(at_low / (at_low - at_high), 0.01), 0.99)
        middle = low + part * (high - low)
        if (value := excess(middle)) >= 0:
            high, at_high, at_low = middle, value, at_low / 2
        else:
            low, at_low, at_high = middle, value, at_high / 2
    return 1 / (1 + math.exp(-high))


def log_odds(bound: Fraction) -> float:
    """Compute the log-odds of a bound strictly between 0 and 1, exact near both.

    Examples
    --------
    >>> log_odds(Fraction(1, 2)), round(log_odds(1 - Fraction(1, 10**30)), 3)
    (0.0, 69.078)
    """
    return math.log(bound.numerator) - math.log(bound.denominator - bound.numerator)


class _Distinct(NamedTuple):
    """Distinct counts, with the place of each day among them, and their numbers of days."""

    value: NDArray[np.float64]
    of_day: NDArray[np.intp]
    days: NDArray[np.float64]


class _Days:
    """Days by their distinct counts, of which each needs its gamma functions only once."""

    def __init__(self, successes: Ints, trials: Ints) -> None:
        counts = (successes, trials - successes, trials)
        self.largest = int(trials.max(initial=1))
        self._of_trials: dict[float, Floats] = {}
        self._distinct: list[_Distinct] = []
        for count in counts:
            value, of_day = dense_ranks(count)
            days = np.bincount(of_day, minlength=len(value))
            self._distinct.append(_Distinct(value.astype(np.float64), of_day, days.astype(np.float64)))

    def log_likelihoods(self, log_odds: Floats, overdispersion: float) -> Floats:
        """Return those of each day at each of m means, without binomial coefficients; shape (m, days)."""
        hits, misses, all_ = self._parts(log_odds, overdispersion)
        of_hits, of_misses, of_all = (distinct.of_day for distinct in self._distinct)
        return hits[:, of_hits] + misses[:, of_misses] - all_[of_all]

    def log_likelihood(self, log_odds: Floats, overdispersion: float) -> Floats:
        """Return that of all days together at each of m means; shape (m,)."""
        parts = self._parts(log_odds, overdispersion)
        hits, misses, all_ = (
            (part * distinct.days).sum(axis=-1) for part, distinct in zip(parts, self._distinct, strict=True)
        )
        total: Floats = hits + misses - all_
        return total

    def _parts(self, log_odds: Floats, overdispersion: float) -> tuple[Floats, Floats, Floats]:
        """Return the parts of the log-likelihood of distinct successes, failures and trials."""
        successes, failures, trials = (distinct.value for distinct in self._distinct)
        log_means = [-np.log1p(np.exp(-sign * log_odds))[:, None] for sign in (1, -1)]
        if overdispersion == 0:
            return successes * log_means[0], failures * log_means[1], np.zeros(len(trials))
        size = 1 / overdispersion
        hits, misses = (
            _log_rising(size * np.exp(log_mean), count)
            for log_mean, count in zip(log_means, (successes, failures), strict=True)
        )
        if overdispersion not in self._of_trials:  # whatever the mean
            self._of_trials[overdispersion] = _log_rising(np.float64(size), trials)
        return hits, misses, self._of_trials[overdispersion]


def _log_rising(start: Floats | np.float64, count: Floats) -> Floats:
    """Compute log of start (start + 1) ... (start + count - 1)."""
    from scipy.special import gammaln

    rising: Floats = gammaln(start + count) - gammaln(start)
    return rising


def _log_factor_at(days: _Days, log_odds: float) -> float:
    means = log_odds - np.append(0.0, _DISTANCES)
    likelihood = np.zeros((len(means), len(_OVERDISPERSIONS), 1))
    for index, overdispersion in enumerate(_OVERDISPERSIONS.tolist()):
        if _is_counted(overdispersion, days.largest):
            likelihood[:, index, 0] = days.log_likelihood(means, overdispersion)
    merged = _merged(likelihood, np.array([days.largest]))
    return float(_log_ratio(merged, np.log(_WEIGHTS)[:, None])[0])


def _is_counted(overdispersion: float, trials: Ints | int) -> bool:
    """Whether an overdispersion differs from 0 for any day of these trials."""
    return overdispersion == 0 or overdispersion * float(np.max(trials)) >= _NEGLIGIBLE


def _merged(log_likelihoods: Floats, largest: Ints) -> Floats:
    """Take negligible overdispersions for 0, by the largest days, along the axes (means, o, days)."""
    is_negligible = _OVERDISPERSIONS[:, None] * largest < _NEGLIGIBLE
    merged: Floats = np.where(is_negligible, log_likelihoods[:, :1], log_likelihoods)
    return merged


def _log_ratio(log_likelihoods: Floats, log_weights: Floats) -> Floats:
    """Divide the mean over means below the bound by that at the bound, which is the first of them."""
    weighted = log_likelihoods + log_weights
    below = _log_sum(_log_sum(weighted[1:], axis=0), axis=0) - math.log(len(_DISTANCES))
    return below - _log_sum(weighted[0], axis=0)


def _log_sum(logs: Floats, axis: int) -> Floats:
    """Add up numbers given by their logarithms."""
    highest = logs.max(axis=axis)
    total: Floats = highest + np.log(np.exp(logs - np.expand_dims(highest, axis)).sum(axis=axis))
    return total
