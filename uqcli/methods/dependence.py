"""Effective counts of trials that depend on each other within days, batches or clusters.

Rows of one day share causes, so that k successes in n trials say less than those of n independent trials.
Over t days with n_d trials and k_d successes the correlation within a day is estimated from
Q = t / (t - 1) sum (k_d - p n_d)^2 / (p (1 - p)) and the sums of powers of n_d, and so is the design effect,
the factor by which the variance of the rate exceeds that of independent trials. Evidence divides its counts
by an upper limit of the design effect, whose degrees of freedom are those of Satterthwaite (1946).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from uqcli.counts import Bools, Floats, Ints

MIN_DAYS: Final = 20
"""Days watched from which they may contradict the correlation of the calibration days."""

MIN_PAIRS: Final = 10
"""Pairs of consecutive days from which their correlation counts."""

_LARGEST_RATIO: Final = 3.0
"""Ratio of the design effect of the days watched to that of the calibration days up to which both count."""

_RATES: Final = (0.001, 0.999)
"""Range to which a rate is cut, since a rate of 0 or 1 shows no variance."""

_MIN_FREEDOM: Final = 0.5
_LARGEST_TAIL: Final = 0.05
_FREEDOM_OF_TAIL: Final = 400.0
"""Degrees of freedom by which the tail probability of the upper limit is one."""

_SPELLS: Final = 2.33
"""Standard errors from which days that resemble the last one are called spells."""


class UnitSums(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over the days, or clusters, that have trials of a promise.

    ``n``, ``n2``, ``n3``, ``n4``: sums of the powers of their trials. ``q``: see the module; 0 for fewer than
    two of them.
    """

    units: int
    n: float
    n2: float
    n3: float
    n4: float
    q: float


class Dependence(NamedTuple):
    """How trials depend on each other after each day.

    Attributes
    ----------
    effect : float64, shape (..., t)
        Design effect.
    used : float64, shape (..., t)
        Number by which counts are divided: its upper limit, at least the design effect of the days watched
        alone, raised if days go in spells. Infinite where the days say nothing yet.
    lag : float64, shape (..., t)
        Correlation of consecutive days; NaN before there are ``MIN_PAIRS`` pairs.
    pairs : int64, shape (..., t)
        Pairs of consecutive days.
    left_out : bool, shape (..., t)
        Whether the calibration days are left out, because they contradict the days watched.
    """

    effect: Floats
    used: Floats
    lag: Floats
    pairs: Ints
    left_out: Bools

    @property
    def has_spells(self) -> Bools:
        """Whether consecutive days are alike beyond chance."""
        with np.errstate(invalid="ignore"):
            spells: Bools = self.lag * np.sqrt(self.pairs) > _SPELLS
        return spells


def unit_sums(successes: Ints, trials: Ints) -> UnitSums:
    """Add up the days, or clusters, that have trials.

    Parameters
    ----------
    successes, trials : int64, shape (u,)

    Examples
    --------
    >>> sums = unit_sums(np.array([1, 2, 0]), np.array([2, 2, 0]))
    >>> (sums.units, sums.n, sums.n2, round(sums.q, 3))
    (2, 4.0, 8.0, 5.333)
    """
    has_trials = trials > 0
    powers, q = _sums(successes[has_trials], trials[has_trials])
    units = int(has_trials.sum())
    n, n2, n3, n4 = (float(power[-1]) if units else 0.0 for power in powers)
    return UnitSums(units=units, n=n, n2=n2, n3=n3, n4=n4, q=float(q[-1]) if units else 0.0)


