"""Anytime-valid evidence against a guaranteed rate.

The claim is that every trial succeeds with probability at least sigma, given all earlier trials. After k
successes in n trials the e-value is the likelihood ratio of q and sigma, averaged over q below sigma::

    E = int_0^sigma (q / sigma)^k ((1 - q) / (1 - sigma))^(n - k) dPi(q)

Pi is Beta(20 sigma, 20 (1 - sigma)) cut to (0, sigma). If the claim is true, E is a non-negative
supermartingale that starts at 1. By Ville's inequality (1939) it then ever reaches 1 / delta with probability
at most delta. Looks may therefore be taken at any time, and as often as you like.

A watch gathers it against each promise over its batches, and remembers at which of them alarms were raised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Final

import msgspec
import numpy as np

from uqcli.base.counts import Floats, Ints
from uqcli.estimates.dependence import Dependence, dependence_path, divisors_since
from uqcli.estimates.estimate import Estimate
from uqcli.watch.promises import Promise
from uqcli.watch.report import MeasuredPromise, Seen, Together
from uqcli.watch.state import SavedPromise, WatchArtifact

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
    batches: Sequence[tuple[int, int]], bound: Fraction, used: float | Floats = 1.0
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


_LARGEST_EXPONENT: Final = 300
_LARGEST_LOG: Final = 690.0
"""Power of ten, and natural logarithm, up to which evidence is given as a number."""


Units = Sequence[tuple[Ints, Ints]]
"""Successes and trials of the customers, or days, of each promise, if all rows were counted at once."""


def with_alarms(
    state: WatchArtifact, promises: Sequence[Promise], *, known: int, units: Units | None = None
) -> WatchArtifact:
    """Return the state with the totals of its batches, and alarms at the first batches that raise them.

    ``known`` batches need no other look; 0 also takes back alarms that were raised.
    """
    known = max(known - state.acknowledged, 0)
    saved = [
        _Evidence(state, index, promise, units).with_alarms(known) for index, promise in enumerate(promises)
    ]
    return msgspec.structs.replace(state, promises=saved)


def measured_promises(
    state: WatchArtifact, promises: Sequence[Promise], confidence: float, units: Units | None = None
) -> tuple[MeasuredPromise, ...]:
    """Measure each promise over the batches since the last acknowledgement."""
    return tuple(
        _Evidence(state, index, promise, units).measured(confidence) for index, promise in enumerate(promises)
    )


class _Evidence:
    """Evidence against one promise over the batches since the last acknowledgement.

    ``batches`` has the successes and trials of each batch, and ``successes`` and ``trials`` those so far
    after each, int64 of shape (batches,). ``dependence`` is how trials of a batch depend on each other, after
    each batch; None if all are independent. Counts are then divided by ``used`` after each batch, float64 of
    shape (batches,). A promise that every trial succeeds is broken by one failure, however rows depend on
    each other.

    ``risk`` is an equal part of the risk of the watch, of which prediction sets spend half otherwise. The
    change alarm is raised at the evidence ``change_limit``.
    """

    def __init__(self, state: WatchArtifact, index: int, promise: Promise, units: Units | None) -> None:
        self.state, self.promise, self.saved = state, promise, state.promises[index]
        self.batches = [
            (batch.counts[index].successes, batch.counts[index].trials) for batch in state.counted
        ]
        self.counts: Ints = np.array(self.batches, dtype=np.int64).reshape(-1, 2)
        self.successes, self.trials = np.cumsum(self.counts, axis=0).T
        self.dependence = self._dependence(None if units is None else units[index])
        self.used: Floats = np.ones(len(self.batches))
        if self.dependence is not None and promise.least_success < 1:
            self.used = self.dependence.used
        self.risk: Fraction = state.parameters.risk() / len(state.promises) / promise.sides
        self.change_limit = state.parameters.run_length * len(state.promises)

    def _dependence(self, units: tuple[Ints, Ints] | None) -> Dependence | None:
        """Estimate how trials depend on each other.

        Rows that were counted at once are independent, or depend on each other within units.
        """
        if units is None and self.state.has_one_look:
            return None
        successes, trials = self.counts.T if units is None else units
        has_trials = trials > 0
        path = dependence_path(
            successes[has_trials], trials[has_trials], self.promise.calibration, in_order=units is None
        )
        return _after_each(
            path, np.cumsum(has_trials) if units is None else np.array([np.count_nonzero(has_trials)])
        )

    def with_alarms(self, known: int) -> SavedPromise:
        """Look at the batches after the known ones, in the order in which they were counted."""
        alarmed_at, changed_at = (self.saved.alarmed_at, self.saved.changed_at) if known else (None, None)
        log_e = log_e_values(self.successes / self.used, self.trials / self.used, self.promise.least_success)
        for look in range(known, len(self.batches)):
            name = self.state.counted[look].name
            if alarmed_at is None and is_alarm(float(log_e[look]), self.risk):
                alarmed_at = name
            if changed_at is None:
                log_change = self._log_change(look + 1)
                changed_at = name if is_change_alarm(log_change, self.change_limit) else None
        return msgspec.structs.replace(
            self.saved,
            successes=int(self.successes[-1]) if self.batches else 0,
            trials=int(self.trials[-1]) if self.batches else 0,
            alarmed_at=alarmed_at,
            changed_at=changed_at,
        )

    def _log_change(self, looks: int) -> float:
        batches = self.batches[:looks]
        return log_change_evidence(batches, self.promise.least_success, self._used_since(looks))

    def _used_since(self, looks: int) -> Floats:
        """Return the number by which counts since each batch are divided after a number of batches."""
        used = np.full(looks, float(self.used[looks - 1]))
        counts = self.counts[:looks]
        has_trials = counts[:, 1] > 0
        if looks < 2 or self.state.has_one_look or self.promise.least_success >= 1 or not has_trials.any():
            return used
        successes, trials = counts[has_trials].T
        divisors = divisors_since(successes, trials, self.promise.calibration)
        # of the batches with trials, the first one at or after each
        first: Ints = np.cumsum(has_trials) - has_trials
        return divisors[np.minimum(first, len(divisors) - 1)]

    def measured(self, confidence: float) -> MeasuredPromise:
        """Return the promise with the evidence after the last batch."""
        promise, saved, number = self.promise, self.saved, len(self.batches)
        now = float(self.used[-1]) if number else 1.0
        log_e = log_e_value(saved.successes / now, saved.trials / now, promise.least_success)
        log_change = self._log_change(number) if number else -math.inf
        low, high = 0.0, 1.0
        if number:
            divisor = self._interval_used[-1]
            low, high = rate_interval(saved.successes / divisor, saved.trials / divisor, confidence)
        return MeasuredPromise(
            name=promise.name,
            text=promise.text(),
            bound=float(promise.bound),
            origin=promise.origin,
            counted=promise.trials,
            successes=saved.successes,
            trials=saved.trials,
            log10_e=log_e / math.log(10) if math.isfinite(log_e) else float(_LARGEST_EXPONENT),
            limit=float(1 / self.risk),
            change=math.exp(min(log_change, _LARGEST_LOG)),
            change_limit=float(self.change_limit),
            alarmed_at=saved.alarmed_at,
            changed_at=saved.changed_at,
            since=self._worst_since() if number else None,
            rate=_rate(promise, saved.successes, saved.trials, (low, high)),
            batches=number,
            dependence=None if self.dependence is None or not number else _together(self.dependence),
            over_time=partial(self._over_time, confidence),
        )

    @property
    def _interval_used(self) -> Floats:
        """Number by which the counts of intervals are divided, also where every trial must succeed."""
        return self.used if self.dependence is None else self.dependence.used

    def _over_time(self, confidence: float) -> list[Seen]:
        used = self._interval_used
        low, high = rate_intervals(self.successes / used, self.trials / used, confidence)
        columns = (column.tolist() for column in (self.successes, self.trials, low, high))
        return [
            (batch.name, _rate(self.promise, kept, tried, ends), _share(self.promise, *own))
            for batch, own, kept, tried, *ends in zip(self.state.counted, self.batches, *columns, strict=True)
        ]

    def _worst_since(self) -> tuple[str, float | None]:
        """Find the first of the batches since which the evidence is largest, and their rate."""
        number, used = len(self.batches), self._used_since(len(self.batches))
        since = np.cumsum(self.counts[::-1], axis=0)[::-1]
        log_e = log_e_values(since[:, 0] / used, since[:, 1] / used, self.promise.least_success)
        first = int(np.argmax(log_e))
        name = self.state.counted[first].name
        if self.state.parameters.day is None:
            name = f"batch {first + 1} of {number}"
        return name, _share(self.promise, *since[first].tolist())


def _after_each(path: Dependence, number: Ints) -> Dependence:
    """Return the estimates after a number of batches with trials; before the first one nothing is known."""
    nothing = Dependence(*(np.array([value]) for value in (np.nan, np.inf, np.nan, 0, False)))
    return Dependence(
        *(np.concatenate([first, rest])[number] for first, rest in zip(nothing, path, strict=True))
    )


def _together(dependence: Dependence) -> Together:
    """Return how trials of a batch depend on each other after the last batch."""
    effect, used, lag = (float(values[-1]) for values in dependence[:3])
    return Together(
        effect=effect if math.isfinite(effect) else None,
        used=used if math.isfinite(used) else None,
        lag=lag if math.isfinite(lag) else None,
        has_spells=bool(dependence.has_spells[-1]),
        left_out=bool(dependence.left_out[-1]),
    )


def _rate(promise: Promise, successes: int, trials: int, ends: Sequence[float]) -> Estimate:
    """Estimate the rate itself, from the confidence sequence of its successes."""
    low, high = ends
    if promise.is_upper:
        low, high = 1 - high, 1 - low
    return Estimate(value=_share(promise, successes, trials), low=low, high=high)


def _share(promise: Promise, successes: int, trials: int) -> float | None:
    if trials == 0:
        return None
    return (trials - successes if promise.is_upper else successes) / trials
