"""Evidence against each promise over the batches of a watch, and the batches at which alarms were raised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Final

import msgspec
import numpy as np

from uqcli.artifacts.watch import SavedPromise, WatchArtifact
from uqcli.document import Estimate
from uqcli.jobs.watch.promises import Promise
from uqcli.methods.watch.change import is_change_alarm, log_change_evidence
from uqcli.methods.watch.confidence import rate_interval, rate_intervals
from uqcli.methods.watch.evidence import is_alarm, log_e_value, log_e_values
from uqcli.reports.watch.report import MeasuredPromise, Seen, Since

_LARGEST_EXPONENT: Final = 300
_LARGEST_LOG: Final = 690.0
"""Power of ten, and natural logarithm, up to which evidence is given as a number."""


def with_alarms(state: WatchArtifact, promises: Sequence[Promise], *, known: int) -> WatchArtifact:
    """Return the state with the totals of its batches, and alarms at the first batches that raise them.

    Parameters
    ----------
    known
        Batches that need no other look; 0 also takes back alarms that were raised.
    """
    known = max(known - state.acknowledged, 0)
    saved = [
        _with_alarms(state, index, promise, old, known=known)
        for index, (promise, old) in enumerate(zip(promises, state.promises, strict=True))
    ]
    return msgspec.structs.replace(state, promises=saved)


def _with_alarms(
    state: WatchArtifact, index: int, promise: Promise, old: SavedPromise, *, known: int
) -> SavedPromise:
    """Look at the batches of one promise, in the order in which they were counted."""
    batches = batches_of(state, index)
    successes, trials = (np.cumsum(counts) for counts in np.array(batches, dtype=np.int64).reshape(-1, 2).T)
    alarmed_at, changed_at = (old.alarmed_at, old.changed_at) if known else (None, None)
    risk, limit = risk_of(state, promise), change_limit(state)
    for look in range(known, len(batches)):
        name = state.counted[look].name
        log_e = log_e_value(int(successes[look]), int(trials[look]), promise.least_success)
        if alarmed_at is None and is_alarm(log_e, risk):
            alarmed_at = name
        if changed_at is None:
            log_change = log_change_evidence(batches[: look + 1], promise.least_success)
            changed_at = name if is_change_alarm(log_change, limit) else None
    return msgspec.structs.replace(
        old,
        successes=int(successes[-1]) if batches else 0,
        trials=int(trials[-1]) if batches else 0,
        alarmed_at=alarmed_at,
        changed_at=changed_at,
    )


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
    state: WatchArtifact, promises: Sequence[Promise], confidence: float
) -> tuple[MeasuredPromise, ...]:
    """Measure each promise over the batches since the last acknowledgement."""
    return tuple(
        _measured(state, index, promise, saved, confidence)
        for index, (promise, saved) in enumerate(zip(promises, state.promises, strict=True))
    )


def _measured(
    state: WatchArtifact, index: int, promise: Promise, saved: SavedPromise, confidence: float
) -> MeasuredPromise:
    batches = batches_of(state, index)
    log_e = log_e_value(saved.successes, saved.trials, promise.least_success)
    log_change = log_change_evidence(batches, promise.least_success) if batches else -math.inf
    low, high = rate_interval(saved.successes, saved.trials, confidence)
    return MeasuredPromise(
        name=promise.name,
        text=promise.text(),
        bound=float(promise.bound),
        is_upper=promise.is_upper,
        origin=promise.origin,
        successes=saved.successes,
        trials=saved.trials,
        log10_e=log_e / math.log(10) if math.isfinite(log_e) else float(_LARGEST_EXPONENT),
        limit=float(1 / risk_of(state, promise)),
        change=math.exp(min(log_change, _LARGEST_LOG)),
        change_limit=float(change_limit(state)),
        alarmed_at=saved.alarmed_at,
        changed_at=saved.changed_at,
        since=_worst_since(state, batches, promise),
        rate=_rate(promise, _share(promise, saved.successes, saved.trials), low, high),
        batches=len(batches),
        over_time=partial(_over_time, state, index, promise, confidence),
    )


def _over_time(state: WatchArtifact, index: int, promise: Promise, confidence: float) -> tuple[Seen, ...]:
    """Return the rate after each batch since the last acknowledgement."""
    batches = batches_of(state, index)
    successes, trials = (np.cumsum(column) for column in np.array(batches, dtype=np.int64).reshape(-1, 2).T)
    ends = rate_intervals(successes, trials, confidence)
    columns = (column.tolist() for column in (successes, trials, *ends))
    return tuple(
        Seen(
            batch=batch.name,
            rate=_rate(promise, _share(promise, kept, tried), low, high),
            own=_share(promise, *own),
        )
        for batch, own, kept, tried, low, high in zip(state.counted, batches, *columns, strict=True)
    )


def _worst_since(state: WatchArtifact, batches: Sequence[tuple[int, int]], promise: Promise) -> Since | None:
    """Find the batches since which the evidence is largest."""
    if not batches:
        return None
    since = np.cumsum(np.array(batches[::-1], dtype=np.int64), axis=0)[::-1]
    first = int(np.argmax(log_e_values(since[:, 0], since[:, 1], promise.least_success)))
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
