"""Evidence against each promise of a rule over the batches of a watch, and the alarms that it raises.

The evidence is the smaller of two: the e-value of effective counts, which allows for days of any kind, and
half the Bayes factor of days whose rates scatter about one mean, which keeps its level where rates are near
0 or 1, or days differ much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Final

import msgspec
import numpy as np

from uqcli.base.counts import Floats, Ints
from uqcli.estimates.dependence import MIN_DAYS, Dependence, dependence_path
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.proportion import clopper_pearson
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

    ``counts`` has the successes and trials of each batch, int64 of shape (batches, 2), and ``successes`` and
    ``trials`` those so far after each. ``days`` has those of each batch, or of each customer of a single
    look, that has trials, shape (2, days), and ``days_after`` their number after each batch. ``dependence``
    is how trials of a day depend on each other, after each batch; None if all are independent. Counts are
    then divided by ``used`` after each batch. A promise that every trial succeeds is broken by one failure,
    however rows depend on each other.

    ``risk`` is an equal part of the risk of the watch, of which prediction sets spend half otherwise. The
    change alarm is raised at the evidence ``change_limit``.
    """

    def __init__(self, state: WatchArtifact, index: int, promise: Promise, units: Units | None) -> None:
        self.state, self.promise, self.saved = state, promise, state.promises[index]
        pairs = [(batch.counts[index].successes, batch.counts[index].trials) for batch in state.counted]
        self.counts: Ints = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        self.successes, self.trials = np.cumsum(self.counts, axis=0).T
        self.bound = promise.least_success
        self.risk: Fraction = state.parameters.risk() / len(state.promises) / promise.sides
        self.change_limit = state.parameters.run_length * len(state.promises)
        of_days: Ints = self.counts.T if units is None else np.stack(units[index])
        has_trials = of_days[1] > 0
        successes, trials = of_days[:, has_trials]
        self.days: tuple[Ints, Ints] = successes, trials
        self.has_batches = not state.has_one_look
        self.days_after: Ints = (
            np.cumsum(has_trials) if self.has_batches else np.array([np.count_nonzero(has_trials)])
        )
        self.dependence: Dependence | None = None
        self.used: Floats = np.ones(len(self.counts))
        if self.has_batches or units is not None:
            path = dependence_path(successes, trials, promise.calibration, in_order=self.has_batches)
            self.dependence = _after_each(path, self.days_after)
            if self.bound < 1:
                self.used = self.dependence.used

    @cached_property
    def log_e(self) -> Floats:
        """Logarithm of the evidence after each batch."""
        effective = log_e_values(self.successes / self.used, self.trials / self.used, self.bound)
        if self.dependence is None:
            return effective
        successes, trials = self.days
        if self.has_batches:
            factors = np.append(0.0, log_factors(successes, trials, self.bound))[self.days_after]
        else:
            factors = np.array([log_factor(successes, trials, self.bound)])
        return np.minimum(effective, factors - math.log(2))

    @cached_property
    def change(self) -> ChangeEvidence | None:
        """Evidence of a change by day; None if rows, or all rows of the only look, are taken together."""
        if not self.has_batches or not 0 < self.bound < 1:
            return None
        return ChangeEvidence(self.counts, self.bound, math.log(self.change_limit), self.promise.calibration)

    def with_alarms(self, known: int) -> SavedPromise:
        """Look at the batches after the known ones, in the order in which they were counted."""
        alarmed_at, changed_at = (self.saved.alarmed_at, self.saved.changed_at) if known else (None, None)
        looks = range(known + 1, len(self.counts) + 1)
        names = [batch.name for batch in self.state.counted]
        if alarmed_at is None:
            rung = (look for look in looks if is_alarm(float(self.log_e[look - 1]), self.risk))
            alarmed_at = next((names[look - 1] for look in rung), None)
        if changed_at is None and looks:
            changed_at = None if (look := self._first_change(looks)) is None else names[look - 1]
        return msgspec.structs.replace(
            self.saved,
            successes=int(self.successes[-1]) if names else 0,
            trials=int(self.trials[-1]) if names else 0,
            alarmed_at=alarmed_at,
            changed_at=changed_at,
        )

    def _first_change(self, looks: range) -> int | None:
        if self.change is not None:
            return self.change.first_alarm(looks[0], looks[-1])
        rung = (look for look in looks if is_change_alarm(self._log_change(look), self.change_limit))
        return next(rung, None)

    def _log_change(self, look: int) -> float:
        """Return the log of the evidence of a change after so many batches."""
        if self.change is not None:
            return self.change.log_sum(look)
        if not self.has_batches:
            return float(self.log_e[look - 1])
        return log_change_evidence(self.counts[:look], self.bound)

    def measured(self, confidence: float) -> MeasuredPromise:
        """Return the promise with the evidence after the last batch."""
        promise, saved, number = self.promise, self.saved, len(self.counts)
        log_e = float(self.log_e[-1]) if number else 0.0
        log_change = self._log_change(number) if number else -math.inf
        ends = self._ends(confidence) if number else (0.0, 1.0)
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
            rate=_rate(promise, saved.successes, saved.trials, ends),
            batches=number,
            days=int(self.days_after[-1]) if number else 0,
            early=self._early(),
            rings_anew=self._rings_anew(),
            dependence=None if self.dependence is None or not number else _together(self.dependence),
            newest=self._newest(confidence),
            over_time=partial(self._over_time, confidence, ends),
        )

    def _newest(self, confidence: float) -> tuple[int, Estimate]:
        """Return the trials of the last batch, and their rate with its interval."""
        successes, trials = map(int, self.counts[-1]) if len(self.counts) else (0, 0)
        ends = clopper_pearson(successes, trials, confidence)
        return trials, _rate(self.promise, successes, trials, ends)

    def _early(self) -> int | None:
        """Return the days that were seen at an alarm, if they and the calibration days are few."""
        names = [batch.name for batch in self.state.counted]
        at = self.saved.alarmed_at or self.saved.changed_at
        calibration = self.promise.calibration
        knows_days = calibration is not None and calibration.units >= MIN_DAYS
        if at not in names or not self.has_batches or knows_days:
            return None
        days = int(self.days_after[names.index(at)])
        return days if days <= MIN_DAYS else None

    def _rings_anew(self) -> bool | None:
        """Whether an alarm of an earlier version would be raised by the evidence of this one."""
        if not self.state.is_of_other_evidence:
            return None
        if self.saved.alarmed_at is not None:
            return self.with_alarms(0).alarmed_at is not None
        return None if self.saved.changed_at is None else self.with_alarms(0).changed_at is not None

    def _ends(self, confidence: float) -> tuple[float, float]:
        """Return the ends of the range after the last batch: nearer rates than these have less evidence."""
        successes, trials = int(self.successes[-1]), int(self.trials[-1])
        if self.dependence is None:
            return rate_interval(successes, trials, confidence)
        used = float(self.dependence.used[-1])
        low, high = rate_interval(successes / used, trials / used, confidence)
        log_limit = math.log(2 / (1 - confidence)) + math.log(2)
        of_days, all_of_days = self.days
        lowest = 1 - upper_end(all_of_days - of_days, all_of_days, 1 - low, log_limit)
        return min(low, lowest), upper_end(of_days, all_of_days, high, log_limit)

    def _over_time(self, confidence: float, last: tuple[float, float]) -> list[Seen]:
        """Return the rate after each batch; only the range of the last one also takes the Bayes factor."""
        used = np.ones(len(self.counts)) if self.dependence is None else self.dependence.used
        low, high = rate_intervals(self.successes / used, self.trials / used, confidence)
        low[-1], high[-1] = last
        columns = (column.tolist() for column in (self.counts, self.successes, self.trials, low, high))
        return [
            (batch.name, _rate(self.promise, kept, tried, ends), _share(self.promise, *own))
            for batch, own, kept, tried, *ends in zip(self.state.counted, *columns, strict=True)
        ]

    def _worst_since(self) -> tuple[str, float | None]:
        """Find the first of the batches since which the evidence is largest, and their rate."""
        number, since = len(self.counts), np.cumsum(self.counts[::-1], axis=0)[::-1]
        if self.change is not None:
            log_e = self.change.log_effective(number)
        else:
            log_e = log_e_values(since[:, 0] / self.used[-1], since[:, 1] / self.used[-1], self.bound)
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
