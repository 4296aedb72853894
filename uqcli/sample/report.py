"""Reports of ``uqcli sample``: rows to label for an interval, or for a certificate."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

from uqcli.base.errors import Opt
from uqcli.base.exact_numbers import decimal, share_text
from uqcli.base.notices import Notice
from uqcli.base.operating_system import quote
from uqcli.base.records import dataclass
from uqcli.base.wording import count, counted, exact_number, percent, rows_of
from uqcli.boundary.certificate_rows import SAMPLED_ABOVE, SAMPLED_BELOW
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.reports.document import Document, HeadCard, KeyNumber, Metrics, OneResult, Table, head_of
from uqcli.rules.saved import Source

if TYPE_CHECKING:
    from uqcli.base.options import Intervals
    from uqcli.sample.options import SampleRequest

KEYS: Final = ("rows", "selected", "labels", "expected", "width", "labels_uniform", "labelled")
"""Names of the metrics of rows for an interval."""


@dataclass(frozen=True, kw_only=True)
class AllTooFew:
    """Not even labels of all rows give an interval as narrow as planned."""

    number: int | None = None
    width: float | None = None
    uniform: int | None = None
    """Labels that a simple random sample of all rows needs for it; None if all are too few."""

    @property
    def points(self) -> str:
        """The width in words."""
        return "-"

    def title(self, goal: str, plan: float) -> str:
        """Say how many labels a plan needs."""
        return f"Labels of all rows are too few: the interval of the {goal} stays wider than {plan:g}."

    def gives(self, goal: str, level: str) -> str:  # noqa: ARG002
        """Say what the labels will show; empty if nothing."""
        return ""


@dataclass(frozen=True, kw_only=True)
class Labels(AllTooFew):
    """Labels that are drawn or needed, and the width of the interval that they give."""

    number: int
    width: float
    uniform: int | None

    @property
    def points(self) -> str:
        """The width in words."""
        return f"{float(f'{100 * self.width:.2g}'):g} points"  # of two digits, but not 1e+02

    def title(self, goal: str, plan: float) -> str:
        """Say how many labels a plan needs."""
        return f"Label {rows_of(self.number)} to get an interval for the {goal} that is {plan:g} wide."

    def gives(self, goal: str, level: str) -> str:
        """Say what the labels will show."""
        within = f"to within about {50 * self.width:.2g} points ({level} {self.points} wide)."
        return f"Labelling {'it' if self.number == 1 else 'them'} gives the {goal} {within}"


@dataclass(frozen=True, kw_only=True)
class SampleReport(OneResult):
    """Rows to label, written or planned.

    ``rows`` are those of the inputs, ``selected`` those that the rule flags. ``expected`` is the precision or
    recall to expect. ``labelled`` are the rows that have a label and are not drawn, for precision the flagged
    ones.
    """

    source: Source
    request: SampleRequest
    rule: BoundaryArtifact
    rows: int
    selected: int
    expected: float
    labels: AllTooFew
    labelled: int

    @property
    def goal(self) -> str:
        """The rate of which the labels give an interval."""
        return str(self.request.for_)

    @property
    def _intervals(self) -> Intervals:
        return self.request.population.intervals

    @property
    def kept(self) -> int:
        """Rows written that have a label."""
        return self.labelled if self.request.keep_labelled else 0

    def written(self, rows: int) -> SampleReport:
        """Return a copy after rows were written, those with a label among them."""
        return replace(self, labels=replace(self.labels, number=rows - self.kept))

    @property
    def metrics(self) -> Metrics:
        """Counts of rows, and what their labels will show."""
        labels, labelled = self.labels, self.labelled if self.request.labels else None
        values = (
            *(self.rows, self.selected, labels.number, self.expected, labels.width, labels.uniform),
            labelled,
        )
        return dict(zip(KEYS, values, strict=True))

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        request = self.request
        parameters = {
            **{"for": self.goal, "budget": request.budget, "plan": request.plan},
            **{"seed": self._intervals.seed, "confidence": self._intervals.confidence},
            **{"on_invalid": request.population.data.on_invalid, "keep_labelled": request.keep_labelled},
        }
        head = head_of("sample", self.source, parameters)
        return {**head, "metrics": dict(self.metrics), "notes": self._cautions()}

    def document(self) -> Document:
        """Return the readable form."""
        title, goal, labels = self._title(), self.goal, self.labels
        level = f"{100 * self._intervals.confidence:g} % CI"
        uniform = "more than all" if labels.uniform is None else count(labels.uniform)
        table = Table(
            title="",
            header=("", ""),
            rows=[
                ("rows", count(self.rows)),
                ("flagged rows", count(self.selected)),
                *self._with_labels(),
                (f"expected {goal}", percent(self.expected)),
                (f"expected width of its {level}", labels.points),
                ("labels needed by a plain random sample", uniform),
            ],
        )
        return Document(
            title=title,
            tables=[table],
            lead=self._how(),
            cautions=self._cautions(),
            notes=[self.rule.in_a_sentence().rstrip(".") + "."],
            card=HeadCard(
                title=title,
                subject="Rows of {inputs} to label, for {rules}.",
                numbers=[
                    KeyNumber(label="labels", value=count(labels.number)),
                    KeyNumber(label=f"expected {goal}", value=percent(self.expected)),
                    KeyNumber(label=f"expected width, {level}", value=labels.points),
                ],
            ),
        )

    def _title(self) -> str:
        if self.request.plan is not None:
            return self.labels.title(self.goal, self.request.plan)
        number = self.labels.number or 0
        if self.goal == "precision":
            unlabelled = self.selected - self.labelled
            flagged = counted(unlabelled, "flagged row")
            of = f"{flagged}{' without a label' if self.labelled else ''}"
            return f"Drew {rows_of(number)} to be labelled, at random from the {of}."
        drawn = f"Drew {count(number)} of {rows_of(self.rows)}"
        return f"{drawn} to be labelled, chosen so that they show the recall."

    def _how(self) -> list[str]:
        """State what the labels will show, and how to use them."""
        shown = self.labels.gives(self.goal, f"{100 * self._intervals.confidence:g} % interval")
        if not shown:
            return []
        about_precision = self.goal == "precision"
        if about_precision:
            shown += " These labels cannot show the recall."
        if self.request.plan is not None:
            again = f"run again with --budget {self.labels.number} -o label.csv in place of --plan"
            return [shown, f"To write these rows, {again}."]
        files = f"{quote(self.request.population.rule)} {quote(self.request.output.output or 'FILE')}"
        weighted = "" if about_precision and not self.kept else " --sampling-weight sampling_weight"
        test = f"then test the rule on it: uqcli evaluate {files}{weighted}"
        return [shown, f"Fill in the label column, {test}"]

    def _cautions(self) -> list[Notice]:
        """Caution that drawn rows stand for unlabelled ones only, and that a plan takes scores for rates."""
        cautions = list[Notice]()
        if self.labelled and not self.kept and self.request.plan is None:
            cautions.append(
                Notice(
                    "drawn-from-unlabelled",
                    "the drawn rows stand only for rows without a label: add --keep-labelled, so that the "
                    f"file also has the {rows_of(self.labelled)} with one, and evaluate with "
                    "--sampling-weight.",
                )
            )
        if self.request.calibrator is None and self.goal == "recall":
            cautions.append(
                Notice(
                    "uncalibrated",
                    "the sample is planned as if the scores were calibrated: if they are not, add "
                    "--calibrator FILE.",
                )
            )
        return cautions

    def _with_labels(self) -> list[tuple[str, str]]:
        """Return the row of the table that counts rows with a label."""
        if not self.request.labels:
            return []
        which = "flagged, with a label" if self.goal == "precision" else "with a label"
        written = ", written with weight 1" if self.kept else ", not drawn"
        return [(f"{which}{written}", count(self.labelled))]


def certificate_keys(*, below: bool) -> tuple[str, ...]:
    """Return the names of the metrics of rows drawn above or below a score."""
    return ("rows", "labels", "drawn_from", SAMPLED_BELOW if below else SAMPLED_ABOVE, "least_labels")


RISK: Final = 0.1
"""Risk of the certificate for which labels are counted."""


@dataclass(frozen=True, kw_only=True)
class BoundOnPrecision:
    """The precision to certify, as typed."""

    text: str

    below: ClassVar = False
    key: ClassVar = "precision"
    option: ClassVar = Opt("precision")
    column: ClassVar = SAMPLED_ABOVE
    easier: ClassVar = "lower"
    """How a bound differs that is easier to certify."""

    @property
    def target(self) -> str:
        """What is to be certified."""
        return f"precision {self.text}"

    def precision(self) -> Fraction:
        """Parse the precision."""
        return self._share()

    def _share(self) -> Fraction:
        return decimal(self.key.replace("_", "-"), share_text(self.text), above=0, below=1)


@dataclass(frozen=True, kw_only=True)
class BoundOnOmission(BoundOnPrecision):
    """The false omission rate to certify, of the rows below a score."""

    below: ClassVar = True
    key: ClassVar = "max_omission"
    option: ClassVar = Opt("max-omission")
    column: ClassVar = SAMPLED_BELOW
    easier: ClassVar = "higher"

    @property
    def target(self) -> str:
        """What is to be certified."""
        return f"a false omission rate of {self.text} or less"

    def precision(self) -> Fraction:
        """Parse the precision of the mirror, in which dropped rows are flagged."""
        return 1 - self._share()


class FirstCall:
    """The rows to label are the pilot."""

    def lines(self) -> list[tuple[str, str]]:
        """Return what the table says of the pilot."""
        return []

    def title(self, report: CertificateSampleReport) -> str:
        """Say which rows were drawn."""
        if report.bound.below:
            return f"{report.drawn}: a pilot, at random from all rows."
        return f"{report.drawn}: a pilot, at random from the {percent(report.share)} with the highest scores."

    def next_steps(self, report: CertificateSampleReport) -> list[str]:
        """Say what to do with the rows, after how many labels can certify."""
        rest = count(report.budget - report.labels)
        return [
            f"{report.enough} The pilot shows where the other {rest} labels are worth most.",
            "Fill in the column label, then run the same command with --pilot LABELLED.csv -o REST.csv.",
        ]

    def cautions(self, report: CertificateSampleReport) -> list[Notice]:  # noqa: ARG002
        """Caution about what the pilot shows."""
        return []


@dataclass(frozen=True, kw_only=True)
class AfterPilot(FirstCall):
    """The pilot is labelled: its rows and positive rows, by weight.

    ``crossing`` is the share of all rows that a threshold can flag at the precision, or drop, by the pilot.
    """

    rows: int
    positives: int
    crossing: float

    def lines(self) -> list[tuple[str, str]]:
        """Return the labels of the pilot."""
        return [("labels of the pilot, positive", f"{self.rows:,}, {self.positives:,}")]

    def title(self, report: CertificateSampleReport) -> str:
        """Say which rows were drawn."""
        side = "most" if report.bound.below else "least"
        return f"{report.drawn}, at random from those with a score of at {side} {exact_number(report.edge)}."

    def next_steps(self, report: CertificateSampleReport) -> list[str]:
        """Say how many labels can certify, and what to do with the rows."""
        return [
            report.enough,
            "Fill in the column label, then run: uqcli boundary REST.csv --pilot LABELLED.csv "
            f"{report.bound.option} {report.bound.text} --certify {RISK:g} -o rule.json",
        ]

    def cautions(self, report: CertificateSampleReport) -> list[Notice]:
        """Caution if by the pilot a certificate is unlikely, or other rows would serve better."""
        cautions = list[Notice]()
        if self.crossing == 0:
            cautions.append(
                Notice(
                    "certificate-unlikely",
                    f"no threshold has {report.bound.target} on the pilot, and a certificate is unlikely: "
                    f"try a {report.bound.easier} {report.bound.option}.",
                )
            )
        if not report.bound.below and self.crossing >= report.share:
            cautions.append(
                Notice(
                    "region-of-certificate",
                    f"the {percent(report.share)} of rows with the highest scores have precision "
                    f"{report.bound.text} on the pilot, and a rule that flags more rows cannot be certified "
                    "so: label rows of all scores alike if it should.",
                )
            )
        return cautions


@dataclass(frozen=True, kw_only=True)
class CertificateSampleReport(OneResult):
    """Rows to label for a certificate: a pilot, or the rest after one.

    All rows of ``drawn_from`` have the same chance. ``edge`` is the lowest score of the rows from which they
    are drawn, for an omission the highest, and ``share`` that of all rows on its side. ``least`` is the
    smallest budget with which a certificate can be expected.
    """

    source: Source
    request: SampleRequest
    bound: BoundOnPrecision
    budget: int
    rows: int
    drawn_from: int
    labels: int
    edge: float
    share: float
    least: int
    stage: FirstCall

    kept: ClassVar = 0

    def written(self, rows: int) -> CertificateSampleReport:
        """Return a copy after rows were written."""
        return replace(self, labels=rows)

    @property
    def metrics(self) -> Metrics:
        """Counts of rows, and where they are drawn."""
        values = (self.rows, self.labels, self.drawn_from, self.edge, self.least)
        return dict(zip(certificate_keys(below=self.bound.below), values, strict=True))

    @property
    def drawn(self) -> str:
        """How many rows were drawn."""
        return f"Drew {count(self.labels)} of {rows_of(self.rows)} to be labelled"

    @property
    def enough(self) -> str:
        """How many labels can certify."""
        return (
            f"To certify {self.bound.target} at a risk of {100 * RISK:g} %, label at least "
            f"{count(self.least)} rows in all."
        )

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        parameters = {
            **{"for": "certificate", self.bound.key: self.bound.text},
            **{"budget": self.budget, "seed": self.request.population.intervals.seed},
            "on_invalid": self.request.population.data.on_invalid,
        }
        head = head_of("sample", self.source, parameters)
        notes = [*self.stage.next_steps(self), *self._cautions()]
        return {**head, "metrics": dict(self.metrics), "notes": notes}

    def document(self) -> Document:
        """Return the readable form."""
        title, edge = self.stage.title(self), exact_number(self.edge)
        lines = [
            ("rows", count(self.rows)),
            (f"drawn from rows with a score of at {'most' if self.bound.below else 'least'}", edge),
            ("such rows, without a label", count(self.drawn_from)),
            *self.stage.lines(),
        ]
        return Document(
            title=title,
            tables=[Table(title="", header=("", ""), rows=lines)],
            lead=self.stage.next_steps(self),
            cautions=self._cautions(),
            notes=[],
            card=HeadCard(
                title=title,
                subject="{inputs}.",
                numbers=[
                    KeyNumber(label="labels", value=count(self.labels)),
                    KeyNumber(label=f"{'highest' if self.bound.below else 'lowest'} score", value=edge),
                ],
            ),
        )

    def _cautions(self) -> list[Notice]:
        """Caution if a certificate is unlikely, or other rows would serve better."""
        cautions = list[Notice]()
        if self.budget < self.least:
            cautions.append(
                Notice(
                    "certificate-unlikely",
                    f"{count(self.budget)} labels are too few to certify {self.bound.target}: give "
                    f"--budget {self.least} or more, or a {self.bound.easier} {self.bound.option}.",
                )
            )
        return [*cautions, *self.stage.cautions(self)]
