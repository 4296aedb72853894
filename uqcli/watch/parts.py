"""Parts of what ``uqcli watch`` tells: targets, alarms, new rows, and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

import msgspec

from uqcli.base.dates import date_of
from uqcli.base.exact_numbers import percent_text
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import MOST_NAMED, capitalised, count, first_of, percent, printable, range_of, rows_of
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate, interval
from uqcli.reports.document import Claim, KeyNumber, Metrics, Verdict
from uqcli.reports.parts import Statement
from uqcli.watch.figure import rates_over_time
from uqcli.watch.report import Fact, Phrases, Remark, WatchPart, WatchReport
from uqcli.watch.results import (
    LONGEST_NAME,
    Alarm,
    MeasuredPromise,
    batches_of,
    in_range,
    plural,
    worst_first,
)
from uqcli.watch.state import WatchArtifact, short_name

_KEEP: Final = "Add --state FILE to carry the counts over to the next batch."


@dataclass(frozen=True, kw_only=True)
class NewRows:
    """What new rows brought to a watch.

    Batches were counted now (``added``), before (``known``), or again (``replaced``). The unit is that within
    which rows go together: day, batch or customer. ``dates`` is the column of dates that would name the days;
    empty if there is none, or if batches are known. ``young`` are rows of days that have not matured, and
    ``unwatched`` rows of groups without a target. ``stray`` and ``missing`` are days as in ``Days``.
    """

    unit: str
    added: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    dates: str = ""
    young: int = 0
    unwatched: int = 0
    stray: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def report_of(
    state: WatchArtifact,
    promises: Sequence[MeasuredPromise],
    new: NewRows,
    confidence: float,
    *,
    kept: bool,
    is_continued: bool,
) -> WatchReport:
    """Compose the report of a watch after new rows.

    The state may be kept in a file, and ``is_continued`` if it has batches of earlier runs.
    """
    worst = worst_first(promises)
    targets = OneTarget if len(promises) == 1 else SeveralTargets
    parts = [
        targets(promises=promises, state=state, confidence=confidence),
        Worst(promise=worst[0], confidence=confidence),
        *(Target(promise=promise) for promise in promises),
        *(ExpectedTarget(promise=promise, target=promise.target) for promise in promises if promise.target),
        *(RaisedAlarm(promise=promise, alarm=alarm) for promise in worst for alarm in promise.rung.worst),
        *_of_batches(state, promises),
        *_of_new_rows(state, promises, new),
        Kept(promises=promises, new=new) if kept else Remark(said=_NOT_KEPT),
        *(_of_earlier_version(state, promises) if is_continued and state.is_of_other_evidence else ()),
    ]
    return WatchReport(source=state.source, parameters=state.parameters, confidence=confidence, parts=parts)


_NOT_KEPT: Final = (("not-kept", f"Nothing was saved. {_KEEP}"), ("keep", _KEEP))


def _has_days(state: WatchArtifact) -> bool:
    return state.parameters.day is not None


@dataclass(frozen=True, kw_only=True)
class Targets(WatchPart):
    """The targets of a rule, all of which are watched."""

    promises: Sequence[MeasuredPromise]
    state: WatchArtifact
    confidence: float

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        promise, parameters = self.promises[0], self.state.parameters
        at_most = f"with probability {parameters.delta} at most, however often you look"
        yield (
            "limit",
            f"An alarm needs evidence of {promise.evidence.of_limit}{phrases.each}. A rule that keeps within "
            f"the limits raises one {at_most}{promise.together.assumed(phrases.unit)}.",
        )
        yield (
            "change-limit",
            f"A change alarm needs evidence of {count(int(promise.change.limit))}. On average, there is at "
            f"most one false change alarm in {count(parameters.run_length)} batches, so expect a few in the "
            "long run.",
        )
        yield (
            "complete-labels",
            "Labels must arrive as often and as soon for right decisions as for wrong ones, and days must "
            "be complete when they are counted.",
        )
        yield "in-order", Verdict(text="no alarm", tone="good")

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        is_day = _has_days(self.state)
        yield "rates", rates_over_time(worst_first(self.promises), self.confidence, is_day=is_day)

    def metrics(self, phrases: Phrases) -> Metrics:
        by_promise = {promise.promise.name: promise.metrics() for promise in self.promises}
        return {"batches": len(self.state.batches), "promises": by_promise}

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        return {"promises": list(map(_origin_as_json, self.promises))}


@dataclass(frozen=True, kw_only=True)
class OneTarget(Targets):
    """The rule has a single target."""

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield from super().statements(phrases)
        (promise,) = self.promises
        rate, counted = promise.rate, f"{count(promise.trials)} {promise.counted}"
        seen = f"in {batches_of(promise.batches)}{phrases.since}."
        if not promise.trials:
            yield "no-alarm", f"No alarm: no {promise.counted} with a label yet, {seen}"
        elif _are_few_alerts(promise, promise.trials):
            range_ = f" ({range_of(rate.low, rate.high)})" if rate.width < 1 else ""
            right = f"{count(promise.successes)} of {counted} are right so far"
            yield "no-alarm", f"No alarm: {right}{range_}, {seen}"
        else:
            is_rate = f"{promise.rate_name} is {in_range(rate, phrases.beside)} so far"
            yield "no-alarm", f"No alarm: {is_rate}{phrases.below}, from {counted} {seen}"

    def metrics(self, phrases: Phrases) -> Metrics:
        return {**super().metrics(phrases), **self.promises[0].metrics()}


@dataclass(frozen=True, kw_only=True)
class SeveralTargets(Targets):
    """The rule has several targets."""

    def voids(self) -> Iterable[Fact]:
        return (Fact.ONE_TARGET,)

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, each=f" for each of {len(self.promises)} targets")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield from super().statements(phrases)
        seen = f"in {batches_of(self.promises[0].batches)}{phrases.since}"
        yield "no-alarm", f"No alarm: none of {len(self.promises)} targets is missed, {seen}."


@dataclass(frozen=True, kw_only=True)
class Target(WatchPart):
    """A target that is watched, with or without an alarm."""

    promise: MeasuredPromise

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        promise = self.promise
        expected = "the range expected of the rule for target"
        origin = promise.promise.origin.replace("what was expected of target", expected)
        yield "origin", f"{promise.text}: {origin}."
        if rests_on := promise.together.rests_on(promise, phrases.unit):
            yield "rests-on", f"{promise.text}: {rests_on}"
        alarm = promise.alarm()
        yield "claim", Claim(name=promise.text, met=not alarm, sentence=f"{alarm}." if alarm else "")

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        promise = self.promise
        of_change = str(promise.change) if promise.batches else "-"
        cells = (interval(promise.rate), count(promise.trials), str(promise.evidence), of_change)
        yield "row", (printable(promise.text, LONGEST_NAME), *cells)


@dataclass(frozen=True, kw_only=True)
class ExpectedTarget(WatchPart):
    """The low end of what was expected is watched, in place of the target."""

    promise: MeasuredPromise
    target: str

    def _exceeds(self, end: float | None) -> bool:
        """Whether a number that is known is below the target."""
        return end is not None and end < float(self.target)

    def reworded(self, phrases: Phrases) -> Phrases:
        if not self._exceeds(self.promise.rate.value):
            return phrases
        below = f", below the target of {percent_text(self.target)}"
        return replace(phrases, below=below, beside=(float(self.target),))

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        limit = (
            f"The limit of the alarm is {self.promise.text}, the low end of what was expected. It is not the "
            f"target of {percent_text(self.target)}, which a rule without a certificate may miss from the "
            "start."
        )
        yield "expected-of-a-target", limit
        itself = f"To get an alarm below the target itself, add --bound {self.target}, or certify the rule."
        yield "expected-of-the-target", f"{limit} {itself}"
        if self._exceeds(self.promise.rate.value):
            yield "below-target", Verdict(text="no alarm, but below the target", tone="fair")
        if self._exceeds(self.promise.rate.high):
            yield "misses-target", "Test the rule with uqcli evaluate, since it is below its target."


@dataclass(frozen=True, kw_only=True)
class Worst(WatchPart):
    """The target with the worst alarm, or else with the most evidence against it."""

    promise: MeasuredPromise
    confidence: float

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        promise = self.promise
        evidence, change = promise.evidence, promise.change
        against = f"Evidence against the limit: {evidence} (alarm at {evidence.of_limit})."
        recent = f" Evidence of a recent change: {change} (alarm at {change.of_limit})."
        yield "evidence", f"{against}{recent if promise.batches else ''}"
        for sentence in promise.together.effect_on(promise, phrases.unit, phrases.named):
            yield "together", sentence
        if promise.together.has_spells:
            alike = f"each {phrases.unit} resembles the one before (correlation {promise.together.lag:.2f})"
            remedy = "add a column of weeks, and name it with --day"
            corrects = f"{alike}, and the evidence corrects for it only in part: {remedy}."
            yield "alike-days", Notice("alike-days", corrects)
        range_ = f"{100 * self.confidence:g} %: {range_of(promise.rate.low, promise.rate.high)}"
        yield "rate", KeyNumber(label=promise.text, value=percent(promise.rate.value), interval=range_)
        yield (
            "trials",
            KeyNumber(label="trials", value=count(promise.trials), interval=batches_of(promise.batches)),
        )
        is_of_change = promise.rung.worst == [Alarm.CHANGED]
        name, shown = ("evidence of a change", change) if is_of_change else ("evidence against it", evidence)
        needs = f"an alarm needs {shown.of_limit}"
        yield "last-number", KeyNumber(label=name, value=str(shown), interval=needs)
        if promise.rung.at:
            yield from (("rate-since", number) for number in promise.since.numbers())


@dataclass(frozen=True, kw_only=True)
class RaisedAlarm(WatchPart):
    """An alarm was raised, of which the first part has the worst."""

    promise: MeasuredPromise
    alarm: Alarm

    def voids(self) -> Iterable[Fact]:
        return (Fact.NO_ALARM,)

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, alarms=phrases.alarms + 1)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        sentence, others = self.promise.alarm(), phrases.alarms - 1
        more = f" ({others} more alarm{'' if others == 1 else 's'} below)" if others else ""
        yield "alarm", sentence
        yield "alarm-title", f"Alarm: {sentence}{more}."
        rare = ""
        if self.promise.rung.is_early:
            rare = (
                f" So few {plural(phrases.unit)} may all be of one kind: if a rarer kind of {phrases.unit} "
                "is better, the rule may still meet its target."
            )
        if self.alarm is Alarm.MISSED:
            stop = "Stop relying on the rule: find the cause, or fit it again on rows since then."
            yield "stop", f"{stop}{rare}"
            yield "target-missed", Verdict(text="target missed", tone="bad")
        else:
            find = "Find what changed. If the rule is still right, count anew with --acknowledge."
            yield "find", f"{find}{rare}"
            yield "no-longer-met", Verdict(text="target no longer met", tone="bad")


@dataclass(frozen=True, kw_only=True)
class Newest(WatchPart):
    """The batch that was counted last alone, beside all batches, for each of few targets.

    ``names`` are those of all batches as they were counted: a day may be counted after later ones.
    """

    promises: Sequence[MeasuredPromise]
    names: Sequence[str]

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        rates = "; ".join(
            f"{count(promise.newest[0]) if promise.newest[0] else 'no'} {promise.counted}"
            f"{_alone(promise, *promise.newest)}"
            for promise in self.promises
        )
        dates = [date_of(name) for name in self.names]
        is_late = any(each and dates[-1] and each > dates[-1] for each in dates)
        batch = f"{phrases.batch} counted last" if is_late else f"newest {phrases.batch}"
        batch = f"The {batch}, {short_name(self.names[-1])}, alone"
        yield "newest", f"{batch}: {rates}."


def _alone(promise: MeasuredPromise, trials: int, rate: Estimate) -> str:
    """Describe the rate of the newest batch; empty without trials."""
    if not trials:
        return ""
    if not _are_few_alerts(promise, trials):
        return f", {promise.rate_name} {in_range(rate)}"
    hits = round((rate.value or 0) * trials)
    right = f"{count(hits)} {'is' if hits == 1 else 'are'} right"
    return f", of which {right} ({range_of(rate.low, rate.high)})"


def _are_few_alerts(promise: MeasuredPromise, trials: int) -> bool:
    return promise.counted == "alerts" and trials < FEWEST_FLAGGED


@dataclass(frozen=True, kw_only=True)
class Kept(WatchPart):
    """A file keeps the state, by which batches are known again."""

    rank: ClassVar = 1

    promises: Sequence[MeasuredPromise]
    new: NewRows

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, files=" (rule and state)")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        then = "When the labels of the next batch are complete, run uqcli watch on it with the same --state."
        yield "next-batch", then

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        new = {name: list(getattr(self.new, name)) for name in ("added", "known", "replaced")}
        return {"promises": [_origin_as_json(each) | _alarms_as_json(each) for each in self.promises], **new}


def _origin_as_json(promise: MeasuredPromise) -> dict[str, Any]:
    return {"name": promise.promise.name, "origin": promise.promise.origin}


def _alarms_as_json(promise: MeasuredPromise) -> dict[str, Any]:
    return {
        "alarmed_at": promise.rung.at.get(Alarm.MISSED),
        "changed_at": promise.rung.at.get(Alarm.CHANGED),
        **promise.since.metrics(),
    }


@dataclass(frozen=True, kw_only=True)
class Batches(WatchPart):
    """How batches are named, and what goes together in them."""

    unit: str
    batch: str
    named: str
    since: str

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, unit=self.unit, batch=self.batch, named=self.named, since=self.since)


def _of_batches(state: WatchArtifact, promises: Sequence[MeasuredPromise]) -> Iterator[WatchPart]:
    """Yield the parts of all batches that are counted."""
    if len(state.counted) > 1 and len(promises) <= MOST_NAMED:
        yield Newest(promises=promises, names=[batch.name for batch in state.counted])
    if state.parameters.cluster is not msgspec.UNSET:
        customers = "The rows of a customer count in the first batch that has any, and not in later ones."
        yield Remark(said=[("customers", customers)])
    if any(promise.together.left_out for promise in promises):
        left_out = (
            "The days of the calibration rows are left out: rows of the days watched go together more than "
            "three times as much. This happens if the model was trained on the calibration days."
        )
        yield Remark(said=[("calibration-days", left_out)])


def _of_new_rows(
    state: WatchArtifact, promises: Sequence[MeasuredPromise], new: NewRows
) -> Iterator[WatchPart]:
    """Yield the parts of what was counted now."""
    yield Remark(measured={"added": len(new.added), "young_rows": new.young})
    batch = "day" if _has_days(state) else "batch"
    yield Batches(
        unit=new.unit,
        batch=batch,
        named=f": --day {printable(new.dates)} takes rows of a day together" if new.dates else "",
        since=" since the acknowledgement" if state.acknowledged else "",
    )
    if new.known:
        yield _counted_before(new, f"{batch} {short_name(new.known[0])}", len(new.known) - 1)
    arrived = [batch for batch in state.batches if batch.name in {*new.added, *new.replaced}]
    if arrived and not any(counts.trials for batch in arrived for counts in batch.counts):
        counted = " or ".join(dict.fromkeys(promise.counted for promise in promises))
        nothing = f"Nothing new: {batches_of(len(arrived))} without {counted}."
        yield Remark(said=[("nothing-counts", nothing)])
    cautions = dict[str, str]()
    if new.stray:
        far = f"{first_of(new.stray, MOST_NAMED)} {'are' if new.stray[1:] else 'is'} far from the other days"
        stray = f"{far}, with few rows, and no labels count as complete by it: look for a mistyped date."
        cautions["stray-days"] = stray
    if new.missing:
        cautions["missing-days"] = f"no row is of {first_of(new.missing, MOST_NAMED)}."
    if new.replaced and not _has_days(state):
        replaced = "these rows were counted before with other labels, and that batch is replaced."
        cautions["replaced-batch"] = replaced
    if new.young:
        cautions["young-rows"] = f"{rows_of(new.young)} of days that have not matured are not counted yet."
    if new.unwatched:
        unwatched = f"{rows_of(new.unwatched)} are of groups without a target of their own."
        cautions["unwatched-rows"] = unwatched
    if new.added and not any(promise.trials for promise in promises):
        cautions["no-trials"] = (
            "no row of these batches counts for a target, such as a flagged row with a label for a "
            "precision: check the label column."
        )
    yield from (Remark(said=[(key, Notice(key, sentence))]) for key, sentence in cautions.items())


def _counted_before(new: NewRows, first: str, others: int) -> WatchPart:
    """Return the part of batches that were counted before."""
    more = f" and {count(others)} more were" if others else " was"
    are = "are" if others else "is"
    caution = f"{first}{more} counted before and {are} left out."
    said: list[Statement] = [("left-out", Notice("counted-before", caution))]
    if not new.added and not new.replaced:
        said.append(("counted-before", capitalised(f"{first}{more} counted before: nothing new.")))
    return Remark(said=said)


def _of_earlier_version(state: WatchArtifact, promises: Sequence[MeasuredPromise]) -> Iterator[WatchPart]:
    """State that an earlier version computed evidence in another way, and what becomes of its alarms."""
    sentences = [
        f"uqcli {state.uqcli_version} began this state, and evidence is computed in another way since 0.5."
    ]
    anew = [
        (promise.text, alarm in promise.rung.anew()) for promise in promises for alarm in promise.rung.worst
    ]
    for rings, would in ((True, "would have raised"), (False, "would not have raised")):
        if texts := [text for text, rings_anew in anew if rings_anew is rings]:
            sentences.append(
                f"The alarm of {printable('; '.join(texts))} stays until --acknowledge; the evidence as it "
                f"is computed now {would} it."
            )
    keys = ("alarm-of-earlier-version", "evidence-of-earlier-version")
    yield Remark(said=[(key, Notice(key, " ".join(sentences))) for key in keys])
