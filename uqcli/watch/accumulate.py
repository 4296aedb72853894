"""Evidence against each promise over the batches of a watch, and the batches at which alarms were raised."""

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
from uqcli.watch.evidence import (
    is_alarm,
    is_change_alarm,
    log_change_evidence,
    log_e_value,
    log_e_values,
    rate_interval,
    rate_intervals,
)
from uqcli.watch.promises import Promise
from uqcli.watch.report import MeasuredPromise, Seen, Since, Together
from uqcli.watch.state import SavedPromise, WatchArtifact

_LARGEST_EXPONENT: Final = 300
_LARGEST_LOG: Final = 690.0
"""Power of ten, and natural logarithm, up to which evidence is given as a number."""


Units = Sequence[tuple[Ints, Ints]]
"""Successes and trials of the customers, or days, of each promise, if all rows were counted at once."""


def with_alarms(
    state: WatchArtifact, promises: Sequence[Promise], *, known: int, units: Units | None = None
) -> WatchArtifact:
    """Return the state with the totals of its batches, and alarms at the first batches that raise them.

    Parameters
    ----------
    known
        Batches that need no other look; 0 also takes back alarms that were raised.
    """
    known = max(known - state.acknowledged, 0)
    saved = [
        _with_alarms(state, index, promise, old, known=known, units=units)
        for index, (promise, old) in enumerate(zip(promises, state.promises, strict=True))
    ]
    return msgspec.structs.replace(state, promises=saved)


def _with_alarms(
    state: WatchArtifact,
    index: int,
    promise: Promise,
    old: SavedPromise,
    *,
    known: int,
    units: Units | None,
) -> SavedPromise:
    """Look at the batches of one promise, in the order in which they were counted."""
    batches = batches_of(state, index)
    successes, trials = _totals(batches)
    used = _divisors(promise, dependence_of(state, index, promise, units), len(batches))
    alarmed_at, changed_at = (old.alarmed_at, old.changed_at) if known else (None, None)
    risk, limit = risk_of(state, promise), change_limit(state)
    log_e = log_e_values(successes / used, trials / used, promise.least_success)
    for look in range(known, len(batches)):
        name = state.counted[look].name
        if alarmed_at is None and is_alarm(float(log_e[look]), risk):
            alarmed_at = name
        if changed_at is None:
            divisors = _divisors_since(promise, batches[: look + 1], float(used[look]), state)
            log_change = log_change_evidence(batches[: look + 1], promise.least_success, divisors)
            changed_at = name if is_change_alarm(log_change, limit) else None
    return msgspec.structs.replace(
        old,
        successes=int(successes[-1]) if batches else 0,
        trials=int(trials[-1]) if batches else 0,
        alarmed_at=alarmed_at,
        changed_at=changed_at,
    )


