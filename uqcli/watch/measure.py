"""Evidence against each promise of a rule over the batches of a watch, and the alarms that it raises.

The evidence is the smaller of two: the e-value of effective counts, which allows for days of any kind, and
half the Bayes factor of days whose rates scatter about one mean, which keeps its level where rates are near
0 or 1, or days differ much.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Final

import msgspec
import numpy as np

from uqcli.base.choices import ArtifactKind
from uqcli.base.counts import Bools, Floats, Ints
from uqcli.boundary.promise import Promise
from uqcli.estimates.dependence import MIN_DAYS, Dependence, dependence_path
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.proportion import clopper_pearson
from uqcli.rules.saved import Source
from uqcli.watch.bayes_factor import log_factor, log_factors, upper_end
from uqcli.watch.change import ChangeEvidence
from uqcli.watch.evidence import (
    is_alarm,
    is_change_alarm,
    log_change_evidence,
    log_e_values,
    rate_interval,
    rate_intervals,
)
from uqcli.watch.results import (
    MAX_LOG10,
    Alarm,
    Dependent,
    Divided,
    Evidence,
    Independent,
    MeasuredPromise,
    Rung,
    Seen,
    Since,
    SinceBatch,
    Together,
    evidence_of,
)
from uqcli.watch.state import SavedBatch, SavedPromise, WatchArtifact, WatchParameters

_LARGEST_LOG: Final = 690.0
"""Natural logarithm up to which evidence is given as a number."""


Units = Sequence[tuple[Ints, Ints]]
"""Successes and trials of the customers of each promise, if all rows were counted at once; else empty."""


def new_state(
    parameters: WatchParameters,
    promises: Sequence[Promise],
    *,
    columns: Mapping[str, str],
    artifact: str,
    batches: Sequence[SavedBatch] = (),
) -> WatchArtifact:
    """Return a state before alarms are sought, of the rule with this digest and these columns by role."""
    return WatchArtifact(
        kind=ArtifactKind.WATCH,
        source=Source(rows=0, positives=None, dropped=0, columns=dict(columns)),
        parameters=parameters,
        artifact=artifact,
        promises=[
            SavedPromise(
                name=promise.name, bound=float(promise.bound), origin=promise.origin, successes=0, trials=0
            )
            for promise in promises
        ],
        batches=[*batches],
        acknowledged=0,
    )


def with_alarms(
    state: WatchArtifact, promises: Sequence[Promise], *, known: int, units: Units = ()
) -> WatchArtifact:
    """Return the state with the totals of its batches, and alarms at the first batches that raise them.

    ``known`` batches need no other look; 0 also takes back alarms that were raised.
    """
    known = max(known - state.acknowledged, 0)
    saved = [evidence.with_alarms(known) for evidence in _evidence(state, promises, units)]
    return msgspec.structs.replace(state, promises=saved)


def measured_promises(
    state: WatchArtifact, promises: Sequence[Promise], confidence: float, units: Units = ()
) -> tuple[MeasuredPromise, ...]:
    """Measure each promise over the batches since the last acknowledgement."""
    return tuple(evidence.measured(confidence) for evidence in _evidence(state, promises, units))


def _evidence(state: WatchArtifact, promises: Sequence[Promise], units: Units) -> Iterable[_Evidence]:
    """Choose for each promise how trials depend on each other, and how a change is seen."""
    for index, promise in enumerate(promises):
        if not state.counted:
            yield _NoEvidence(state, index, promise)
        elif not state.has_one_look:
            is_certain = promise.least_success in (0, 1)
            yield (_OfCertainBatches if is_certain else _OfBatches)(state, index, promise)
        elif units:
            yield _OfUnits(state, index, promise, units[index])
        else:
            yield _Evidence(state, index, promise)


class _Evidence:
    """Evidence against one promise over the batches since the last acknowledgement: of independent rows.

    ``counts`` has the successes and trials of each batch, int64 of shape (batches, 2), and ``successes`` and
    ``trials`` those so far after each. They are divided by ``used`` after each batch.

    ``risk`` is an equal part of the risk of the watch, of which prediction sets spend half otherwise. The
    change alarm is raised at the evidence ``change_limit``.
    """

    def __init__(self, state: WatchArtifact, index: int, promise: Promise) -> None:
        self.state, self.promise, self.saved = state, promise, state.promises[index]
        self.counts = _counts_of(state, index)
        self.successes, self.trials = np.cumsum(self.counts, axis=0).T
        self.names = [batch.name for batch in state.counted]
        self.bound = promise.least_success
        self.risk: Fraction = state.parameters.risk() / len(state.promises) / promise.sides
        self.change_limit = state.parameters.run_length * len(state.promises)
        self.used: Floats = np.ones(len(self.counts))

    @cached_property
    def log_e(self) -> Floats:
        """Logarithm of the evidence after each batch."""
        return log_e_values(self.successes / self.used, self.trials / self.used, self.bound)

    def log_change(self, look: int) -> float:
        """Return the log of the evidence of a change after so many batches."""
        return float(self.log_e[look - 1])

    def changes(self, looks: range) -> Iterable[int]:
        """Return the looks at which the change alarm is raised; the first is enough."""
        return (look for look in looks if is_change_alarm(self.log_change(look), self.change_limit))

    def log_since(self) -> Floats:
        """Return the log of the evidence since each batch."""
        successes, trials = np.cumsum(self.counts[::-1], axis=0)[::-1].T
        return log_e_values(successes / self.used[-1], trials / self.used[-1], self.bound)

    def together(self) -> Together:
        """Return how trials of a batch depend on each other after the last batch."""
        return Independent()

    def ends(self, confidence: float) -> tuple[float, float]:
        """Return the ends of the range after the last batch: nearer rates than these have less evidence."""
        return rate_interval(int(self.successes[-1]), int(self.trials[-1]), confidence)

    def divisors(self) -> Floats:
        """Return what counts are divided by for a range after each batch."""
        return self.used

    def with_alarms(self, known: int) -> SavedPromise:
        """Look at the batches after the known ones, in the order in which they were counted."""
        before = _alarms_of(self.saved) if known else {}
        looks = range(known + 1, len(self.counts) + 1)
        alarms = (look for look in looks if is_alarm(float(self.log_e[look - 1]), self.risk))
        successes, trials = self.counts.sum(axis=0).tolist()
        return msgspec.structs.replace(
            self.saved,
            successes=successes,
            trials=trials,
            alarmed_at=before.get(Alarm.MISSED) or self._first(alarms),
            changed_at=before.get(Alarm.CHANGED) or self._first(self.changes(looks)),
        )

    def _first(self, looks: Iterable[int]) -> str | None:
        return next((self.names[look - 1] for look in looks), None)

    def measured(self, confidence: float) -> MeasuredPromise:
        """Return the promise with the evidence after the last batch."""
        saved, ends = self.saved, self.ends(confidence)
        log_e, log_change = float(self.log_e[-1]), self.log_change(len(self.counts))
        log10_e = log_e / math.log(10) if math.isfinite(log_e) else MAX_LOG10
        return MeasuredPromise(
            promise=self.promise,
            successes=saved.successes,
            trials=saved.trials,
            rate=_rate(self.promise, saved.successes, saved.trials, ends),
            evidence=Evidence(value=10 ** min(log10_e, MAX_LOG10), log10=log10_e, limit=float(1 / self.risk)),
            change=evidence_of(math.exp(min(log_change, _LARGEST_LOG)), float(self.change_limit)),
            rung=self._rung(),
            since=self.since(),
            batches=len(self.counts),
            together=self.together(),
            newest=self._newest(confidence),
            over_time=partial(self._over_time, confidence, ends),
        )

    def _newest(self, confidence: float) -> tuple[int, Estimate]:
        """Return the trials of the last batch, and their rate with its interval."""
        successes, trials = self.counts[-1:].sum(axis=0).tolist()
        ends = clopper_pearson(successes, trials, confidence)
        return trials, _rate(self.promise, successes, trials, ends)

    def _rung(self) -> Rung:
        at = _alarms_of(self.saved)
        days, is_early = self.days_before(next((at[alarm] for alarm in Alarm if alarm in at), ""))
        return Rung(at=at, anew=lambda: _alarms_of(self.with_alarms(0)), days=days, is_early=is_early)

    def days_before(self, batch: str) -> tuple[int, bool]:  # noqa: ARG002
        """Return the days that were seen by the batch of an alarm, and whether these, and others, are few."""
        return 0, False

    def _over_time(self, confidence: float, last: tuple[float, float]) -> list[Seen]:
        """Return the rate after each batch; only the range of the last one also takes the Bayes factor."""
        used = self.divisors()
        low, high = rate_intervals(self.successes / used, self.trials / used, confidence)
        low[-1:], high[-1:] = last
        columns = (column.tolist() for column in (self.counts, self.successes, self.trials, low, high))
        return [
            (name, _rate(self.promise, kept, tried, ends), _share(self.promise, *own))
            for name, own, kept, tried, *ends in zip(self.names, *columns, strict=True)
        ]

    def since(self) -> Since:
        """Find the first of the batches since which the evidence is largest, and their rate."""
        number, first = len(self.counts), int(np.argmax(self.log_since()))
        name = self.names[first]
        if self.state.parameters.day is None:
            name = f"batch {first + 1} of {number}"
        return SinceBatch(batch=name, rate=_share(self.promise, *self.counts[first:].sum(axis=0).tolist()))


class _NoEvidence(_Evidence):
    """No batch is counted since the last acknowledgement."""

    @cached_property
    def log_e(self) -> Floats:
        return np.zeros(1)

    def log_change(self, look: int) -> float:  # noqa: ARG002
        return -math.inf

    def together(self) -> Together:
        return Together()

    def ends(self, confidence: float) -> tuple[float, float]:  # noqa: ARG002
        return 0.0, 1.0

    def since(self) -> Since:
        return Since()


class _OfUnits(_Evidence):
    """Evidence of trials that depend on each other within customers, all of which are counted at once.

    ``days`` has the successes and trials of each customer, or batch, that has trials, and ``days_after``
    their number after each batch. A promise that every trial succeeds is broken by one failure, however rows
    depend on each other.
    """

    in_order = False

    def __init__(
        self, state: WatchArtifact, index: int, promise: Promise, units: tuple[Ints, Ints] | Ints
    ) -> None:
        super().__init__(state, index, promise)
        has_trials = units[1] > 0
        self.days: tuple[Ints, Ints] = units[0][has_trials], units[1][has_trials]
        self.days_after = self.numbers(has_trials)
        path = dependence_path(*self.days, promise.calibration, in_order=self.in_order)
        self.dependence = _after_each(path, self.days_after)
        if self.bound < 1:
            self.used = self.dependence.used

    def numbers(self, has_trials: Bools) -> Ints:
        """Return the number of units with trials after each batch."""
        return np.array([np.count_nonzero(has_trials)])

    @cached_property
    def log_e(self) -> Floats:
        effective = log_e_values(self.successes / self.used, self.trials / self.used, self.bound)
        return np.minimum(effective, self.log_factors() - math.log(2))

    def log_factors(self) -> Floats:
        """Return the log of the Bayes factor after each batch."""
        return np.array([log_factor(*self.days, self.bound)])

    def together(self) -> Together:
        effect, used, lag = (float(values[-1]) for values in self.dependence[:3])
        dependent = Dependent(
            effect=effect if math.isfinite(effect) else None,
            lag=lag if math.isfinite(lag) else None,
            has_spells=bool(self.dependence.has_spells[-1]),
            left_out=bool(self.dependence.left_out[-1]),
        )
        if not math.isfinite(used):
            return dependent
        return Divided(**vars(dependent) | {"used": used, "units": int(self.days_after[-1])})

    def ends(self, confidence: float) -> tuple[float, float]:
        used = float(self.dependence.used[-1])
        low, high = rate_interval(int(self.successes[-1]) / used, int(self.trials[-1]) / used, confidence)
        log_limit = math.log(2 / (1 - confidence)) + math.log(2)
        of_days, all_of_days = self.days
        lowest = 1 - upper_end(all_of_days - of_days, all_of_days, 1 - low, log_limit)
        return min(low, lowest), upper_end(of_days, all_of_days, high, log_limit)

    def divisors(self) -> Floats:
        return self.dependence.used


class _OfCertainBatches(_OfUnits):
    """Evidence of batches, within which trials depend on each other, against a rate of 0 or of 1."""

    in_order = True

    def __init__(self, state: WatchArtifact, index: int, promise: Promise) -> None:
        super().__init__(state, index, promise, _counts_of(state, index).T)

    def numbers(self, has_trials: Bools) -> Ints:
        return np.cumsum(has_trials)

    def log_factors(self) -> Floats:
        return np.append(0.0, log_factors(*self.days, self.bound))[self.days_after]

    def log_change(self, look: int) -> float:
        return log_change_evidence(self.counts[:look], self.bound)

    def days_before(self, batch: str) -> tuple[int, bool]:
        calibration = self.promise.calibration
        knows_days = calibration is not None and calibration.units >= MIN_DAYS
        if batch not in self.names or knows_days:
            return 0, False
        days = int(self.days_after[self.names.index(batch)])
        return days, days <= MIN_DAYS


class _OfBatches(_OfCertainBatches):
    """Evidence of batches against a rate between 0 and 1, which may change from one batch to the next."""

    @cached_property
    def change(self) -> ChangeEvidence:
        """Evidence of a change by batch."""
        return ChangeEvidence(self.counts, self.bound, math.log(self.change_limit), self.promise.calibration)

    def log_change(self, look: int) -> float:
        return self.change.log_sum(look)

    def changes(self, looks: range) -> Iterable[int]:
        return self.change.alarms(looks)

    def log_since(self) -> Floats:
        return self.change.log_effective(len(self.counts))


def _counts_of(state: WatchArtifact, index: int) -> Ints:
    """Return the successes and trials of a promise in each batch, shape (batches, 2)."""
    pairs = [(batch.counts[index].successes, batch.counts[index].trials) for batch in state.counted]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _alarms_of(saved: SavedPromise) -> Mapping[Alarm, str]:
    """Return the batches at which alarms were raised."""
    at = {Alarm.MISSED: saved.alarmed_at, Alarm.CHANGED: saved.changed_at}
    return {alarm: batch for alarm, batch in at.items() if batch}


def _after_each(path: Dependence, number: Ints) -> Dependence:
    """Return the estimates after a number of batches with trials; before the first one nothing is known."""
    nothing = Dependence(*(np.array([value]) for value in (np.nan, np.inf, np.nan, 0, False)))
    return Dependence(
        *(np.concatenate([first, rest])[number] for first, rest in zip(nothing, path, strict=True))
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
