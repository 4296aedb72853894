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
from uqcli.watch.report import MeasuredPromise, Seen, Together
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

    The risk is an equal part of the risk, of which prediction sets spend half otherwise. The change alarm is
    raised at the evidence ``change_limit``.
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
        self.risk: Fraction = state.delta / len(state.promises) / promise.sides
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

    def _over_time(self, confidence: float) -> tuple[Seen, ...]:
        used = self._interval_used
        low, high = rate_intervals(self.successes / used, self.trials / used, confidence)
        columns = (column.tolist() for column in (self.successes, self.trials, low, high))
        return tuple(
            Seen(
                batch=batch.name, rate=_rate(self.promise, kept, tried, ends), own=_share(self.promise, *own)
            )
            for batch, own, kept, tried, *ends in zip(self.state.counted, self.batches, *columns, strict=True)
        )

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