def _totals(batches: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    """Return the successes and the trials so far after each batch."""
    successes, trials = np.cumsum(np.array(batches, dtype=np.int64).reshape(-1, 2), axis=0).T
    return successes, trials


def dependence_of(
    state: WatchArtifact, index: int, promise: Promise, units: Units | None
) -> Dependence | None:
    """Estimate after each batch how trials of a batch depend on each other; None if all are independent.

    Rows that were counted at once are independent, or depend on each other within units.
    """
    if units is not None:
        successes, trials = units[index]
        successes, trials = successes[trials > 0], trials[trials > 0]
        path = dependence_path(successes, trials, promise.calibration, in_order=False)
        return _after_each(path, np.array([len(trials)]))
    if state.has_one_look:
        return None
    counts = np.array(batches_of(state, index), dtype=np.int64).reshape(-1, 2)
    has_trials = counts[:, 1] > 0
    successes, trials = counts[has_trials].T
    path = dependence_path(successes, trials, promise.calibration)
    return _after_each(path, np.cumsum(has_trials))


def _after_each(path: Dependence, number: Ints) -> Dependence:
    """Return the estimates after a number of batches with trials; before the first one nothing is known."""
    nothing = Dependence(*(np.array([value]) for value in (np.nan, np.inf, np.nan, 0, False)))
    return Dependence(
        *(np.concatenate([first, rest])[number] for first, rest in zip(nothing, path, strict=True))
    )


def _divisors(promise: Promise, dependence: Dependence | None, batches: int) -> Floats:
    """Return the number by which counts are divided after each batch.

    A promise that every trial succeeds is broken by one failure, however rows depend on each other.
    """
    if dependence is None or promise.least_success >= 1:
        return np.ones(batches)
    return dependence.used


def _divisors_since(
    promise: Promise, batches: Sequence[tuple[int, int]], used: float, state: WatchArtifact
) -> Floats:
    """Return the number by which counts since each batch are divided after the last one."""
    if len(batches) < 2 or state.has_one_look or promise.least_success >= 1:
        return np.full(len(batches), used)
    counts = np.array(batches, dtype=np.int64)
    has_trials = counts[:, 1] > 0
    if not has_trials.any():
        return np.full(len(batches), used)
    successes, trials = counts[has_trials].T
    divisors = divisors_since(successes, trials, promise.calibration)
    first: Ints = (
        np.cumsum(has_trials) - has_trials
    )  # of the batches with trials, the first one at or after each
    return divisors[np.minimum(first, len(divisors) - 1)]


def batches_of(state: WatchArtifact, index: int) -> list[tuple[int, int]]:
    """Return the successes and trials of one promise in each batch since the last acknowledgement."""
    return [(batch.counts[index].successes, batch.counts[index].trials) for batch in state.counted]


def risk_of(state: WatchArtifact, promise: Promise) -> Fraction:
    """Return the risk of one promise: an equal part, of which prediction sets spend half otherwise."""
    return state.delta / len(state.promises) / promise.sides


def change_limit(state: WatchArtifact) -> int:
    """Return the evidence at which the change alarm is raised."""
    return state.parameters.run_length * len(state.promises)


def measured_promises(
    state: WatchArtifact, promises: Sequence[Promise], confidence: float, units: Units | None = None
) -> tuple[MeasuredPromise, ...]:
    """Measure each promise over the batches since the last acknowledgement."""
    return tuple(
        _measured(state, index, promise, confidence, dependence_of(state, index, promise, units))
        for index, promise in enumerate(promises)
    )


def _measured(
    state: WatchArtifact, index: int, promise: Promise, confidence: float, dependence: Dependence | None
) -> MeasuredPromise:
    batches, saved = batches_of(state, index), state.promises[index]
    used = _divisors(promise, dependence, len(batches))
    now = float(used[-1]) if batches else 1.0
    log_e = log_e_value(saved.successes / now, saved.trials / now, promise.least_success)
    since = _divisors_since(promise, batches, now, state)
    log_change = log_change_evidence(batches, promise.least_success, since) if batches else -math.inf
    interval_used = dependence.used if dependence is not None else used
    low, high = 0.0, 1.0
    if batches:
        low, high = rate_interval(
            saved.successes / interval_used[-1], saved.trials / interval_used[-1], confidence
        )
    return MeasuredPromise(
        name=promise.name,
        text=promise.text(),
        bound=float(promise.bound),
        origin=promise.origin,
        counted=promise.trials,
        successes=saved.successes,
        trials=saved.trials,
        log10_e=log_e / math.log(10) if math.isfinite(log_e) else float(_LARGEST_EXPONENT),
        limit=float(1 / risk_of(state, promise)),
        change=math.exp(min(log_change, _LARGEST_LOG)),
        change_limit=float(change_limit(state)),
        alarmed_at=saved.alarmed_at,
        changed_at=saved.changed_at,
        since=_worst_since(state, batches, promise, since),
        rate=_rate(promise, _share(promise, saved.successes, saved.trials), low, high),
        batches=len(batches),
        dependence=None if dependence is None or not batches else _together(dependence),
        over_time=partial(_over_time, state, index, promise, confidence, interval_used),
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


def _over_time(
    state: WatchArtifact, index: int, promise: Promise, confidence: float, used: Floats
) -> tuple[Seen, ...]:
    """Return the rate after each batch since the last acknowledgement."""
    batches = batches_of(state, index)
    successes, trials = _totals(batches)
    ends = rate_intervals(successes / used, trials / used, confidence)
    columns = (column.tolist() for column in (successes, trials, *ends))
    return tuple(
        Seen(
            batch=batch.name,
            rate=_rate(promise, _share(promise, kept, tried), low, high),
            own=_share(promise, *own),
        )
        for batch, own, kept, tried, low, high in zip(state.counted, batches, *columns, strict=True)
    )


def _worst_since(
    state: WatchArtifact, batches: Sequence[tuple[int, int]], promise: Promise, used: Floats
) -> Since | None:
    """Find the batches since which the evidence is largest."""
    if not batches:
        return None
    since = np.cumsum(np.array(batches[::-1], dtype=np.int64), axis=0)[::-1]
    first = int(np.argmax(log_e_values(since[:, 0] / used, since[:, 1] / used, promise.least_success)))
    number = f"batch {first + 1} of {len(batches)}"
    name = number if state.parameters.day is None else state.counted[first].name
    return Since(batch=name, rate=_share(promise, *since[first].tolist()))


def _rate(promise: Promise, value: float | None, low: float, high: float) -> Estimate:
    """Estimate the rate itself, from the confidence sequence of its successes."""
    if promise.is_upper:
        low, high = 1 - high, 1 - low
    return Estimate(value=value, low=low, high=high)


def _share(promise: Promise, successes: int, trials: int) -> float | None:
    if trials == 0:
        return None
    return (trials - successes if promise.is_upper else successes) / trials
