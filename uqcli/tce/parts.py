"""Parts of what ``uqcli tce`` tells: tests, classes, groups, clusters, chance and an audit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Final

from uqcli.audit.report import Audit
from uqcli.base.choices import CalibrationTest
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import capitalised, count, counted, first_of, p_text, probability, rows_of
from uqcli.estimates.binning import BINNINGS
from uqcli.reports.document import HeadCard, Metrics, Table, Verdict, key_cell, plain
from uqcli.reports.parts import Statement
from uqcli.rules.saved import Source
from uqcli.tce.chance import NullDistribution
from uqcli.tce.part_tests import LEVEL, MIN_ROWS
from uqcli.tce.report import Fact, Phrases, Remark, TceParameters, TcePart
from uqcli.tce.results import (
    ClassResult,
    GroupResult,
    advice,
    affected,
    calibrated_within,
    detection_limit,
    findings,
    mean_error,
    misses_errors,
    rejected_alike,
)
from uqcli.tce.tables import (
    bins_as_json,
    bins_table,
    classes_table,
    format_metric,
    groups_table,
    metrics_table,
    panel_of,
    part_name,
    value_of,
    worst_first,
)

_KEY_METRICS: Final = {
    "tce": "scores significantly wrong (TCE)",
    "ece": "mean error (ECE)",
    "slope": "slope (1 if calibrated)",
}
_MAX_PANELS = 4
_MAX_NAMED = 12

Tested = tuple[GroupResult, ClassResult]
"""A class of all rows or of a group; a single score has one class without name."""


@dataclass(frozen=True, kw_only=True)
class ByWeight(TcePart):
    """Rows have sampling weights, so that nothing is tested."""

    source: Source
    overall: GroupResult

    def voids(self) -> Iterable[Fact]:
        return (Fact.TESTED,)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        _, points = mean_error(worst_first(self.overall.classes)[0])
        average = f"Scores are off by {points} on average (ECE, by sampling weight)"
        yield "title", f"{average}; no score is tested."
        weighted = "Rows count by their sampling weights; tce and within come from tests and are null"
        yield "by-weight", f"{weighted}."
        yield "groups-by-weight", f"{weighted}, and so is the worst group."
        verdict = Verdict(text="not tested")
        yield "card", _card(self.source, "compared with", verdict, self.overall.metrics, ("ece", "slope"))

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        return {"not_calibrated": None}


@dataclass(frozen=True, kw_only=True)
class Tests(TcePart):
    """Each class of all rows and of each group is tested; a single score is one class."""

    source: Source
    parameters: TceParameters
    overall: GroupResult
    groups: Sequence[GroupResult]

    @cached_property
    def _tested(self) -> list[Tested]:
        """Tested parts, the least adjusted p-value first.

        Of equal ones the part with the larger mean error is first, then the first by name.
        """
        parts = [(group, part) for group in (self.overall, *self.groups) for part in group.classes]

        def order(part: Tested) -> tuple[float, float, tuple[str, ...]]:
            return part[1].p_adjusted, -value_of(part[1].metrics["ece"]), _names_of(part)

        return sorted((part for part in parts if part[1].is_tested), key=order)

    @cached_property
    def _not_calibrated(self) -> list[Tested]:
        """Parts whose scores are shown not to be true probabilities, the most significant first."""
        return [part for part in self._tested if part[1].p_adjusted <= LEVEL]

    @cached_property
    def _named(self) -> Tested:
        """The part that the report speaks of: the first that is not calibrated, else all rows.

        Of several classes, none of which is shown to be miscalibrated, it is the most significant.
        """
        of_all = [part for part in self._tested if part[0] is self.overall]
        return [*self._not_calibrated, *of_all, (self.overall, worst_first(self.overall.classes)[0])][0]

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        group, part = self._named
        is_of_all, is_shown = group is self.overall, bool(self._not_calibrated)
        rows = "all rows" if is_of_all else "its rows"
        yield "affected", affected(part, self.parameters.alpha or LEVEL, rows, shown=is_shown)
        if within := calibrated_within(self.overall.metrics):
            yield "within", within
            yield "within-of-parts", within
        yield from self._shown(phrases) if is_shown else self._not_shown(phrases)
        limit = detection_limit(self.overall.classes[0])
        if limit is not None:
            yield "few-positives", _few_labels(*limit)
        if self.parameters.test == CalibrationTest.T:
            worst = [*worst_first([each for each in self.groups if each.tested]), self.overall][0]
            yield from (("alike-labels", notice) for notice in rejected_alike(worst.classes))

    def _shown(self, phrases: Phrases) -> Iterator[Statement]:
        """State which part is not calibrated, and which of its scores are wrong by how much."""
        group, part = self._named
        error, points = mean_error(part)
        average = f"On average, its scores are off by {points} (ECE {probability(error)})."
        first, *others = findings(part) or [average]
        tested = p_text(part.p_adjusted)
        is_not = f"Not calibrated ({tested})"
        if subject := _subject(self._named, phrases.together):
            is_not = f"{subject} not calibrated ({tested}{self._adjusted})"
        yield "title", f"{is_not}. {first}"
        for sentence in others:
            yield "other-findings", sentence
        if also := [_named_in_words(other) for other in self._not_calibrated[1:]]:
            yield "other-parts", f"Also not calibrated: {first_of(also, _MAX_NAMED)}."
        for sentence in advice(part):
            yield "advice", sentence
        yield "card", self._card(Verdict(text="not calibrated", tone="bad"))
        if group is self.overall:
            yield "calibrate-classes", "Calibrate the probabilities with uqcli calibrate."
            yield "calibrate", "calibrate"
        else:
            feature = f"--method heterogeneous --features {self.parameters.by}"
            yield "group-as-feature", f"Calibrate with the group as a feature: {feature}."

    def _not_shown(self, phrases: Phrases) -> Iterator[Statement]:
        """State that no part is shown to be miscalibrated."""
        misses = any(map(misses_errors, self.overall.classes))
        if misses:
            more = "Use more labelled rows: with these, the tests miss considerable errors."
            yield "more-rows", more
        if not self._tested:
            few = f"{MIN_ROWS} are needed"
            yield "title", f"Too few rows to test whether the scores are calibrated: {few}."
            yield "card", self._card(Verdict(text="too few rows to test"))
            return
        if not misses:
            yield "no-need", "No need to calibrate."
        yield "card", self._card(Verdict(text="no miscalibration is shown", tone="good"))
        least = p_text(self._tested[0][1].p_adjusted)
        if phrases.part:
            adjusted = f"least {least}{self._adjusted}"
            yield "title", f"No {phrases.part} is shown to be miscalibrated ({adjusted})."
            return
        missed = ", but these labels are too few to show any but large errors" if misses else ""
        yield "title", f"The scores are not shown to be miscalibrated ({least}){missed}."

    @property
    def _adjusted(self) -> str:
        """For how many groups, classes or classes of groups p-values are adjusted; empty for one."""
        if len(self._tested) == 1:
            return ""
        groups = len({group.name for group, _ in self._tested if group is not self.overall})
        if groups and len(self.overall.classes) > 1:
            return f", adjusted for {count(len(self._tested))} classes of groups"
        if groups:
            return f", adjusted for {counted(groups, 'group')}"
        return f", adjusted for {count(len(self._tested))} classes"

    def _card(self, verdict: Verdict) -> HeadCard:
        return _card(self.source, "tested against", verdict, self._named[1].metrics, _KEY_METRICS)

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        names = [{"group": group.name, "class": part.name} for group, part in self._not_calibrated]
        return {"not_calibrated": names}


@dataclass(frozen=True, kw_only=True)
class OneScore(TcePart):
    """Rows have one score."""

    source: Source
    binning: str
    overall: GroupResult

    def reworded(self, phrases: Phrases) -> Phrases:
        positive = f", of which {count(self.source.positives)} are positive"
        return replace(phrases, counted=f"{positive}{phrases.counted}")

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        (score,) = self.overall.classes
        yield from _metrics_tables(self.overall)
        yield "bins", bins_table(f"Bins ({self.binning}: {BINNINGS[self.binning]})", score)
        yield "panel", panel_of(phrases.panel, score)


@dataclass(frozen=True, kw_only=True)
class Classes(TcePart):
    """Rows have a probability of each class, and each class is measured against the others."""

    overall: GroupResult

    def voids(self) -> Iterable[Fact]:
        return (Fact.ONE_SCORE, Fact.ONE_PART)

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, part="class")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        wrong = f"{value_of(self.overall.metrics['tce']):.1f} % of scores are significantly wrong"
        yield "mean-over-classes", f"Mean over {len(self.overall.classes)} classes: {wrong}."

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        table = classes_table(self.overall)
        yield "classes", table
        yield "classes-in-detail", replace(table, detail=True)
        yield from _metrics_tables(self.overall)
        for part in worst_first(self.overall.classes)[:_MAX_PANELS]:
            yield "class-panel", panel_of(f"Class {part_name(part, 40)}", part)

    def metrics(self, phrases: Phrases) -> Metrics:
        return {"by_class": {str(part.name): part.metrics for part in self.overall.classes}}


@dataclass(frozen=True, kw_only=True)
class Groups(TcePart):
    """Groups of rows are also measured; ``tce`` is that of all rows with their bin sizes, None if unknown."""

    rank: ClassVar = 1

    by: str
    overall: GroupResult
    groups: Sequence[GroupResult]
    tce: float | None

    def voids(self) -> Iterable[Fact]:
        return (Fact.ONE_GROUP, Fact.ONE_PART)

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, part="group", together="All rows together are", panel="All rows")

    @property
    def _worst(self) -> list[GroupResult]:
        """The tested groups, the worst first."""
        return worst_first([group for group in self.groups if group.tested])

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        small = [group for group in self.groups if not group.tested]
        if small:
            names = [f"{part_name(group)} ({rows_of(group.rows)})" for group in small]
            subject = "1 group is" if len(small) == 1 else f"{count(len(small))} groups are"
            too_small = f"{subject} too small for a TCE: {first_of(names, _MAX_NAMED)}."
            yield "groups-untested", Notice("groups-untested", too_small)

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        yield "groups", groups_table(self.overall, self.groups)
        for group in self._worst[: _MAX_PANELS - 1]:
            yield "panel", panel_of(f"{self.by} = {part_name(group, 40)}", group.classes[0])

    def metrics(self, phrases: Phrases) -> Metrics:
        worst = [group.metrics for group in self._worst]
        return {
            "by_group": {str(group.name): group.metrics for group in self.groups},
            "worst_group": worst[0] if worst else dict.fromkeys(self.overall.metrics),
            "tce_at_group_sizes": self.tce,
        }

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        worst = next((group.name for group in self._worst), None)
        return {"worst_group": worst, "groups": list(map(_group_as_json, self.groups))}


@dataclass(frozen=True, kw_only=True)
class Clusters(TcePart):
    """Rows depend on each other within clusters, of each of which the tests take one row."""

    rank: ClassVar = -1

    number: int
    notes: Sequence[str]

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, counted=f" in {count(self.number)} clusters")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        for note in self.notes:
            yield "clusters", note
        yield "random-rows", "the row of each cluster"

    def metrics(self, phrases: Phrases) -> Metrics:
        return {"clusters": self.number}


def audited(audit: Audit) -> TcePart:
    """Return the part of tests of all segments."""
    keys = {"audit": audit.payload()}
    return Remark(said=[("audit", audit)], measured=audit.metrics(), keys=keys)


def chance_of(overall: GroupResult) -> list[TcePart]:
    """Return the part of labels drawn from the scores; nothing without draws."""
    nulls = overall.if_calibrated
    if not nulls:
        return []
    null, error = nulls["ece"], value_of(overall.metrics["ece"])
    of_draws = f"ECE is {null.mean:.4f} on average, up to {null.high:.4f} in 95 % of draws"
    here = f"here it is {error:.4f} ({p_text(null.p_value, is_least=null.p_is_least)})"
    said = [
        ("if-calibrated", f"For calibrated scores {of_draws}; {here}."),
        ("random-labels", "labels drawn from calibrated scores"),
    ]
    return [Remark(said=said, keys={"if_calibrated": _nulls_as_json(nulls)})]


def drawn_tests() -> TcePart:
    """Return the part of tests that draw labels."""
    return Remark(
        said=[("random-tests", "the tests of parts with few labels, which draw some from the scores")]
    )


def sizes_of_groups(parameters: TceParameters) -> list[TcePart]:
    """Say which bins groups have in common; nothing if their bins have no such sizes."""
    if parameters.group_n_min is None:
        return []
    sizes = f"{count(parameters.group_n_min)} to {count(parameters.group_n_max)} rows"
    sentence = f"The TCE of groups uses bins of {sizes}, for all groups alike."
    return [Remark(said=[("group-sizes", sentence)])]


def cautions(notices: Iterable[Notice]) -> TcePart:
    """Caution of the rows, of the score, and of the bin sizes."""
    return Remark(said=[("reading", notice) for notice in notices])


def _nulls_as_json(nulls: Mapping[str, NullDistribution]) -> dict[str, Any]:
    return {name: {"mean": null.mean, "p95": null.high} for name, null in nulls.items()}


def _metrics_tables(overall: GroupResult) -> Iterator[tuple[str, Table]]:
    """Yield the table of metrics as it is shown alone, and beside those of parts."""
    table = metrics_table(overall)
    yield "metrics", table
    yield "metrics-in-detail", replace(table, detail=True)


def _group_as_json(group: GroupResult) -> dict[str, Any]:
    positives = [part.positives for part in group.classes]
    return {
        "name": group.name,
        "group": group.name,
        "rows": group.rows,
        "positives": positives[0] if len(positives) == 1 else None,
        "tested": group.tested,
        "metrics": plain(group.metrics),
        "bins": bins_as_json(group) if group.tested else [],
    }


def _card(source: Source, how: str, verdict: Verdict, metrics: Metrics, names: Iterable[str]) -> HeadCard:
    rows = rows_of(source.rows)
    return HeadCard(
        title="",
        subject=f"Probabilities of {{inputs}} {how} their labels: {rows}.",
        verdict=verdict,
        numbers=[key_cell(_KEY_METRICS[name], format_metric(name, metrics[name])) for name in names],
    )


def _few_labels(rare: str, error: float) -> Notice:
    missed = f"errors below about {100 * error:.0f} % of" if error < 1 else "errors even larger than"
    return Notice(
        "few-positives",
        f"there are few {rare}, so the tests miss {missed} their rate: use more labelled rows to see smaller "
        "ones.",
    )


def _names_of(part: Tested) -> tuple[str, ...]:
    return tuple(str(each.name or "") for each in part)


def _names_in_words(part: Tested) -> list[str]:
    kinds: dict[str, GroupResult | ClassResult] = {"group": part[0], "class": part[1]}
    return [f"{kind} {part_name(each)}" for kind, each in kinds.items() if each.name is not None]


def _subject(part: Tested, together: str) -> str:
    """Name a part at the start of a sentence, with its verb; empty for the whole of a single score."""
    names = _names_in_words(part)
    return f"{capitalised(', '.join(names))} is" if names else together


def _named_in_words(part: Tested) -> str:
    names = " ".join(_names_in_words(part)) or "all rows together"
    return f"{names} ({p_text(part[1].p_adjusted)})"
