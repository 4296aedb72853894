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

from uqcli.base.counts import Bools, Floats, Ints

MIN_DAYS: Final = 20
"""Days watched from which they may contradict the correlation of the calibration days."""

MIN_PAIRS: Final = 10
"""Pairs of consecutive days from which their correlation counts."""

_LARGEST_RATIO: Final = 3.0
"""Ratio of the design effect of the days watched to that of the calibration days up to which both count."""

_RATES: Final = (0.001, 0.999)
"""Range to which a rate is cut, since a rate of 0 or 1 shows no variance."""

_MIN_UNITS: Final = 2
"""Days that show a variance."""

_MIN_FREEDOM: Final = 0.5
_LARGEST_TAIL: Final = 0.05
_FREEDOM_OF_TAIL: Final = 400.0
"""Degrees of freedom by which the tail probability of the upper limit is one."""

_LARGEST_LAG: Final = 0.999
"""Largest correlation of consecutive days; below 1 because counts are divided by 1 less it."""

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
    """Add up the days, or clusters, that have trials; shape (u,).

    Examples
    --------
    >>> sums = unit_sums(np.array([1, 2, 0]), np.array([2, 2, 0]))
    >>> (sums.units, sums.n, sums.n2, round(sums.q, 3))
    (2, 4.0, 8.0, 5.333)
    """
    has_trials = trials > 0
    of_days, of_pairs = _totals(successes[has_trials], trials[has_trials])
    units, *sums = _segment([total[-1] for total in of_days], [total[-1] for total in of_pairs]).sums.tolist()
    n, n2, n3, n4, q = sums
    return UnitSums(units=int(units), n=n, n2=n2, n3=n3, n4=n4, q=q)


def dependence_path(
    successes: Ints, trials: Ints, calibration: UnitSums | None = None, *, in_order: bool = True
) -> Dependence:
    """Estimate after each day how trials of a day depend on each other.

    Successes and trials are those of each day in order, at least one trial each, shape (..., t). The days of
    the calibration rows may have sums. Consecutive days may be alike if ``in_order``; otherwise they are
    units in no order.
    """
    of_days, of_pairs = _totals(successes, trials)
    days = np.arange(1, np.shape(trials)[-1] + 1)
    watched = _segment([total[..., days] for total in of_days], [total[..., days - 1] for total in of_pairs])
    effect, used, left_out = _divisor([watched], calibration)
    lag = _lag_correlation([watched])
    if not in_order:
        lag = np.full(lag.shape, np.nan)
    return Dependence(effect, _with_spells(used, lag), lag, watched.pairs.astype(np.int64), left_out)


def divisors_since(successes: Ints, trials: Ints, calibration: UnitSums | None = None) -> Floats:
    """Return the number by which counts since each day are divided, if the rate may have changed then.

    A change of the rate would look like dependence, and like a spell, if all days had one rate: it would hide
    itself. Therefore the days before and those since have a rate of their own, and are two sources of one
    correlation. Arguments are those of ``dependence_path``. The number is infinite where the days say nothing
    yet.
    """
    of_days, of_pairs = _totals(successes, trials)
    days = np.arange(len(trials))
    segments = [
        _segment([total[days] for total in of_days], [total[np.maximum(days - 1, 0)] for total in of_pairs]),
        _segment(*([total[-1] - total[days] for total in totals] for totals in (of_days, of_pairs))),
    ]
    _, used, _ = _divisor(segments, calibration)
    return _with_spells(used, _lag_correlation(segments))


class _Segment(NamedTuple):
    """Days of one rate, along the last axis: units, n, n2, n3, n4 and q.

    Products are sums of the products of consecutive residuals, of so many pairs, and squares those of all.
    """

    sums: Floats
    products: Floats
    squares: Floats
    pairs: Floats


