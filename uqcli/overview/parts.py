"""Parts of what ``uqcli overview`` tells: the scores, their calibration, usual targets, and odd rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar, Final

from uqcli.base import defaults
from uqcli.base.defaults import CONFIDENCE, UNCERTAINTY
from uqcli.base.operating_system import quote
from uqcli.base.records import dataclass
from uqcli.base.wording import capitalised, count, first_of, listed, percent, printable, probability, rows_of
from uqcli.boundary.comparison import gains_table
from uqcli.boundary.dependent_columns import AlikeRows
from uqcli.boundary.report import BoundaryReport, FoundReport
from uqcli.boundary.targets_report import TargetsReport
from uqcli.engines.columns import usually_named
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate, interval
from uqcli.estimates.proportion import proportion_estimate
from uqcli.estimates.score_metrics import REVERSED
from uqcli.overview.columns import FoundColumns
from uqcli.overview.first_rows import FirstRowsOfDay
from uqcli.overview.report import Fact, OverviewPart, Phrases, Remark
from uqcli.reports.document import Document, KeyNumber, Metrics, OperatingPoints, Table, plain
from uqcli.reports.parts import Statement
from uqcli.rules.saved import Source
from uqcli.tce.report import TceReport

_MOST_PROPOSED: Final = 4
_FEW_SCORES: Final = 10
_FEW_POSITIVES: Final = 100
"""Positives, or negatives, below which every rate among them is vague."""


@dataclass(frozen=True, kw_only=True)
class Scores(OverviewPart):
    """A score and its labels; rows and positives are by weight.

    The area under the curve and the average precision are None if a class is missing.
    """

    source: Source
    rows: int
    positives: int
    lowest: float
    highest: float
    distinct: int
    auc: float | None = None
    average_precision: float | None = None

    @property
    def is_probability(self) -> bool:
        """Whether all scores are from 0 to 1."""
        return self.lowest >= 0 and self.highest <= 1

    @property
    def prevalence(self) -> Estimate:
        """Share of positive rows, with its exact interval if rows are independent."""
        return proportion_estimate(self.positives, self.rows, CONFIDENCE)

    def reworded(self, phrases: Phrases) -> Phrases:
        low, high = (percent(end, 1) for end in (self.prevalence.low, self.prevalence.high))
        return replace(phrases, range=f", 95 % interval {low.removesuffix(' %')} to {high}")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        share, dropped = self.prevalence.value, self.source.dropped
        left_out = f", {count(dropped)} dropped" if dropped else ""
        are = "is" if self.positives == 1 else "are"
        yield (
            "rows",
            f"Rows: {count(self.rows)}{left_out}; {count(self.positives)} {are} positive "
            f"({percent(share, 1)}{phrases.range}).",
        )
        yield (
            "scores",
            f"Score: {self.lowest:.3g} to {self.highest:.3g}, {count(self.distinct)} distinct; "
            f"AUC {probability(self.auc)} (0.5 is chance, 1 is perfect).",
        )
        yield from self._odd()
        if 0 in (self.positives, self.rows - self.positives):
            missing = "negative" if self.positives else "positive"
            yield "one-class", f"No row is {missing}, so nothing can be said about the score."
        yield "number", KeyNumber(label="rows", value=count(self.rows))
        yield "number", KeyNumber(label="positive", value=percent(share))
        yield "number", KeyNumber(label="AUC", value=probability(self.auc))

    def _odd(self) -> Iterator[Statement]:
        if self.distinct == 1:
            yield "equal-scores", "all scores are equal, so they cannot rank the rows."
        elif self.auc == 1:
            check = "check that it was not made from them."
            yield "separated", f"the score separates the labels without an error; {check}"
        few = min(self.positives, self.rows - self.positives)
        if 0 < few < _FEW_POSITIVES:
            name = "positive" if few == self.positives else "negative"
            rows = f"{count(few)} {'row is' if few == 1 else 'rows are'}"
            yield "few-labels", f"only {rows} {name}; every rate is vague."
        if 1 < self.distinct <= _FEW_SCORES < self.rows:
            yield "few-scores", f"only {self.distinct} scores differ, so few rules are possible."
        if self.source.dropped:
            yield "dropped", f"{rows_of(self.source.dropped)} had no usable value and were left out."

    def metrics(self, phrases: Phrases) -> Metrics:
        return {
            "rows": self.rows,
            "positives": self.positives,
            "prevalence": self.prevalence,
            "lowest": self.lowest,
            "highest": self.highest,
            "distinct": self.distinct,
            "auc": self.auc,
            "average_precision": self.average_precision,
            "tce": None,
        }

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        return {"is_probability": self.is_probability, "calibration": None, "uncertainty": None}


class Percentages(OverviewPart):
    """The scores look like probabilities in percent."""

    def voids(self) -> Iterable[Fact]:
        return (Fact.NOT_PERCENTAGES,)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "percentages", "if the scores are percentages, divide them by 100 for tce and calibrate."


@dataclass(frozen=True, kw_only=True)
class Reversed(OverviewPart):
    """Low scores are more often positive than high ones, significantly, so that no threshold is of use.

    A map that is fitted, by these options, turns them around.
    """

    options: str

    def voids(self) -> Iterable[Fact]:
        return (Fact.RANKS,)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "reversed", capitalised(REVERSED)
        yield "odd-reversed", REVERSED
        yield "percentages-turned", "If the labels are right, use the score with the other sign."
        turns = "calibrate turns the score around, and apply adds it as the column calibrated"
        yield "to-turn", f"If the labels are right, {turns}."
        purpose = "If low scores are meant to be the risky ones"
        for command in phrases.command(purpose, "calibrate", f"{self.options}-o calibrator.json"):
            yield "turn", command


class NoProbabilities(OverviewPart):
    """Some scores are outside 0 to 1."""

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        untested = "Calibration is not tested, since scores outside 0 to 1 are not probabilities."
        yield "calibration", untested
        logit = "uqcli calibrate --logit makes some from them."
        yield "no-probabilities", f"the scores are not probabilities; {logit}"
        for command in phrases.command("For probabilities", "calibrate", "--logit -o calibrator.json"):
            yield "calibrate", command


@dataclass(frozen=True, kw_only=True)
class Calibration(OverviewPart):
    """The scores are probabilities, of which ``tce`` has a report."""

    report: TceReport

    @cached_property
    def _document(self) -> Document:
        return self.report.document()

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, tests="; the tests of the scores take rows as independent")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "calibration", self._document.title
        for sentence in self._document.lead:
            yield "about-calibration", sentence
        for command in phrases.command("To check the probabilities", "tce", "--report calibration.html"):
            yield "check", command
        yield "audit", self.report.audit

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        for figure in self._document.figures:
            yield "reliability", figure

    def metrics(self, phrases: Phrases) -> Metrics:
        return {"tce": self.report.metrics}

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        tce = self.report.payload()
        return {"calibration": {key: tce[key] for key in ("bins", "audit", "notes") if key in tce}}


@dataclass(frozen=True, kw_only=True)
class Targets(OverviewPart):
    """What usual targets bring with one threshold."""

    report: TargetsReport
    content: FoundColumns
    auc: float | None

    @cached_property
    def _document(self) -> Document:
        return self.report.document()

    @property
    def _advised(self) -> list[FoundReport]:
        """The report of the advised target; empty if none is reached."""
        return [report for report in self.report.reports if report is self.report.advised]

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        for advised in self._advised:
            found = f"One threshold on the score finds {percent(advised.fit.recall)} of the positives"
            yield "advised", self.report.few_flagged() or f"{found} {advised.constraint.among()}."
            yield "why-advised", f"Target: {self.report.why_advised()}."
            example = f"{self.report.example}{phrases.options}"
            for command in phrases.command("For a rule", "boundary", f"{example} -o boundary.json"):
                yield "rule", command
            if advised.constraint.is_promise and advised.fit.selected >= FEWEST_FLAGGED:
                purpose, options = "If the target must be guaranteed", f"{example} --certify 0.1"
                for command in phrases.command(purpose, "boundary", f"{options} -o certified.json"):
                    yield "certified-rule", command
        if not self._advised:
            none = f"The score has AUC {probability(self.auc)}, and no rule reaches a usual precision."
            yield "no-rule", none
        for note in self._document.notes:
            yield "of-targets", note
        for report in self.report.reports[:1]:
            yield "points", partial(self._points, report)

    def _points(self, report: FoundReport) -> OperatingPoints | None:
        """Return the choice of the page, whose command names the columns that were found."""
        points = report.operating_points()
        named = {f"--{role}": name for role, name in self.content.by_role.items()}
        return points and replace(
            points,
            settings={**named, **points.settings},
            dropped_options=points.dropped_options | {"--audit", "--uncertainty"},
        )

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        for table in self.report.tables(f"{phrases.whose}n these rows"):
            yield "targets", table
        for figure in self._document.figures:
            yield "of-rules", figure

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        return {"targets": self.report.targets()}


@dataclass(frozen=True, kw_only=True)
class FirstRows(OverviewPart):
    """What several numbers of alerts a day bring, with the days of a column; their intervals are by day."""

    day: str
    numbers: Sequence[FirstRowsOfDay]

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, lines=phrases.lines + 1 + len(self.numbers))

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        rates = [(interval(each.recall), interval(each.precision)) for each in self.numbers]
        rows = [
            (f"{count(each.top)} a day", count(each.selected), *cells)
            for each, cells in zip(self.numbers, rates, strict=True)
        ]
        header = (f"--top, --per {printable(self.day, 24)}", "flagged", "recall", "precision")
        yield "first-rows", Table(title="", header=header, rows=rows)

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        numbers = [
            plain(
                {
                    "top": each.top,
                    "selected": each.selected,
                    "precision": each.precision,
                    "recall": each.recall,
                }
            )
            for each in self.numbers
        ]
        return {"first_rows": {"per": self.day, "numbers": numbers}}


@dataclass(frozen=True, kw_only=True)
class Comparison(OverviewPart):
    """A boundary compares uncertainties at the advised target."""

    report: BoundaryReport

    def reworded(self, phrases: Phrases) -> Phrases:
        best = self.report.compared[0]
        option = "" if best.uncertainty == UNCERTAINTY else f" {quote(f'--uncertainty={best.uncertainty}')}"
        option = option if best.verdict == "helps" else " --uncertainty-bins 1"
        return replace(phrases, whose="By the score alone: o", options=f"{option}{phrases.options}")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        beside = f"with one threshold {self.report.constraint.among()}"
        yield "uncertainty", self.report.compared[0].sentence(beside)
        alone = "The rules of the table use the score alone, as boundary --uncertainty-bins 1 does."
        yield "score-alone", alone

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        yield "gains", replace(gains_table(self.report.compared), detail=True)

    def metrics(self, phrases: Phrases) -> Metrics:
        return self.report.compared[0].metrics

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        compared = {
            "target": self.report.constraint.as_typed(),
            "verdict": self.report.compared[0].verdict,
            "compared": [uncertainty.payload() for uncertainty in self.report.compared],
        }
        return {"uncertainty": compared}


@dataclass(frozen=True, kw_only=True)
class Alike(OverviewPart):
    """Rows of one day or customer are alike. The rules allow for it if they can."""

    rank: ClassVar = 1

    alike: AlikeRows
    rate: Estimate

    def voids(self) -> Iterable[Fact]:
        return (Fact.UNRELATED,)

    def reworded(self, phrases: Phrases) -> Phrases:
        option = f" {self.alike.option}" if self.alike.option else ""
        return replace(phrases, range="", options=f"{phrases.options}{option}")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        if self.alike.takes_option:
            by = f"so the ranges are by {self.alike.unit} ({self.alike.option})"
            yield "alike", f"{capitalised(self.alike.finding)}, {by}{phrases.tests}."
        else:
            yield "dependent-rows", self.alike.caution

    def metrics(self, phrases: Phrases) -> Metrics:
        return {"prevalence": Estimate(value=self.rate.value, reason=self.alike.finding)}


def found_columns(content: FoundColumns, positive: str) -> Iterator[OverviewPart]:
    """Yield the parts of columns that nobody named, and of how the inputs are written."""
    said = list[Statement]()
    taken = [{"option": name.replace("_", "-"), "values": list(own)} for name, own in content.taken.items()]
    if roles := content.by_role:
        columns = " and ".join(f"--{role} {printable(name, 24)}" for role, name in roles.items())
        is_usual = all(name in usually_named([name], role) for role, name in roles.items())
        how = "usual names" if is_usual else "names or values"
        said.append(("columns", f"Columns taken by their {how}: {columns}."))
    if content.findings:
        typed = " ".join(
            f"--{name.replace('_', '-')} {quote(value)}"
            for name, values in content.taken.items()
            if name not in ("score", "label")
            for value in values
        )
        read = f": read with {typed}" if typed else ""
        said.append(("form", f"The file has {listed(content.findings)}{read}."))
    if content.columns > defaults.MAX_LOOKED_AT:
        first = f"of {count(content.columns)} columns, only the first {count(defaults.MAX_LOOKED_AT)}"
        said.append(("many-columns", f"{first} and those that options name were looked at."))
    if len(content.negative) > 1:
        negative = first_of([f"'{printable(label, 20)}'" for label in content.negative], 4)
        other = f"every label but '{printable(positive, 20)}' is negative: {negative}."
        said.append(("negative-labels", other))
    for name in content.customers[:1]:
        resemble = f"if rows with the same {printable(name, 24)} resemble each other"
        said.append(("customers", f"{resemble}, add --cluster {printable(name, 24)} to uqcli boundary."))
    for name in [] if content.customers else content.dates[:1]:
        holds = f"column {printable(name, 24)} holds dates; if rows from the same day resemble each other"
        said.append(("dates", f"{holds}, add --day {printable(name, 24)} to uqcli boundary."))
    yield Remark(
        said=said,
        keys={"could_be_uncertainty": list(content.proposed), "taken": taken, "form": list(content.findings)},
    )


def proposed(content: FoundColumns) -> OverviewPart:
    """Return the part of columns that could be an uncertainty."""
    names = first_of([printable(name, 20) for name in content.proposed], _MOST_PROPOSED)
    help_ = f"Another column may help the score, such as {names}: --uncertainty COLUMN tests it."
    return Remark(said=[("uncertainty", help_)] if content.proposed else [])
