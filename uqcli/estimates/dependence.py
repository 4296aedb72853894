"""Effective counts of trials that depend on each other within days, batches or clusters.

Rows of one day share causes, so that k successes in n trials say less than those of n independent trials.
Over t days with n_d trials and k_d successes the correlation within a day is estimated from
Q = t / (t - 1) sum (k_d - p n_d)^2 / (p (1 - p)) and the sums of powers of n_d, and so is the design effect,
the factor by which the variance of the rate exceeds that of independent trials. Evidence divides its counts
by an upper limit of the design effect, whose degrees of freedom are those of Satterthwaite (1946).

The rarer of successes and failures is counted, since the squares of the other lose digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
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

_ROUNDING: Final = 1e-9
"""Share of the sum of squares below which residuals are 0 but for rounding."""

_MIN_UNITS: Final = 2
"""Days that show a variance."""

_MIN_FREEDOM: Final = 0.5
_LARGEST_TAIL: Final = 0.05
_FREEDOM_OF_TAIL: Final = 400.0
"""Degrees of freedom by which the tail probability of the upper limit is one."""

_TABLE_STEP: Final = 1.01
_TABLE_ROWS: Final = 2000
"""Ratio of neighbouring degrees of freedom in a table of lower bounds, and their number."""

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
    powers = _powers(*_parts(successes[has_trials], trials[has_trials]))  # one at a time of millions of units
    units, *sums = _sums([_cumulative(values)[..., -1] for values in powers]).tolist()
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
    effect, used, left_out = _divisor([watched.sums], calibration, _excess)
    lag = _lag_correlation([watched])
    if not in_order:
        lag = np.full(lag.shape, np.nan)
    return Dependence(effect, _with_spells(used, lag), lag, watched.pairs.astype(np.int64), left_out)


def divisors_since(successes: Ints, trials: Ints, calibration: UnitSums | None = None) -> Floats:
    """Return the number by which counts since each day are divided, as ``DivisorsSince`` does at one look."""
    return DivisorsSince(successes, trials, calibration).after(len(trials))


class DivisorsSince:
    """Numbers by which counts since each day are divided, if the rate may have changed then.

    A change of the rate would look like dependence, and like a spell, if all days had one rate: it would hide
    itself. Therefore the days before and those since have a rate of their own, and are two sources of one
    correlation. Arguments are those of ``dependence_path``, of shape (t,).
    """

    def __init__(self, successes: Ints, trials: Ints, calibration: UnitSums | None = None) -> None:
        self._of_days, self._of_pairs = _totals(successes, trials)
        self._calibration = calibration

    def after(self, look: int) -> Floats:
        """Return those after so many days; shape (look,). They are infinite where the days say nothing."""
        starts = np.arange(look)
        before = _segment(
            [total[..., starts] for total in self._of_days],
            [total[..., np.maximum(starts - 1, 0)] for total in self._of_pairs],
        )
        since = _segment(
            [total[..., [look]] - total[..., starts] for total in self._of_days],
            [total[..., [look - 1]] - total[..., starts] for total in self._of_pairs],
        )
        _, used, _ = _divisor([before.sums, since.sums], self._calibration, _excess)
        return _with_spells(used, _lag_correlation([before, since]))

    def at_least(self, first: int, last: int) -> Floats:
        """Return lower bounds of those after ``first`` to ``last`` days; shape (last - first + 1, last).

        They hold but for rounding, leave out spells, and are otherwise mostly less than 1 % too low. Starts
        after the last day of a row mean nothing.
        """
        before = _sums([total[..., None, :last] for total in self._of_days])
        since = _sums(
            [total[..., first : last + 1, None] - total[..., None, :last] for total in self._of_days]
        )
        _, used, _ = _divisor([before, since], self._calibration, _least_excess)
        return used


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

    For days: ones, the powers of n, and e, e^2, en and e^2/n of the successes and the failures e, along a
    first axis of two. For pairs the parts of the products of residuals, of both, and root n and ones.
    """
    n, events = _parts(successes, trials)
    root = np.sqrt(n[..., 1:] * n[..., :-1])
    crossed = (events[..., 1:] * n[..., :-1] + events[..., :-1] * n[..., 1:]) / root
    of_pairs = [events[..., 1:] * events[..., :-1] / root, crossed, root, np.ones_like(root)]

    return list(map(_cumulative, _powers(n, events))), list(map(_cumulative, of_pairs))


