"""Evidence against each promise over the batches of a watch, and the batches at which alarms were raised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import msgspec
import numpy as np

from uqcli.artifacts.watch import SavedPromise, WatchArtifact
from uqcli.document import Estimate
from uqcli.jobs.watch.promises import Promise
from uqcli.methods.watch.change import change_evidence_path, log_change_evidence
from uqcli.methods.watch.confidence import rate_intervals
from uqcli.methods.watch.evidence import is_alarm, log_e_value, log_e_values
from uqcli.reports.watch.report import MeasuredPromise, Seen

_LARGEST_EXPONENT: Final = 300
_LARGEST_LOG: Final = 690.0
"""Power of ten, and natural logarithm, up to which evidence is given as a number."""


def with_alarms(state: WatchArtifact, promises: Sequence[Promise], *, anew: bool) -> WatchArtifact:
    """Return the state with the totals of its batches, and alarms at the first batches that raise them.

    Parameters
    ----------
    anew
        Whether to look at every batch again; otherwise alarms that were raised stay.
    """
    saved = [
        _with_alarms(state, index, promise, old, anew=anew)
        for index, (promise, old) in enumerate(zip(promises, state.promises, strict=True))
    ]
    return msgspec.structs.replace(state, promises=saved)


def _with_alarms(
    state: WatchArtifact, index: int, promise: Promise, old: SavedPromise, *, anew: bool
) -> SavedPromise:
    """Look at the batches of one promise, in the order in which they were counted."""
    batches = batches_of(state, index)
    successes, trials = (np.cumsum(counts) for counts in np.array(batches, dtype=np.int64).reshape(-1, 2).T)
    alarmed_at, changed_at = (None, None) if anew else (old.alarmed_at, old.changed_at)
    if alarmed_at is None:
        risk = risk_of(state, promise)
        log_evidence = log_e_values(successes, trials, promise.least_success)
        alarmed_at = _first(state, [is_alarm(log_e, risk) for log_e in log_evidence.tolist()])
    if changed_at is None:
        path = change_evidence_path(batches, promise.least_success)
        limit = change_limit(state)
        changed_at = _first(state, [evidence >= limit for evidence in path.tolist()])
    totals = {"successes": successes, "trials": trials}
    return msgspec.structs.replace(
        old,
        **{name: int(total[-1]) if len(total) else 0 for name, total in totals.items()},
        alarmed_at=alarmed_at,
        changed_at=changed_at,
    )


def batches_of(state: WatchArtifact, index: int) -> list[tuple[int, int]]:
    """Return the successes and trials of one promise in each batch since the last acknowledgement."""
    return [(batch.counts[index].successes, batch.counts[index].trials) for batch in state.counted]


def _first(state: WatchArtifact, alarms: Sequence[bool]) -> str | None:
    """Return the name of the first batch with an alarm; None if there is none."""
    return next((batch.name for batch, alarm in zip(state.counted, alarms, strict=True) if alarm), None)


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
    counts = np.array(batches, dtype=np.int64).reshape(-1, 2)
    successes, trials = (np.cumsum(column) for column in counts.T)
    lows, highs = rate_intervals(successes, trials, confidence)
    seen = [
        Seen(
            batch=batch.name,
            rate=_rate(promise, _share(promise, kept, tried), low, high),
            own=_share(promise, *own),
        )
        for batch, own, kept, tried, low, high in zip(
            state.counted,
            batches,
            *(column.tolist() for column in (successes, trials, lows, highs)),
            strict=True,
        )
    ]
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
        worst_since=_worst_since(state, batches, promise),
        seen=tuple(seen),
    )


def _worst_since(state: WatchArtifact, batches: Sequence[tuple[int, int]], promise: Promise) -> str | None:
    """Find the batch since which the evidence is largest."""
    if not batches:
        return None
    since = np.cumsum(np.array(batches[::-1], dtype=np.int64), axis=0)[::-1]
    evidence = log_e_values(since[:, 0], since[:, 1], promise.least_success)
    return state.counted[int(np.argmax(evidence))].name


def _rate(promise: Promise, value: float | None, low: float, high: float) -> Estimate:
    """Estimate the rate itself, from the confidence sequence of its successes."""
    if promise.is_upper:
        low, high = 1 - high, 1 - low
    return Estimate(value=value, low=low, high=high)


def _share(promise: Promise, successes: int, trials: int) -> float | None:
    if trials == 0:
        return None
    return (trials - successes if promise.is_upper else successes) / trials
