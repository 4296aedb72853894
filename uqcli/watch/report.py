"""Report of ``uqcli watch``: what was promised, what was seen, since when, and what to do.

Its figure shows the promised rates over the batches, with their confidence sequences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from uqcli.base.exact_numbers import percent_text
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import (
    MOST_NAMED,
    capitalised,
    count,
    first_of,
    percent,
    percent_and_range,
    printable,
    range_of,
    rows_of,
)
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate, interval
from uqcli.reports.document import (
    Claim,
    Document,
    Figure,
    HeadCard,
    HoverText,
    KeyNumber,
    Metrics,
    OneResult,
    Table,
    Verdict,
    head_of,
    plain,
)
from uqcli.reports.figures import BLUE, GREY, RED, draw_grid_lines
from uqcli.watch.state import WatchArtifact, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_MAX_LOG10 = 300.0
_KEEP = "Add --state FILE to carry the counts over to the next batch."
_NOT_KEPT = f"Nothing was saved. {_KEEP}"


Seen = tuple[str, Estimate, float | None]
"""Name of a batch, the rate after it, with its confidence sequence, and the rate of the batch alone."""


@dataclass(frozen=True, kw_only=True)
class Together:
    """How trials of a batch go together (see ``uqcli.estimates.dependence.Dependence``); None if unknown."""

    effect: float | None
    used: float | None
    lag: float | None
    has_spells: bool
    left_out: bool


@dataclass(frozen=True, kw_only=True)
class MeasuredPromise:
    """A promise, and the evidence against it since the last acknowledgement.

    ``origin`` says where the bound is from, and ``counted`` what the trials are: alerts, positives, negatives
    or rows; a success of an upper bound is no such event. ``log10_e`` is the evidence against the promise as
    a power of ten, and ``limit`` the evidence at which the alarm is raised; ``change`` and ``change_limit``
    are the same for a change of the rate. The alarms were raised at the batches ``alarmed_at`` and
    ``changed_at``. ``since`` is the first of the batches since which the evidence is largest, and their rate;
    None without batches.

    ``days`` is the number of batches, or of customers, that have trials. ``early`` is that at an alarm that
    rests on few days, and ``rings_anew`` is whether the evidence of this version also raises an alarm of an
    earlier one; else None.

    The rate is that over all batches, with its confidence sequence. ``dependence`` is how trials of a batch,
    or of a customer, go together; None if all are taken as independent. ``newest`` are the trials of the last
    batch, and their rate with the exact interval of that batch's own rate. ``over_time`` computes the rate
    after each batch, for a figure.
    """

    name: str
    text: str
    bound: float
    origin: str
    counted: str
    successes: int
    trials: int
    log10_e: float
    limit: float
    change: float
    change_limit: float
    alarmed_at: str | None
    changed_at: str | None
    since: tuple[str, float | None] | None
    rate: Estimate
    batches: int
    days: int
    early: int | None
    rings_anew: bool | None
    dependence: Together | None
    newest: tuple[int, Estimate]
    over_time: Callable[[], Sequence[Seen]]

    def metrics(self) -> dict[str, Any]:
        """By their contract names; no evidence, and no alarm either, before the first row that counts."""
        evidence = {
            "e_value": 10 ** min(self.log10_e, _MAX_LOG10),
            "log10_e": self.log10_e,
            "alarm": int(self.alarmed_at is not None),
            "change": self.change,
            "change_alarm": int(self.changed_at is not None),
        }
        together = self.dependence
        return {
            **(evidence if self.trials else dict.fromkeys(evidence)),
            **(
                {}
                if together is None
                else {
                    "design_effect": {"value": together.effect, "used": together.used},
                    "lag_correlation": together.lag,
                }
            ),
            "successes": self.successes,
            "trials": self.trials,
            "rate": self.rate,
            "bound": self.bound,
        }

    @property
    def rate_name(self) -> str:
        """Name of its rate, without the bound."""
        return self.text.partition(" >=")[0].partition(" <=")[0]

    def alarm(self) -> str:
        """State its alarm; empty without one."""
        since = ""
        if self.since is not None and self.batches > 1:
            first, rate = self.since
            since = f"{'worse' if rate is None else f'{percent(rate)}'} since about {first}"
        early = (
            ""
            if self.early is None
            else f"; only {_batches(self.early)} with {self.counted} had been seen by then"
        )
        if self.alarmed_at is not None:
            over = f" over {count(self.batches)} batches, and {since}" if since else ""
            return f"the rule misses {self.text}; it is {_in_range(self.rate)}{over}{early}"
        if self.changed_at is not None:
            return f"the rule no longer meets {self.text}; it is {since or _in_range(self.rate)}{early}"
        return ""

    @property
    def target(self) -> str:
        """The target of the rule, if what was expected of it is watched in its place; else empty."""
        return self.origin.partition("expected of target ")[2]

    @property
    def severity(self) -> tuple[bool, bool, float]:
        """Key that sorts the worst promise last."""
        return self.alarmed_at is not None, self.changed_at is not None, self.log10_e


@dataclass(frozen=True, kw_only=True)
class NewRows:
    """What new rows brought to a watch.

    Batches were counted now (``added``), before (``known``), or again (``replaced``). The unit is that within
    which rows go together: day, batch or customer. ``dates`` is the column of dates that would name the days;
    None if there is none, or if batches are known. ``young`` are rows of days that have not matured, and
    ``unwatched`` rows of groups without a target. ``stray`` and ``missing`` are days as in ``Days``.
    """

    unit: str
    added: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    dates: str | None = None
    young: int = 0
    unwatched: int = 0
    stray: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class WatchReport(OneResult):
    """A watch of a rule, by the path of its file, after new batches; the state may be kept in a file.

    ``is_continued`` says that the state has batches of earlier runs.
    """

    rule_name: str
    state: WatchArtifact
    promises: tuple[MeasuredPromise, ...]
    new: NewRows
    confidence: float
    kept: bool
    is_continued: bool

    def alarms(self) -> list[str]:
        """State the alarms, the worst first."""
        return [sentence for promise in self._worst_first() if (sentence := promise.alarm())]

    def _worst_first(self) -> list[MeasuredPromise]:
        return sorted(self.promises, key=lambda promise: promise.severity, reverse=True)

    @property
    def metrics(self) -> Metrics:
        """Evidence by promise, and that of a single promise also at the top."""
        by_promise = {promise.name: promise.metrics() for promise in self.promises}
        single = next(iter(by_promise.values())) if len(by_promise) == 1 else {}
        return {
            **single,
            "batches": len(self.state.batches),
            "added": len(self.new.added),
            "young_rows": self.new.young,
            "promises": by_promise,
        }

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **head_of("watch", self.state.source, self.state.parameters),
            "metrics": plain(self.metrics),
            "promises": [
                {
                    "name": promise.name,
                    "origin": promise.origin,
                    **(
                        {
                            "alarmed_at": promise.alarmed_at,
                            "changed_at": promise.changed_at,
                            "worse_since": promise.since and promise.since[0],
                            "rate_since": promise.since and promise.since[1],
                        }
                        if self.kept
                        else {}
                    ),
                }
                for promise in self.promises
            ],
            **(
                {
                    "added": list(self.new.added),
                    "known": list(self.new.known),
                    "replaced": list(self.new.replaced),
                }
                if self.kept
                else {}
            ),
            "notes": [*self.alarms(), *self._cautions(), *self._notes()],
        }

    def document(self) -> Document:
        """Return the readable form."""
        return Document(
            title=self._title(),
            lead=self._lead(),
            tables=[self._table()],
            cautions=self._cautions(),
            notes=self._notes(),
            figures=self._figures(),
            claims=[self._claim(promise) for promise in self.promises],
            card=self._card(),
        )

    def _title(self) -> str:
        """State first that nothing new is counted, if so; then the alarm, or what was seen so far."""
        return " ".join(filter(None, (self._nothing_new(), self._state_of_alarms())))

    def _nothing_new(self) -> str:
        """State that all rows were counted before, or that none counts for a target; else empty."""
        new = self.new
        if new.known and not new.added and not new.replaced:
            unit = "batch" if self.state.parameters.day is None else "day"
            first = f"{unit} {short_name(new.known[0])}"
            others = "" if len(new.known) == 1 else f" and {count(len(new.known) - 1)} more"
            was = "were" if others else "was"
            return capitalised(f"{first}{others} {was} counted before: nothing new.")
        arrived = [batch for batch in self.state.batches if batch.name in {*new.added, *new.replaced}]
        if arrived and not any(counts.trials for batch in arrived for counts in batch.counts):
            counted = " or ".join(dict.fromkeys(promise.counted for promise in self.promises))
            return f"Nothing new: {_batches(len(arrived))} without {counted}."
        return ""

    def _state_of_alarms(self) -> str:
        alarms = self.alarms()
        if not alarms:
            since = " since the acknowledgement" if self.state.acknowledged else ""
            seen = f"in {_batches(len(self.state.counted))}{since}"
            if len(self.promises) > 1:
                return f"No alarm: none of {len(self.promises)} targets is missed, {seen}."
            (promise,) = self.promises
            rate = promise.rate
            if rate.value is None:
                return f"No alarm: no {promise.counted} with a label yet, {seen}."
            if promise.counted == "alerts" and promise.trials < FEWEST_FLAGGED:
                of_all = f"{count(promise.successes)} of {count(promise.trials)} alerts"
                has_range = rate.low is not None and rate.high is not None and rate.high - rate.low < 1
                range_ = f" ({range_of(rate.low, rate.high)})" if has_range else ""
                return f"No alarm: {of_all} are right so far{range_}, {seen}."
            below, beside = "", list[float]()
            if self._is_below_target():
                below, beside = (
                    f", below the target of {percent_text(promise.target)}",
                    [float(promise.target)],
                )
            return (
                f"No alarm: {promise.rate_name} is {_in_range(rate, beside)} so far{below}, from "
                f"{count(promise.trials)} {promise.counted} {seen}."
            )
        others = len(alarms) - 1
        more = f" ({others} more alarm{'' if others == 1 else 's'} below)" if others else ""
        return f"Alarm: {alarms[0]}{more}."

    def _is_below_target(self) -> bool:
        """Whether the rate of the only promise, as printed, is below the target, which is not watched."""
        return len(self.promises) == 1 and _is_below(self.promises[0].rate.value, self.promises[0].target)

    def _misses_target(self) -> bool:
        """Whether the whole interval of that rate is below the target."""
        return len(self.promises) == 1 and _is_below(self.promises[0].rate.high, self.promises[0].target)

    def _lead(self) -> list[str]:
        """State what to do after an alarm, and what is tested in place of the target."""
        sentences = [after] if (after := self._after_alarm()) else []
        for promise in self.promises:
            if target := promise.target:
                itself = (
                    f" To get an alarm below the target itself, add --bound {target}, or certify the rule."
                    if len(self.promises) == 1
                    else ""
                )
                sentences.append(
                    f"The limit of the alarm is {promise.text}, the low end of what was expected. It is "
                    f"not the target of {percent_text(target)}, which a rule without a certificate may miss "
                    f"from the start.{itself}"
                )
        sentences += [*self._newest(), self._evidence(), *self._about_units()]
        return sentences if self.kept else [*sentences, _NOT_KEPT]

    def _newest(self) -> list[str]:
        """State the rate of the newest batch alone, for each of few promises; empty for the only batch."""
        if len(self.state.counted) < 2 or len(self.promises) > MOST_NAMED:
            return []
        rates = []
        for promise in self.promises:
            trials, rate = promise.newest
            alone = f", {promise.rate_name} {_in_range(rate)}" if trials else ""
            if promise.counted == "alerts" and 0 < trials < FEWEST_FLAGGED and rate.value is not None:
                hits = round(rate.value * trials)
                alone = f", of which {count(hits)} {'is' if hits == 1 else 'are'} right"
                alone += f" ({range_of(rate.low, rate.high)})" if rate.low is not None else ""
            rates.append(f"{count(trials) if trials else 'no'} {promise.counted}{alone}")
        unit = "batch" if self.state.parameters.day is None else "day"
        name = short_name(self.state.counted[-1].name)
        return [f"The newest {unit}, {name}, alone: {'; '.join(rates)}."]

    def _after_alarm(self) -> str:
        early = next((promise.early for promise in self._worst_first() if promise.alarm()), None)
        rare = (
            "" if early is None else f" {_RARE_DAYS.format(unit=self.new.unit, units=_plural(self.new.unit))}"
        )
        if any(promise.alarmed_at is not None for promise in self.promises):
            return f"Stop relying on the rule: find the cause, or fit it again on rows since then.{rare}"
        if self.alarms():
            return f"Find what changed. If the rule is still right, count anew with --acknowledge.{rare}"
        return ""

    def _evidence(self) -> str:
        """State the evidence against the worst promise, and how much an alarm needs."""
        worst = self._worst_first()[0]
        against = f"Evidence against the limit: {_evidence(worst.log10_e)} (alarm at {worst.limit:,.6g})"
        if not worst.batches:
            return f"{against}."
        return (
            f"{against}. Evidence of a recent drop: {_evidence(_log10(worst.change))} (alarm at "
            f"{worst.change_limit:,.6g})."
        )

    def _about_units(self) -> list[str]:
        """State how rows of a day go together, or that rows are taken as independent."""
        worst, unit = self._worst_first()[0], self.new.unit
        together = worst.dependence
        if together is None:
            if not worst.batches:
                return []
            named = (
                f": --day {printable(self.new.dates)} takes rows of a day together" if self.new.dates else ""
            )
            return [f"Rows are taken as independent{named}."]
        if not worst.trials:
            return []
        if together.used is None:
            return [
                f"Rows of one {unit} may depend on each other, so the evidence starts with the second {unit}."
            ]
        if rests_on := self._rests_on(worst):
            return [rests_on]
        effective = max(round(worst.trials / together.used), 1)
        independent = "a single one" if effective == 1 else f"{count(effective)} independent ones"
        return [
            f"Rows from the same {unit} may be alike: {count(worst.trials)} {worst.counted} are taken for "
            f"{independent}, the fewest that {_units(worst.days, unit)} leave possible."
        ]

    def _rests_on(self, promise: MeasuredPromise) -> str:
        """State what a range rests on if all trials, or none, have succeeded; else empty."""
        together, unit = promise.dependence, self.new.unit
        if together is None or together.used is None or promise.successes not in (0, promise.trials):
            return ""
        return (
            f"All {count(promise.trials)} {promise.counted} are {'right' if promise.successes else 'wrong'}, "
            f"so that rows of one {unit} cannot show how alike they are. The range therefore rests on "
            f"{_units(promise.days, unit)}, and would be about as wide with any number of {promise.counted}."
        )

    def _table(self) -> Table:
        rows = [
            (
                printable(promise.text, LONGEST_NAME),
                interval(promise.rate),
                count(promise.trials),
                _evidence(promise.log10_e),
                _evidence(_log10(promise.change)) if promise.batches else "-",
            )
            for promise in self.promises
        ]
        header = ("limit", f"seen ({100 * self.confidence:g} % range)", "trials", "evidence", "of a drop")
        return Table(title="", header=header, rows=rows)

    def _cautions(self) -> list[Notice]:
        cautions = list[Notice]()
        if self.new.stray:
            are = "are" if self.new.stray[1:] else "is"
            far = f"{first_of(self.new.stray, MOST_NAMED)} {are} far from the other days, with few rows"
            cautions.append(
                Notice(
                    "stray-days", f"{far}, and no labels count as complete by it: look for a mistyped date."
                )
            )
        if self.new.missing:
            cautions.append(Notice("missing-days", f"no row is of {first_of(self.new.missing, MOST_NAMED)}."))
        if self.new.known:
            unit = "batch" if self.state.parameters.day is None else "day"
            first = f"{unit} {short_name(self.new.known[0])}"
            others = f" and {count(len(self.new.known) - 1)} more were" if len(self.new.known) > 1 else " was"
            are = "are" if self.new.known[1:] else "is"
            cautions.append(Notice("counted-before", f"{first}{others} counted before and {are} left out."))
        if self.new.replaced and self.state.parameters.day is None:
            cautions.append(
                Notice(
                    "replaced-batch",
                    "these rows were counted before with other labels, and that batch is replaced.",
                )
            )
        spells = [promise.dependence for promise in self._worst_first() if promise.dependence is not None]
        if spells and spells[0].has_spells and not self.alarms():  # a change looks like a spell, too
            alike = f"each {self.new.unit} resembles the one before (correlation {spells[0].lag:.2f})"
            remedy = "add a column of weeks, and name it with --day"
            cautions.append(
                Notice("alike-days", f"{alike}, and the evidence corrects for it only in part: {remedy}.")
            )
        if self.new.young:
            young = f"{rows_of(self.new.young)} of days that have not matured are not counted yet."
            cautions.append(Notice("young-rows", young))
        if self.new.unwatched:
            unwatched = f"{rows_of(self.new.unwatched)} are of groups without a target of their own."
            cautions.append(Notice("unwatched-rows", unwatched))
        if self.new.added and not any(promise.trials for promise in self.promises):
            cautions.append(
                Notice(
                    "no-trials",
                    "no row of these batches counts for a target, such as a flagged row with a label for a "
                    "precision: check the label column.",
                )
            )
        if self.is_continued and self.state.is_of_other_evidence:
            key = f"{'alarm' if self.alarms() else 'evidence'}-of-earlier-version"
            cautions.append(Notice(key, self._of_other_evidence()))
        return cautions

    def _of_other_evidence(self) -> str:
        """State that an earlier version computed evidence in another way, and what becomes of its alarms."""
        sentences = [
            f"uqcli {self.state.uqcli_version} began this state, and evidence is computed in another way "
            "since 0.5."
        ]
        for anew, would in ((True, "would have raised"), (False, "would not have raised")):
            if texts := [promise.text for promise in self.promises if promise.rings_anew is anew]:
                sentences.append(
                    f"The alarm of {printable('; '.join(texts))} stays until --acknowledge; the evidence as "
                    f"it is computed now {would} it."
                )
        return " ".join(sentences)

    def _notes(self) -> list[str]:
        delta, run_length = self.state.parameters.delta, self.state.parameters.run_length
        range_of_rule = "the range expected of the rule for target"
        notes = [
            f"{promise.text}: {promise.origin.replace('what was expected of target', range_of_rule)}."
            for promise in self.promises
        ]
        several = f" for each of {len(self.promises)} targets" if len(self.promises) > 1 else ""
        limit = f"{self.promises[0].limit:,.6g}"
        alike = ""
        if any(promise.dependence is not None for promise in self.promises):
            alike = (
                f", if each {self.new.unit} is independent of the others and their rates scatter about a mean"
            )
        notes += [
            f"An alarm needs evidence of {limit}{several}. A rule that keeps within the limits raises one "
            f"with probability {delta} at most, however often you look{alike}.",
            f"A drop alarm needs evidence of {count(int(self.promises[0].change_limit))}. On average, there "
            f"is at most one false drop alarm in {count(run_length)} batches, so expect a few in "
            "the long run.",
            "Labels must arrive as often and as soon for right decisions as for wrong ones, and days must be "
            "complete when they are counted.",
        ]
        notes += [f"{promise.text}: {text}" for promise in self.promises if (text := self._rests_on(promise))]
        if self.state.parameters.cluster is not msgspec.UNSET:
            notes.append(
                "The rows of a customer count in the first batch that has any, and not in later ones."
            )
        if any(promise.dependence is not None and promise.dependence.left_out for promise in self.promises):
            notes.append(
                "The days of the calibration rows are left out: rows of the days watched go together more "
                "than three times as much. This happens if the model was trained on the calibration days."
            )
        return notes

    def _figures(self) -> list[Figure]:
        return [
            rates_over_time(
                self._worst_first(), self.confidence, is_day=self.state.parameters.day is not None
            )
        ]

    def _claim(self, promise: MeasuredPromise) -> Claim:
        alarm = promise.alarm()
        return Claim(name=promise.text, met=not alarm, sentence=f"{alarm}." if alarm else "")

    def _card(self) -> HeadCard:
        alarms = self.alarms()
        worst = self._worst_first()[0]
        verdict = Verdict(text="no alarm", tone="good")
        if self._is_below_target():
            verdict = Verdict(text="no alarm, but below the target", tone="fair")
        if worst.alarmed_at is not None:
            verdict = Verdict(text="target missed", tone="bad")
        elif alarms:
            verdict = Verdict(text="target no longer met", tone="bad")
        rate, batches = worst.rate, _batches(len(self.state.counted))
        second = KeyNumber(label="trials", value=count(worst.trials), interval=batches)
        first, rate_since = worst.since or ("", None)
        if alarms and rate_since is not None:
            second = KeyNumber(label=f"since about {first}", value=percent(rate_since))
        evidence, name, limit = worst.log10_e, "evidence against it", worst.limit
        if worst.alarmed_at is None and worst.changed_at is not None:
            evidence, name, limit = _log10(worst.change), "evidence of a change", worst.change_limit
        numbers = [
            KeyNumber(
                label=worst.text,
                value=percent(rate.value),
                interval=f"{100 * self.confidence:g} %: {range_of(rate.low, rate.high)}"
                if rate.low is not None
                else "",
            ),
            second,
            KeyNumber(label=name, value=_evidence(evidence), interval=f"an alarm needs {limit:,.6g}"),
        ]
        then = "When the labels of the next batch are complete, run uqcli watch on it with the same --state."
        next_batch = then if self.kept else _KEEP
        if self._misses_target():
            next_batch = "Test the rule with uqcli evaluate, since it is below its target."
        action = self._after_alarm() or next_batch
        return HeadCard(
            title=self._title(),
            verdict=verdict,
            numbers=numbers,
            subject=f"{{rules}}{' (rule and state)' if self.kept else ''} watched on {{inputs}}.",
            action=action,
        )


_RARE_DAYS = (
    "So few {units} may all be of one kind: if a rarer kind of {unit} is better, the rule may still meet its "
    "target."
)


def _plural(unit: str) -> str:
    return "batches" if unit == "batch" else f"{unit}s"


def _units(number: int, unit: str) -> str:
    return f"{count(number)} {unit if number == 1 else _plural(unit)}"


def _is_below(value: float | None, target: str) -> bool:
    """Whether a rate is below the target, if there is one."""
    return value is not None and bool(target) and value < float(target)


def _in_range(rate: Estimate, beside: Sequence[float] = ()) -> str:
    """Format a rate with its range, if that says anything, for a sentence that compares it with others."""
    if rate.low is None or rate.high is None or rate.high - rate.low >= 1:
        return percent_and_range(rate.value, None, None, beside=beside)
    return percent_and_range(rate.value, rate.low, rate.high, beside=beside)


def _batches(number: int) -> str:
    return f"{count(number)} {'batch' if number == 1 else 'batches'}"


def _log10(value: float) -> float:
    return math.log10(value) if value > 0 else -_MAX_LOG10


def _evidence(log10_value: float) -> str:
    """Format evidence, as a power of ten if it is large."""
    if log10_value >= 4:
        return f"10^{log10_value:.0f}"
    value = 10**log10_value
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


LONGEST_NAME = 90
"""Letters of a target with the name of its group."""

_MAX_PANELS = 6
_MAX_DAYS = 7
"""Days that are named on the axis."""


def rates_over_time(promises: Sequence[MeasuredPromise], confidence: float, *, is_day: bool) -> Figure:
    """Build a figure with one panel for each promise, the worst first, at most six.

    ``is_day`` says that batches are named after days.
    """
    shown = promises[:_MAX_PANELS]

    def draw(canvas: Canvas) -> list[HoverText]:
        texts: list[HoverText] = []
        all_axes = canvas.subplots(len(shown), 1, squeeze=False)[:, 0]
        for axes, promise in zip(all_axes, shown, strict=True):
            texts += _draw(axes, promise, is_day=is_day)
        all_axes[-1].set_xlabel("day" if is_day else "batch")
        return texts

    height = 2.6 * len(shown) + 0.4
    names = ", ".join(printable(promise.text) for promise in shown)
    return Figure(
        title=f"Rate over time with its {100 * confidence:g} % confidence sequence: {names}",
        caption="The line is the rate over all batches so far. "
        f"With {100 * confidence:g} % confidence the band contains the true rate, however often you look. "
        "The last point of the band is the printed range. It may be wider than the band before it, which "
        "does not allow for days that differ more than they have shown so far. "
        "Points are single batches. A band beyond the red line is not yet an alarm, which needs more "
        "evidence."
        + (
            f" The worst {_MAX_PANELS} of {len(promises)} targets are drawn."
            if promises[_MAX_PANELS:]
            else ""
        ),
        width=8.5,
        height=height,
        narrow_height=height,
        draw=draw,
    )


def _draw(axes: Axes, promise: MeasuredPromise, *, is_day: bool) -> list[HoverText]:
    draw_grid_lines(axes)
    seen = promise.over_time() if promise.batches else ()
    batches = [batch for batch, _, _ in seen]
    rates: list[Any] = [rate for _, rate, _ in seen]  # which have intervals
    single = {x: own for x, (_, _, own) in enumerate(seen, start=1) if own is not None}
    _draw_rates(axes, rates)
    axes.plot(list(single), list(single.values()), color=GREY, linestyle="none", marker="o", markersize=3)
    axes.axhline(promise.bound, color=RED, linewidth=1.6)
    _draw_alarms(axes, promise, batches)
    _set_height(axes, rates, [promise.bound, *single.values()])
    axes.set_xlim(0.5, max(len(seen), 1) + 0.5)
    if seen and (is_day or len(seen) == 1):
        step = -(-len(seen) // _MAX_DAYS)
        positions = range(1, len(seen) + 1)
        axes.set_xticks(positions[::step], [short_name(batch) for batch in batches[::step]])
    axes.set_title(printable(promise.text, LONGEST_NAME))
    return [
        HoverText(
            axes=axes,
            x=(x - 0.5, x + 0.5),
            y=(rate.low, rate.high),
            text=f"{short_name(batch)}: {interval(rate)} so far",
        )
        for x, (batch, rate) in enumerate(zip(batches, rates, strict=True), start=1)
    ]


def _draw_rates(axes: Axes, rates: Sequence[Any]) -> None:
    """Draw the rate over all batches so far as a line, and its interval as a band."""
    positions = list(range(1, len(rates) + 1))
    low, high = [rate.low for rate in rates], [rate.high for rate in rates]
    if len(rates) == 1:  # neither a band nor a line has a width
        axes.plot(positions * 2, [*low, *high], color=BLUE, linewidth=1.6)
        axes.plot(positions, [rate.value for rate in rates], color=BLUE, marker="o")
    axes.fill_between(positions, low, high, color=BLUE, alpha=0.18, linewidth=0, step="mid")
    known = [(x, rate.value) for x, rate in zip(positions, rates, strict=True) if rate.value is not None]
    axes.plot([x for x, _ in known], [y for _, y in known], color=BLUE, linewidth=1.6)


def _draw_alarms(axes: Axes, promise: MeasuredPromise, batches: Sequence[str]) -> None:
    """Draw a line at the batch of each alarm; their labels have different heights, lest they overlap."""
    alarms = ((promise.alarmed_at, "alarm", -12), (promise.changed_at, "change alarm", -26))
    for name, label, height in alarms:
        if name not in batches:
            continue
        at = batches.index(name) + 1
        axes.axvline(at, color=RED, linewidth=1, linestyle=(0, (3, 2)))
        axes.annotate(
            label,
            (at, 1),
            xycoords=("data", "axes fraction"),
            xytext=(3, height),
            textcoords="offset points",
            color=RED,
        )


def _set_height(axes: Axes, rates: Sequence[Any], values: Sequence[float]) -> None:
    """Let all values be seen, and the intervals but the first fifth, which are the widest."""
    later = [end for rate in rates[len(rates) // 5 :] for end in (rate.low, rate.high)]
    ends = [*later, *values]
    margin = 0.05 * (max(ends) - min(ends)) or 0.05
    axes.set_ylim(max(0, min(ends) - margin), min(1, max(ends) + margin))