def dependence_path(
    successes: Ints, trials: Ints, calibration: UnitSums | None = None, *, in_order: bool = True
) -> Dependence:
    """Estimate after each day how trials of a day depend on each other.

    Parameters
    ----------
    successes, trials : int64, shape (..., t)
        Of each day in order, at least one trial each.
    calibration
        Sums over the days of the calibration rows; None if these are unknown.
    in_order
        Whether consecutive days may be alike; otherwise they are units in no order.
    """
    trials = np.asarray(trials)
    (n, n2, n3, n4), q = _sums(successes, trials)
    days = np.arange(1, trials.shape[-1] + 1)
    watched = np.stack([np.broadcast_to(days, n.shape).astype(np.float64), n, n2, n3, n4, q])
    watched[:, ..., days < 2] = 0.0
    larger = n2 / n - 1
    left_out = np.zeros(n.shape, dtype=np.bool_)
    known = np.zeros(6)
    if calibration is not None and calibration.units >= 2:
        known = np.array(
            [getattr(calibration, field) for field in UnitSums.__struct_fields__], dtype=np.float64
        )
        own = 1 + _correlation(known) * (calibration.n2 / calibration.n - 1)
        of_watched = 1 + _correlation(watched) * larger
        left_out = (days >= MIN_DAYS) & (of_watched > _LARGEST_RATIO * own)
    known = np.where(left_out, 0.0, known.reshape(-1, *[1] * n.ndim))
    rho = _correlation(watched + known)
    effect = 1 + rho * larger
    used = effect * _excess(_freedom(watched, rho) + _freedom(known, rho))
    # calibration days that understate the correlation must not outvote the days watched
    used = np.maximum(used, 1 + _correlation(watched) * larger)
    lag, pairs = _lag_correlation(successes, trials, n)
    if not in_order:
        lag = np.full(lag.shape, np.nan)
    spells = np.nan_to_num(np.maximum(lag, 0.0))
    return Dependence(effect, used * (1 + spells) / (1 - spells), lag, pairs, left_out)


def _sums(successes: Ints, trials: Ints) -> tuple[list[Floats], Floats]:
    """Return the sums of the powers of trials over the days so far, and Q; each of shape (..., t)."""
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    powers = [np.cumsum(n**power, axis=-1) for power in (1, 2, 3, 4)]
    rate = np.clip(np.cumsum(k, axis=-1) / powers[0], *_RATES)
    squares = np.cumsum(k * k, axis=-1) - 2 * rate * np.cumsum(k * n, axis=-1) + rate * rate * powers[1]
    days = np.arange(1, n.shape[-1] + 1)
    return powers, days / np.maximum(days - 1, 1) * np.maximum(squares, 0) / (rate * (1 - rate)) * (days > 1)


def _correlation(sums: Floats) -> Floats:
    """Return the correlation within a day from units, n, n2, n3, n4 and q along the first axis."""
    _, n, n2, _, _, q = sums
    room = n2 - n
    correlation: Floats = np.clip((q - n) / np.where(room > 0, room, 1.0), 0.0, 1.0) * (room > 0)
    return correlation


def _freedom(sums: Floats, rho: Floats) -> Floats:
    """Return the degrees of freedom of a source; 0 for one that is left out."""
    _, n, n2, n3, n4, _ = sums
    mean = (1 - rho) * n + rho * n2
    variance = (1 - rho) ** 2 * n2 + 2 * rho * (1 - rho) * n3 + rho**2 * n4
    has_rows = variance > 0
    freedom: Floats = np.where(has_rows, mean * mean / np.where(has_rows, variance, 1.0) - 1, 0.0)
    return freedom


def _excess(freedom: Floats) -> Floats:
    """Return the factor from a design effect to its upper limit."""
    from scipy.special import gammaincinv

    is_enough = freedom >= _MIN_FREEDOM
    enough = np.where(is_enough, freedom, 1.0)
    tail = np.minimum(_LARGEST_TAIL, enough / _FREEDOM_OF_TAIL)
    factor: Floats = np.where(is_enough, enough / (2 * gammaincinv(enough / 2, tail)), np.inf)
    return factor


def _lag_correlation(successes: Ints, trials: Ints, total: Floats) -> tuple[Floats, Ints]:
    """Return the correlation of the residuals of consecutive days, and the number of pairs."""
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    rate = np.clip(np.cumsum(k, axis=-1) / total, *_RATES)
    own = np.cumsum(k * k / n, axis=-1) - 2 * rate * np.cumsum(k, axis=-1) + rate * rate * total
    root = np.sqrt(n[..., 1:] * n[..., :-1])
    terms = (
        k[..., 1:] * k[..., :-1] / root,
        (k[..., 1:] * n[..., :-1] + k[..., :-1] * n[..., 1:]) / root,
        root,
    )
    sums = [np.zeros(n.shape) for _ in terms]
    for cumulative, term in zip(sums, terms, strict=True):
        np.cumsum(term, axis=-1, out=cumulative[..., 1:])
    both = sums[0] - rate * sums[1] + rate * rate * sums[2]
    pairs = np.broadcast_to(np.arange(n.shape[-1]), n.shape)
    is_known = (pairs >= MIN_PAIRS) & (own > 0)
    lag = np.where(is_known, both / np.where(own > 0, own, 1.0), np.nan)
    return np.clip(lag, -1.0, _LARGEST_LAG), pairs