def _totals(successes: Ints, trials: Ints) -> tuple[list[Floats], list[Floats]]:
    """Return sums over the days so far, and over their pairs; from none on, shapes (..., t + 1) and (..., t).

    For days: ones, the powers of n, and k, k^2, kn and k^2/n. For pairs the parts of the products of
    residuals, and ones.
    """
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    root = np.sqrt(n[..., 1:] * n[..., :-1])
    crossed = (k[..., 1:] * n[..., :-1] + k[..., :-1] * n[..., 1:]) / root
    of_days = [np.ones_like(n), n, n**2, n**3, n**4, k, k * k, k * n, k * k / n]
    of_pairs = [k[..., 1:] * k[..., :-1] / root, crossed, root, np.ones_like(root)]
    start = np.zeros((*n.shape[:-1], 1))

    def cumulative(values: Floats) -> Floats:
        return np.concatenate([start, np.cumsum(values, axis=-1)], axis=-1)

    return list(map(cumulative, of_days)), list(map(cumulative, of_pairs))


def _segment(of_days: Sequence[Floats], of_pairs: Sequence[Floats]) -> _Segment:
    """Measure days by differences of ``_totals``."""
    units, n, n2, n3, n4, k, kk, kn, kk_by_n = of_days
    rate = np.clip(k / np.where(n > 0, n, 1.0), *_RATES)
    squares = np.maximum(kk - 2 * rate * kn + rate * rate * n2, 0.0)
    q = units / np.maximum(units - 1, 1) * squares / (rate * (1 - rate)) * (units > 1)
    return _Segment(
        sums=np.stack([units, n, n2, n3, n4, q]),
        products=of_pairs[0] - rate * of_pairs[1] + rate * rate * of_pairs[2],
        squares=kk_by_n - 2 * rate * k + rate * rate * n,
        pairs=of_pairs[3],
    )


def _divisor(segments: Sequence[_Segment], calibration: UnitSums | None) -> tuple[Floats, Floats, Bools]:
    """Return the design effect, its upper limit, and whether the calibration days are left out."""
    days, n, n2 = (sum(segment.sums[index] for segment in segments) for index in range(3))
    watched = [segment.sums * (segment.sums[0] >= _MIN_UNITS) for segment in segments]
    larger = n2 / n - 1
    alone = 1 + _correlation(sum(watched)) * larger
    left_out, known = np.zeros(alone.shape, dtype=np.bool_), np.zeros(6)
    if calibration is not None and calibration.units >= _MIN_UNITS:
        known = np.array(
            [getattr(calibration, field) for field in UnitSums.__struct_fields__], dtype=np.float64
        )
        own = 1 + _correlation(known) * (calibration.n2 / calibration.n - 1)
        left_out = (days >= MIN_DAYS) & (alone > _LARGEST_RATIO * own)
    known = np.where(left_out, 0.0, known.reshape(-1, *[1] * alone.ndim))
    rho = _correlation(sum(watched) + known)
    effect = 1 + rho * larger
    freedom = sum(_freedom(source, rho) for source in watched) + _freedom(known, rho)
    # calibration days that understate the correlation must not outvote the days watched
    return effect, np.maximum(effect * _excess(freedom), alone), left_out


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


def _lag_correlation(segments: Sequence[_Segment]) -> Floats:
    """Return the correlation of the residuals of consecutive days; NaN before there are enough pairs."""
    products, squares, pairs = (
        sum(getattr(segment, field) for segment in segments) for field in ("products", "squares", "pairs")
    )
    is_known = (pairs >= MIN_PAIRS) & (squares > 0)
    lag: Floats = np.where(is_known, products / np.where(squares > 0, squares, 1.0), np.nan)
    return np.clip(lag, -1.0, _LARGEST_LAG)


def _with_spells(used: Floats, lag: Floats) -> Floats:
    """Raise divisors if days resemble the one before."""
    spells = np.nan_to_num(np.maximum(lag, 0.0))
    raised: Floats = used * (1 + spells) / (1 - spells)
    return raised
