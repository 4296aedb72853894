"""Report of ``uqcli overview``."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from uqcli.audit.report import with_audit
from uqcli.base import defaults
from uqcli.base.defaults import CONFIDENCE, UNCERTAINTY
from uqcli.base.notices import Notice
from uqcli.base.operating_system import quote, split
from uqcli.base.records import dataclass
from uqcli.base.wording import capitalised, count, first_of, listed, percent, printable, probability, rows_of
from uqcli.boundary.comparison import gains_table
from uqcli.boundary.dependent_columns import AlikeRows
from uqcli.boundary.report import BoundaryReport
from uqcli.boundary.targets_report import TargetsReport
from uqcli.engines.columns import usually_named
from uqcli.engines.request import dependence
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate
from uqcli.estimates.proportion import proportion_estimate
from uqcli.estimates.score_metrics import REVERSED
from uqcli.overview.columns import FoundColumns
from uqcli.reports.document import (
    Document,
    HeadCard,
    KeyNumber,
    Metrics,
    OneResult,
    OperatingPoints,
    Verdict,
    head_of,
    plain,
)
from uqcli.rules.saved import Source
from uqcli.tce.report import TceReport

_LINES: Final = 24
_MOST_PROPOSED: Final = 4
_MOST_ODD: Final = 3
_FEW_SCORES: Final = 10
_FEW_POSITIVES: Final = 100
"""Positives, or negatives, below which every rate among them is vague."""


@dataclass(frozen=True, kw_only=True)
class ScoreSummary:
    """A score and its labels.

    Attributes
    ----------
    rows, positives
        By weight.
    distinct
        Number of distinct scores.
    auc, average_precision
        None if a class is missing.
    is_reversed
        Whether low scores are more often positive than high ones, significantly.
    """

    rows: int
    positives: int
    lowest: float
    highest: float
    distinct: int
    auc: float | None = None
    average_precision: float | None = None
    is_reversed: bool = False

    @property
    def is_probability(self) -> bool:
        """Whether all scores are from 0 to 1."""
        return self.lowest >= 0 and self.highest <= 1

    @property
    def may_be_percentages(self) -> bool:
        """Whether the scores look like probabilities in percent."""
        return self.lowest >= 0 and 1 < self.highest <= 100


@dataclass(frozen=True, kw_only=True)
class OverviewReport(OneResult):
    """What is in a file of predictions, and what can be done with it.

    Attributes
    ----------
    calibration
        Report of ``tce``; None if scores are no probabilities.
    targets
        What usual targets bring with one threshold.
    comparison
        Report of a boundary that compares uncertainties; None without one.
    alike
        Rows of one day or customer that are alike; None if none are. The rules allow for it if they can.
    arguments
        Inputs and options of columns and reading, as typed after a command; empty if unknown.
    """

    source: Source
    on_invalid: str
    positive: str | None
    score: ScoreSummary
    calibration: TceReport | None
    targets: TargetsReport
    comparison: BoundaryReport | None
    content: FoundColumns
    alike: AlikeRows | None = None
    arguments: str = ""

    @property
    def prevalence(self) -> Estimate:
        """Share of positive rows, with its exact interval if rows are independent."""
        rate = proportion_estimate(self.score.positives, self.score.rows, CONFIDENCE)
        return rate if self.alike is None else Estimate(value=rate.value, reason=self.alike.finding)

    @property
    def metrics(self) -> Metrics:
        """Counts, ranking, and the errors of ``tce``."""
        score = self.score
        return {
            "rows": score.rows,
            "positives": score.positives,
            "prevalence": self.prevalence,
            "lowest": score.lowest,
            "highest": score.highest,
            "distinct": score.distinct,
            "auc": score.auc,
            "average_precision": score.average_precision,
            "tce": None if self.calibration is None else self.calibration.metrics,
            **({} if self.comparison is None else self.comparison.compared[0].metrics),
        }

    def payload(self) -> dict[str, Any]:
        """Return the JSON form: metrics, then what each of the commands reports."""
        parameters = {
            "on_invalid": self.on_invalid,
            "positive": self.positive,
            "confidence": CONFIDENCE,
            "seed": self.targets.seed,
        }
        if self.alike is not None and self.alike.takes_option:
            parameters[dependence(days=self.alike.days)] = self.alike.column
        compared = None
        if self.comparison is not None:
            compared = {
                "target": self.comparison.constraint.as_typed(),
                "verdict": self.comparison.compared[0].verdict,
                "compared": [uncertainty.payload() for uncertainty in self.comparison.compared],
            }
        calibration = None
        if self.calibration is not None:
            tce = self.calibration.payload()
            calibration = {key: tce[key] for key in ("bins", "audit", "notes") if key in tce}
        return {
            **head_of("overview", self.source, parameters),
            "metrics": plain(self.metrics),
            "is_probability": self.score.is_probability,
            "calibration": calibration,
            "targets": self.targets.targets(),
            "uncertainty": compared,
            "could_be_uncertainty": list(self.content.proposed),
            "taken": [
                {"option": option.replace("_", "-"), "values": list(values)}
                for option, values in self.content.taken.items()
            ],
            "form": list(self.content.findings),
            "odd": self.oddities(),
            "notes": [
                sentence
                for sentence in (self.sentence(), self._dependence_sentence(), *self._cautions())
                if sentence
            ],
        }

    @cached_property
    def _calibration_document(self) -> Document | None:
        return None if self.calibration is None else self.calibration.document()

    def document(self) -> Document:
        """Return the readable form."""
        tce = self._calibration_document
        targets = self.targets.document()
        whose = f"{'By the score alone: o' if self.comparison else 'O'}n these rows"
        tables = self.targets.tables(whose)
        if self.comparison is not None:
            tables.append(replace(gains_table(self.comparison.compared), detail=True))
        commands = self.commands()
        document = Document(
            title=self.sentence(),
            lead=self._facts(),
            tables=tables,
            cautions=self._cautions(),
            notes=[*self._notes(), *targets.notes],
            figures=[*(tce.figures if tce else ()), *targets.figures],
            card=self._card(),
            operating_points=self._operating_points,
            next=commands[0][1] if commands else "",
            others=commands[1:],
            lines=_LINES,
        )
        audit = None if self.calibration is None else self.calibration.audit
        return with_audit(document, audit)

    def sentence(self) -> str:
        """State in one sentence what the file holds and what a rule could do."""
        score, advised = self.score, self.targets.advised
        if score.auc is None:
            missing = "negative" if score.positives else "positive"
            return f"No row is {missing}, so nothing can be said about the score."
        if advised is None:
            return f"The score has AUC {score.auc:.3f}, and no rule reaches a usual precision."
        if score.is_reversed:
            return capitalised(REVERSED)
        if few := self.targets.few_flagged():
            return few
        recall = percent(advised.fit.recall)
        return f"One threshold on the score finds {recall} of the positives {_at(advised)}."

    def _facts(self) -> list[str]:
        score, rate = self.score, self.prevalence
        share_of_all, low, high = (percent(end, 1) for end in (rate.value, rate.low, rate.high))
        with_interval = "" if rate.low is None else f", 95 % interval {low.removesuffix(' %')} to {high}"
        dropped = f", {count(self.source.dropped)} dropped" if self.source.dropped else ""
        facts = [
            *self._about_target(),
            f"Rows: {count(score.rows)}{dropped}; {count(score.positives)} "
            f"{'is' if score.positives == 1 else 'are'} positive ({share_of_all}{with_interval}).",
            f"Score: {score.lowest:.3g} to {score.highest:.3g}, {count(score.distinct)} distinct; "
            f"AUC {probability(score.auc)} (0.5 is chance, 1 is perfect).",
            self._calibration_sentence(),
        ]
        if self.content.by_role:
            taken = " and ".join(
                f"--{role} {printable(name, 24)}" for role, name in self.content.by_role.items()
            )
            usual = all(name in usually_named([name], role) for role, name in self.content.by_role.items())
            facts.append(f"Columns taken by their {'usual names' if usual else 'names or values'}: {taken}.")
        if self.content.findings:
            facts.append(self._form_sentence())
        dependence_sentence = self._dependence_sentence()
        facts += [dependence_sentence] if dependence_sentence else []
        uncertainty = self._uncertainty_sentence()
        facts += [uncertainty] if uncertainty else []
        odd = [sentence for sentence in self.oddities() if capitalised(sentence) != self.sentence()]
        return [*facts, *(f"Note: {sentence}" for sentence in odd[:_MOST_ODD])]

    def _about_target(self) -> list[str]:
        """State why a target is advised, or what to do with a score of which no target is of use."""
        if not self.score.is_reversed:
            why = self.targets.why_advised()
            return [f"Target: {why}."] if why else []
        if self.score.may_be_percentages:
            return ["If the labels are right, use the score with the other sign."]
        return [
            "If the labels are right, calibrate turns the score around, and apply adds it as the column "
            "calibrated."
        ]

    def _form_sentence(self) -> str:
        """State how the inputs are written, and the options that read them so."""
        options = {
            name: values for name, values in self.content.taken.items() if name not in ("score", "label")
        }
        typed = " ".join(
            f"--{name.replace('_', '-')} {quote(value)}" for name in options for value in options[name]
        )
        return f"The file has {listed(self.content.findings)}{f': read with {typed}' if typed else ''}."

    def _dependence_sentence(self) -> str:
        """State which rows are alike and what allows for it; empty if none are, or nothing does."""
        if self.alike is None or not self.alike.takes_option:
            return ""
        ranges = f"{capitalised(self.alike.finding)}, so the ranges are by {self.alike.unit}"
        tests = "; the tests of the scores take rows as independent" if self.calibration is not None else ""
        return f"{ranges} ({self.alike.option}){tests}."

    def _calibration_sentence(self) -> str:
        """Return the answer of ``tce``."""
        if self._calibration_document is None:
            return "Calibration is not tested, since scores outside 0 to 1 are not probabilities."
        return self._calibration_document.title

    def _uncertainty_sentence(self) -> str:
        """State whether an uncertainty helps, or which columns could be one."""
        if self.comparison is not None:
            return self.comparison.compared[0].sentence(f"with one threshold {_at(self.comparison)}")
        if not self.content.proposed:
            return ""
        listed = first_of([printable(name, 20) for name in self.content.proposed], _MOST_PROPOSED)
        return f"Another column may help the score, such as {listed}: --uncertainty COLUMN tests it."

    def oddities(self) -> list[str]:
        """List what is unusual about the rows, the most important first."""
        score, content, odd = self.score, self.content, list[str]()
        if content.columns > defaults.MAX_LOOKED_AT:
            odd.append(
                f"of {count(content.columns)} columns, only the first {count(defaults.MAX_LOOKED_AT)} and "
                "those that options name were looked at."
            )
        if score.distinct == 1:
            odd.append("all scores are equal, so they cannot rank the rows.")
        elif score.auc is not None and score.auc == 1:
            odd.append(
                "the score separates the labels without an error; check that it was not made from them."
            )
        elif score.is_reversed:
            odd.append(REVERSED)
        if score.may_be_percentages:
            odd.append("if the scores are percentages, divide them by 100 for tce and calibrate.")
        elif not score.is_probability:
            odd.append("the scores are not probabilities; uqcli calibrate --logit makes some from them.")
        if len(content.negative) > 1:
            listed = first_of([f"'{printable(label, 20)}'" for label in content.negative], 4)
            odd.append(f"every label but '{printable(self.positive or '', 20)}' is negative: {listed}.")
        few = min(score.positives, score.rows - score.positives)
        if 0 < few < _FEW_POSITIVES:
            name = "positive" if few == score.positives else "negative"
            odd.append(
                f"only {count(few)} {'row is' if few == 1 else 'rows are'} {name}; every rate is vague."
            )
        if 1 < score.distinct <= _FEW_SCORES < score.rows:
            odd.append(f"only {score.distinct} scores differ, so few rules are possible.")
        if content.customers and self.alike is None:
            odd.append(
                f"if rows with the same {printable(content.customers[0], 24)} resemble each other, "
                f"add --cluster {printable(content.customers[0], 24)} to uqcli boundary."
            )
        elif content.dates and self.alike is None:
            name = printable(content.dates[0], 24)
            odd.append(
                f"column {name} holds dates; if rows from the same day resemble each other, add --day "
                f"{name} to uqcli boundary."
            )
        if self.source.dropped:
            odd.append(f"{rows_of(self.source.dropped)} had no usable value and were left out.")
        return odd

    def commands(self) -> list[tuple[str, str]]:
        """Return the commands that may be next and their purposes; empty if the inputs are unknown."""
        if not self.arguments:
            return []
        example, lines = self.targets.example, list[tuple[str, str]]()
        if self.score.is_reversed:  # no threshold on it is of use, and a map that is fitted turns it around
            if self.score.may_be_percentages:
                return []
            logit = "" if self.score.is_probability else "--logit "
            turned = self._command("calibrate", f"{logit}-o calibrator.json")
            return [("If low scores are meant to be the risky ones", turned)]
        if example:
            columns = self._uncertainty_option()
            if self.alike is not None and self.alike.option:
                columns += f" {self.alike.option}"
            lines.append(("For a rule", self._command("boundary", f"{example}{columns} -o boundary.json")))
            if self._can_be_certified:
                certified = self._command("boundary", f"{example}{columns} --certify 0.1 -o certified.json")
                lines.append(("If the target must be guaranteed", certified))
        if self.calibration is None:
            if not self.score.may_be_percentages:
                lines.append(("For probabilities", self._command("calibrate", "--logit -o calibrator.json")))
        else:
            lines.append(("To check the probabilities", self._command("tce", "--report calibration.html")))
        return lines

    @property
    def _can_be_certified(self) -> bool:
        """Whether the advised target is a rate, and flags enough rows that a test of it can pass."""
        advised = self.targets.advised
        if advised is None:
            return False
        return advised.constraint.is_promise and advised.fit.selected >= FEWEST_FLAGGED

    def _command(self, name: str, options: str) -> str:
        """Write a command line; what follows two dashes is no option."""
        if "--" in split(self.arguments):
            return f"{name} {options} {self.arguments}"
        return f"{name} {self.arguments} {options}"

    def _uncertainty_option(self) -> str:
        """Return the option that takes the uncertainty if it helps, and the score alone if it does not."""
        if self.comparison is None:
            return ""
        best = self.comparison.compared[0]
        if best.verdict != "helps":
            return " --uncertainty-bins 1"
        return "" if best.uncertainty == UNCERTAINTY else f" {quote(f'--uncertainty={best.uncertainty}')}"

    def _operating_points(self) -> OperatingPoints | None:
        """Return the choice of the page, whose command names the columns that were found."""
        reports = () if self.score.is_reversed else self.targets.reports
        points = reports[0].operating_points() if reports else None
        if points is None:
            return None
        named = {f"--{role}": name for role, name in self.content.by_role.items()}
        dropped = points.dropped_options | {"--audit", "--uncertainty"}
        return replace(points, settings={**named, **points.settings}, dropped_options=dropped)

    def _cautions(self) -> list[Notice]:
        return [self.alike.caution] if self.alike is not None and not self.alike.takes_option else []

    def _notes(self) -> list[str]:
        notes = [] if self._calibration_document is None else list(self._calibration_document.lead)
        if self.comparison is not None:
            notes.append("The rules of the table use the score alone, as boundary --uncertainty-bins 1 does.")
        return notes

    def _card(self) -> HeadCard:
        score = self.score
        numbers = [
            KeyNumber(label="rows", value=count(score.rows)),
            KeyNumber(label="positive", value=percent(self.prevalence.value)),
            KeyNumber(label="AUC", value=probability(score.auc)),
        ]
        return HeadCard(
            title=self.sentence().removesuffix("."),
            verdict=Verdict(text="no rule made yet"),
            numbers=numbers,
            subject="What {inputs} holds, and what can be done with it.",
        )


def _at(report: BoundaryReport) -> str:
    """Name a target after a number."""
    return report.constraint.among()
