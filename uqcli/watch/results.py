"""What a watch measures of each promise: the evidence, the alarms, and how trials of a batch go together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum, auto
from typing import Any

from uqcli.base.records import dataclass
from uqcli.base.wording import count, percent, percent_and_range
from uqcli.boundary.promise import Promise
from uqcli.estimates.estimate import Estimate
from uqcli.reports.document import KeyNumber, Metrics

MAX_LOG10 = 300.0

LONGEST_NAME = 90
"""Letters of a target with the name of its group."""


Seen = tuple[str, Estimate, float | None]
"""Name of a batch, the rate after it, with its confidence sequence, and the rate of the batch alone."""


class Alarm(StrEnum):
    """Kinds of alarms, the worse one first: a limit was missed, or is no longer met."""

    MISSED = auto()
    CHANGED = auto()


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Evidence as a number and as a power of ten, and that at which an alarm is raised."""

    value: float
    log10: float
    limit: float

    def __str__(self) -> str:
        """Format it, as a power of ten if it is large."""
        if self.log10 >= 4:
            return f"10^{self.log10:.0f}"
        value = 10**self.log10
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

    @property
    def of_limit(self) -> str:
        """The limit of the alarm, in words."""
        return f"{self.limit:,.6g}"


@dataclass(frozen=True, kw_only=True)
class Rung:
    """The batches ``at`` which alarms were raised, and those at which this version would raise them.

    ``days`` is the number of batches with trials by the worse alarm, if it ``is_early``: neither these nor
    the days of the calibration rows are many.
    """

    at: Mapping[Alarm, str]
    anew: Callable[[], Mapping[Alarm, str]]
    days: int
    is_early: bool

    @property
    def worst(self) -> Sequence[Alarm]:
        """The worse of its alarms; empty if none was raised."""
        return [alarm for alarm in Alarm if alarm in self.at][:1]


class Since:
    """The first of the batches since which the evidence is largest, and their rate; there are no batches."""

    @property
    def in_words(self) -> str:
        """The rate since then, after a verb."""
        return ""

    def metrics(self) -> dict[str, Any]:
        """Return both."""
        return {"worse_since": None, "rate_since": None}

    def numbers(self) -> Iterator[KeyNumber]:
        """Yield the rate, if it is known."""
        yield from ()


@dataclass(frozen=True, kw_only=True)
class SinceBatch(Since):
    """The first of these batches; the rate is None if they have no trials."""

    batch: str
    rate: float | None

    @property
    def in_words(self) -> str:
        """The rate since then, after a verb."""
        return f"{'worse' if self.rate is None else percent(self.rate)} since about {self.batch}"

    def metrics(self) -> dict[str, Any]:
        """Return both."""
        return {"worse_since": self.batch, "rate_since": self.rate}

    def numbers(self) -> Iterator[KeyNumber]:
        """Yield the rate, if it is known."""
        if self.rate is not None:
            yield KeyNumber(label=f"since about {self.batch}", value=percent(self.rate))


class Together:
    """How trials of a batch, or of a customer, go together: unknown before anything is counted."""

    lag: float | None = None
    has_spells: bool = False
    left_out: bool = False

    def metrics(self) -> Metrics:
        """Return the design effect, and what follows from it."""
        return {}

    def assumed(self, unit: str) -> str:  # noqa: ARG002
        """Return what the level of the alarm assumes, after a comma; empty if nothing."""
        return ""

    def effect_on(self, promise: MeasuredPromise, unit: str, named: str) -> list[str]:  # noqa: ARG002
        """State what follows for the evidence, and how days are named if they are not."""
        return []

    def rests_on(self, promise: MeasuredPromise, unit: str) -> str:  # noqa: ARG002
        """State what a range rests on if all trials, or none, have succeeded; else empty."""
        return ""


class Independent(Together):
    """All trials are taken as independent."""

    def effect_on(self, promise: MeasuredPromise, unit: str, named: str) -> list[str]:  # noqa: ARG002
        """See Together."""
        return [f"Rows are taken as independent{named}."]


@dataclass(frozen=True, kw_only=True)
class Dependent(Together):
    """Trials of a unit may be alike; a single unit does not show how much.

    See ``uqcli.estimates.dependence.Dependence``; numbers are None if unknown.
    """

    effect: float | None
    lag: float | None
    has_spells: bool
    left_out: bool

    def metrics(self) -> Metrics:
        """See Together."""
        effect = {"value": self.effect, "used": self._used}
        return {"design_effect": effect, "lag_correlation": self.lag}

    @property
    def _used(self) -> float | None:
        """Number by which counts are divided."""
        return None

    def assumed(self, unit: str) -> str:
        """See Together."""
        return f", if each {unit} is independent of the others and their rates scatter about a mean"

    def effect_on(self, promise: MeasuredPromise, unit: str, named: str) -> list[str]:  # noqa: ARG002
        """See Together."""
        depend = f"Rows of one {unit} may depend on each other"
        return [f"{depend}, so the evidence starts with the second {unit}."] if promise.trials else []


