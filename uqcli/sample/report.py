"""Reports of ``uqcli sample``: rows to label for an interval, or for a certificate."""

from __future__ import annotations

from typing import Any, Final

from uqcli.base.errors import Opt
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import count, exact_number, percent, rows_of
from uqcli.boundary.certificate_rows import SAMPLED_ABOVE, SAMPLED_BELOW
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.reports.document import Document, HeadCard, KeyNumber, Metrics, OneResult, Table, head_of
from uqcli.rules.saved import Source

KEYS: Final = ("rows", "selected", "labels", "expected", "width", "labels_uniform", "labelled")
"""Names of the metrics of rows for an interval."""


@dataclass(frozen=True, kw_only=True)
class SampleReport(OneResult):
    """Rows to label, written or planned.

    ``rows`` are those of the inputs, ``selected`` those that the rule flags. ``labels`` are the rows written;
    of a plan, the labels needed, or None if even labels of all rows are too few. ``expected`` is the
    precision or recall to expect, ``width`` that of its interval, and ``uniform`` the labels that a simple
    random sample of all rows needs for it; None if all are too few. ``labelled`` are the rows that have a
    label and are not drawn, for precision the flagged ones; None without such a column. ``files`` are the
    rule and the drawn rows, as a command takes them.
    """

    source: Source
    goal: str
    budget: int | None
    plan: float | None
    seed: int
    confidence: float
    on_invalid: str
    keep_labelled: bool
    rule: BoundaryArtifact
    rows: int
    selected: int
    labels: int | None
    expected: float
    width: float | None
    uniform: int | None
    is_calibrated: bool = False
    labelled: int | None = None
    files: tuple[str, str] = ("RULE.json", "FILE")

    @property
    def kept(self) -> int:
        """Rows written that have a label."""
        return (self.labelled or 0) if self.keep_labelled else 0

    @property
    def metrics(self) -> Metrics:
        """Counts of rows, and what their labels will show."""
        values = (
            self.rows,
            self.selected,
            self.labels,
            self.expected,
            self.width,
            self.uniform,
            self.labelled,
        )
        return dict(zip(KEYS, values, strict=True))

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        names = ("budget", "plan", "seed", "confidence", "on_invalid", "keep_labelled")
        parameters = {"for": self.goal, **{name: getattr(self, name) for name in names}}
        head = head_of("sample", self.source, parameters)
        return {**head, "metrics": dict(self.metrics), "notes": self._cautions()}

    @property
    def _width(self) -> str:
        return "-" if self.width is None else f"{100 * self.width:.2g} points"

    def document(self) -> Document:
        """Return the readable form."""
        title, goal = self._title(), self.goal
        level = f"{100 * self.confidence:g} % CI"
        uniform = "more than all" if self.uniform is None else count(self.uniform)
        table = Table(
            title="",
            header=("", ""),
            rows=[
                ("rows", count(self.rows)),
                ("flagged rows", count(self.selected)),
                *self._with_labels(),
                (f"expected {goal}", percent(self.expected)),
                (f"expected width of its {level}", self._width),
                ("labels needed by a plain random sample", uniform),
            ],
        )
        return Document(
            title=title,
            tables=[table],
            lead=[] if self.labels is None else self._how(),
            cautions=self._cautions(),
            notes=[self.rule.in_a_sentence().rstrip(".") + "."],
            card=HeadCard(
                title=title,
                subject="Rows of {inputs} to label, for {rules}.",
                numbers=[
                    KeyNumber(label="labels", value=count(self.labels)),
                    KeyNumber(label=f"expected {goal}", value=percent(self.expected)),
                    KeyNumber(label=f"expected width, {level}", value=self._width),
                ],
            ),
        )

    def _title(self) -> str:
        goal, plan = self.goal, self.plan
        if plan is None:
            if goal == "precision":
                unlabelled = self.selected - (self.labelled or 0)
                flagged = f"{count(unlabelled)} flagged rows{' without a label' if self.labelled else ''}"
                return f"Drew {count(self.labels or 0)} rows to be labelled, at random from the {flagged}."
            return (
                f"Drew {count(self.labels or 0)} of {rows_of(self.rows)} to be labelled, chosen so that "
                "they show the recall."
            )
        if self.labels is None:
            return f"Labels of all rows are too few: the interval of the {goal} stays wider than {plan:g}."
        return f"Label {count(self.labels)} rows to get an interval for the {goal} that is {plan:g} wide."

    def _how(self) -> list[str]:
        """State what the labels will show, and how to use them."""
        level = f"{100 * self.confidence:g} % interval"
        sentences = []
        if self.width is not None:
            sentences.append(
                f"Labelling them gives the {self.goal} to within about {50 * self.width:.2g} points "
                f"({level} {self._width} wide)."
            )
        if self.goal == "precision":
            sentences[-1:] = [f"{' '.join(sentences[-1:])} These labels cannot show the recall.".strip()]
            weighted = " --sampling-weight sampling_weight" if self.kept else ""
        else:
            weighted = " --sampling-weight sampling_weight"
        if self.plan is None:
            sentences.append(
                "Fill in the label column, then test the rule on it: uqcli evaluate "
                f"{' '.join(self.files)}{weighted}"
            )
        else:
            sentences.append(
                f"To write these rows, run again with --budget {self.labels} -o label.csv in place of --plan."
            )
        return sentences

    def _cautions(self) -> list[Notice]:
        """Caution that drawn rows stand for unlabelled ones only, and that a plan takes scores for rates."""
        cautions = list[Notice]()
        if self.labelled and not self.kept and self.plan is None:
            cautions.append(
                Notice(
                    "drawn-from-unlabelled",
                    "the drawn rows stand only for rows without a label: add --keep-labelled, so that the "
                    f"file also has the {rows_of(self.labelled)} with one, and evaluate with "
                    "--sampling-weight.",
                )
            )
        if not self.is_calibrated and self.goal == "recall":
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
        if self.labelled is None:
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
class CertificateSampleReport(OneResult):
    """Rows to label for a certificate: a pilot, or the rest after one.

    Either ``precision`` or ``max_omission`` is to be certified, as typed; the other is None. All rows of
    ``drawn_from`` have the same chance. ``edge`` is the lowest score of the rows from which they are drawn,
    for an omission the highest, and ``share`` that of all rows on its side. ``least`` is the smallest budget
    with which a certificate can be expected. After the first call, ``pilot`` has the rows and positive rows
    of the pilot, and ``crossing`` is the share of all rows that a threshold can flag at the precision, or
    drop, by the pilot.
    """

    source: Source
    precision: str | None
    max_omission: str | None
    budget: int
    seed: int
    on_invalid: str
    rows: int
    drawn_from: int
    labels: int
    edge: float
    share: float
    least: int
    pilot: tuple[int, int] | None
    crossing: float | None
    kept: int = 0

    @property
    def metrics(self) -> Metrics:
        """Counts of rows, and where they are drawn."""
        values = (self.rows, self.labels, self.drawn_from, self.edge, self.least)
        return dict(zip(certificate_keys(below=self.below), values, strict=True))

    @property
    def below(self) -> bool:
        """Whether rows are drawn below a score."""
        return self.max_omission is not None

    @property
    def column(self) -> str:
        """Column of the score above or below which rows are drawn."""
        return SAMPLED_BELOW if self.below else SAMPLED_ABOVE

    @property
    def _target(self) -> str:
        if self.below:
            return f"a false omission rate of {self.max_omission} or less"
        return f"precision {self.precision}"

    @property
    def _option(self) -> str:
        return Opt("max-omission") if self.below else Opt("precision")

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        names = ("max_omission" if self.below else "precision", "budget", "seed", "on_invalid")
        parameters = {"for": "certificate", **{name: getattr(self, name) for name in names}}
        head = head_of("sample", self.source, parameters)
        return {**head, "metrics": dict(self.metrics), "notes": [*self._lead(), *self._cautions()]}

    def document(self) -> Document:
        """Return the readable form."""
        title = self._title()
        lines = [
            ("rows", count(self.rows)),
            (
                f"drawn from rows with a score of at {'most' if self.below else 'least'}",
                exact_number(self.edge),
            ),
            ("such rows, without a label", count(self.drawn_from)),
        ]
        if self.pilot is not None:
            lines.append(("labels of the pilot, positive", "{:,}, {:,}".format(*self.pilot)))
        return Document(
            title=title,
            tables=[Table(title="", header=("", ""), rows=lines)],
            lead=self._lead(),
            cautions=self._cautions(),
            notes=[],
            card=HeadCard(
                title=title,
                subject="{inputs}.",
                numbers=[
                    KeyNumber(label="labels", value=count(self.labels)),
                    KeyNumber(
                        label=f"{'highest' if self.below else 'lowest'} score", value=exact_number(self.edge)
                    ),
                ],
            ),
        )

    def _title(self) -> str:
        drawn = f"Drew {count(self.labels)} of {rows_of(self.rows)} to be labelled"
        if self.pilot is None and self.below:
            return f"{drawn}: a pilot, at random from all rows."
        if self.pilot is None:
            return f"{drawn}: a pilot, at random from the {percent(self.share)} with the highest scores."
        side = "most" if self.below else "least"
        return f"{drawn}, at random from those with a score of at {side} {exact_number(self.edge)}."

    def _lead(self) -> list[str]:
        """State how many labels can certify, and what to do next."""
        enough = (
            f"To certify {self._target} at a risk of {100 * RISK:g} %, label at least "
            f"{count(self.least)} rows in all."
        )
        if self.pilot is None:
            rest = count(self.budget - self.labels)
            return [
                f"{enough} The pilot shows where the other {rest} labels are worth most.",
                "Fill in the column label, then run the same command with --pilot LABELLED.csv -o REST.csv.",
            ]
        return [
            enough,
            "Fill in the column label, then run: uqcli boundary REST.csv --pilot LABELLED.csv "
            f"{self._option} {self.max_omission or self.precision} --certify {RISK:g} -o rule.json",
        ]

    def _cautions(self) -> list[Notice]:
        """Caution if a certificate is unlikely, or other rows would serve better."""
        cautions, easier = list[Notice](), "higher" if self.below else "lower"
        if self.budget < self.least:
            cautions.append(
                Notice(
                    "certificate-unlikely",
                    f"{count(self.budget)} labels are too few to certify {self._target}: give "
                    f"--budget {self.least} or more, or a {easier} {self._option}.",
                )
            )
        if self.crossing == 0:
            cautions.append(
                Notice(
                    "certificate-unlikely",
                    f"no threshold has {self._target} on the pilot, and a certificate is unlikely: "
                    f"try a {easier} {self._option}.",
                )
            )
        if not self.below and self.crossing is not None and self.crossing >= self.share:
            cautions.append(
                Notice(
                    "region-of-certificate",
                    f"the {percent(self.share)} of rows with the highest scores have precision "
                    f"{self.precision} on the pilot, and a rule that flags more rows cannot be certified so: "
                    "label rows of all scores alike if it should.",
                )
            )
        return cautions