def _parts(successes: Ints, trials: Ints) -> tuple[Floats, Floats]:
    """Return trials, and successes and failures along a first axis."""
    return np.asarray(trials, dtype=np.float64), np.stack([successes, trials - successes]).astype(np.float64)


def _powers(n: Floats, events: Floats) -> Iterator[Floats]:
    """Yield what ``_totals`` adds up over days."""
    yield from (np.ones_like(n), n)
    for power in (2, 3, 4):
        yield n**power
    yield events
    yield events**2
    yield events * n
    yield events**2 / n


def _cumulative(values: Floats) -> Floats:
    return np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)], axis=-1)


def _segment(of_days: Sequence[Floats], of_pairs: Sequence[Floats]) -> _Segment:
    """Measure days by differences of ``_totals``."""
    n, hits, misses = of_days[1], *of_days[5]
    e, _, _, ee_by_n, ee_of_pairs, crossed = _of_rarer(hits > misses, *of_days[5:], *of_pairs[:2])
    rate = e / np.where(n > 0, n, 1.0)
    squares = ee_by_n - 2 * rate * e + rate * rate * n
    return _Segment(
        sums=_sums(of_days),
        products=ee_of_pairs - rate * crossed + rate * rate * of_pairs[2],
        squares=np.where(squares > _ROUNDING * ee_by_n, squares, 0.0),
        pairs=of_pairs[3],
    )


def _sums(of_days: Sequence[Floats]) -> Floats:
    """Return units, n, n2, n3, n4 and q of days from differences of ``_totals``, along a first axis."""
    units, n, n2, n3, n4 = of_days[:5]
    hits, misses = of_days[5]
    e, ee, en = _of_rarer(hits > misses, *of_days[5:8])
    some = np.where(n > 0, n, 1.0)
    rate = e / some
    # a rate of 0 shows no variance, and is taken for that of a single event
    cut = np.maximum(rate, np.minimum(1 / some, 0.5))
    squares = np.maximum(ee - 2 * rate * en + rate * rate * n2, 0.0)
    q = units / np.maximum(units - 1, 1) * squares / (cut * (1 - cut)) * (units > 1)
    return np.stack([units, n, n2, n3, n4, q])


def _of_rarer(has_more_hits: Bools, *both: Floats) -> list[Floats]:
    return [np.where(has_more_hits, misses, hits) for hits, misses in both]


def _divisor(
    sources: Sequence[Floats], calibration: UnitSums | None, excess: Callable[[Floats], Floats]
) -> tuple[Floats, Floats, Bools]:
    """Return the design effect, its upper limit, and whether the calibration days are left out."""
    days, n, n2 = (sum(source[index] for source in sources) for index in range(3))
    watched = [source * (source[0] >= _MIN_UNITS) for source in sources]
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
    return effect, np.maximum(effect * excess(freedom), alone), left_out


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


def _least_excess(freedom: Floats) -> Floats:
    """Return a lower bound of ``_excess``, which falls, from a table at more degrees of freedom."""
    steps = np.ceil(np.log(np.maximum(freedom, _MIN_FREEDOM) / _MIN_FREEDOM) / np.log(_TABLE_STEP))
    table = np.append(_excess_table(), 1.0)
    least: Floats = table[np.minimum(steps, _TABLE_ROWS).astype(np.int64)]
    return np.where(freedom >= _MIN_FREEDOM, least, np.inf)


@cache
def _excess_table() -> Floats:
    return _excess(_MIN_FREEDOM * _TABLE_STEP ** np.arange(_TABLE_ROWS, dtype=np.float64))


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