_LARGEST_LAG: Final = 0.999
"""Largest correlation of consecutive days; below 1 because counts are divided by 1 less it."""


def divisors_since(successes: Ints, trials: Ints, calibration: UnitSums | None = None) -> Floats:
    """Return the number by which counts since each day are divided, if the rate may have changed then.

    A change of the rate would look like dependence, and like a spell, if all days had one rate: it would hide
    itself. Therefore the days before and those since have a rate of their own, and are two sources of one
    correlation.

    Parameters
    ----------
    successes, trials : int64, shape (t,)
        Of each day in order, at least one trial each.
    calibration
        As for ``dependence_path``.

    Returns
    -------
    float64, shape (t,)
        For changes on each day; infinite where the days say nothing yet.
    """
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    root = np.sqrt(n[1:] * n[:-1])
    single = [np.ones_like(n), n, n**2, n**3, n**4, k, k * k, k * n, k * k / n]
    pair = [k[1:] * k[:-1] / root, (k[1:] * n[:-1] + k[:-1] * n[1:]) / root, root, np.ones_like(root)]
    days = np.arange(len(n))
    totals = [np.concatenate([[0.0], np.cumsum(column)]) for column in single]
    in_pairs = [np.concatenate([[0.0], np.cumsum(column)]) for column in pair]
    before = [total[days] for total in totals], [total[np.maximum(days - 1, 0)] for total in in_pairs]
    since = [total[-1] - total[days] for total in totals], [total[-1] - total[days] for total in in_pairs]
    parts = [_segment(*part) for part in (before, since)]
    sources = [sums for sums, *_ in parts]
    larger = totals[2][-1] / totals[1][-1] - 1
    alone = 1 + _correlation(sources[0] + sources[1]) * larger
    if calibration is not None and calibration.units >= 2:
        known = np.array([getattr(calibration, field) for field in UnitSums.__struct_fields__])
        own = 1 + _correlation(known) * (calibration.n2 / calibration.n - 1)
        left_out = (len(n) >= MIN_DAYS) & (alone > _LARGEST_RATIO * own)
        sources.append(np.where(left_out, 0.0, known[:, np.newaxis]))
    rho = _correlation(np.sum(np.broadcast_arrays(*sources), axis=0))
    freedom = np.sum([_freedom(source, rho) for source in sources], axis=0)
    used = np.maximum((1 + rho * larger) * _excess(freedom), alone)
    both, squares, pairs = (sum(part[index] for part in parts) for index in (1, 2, 3))
    is_known = (pairs >= MIN_PAIRS) & (squares > 0)
    lag = np.where(is_known, both / np.where(squares > 0, squares, 1.0), 0.0)
    spells = np.clip(lag, 0.0, _LARGEST_LAG)
    divisors: Floats = used * (1 + spells) / (1 - spells)
    return divisors


def _segment(sums: Sequence[Floats], pairs: Sequence[Floats]) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the sums of a segment of days, and its products of consecutive residuals, squares and pairs."""
    units, n, n2, n3, n4, k, kk, kn, kk_by_n = sums
    rate = np.clip(k / np.where(n > 0, n, 1.0), *_RATES)
    squares = np.maximum(kk - 2 * rate * kn + rate * rate * n2, 0.0)
    q = units / np.maximum(units - 1, 1) * squares / (rate * (1 - rate))
    products = pairs[0] - rate * pairs[1] + rate * rate * pairs[2]
    own = kk_by_n - 2 * rate * k + rate * rate * n
    return np.stack([units, n, n2, n3, n4, q]) * (units >= 2), products, own, pairs[3]