@dataclass(frozen=True, kw_only=True)
class Divided(Dependent):
    """Trials of a unit are alike, and counts of so many units are divided by a number."""

    used: float
    units: int

    @property
    def _used(self) -> float:
        return self.used

    def effect_on(self, promise: MeasuredPromise, unit: str, named: str) -> list[str]:  # noqa: ARG002
        """See Together."""
        if rests_on := self.rests_on(promise, unit):
            return [rests_on]
        effective = max(round(promise.trials / self.used), 1)
        independent = "a single one" if effective == 1 else f"{count(effective)} independent ones"
        return [
            f"Rows from the same {unit} may be alike: {count(promise.trials)} {promise.counted} are taken "
            f"for {independent}, the fewest that {_units(self.units, unit)} leave possible."
        ]

    def rests_on(self, promise: MeasuredPromise, unit: str) -> str:
        """See Together."""
        if promise.successes not in (0, promise.trials):
            return ""
        return (
            f"All {count(promise.trials)} {promise.counted} are {'right' if promise.successes else 'wrong'}, "
            f"so that rows of one {unit} cannot show how alike they are. The range therefore rests on "
            f"{_units(self.units, unit)}, and would be about as wide with any number of {promise.counted}."
        )


@dataclass(frozen=True, kw_only=True)
class MeasuredPromise:
    """A promise, and the evidence against it, and of a change, since the last acknowledgement.

    A success of an upper bound is no such event. The rate is that over all batches, with its confidence
    sequence. ``newest`` are the trials of the last batch, and their rate with the exact interval of that
    batch's own rate. ``over_time`` computes the rate after each batch, for a figure.
    """

    promise: Promise
    successes: int
    trials: int
    rate: Estimate
    evidence: Evidence
    change: Evidence
    rung: Rung
    since: Since
    batches: int
    together: Together
    newest: tuple[int, Estimate]
    over_time: Callable[[], Sequence[Seen]]

    def metrics(self) -> dict[str, Any]:
        """By their contract names; no evidence, and no alarm either, before the first row that counts."""
        evidence = {
            "e_value": self.evidence.value,
            "log10_e": self.evidence.log10,
            "alarm": int(Alarm.MISSED in self.rung.at),
            "change": self.change.value,
            "change_alarm": int(Alarm.CHANGED in self.rung.at),
        }
        return {
            **(evidence if self.trials else dict.fromkeys(evidence)),
            **self.together.metrics(),
            "successes": self.successes,
            "trials": self.trials,
            "rate": self.rate,
            "bound": self.bound,
        }

    @property
    def text(self) -> str:
        """The promise in words."""
        return self.promise.text()

    @property
    def bound(self) -> float:
        """Its bound, as a number."""
        return float(self.promise.bound)

    @property
    def counted(self) -> str:
        """What its trials are: alerts, positives, negatives or rows."""
        return self.promise.trials

    @property
    def rate_name(self) -> str:
        """Name of its rate, without the bound."""
        return self.text.partition(" >=")[0].partition(" <=")[0]

    def alarm(self) -> str:
        """State its alarm; empty without one."""
        since = self.since.in_words if self.batches > 1 else ""
        early = ""
        if self.rung.is_early:
            early = f"; only {batches_of(self.rung.days)} with {self.counted} had been seen by then"
        over = f" over {count(self.batches)} batches, and {since}" if since else ""
        rate = in_range(self.rate)
        sentences = {
            Alarm.MISSED: f"the rule misses {self.text}; it is {rate}{over}{early}",
            Alarm.CHANGED: f"the rule no longer meets {self.text}; it is {since or rate}{early}",
        }
        return "".join(sentences[alarm] for alarm in self.rung.worst)

    @property
    def target(self) -> str:
        """The target of the rule, if what was expected of it is watched in its place; else empty."""
        return self.promise.origin.partition("expected of target ")[2]

    @property
    def severity(self) -> tuple[bool, bool, float]:
        """Key that sorts the worst promise last."""
        return Alarm.MISSED in self.rung.at, Alarm.CHANGED in self.rung.at, self.evidence.log10


def evidence_of(value: float, limit: float) -> Evidence:
    """Return evidence that is given as a number."""
    return Evidence(value=value, log10=math.log10(value) if value > 0 else -MAX_LOG10, limit=limit)


def worst_first(promises: Sequence[MeasuredPromise]) -> list[MeasuredPromise]:
    """Sort promises by their alarms and the evidence."""
    return sorted(promises, key=lambda promise: promise.severity, reverse=True)


def in_range(rate: Estimate, beside: Sequence[float] = ()) -> str:
    """Format a rate with its range, if that says anything, for a sentence that compares it with others."""
    ends = (rate.low, rate.high) if rate.width < 1 else (None, None)
    return percent_and_range(rate.value, *ends, beside=beside)


def plural(unit: str) -> str:
    """Return the plural of the name of a unit."""
    return "batches" if unit == "batch" else f"{unit}s"


def _units(number: int, unit: str) -> str:
    return f"{count(number)} {unit if number == 1 else plural(unit)}"


def batches_of(number: int) -> str:
    """Write a number of batches."""
    return _units(number, "batch")
