"""What the reports on rules of all kinds share: verdicts, differences, and a figure.

The figure has rates with their intervals, of groups or of several rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from uqcli.audit.report import Audit, Segment, with_audit
from uqcli.base.notices import Notice
from uqcli.base.operating_system import quote
from uqcli.base.records import dataclass
from uqcli.base.wording import MOST_NAMED, capitalised, p_text, points, printable, short_names
from uqcli.estimates.estimate import Estimate, direction, ends_of, interval
from uqcli.reports.document import Claim, Document, Figure, HoverText, Metrics, Report, head_of, plain
from uqcli.reports.figures import BLUE, GREY, RED, label_lines, panels
from uqcli.reports.parts import joined
from uqcli.rules.saved import Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

HEADER = "difference"
UNPAIRED: Final = "The two rules read different columns, so their difference is not tested."

OWN_DATA_CAUTION = (
    "Test a rule on rows that it was not fitted on: on its own rows it looks better than it is. A page "
    "(--report FILE.html) ends with the checksum of each input, which shows whether two reports read "
    "the same file."
)
"""Caution that no evaluation can check."""


class EvaluateParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Options that change the result."""

    confidence: float
    on_invalid: str
    positive: str | None
    seed: int | None = None
    cluster: str | msgspec.UnsetType = msgspec.UNSET
    day: str | msgspec.UnsetType = msgspec.UNSET
    sampling_weight: bool | msgspec.UnsetType = msgspec.UNSET
    assisted: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    top: int | msgspec.UnsetType = msgspec.UNSET
    per: str | msgspec.UnsetType = msgspec.UNSET

    @property
    def units(self) -> str:
        """What dependent rows are within."""
        return "clusters" if self.day is msgspec.UNSET else "days"


class ReportByGroup(Report, Protocol):
    """Report of an evaluation, with results of a single rule by group and by segment, if requested."""

    @property
    def groups(self) -> Sequence[Any]:
        """Results by group."""

    @property
    def segments(self) -> Sequence[Segment]:
        """Tests by segment."""


NamedRate = tuple[str, Estimate, float | None]
"""Name of a rule or group, its rate, and the target of the rate; None if the rule has another constraint."""


def rates_figure(rates: Sequence[tuple[str, Sequence[NamedRate]]], confidence: float) -> Figure:
    """Build a figure with one panel per rate that is known for a rule, and one line per rule."""
    known = [
        (title, measured)
        for title, measured in rates
        if any(rate.value is not None or rate.ends for _, rate, _ in measured)
    ]
    rates = known or rates
    has_intervals = any(rate.ends for _, measured in rates for _, rate, _ in measured)
    lines = len(rates[0][1])

    def draw(canvas: Canvas) -> list[HoverText]:
        texts = []
        all_axes = panels(canvas, [1] * len(rates), share_y=True)
        for axes, (title, measured) in zip(all_axes, rates, strict=True):
            _draw(axes, title, measured)
            for position, (name, rate, _) in enumerate(measured):
                text, y = f"{title} of {printable(name)}: {interval(rate)}", (position, position)
                if rate.ends:
                    texts.append(HoverText(axes=axes, x=rate.ends, y=y, text=text))
        return texts

    names = ", ".join(printable(name) for name, _, _ in rates[0][1])
    titles = " and ".join(title for title, _ in rates)
    height = 1.3 + 0.42 * lines
    has_targets = any(target is not None for _, measured in rates for _, _, target in measured)
    return Figure(
        title=f"{titles}{f' with {100 * confidence:g} % intervals' if has_intervals else ''}: {names}",
        caption=f"If a target (red) lies outside the {100 * confidence:g} % interval, it is significantly "
        "met or missed. If it lies inside, the data do not show which."
        if has_targets and has_intervals
        else "",
        width=10.5,
        height=height,
        narrow_height=height * len(rates),
        draw=draw,
    )


def _draw(axes: Axes, title: str, measured: Sequence[NamedRate]) -> None:
    axes.set_title(title)
    for position, (_, rate, target) in enumerate(measured):
        value = rate.value
        if target is not None:
            axes.plot([target] * 2, [position - 0.36, position + 0.36], color=RED, linewidth=2)
        style: dict[str, Any] = {"color": BLUE, "linewidth": 1.6}
        if value is None:
            style = {"color": GREY, "linewidth": 1.2, "linestyle": (0, (2, 2))}
        if rate.ends:
            axes.plot(rate.ends, [position, position], **style)
        if value is not None:
            axes.plot([value], [position], color=BLUE, marker="o", markersize=6)
    if any(target is not None for _, _, target in measured):
        axes.plot([], [], color=RED, linewidth=2, label="target")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False, borderpad=0)
    label_lines(axes, [name for name, _, _ in measured])
    if not any(rate.ends for _, rate, _ in measured):
        axes.set_xlim(0, 1)  # the points alone would fill the width with meaningless digits
    axes.margins(x=0.08)


def difference_cell(
    estimate: Estimate, form: str, p_value: float | None = None, *, brief: bool, unit: str = ""
) -> str:
    """Format a difference, with its interval unless brief, and its significance."""
    if estimate.value is None:
        return "-"
    ends = "" if brief else ends_of(estimate, form)
    return f"{estimate.value:{form}}{unit}{ends}{_significance(estimate, p_value)}"


def points_cell(estimate: Estimate, p_value: float | None = None, *, brief: bool) -> str:
    """Format a difference of rates in points, with its interval unless brief, and its significance."""
    if estimate.value is None:
        return "-"
    ends = () if brief else (estimate.low, estimate.high)
    return f"{points(estimate.value, *ends)}{_significance(estimate, p_value)}"


def _significance(estimate: Estimate, p_value: float | None) -> str:
    """State in parentheses whether a difference is significant; empty without an interval."""
    if not estimate.ends:
        return ""
    significance = "n.s." if not direction(estimate) else "sig." if p_value is None else p_text(p_value)
    return f" ({significance.replace(' ', '')})"


class HasMetrics(Protocol):
    """Metrics of a rule of any kind."""

    def metrics(self) -> Metrics:
        """Return the metrics by key."""


Results = Sequence[tuple[str, Any, HasMetrics]]
"""Name, rule and metrics of each rule file, in the order of the command line."""


class EvaluatedPart:
    """What an evaluation has beside the metrics of each rule: groups, segments, the difference of two rules.

    By default it measures and says nothing.
    """

    @property
    def tested(self) -> str:
        """What it tests instead of all rows together; empty if nothing."""
        return ""

    def metrics(self) -> Metrics:
        """Return its metrics by key."""
        return {}

    def payload(self) -> Mapping[str, Any]:
        """Return its keys of the JSON form."""
        return {}

    def notes(self) -> Sequence[str]:
        """Return its sentences of the JSON form, which are before all others."""
        return []

    def remarks(self) -> Sequence[str]:
        """Return its remarks, which are among the notes."""
        return []

    def advice(self) -> list[str]:
        """State what to do."""
        return []

    def listed_groups(self) -> Sequence[Any]:
        """Return the results by group."""
        return []

    def listed_segments(self) -> Sequence[Segment]:
        """Return the tests of segments."""
        return []

    def added_to(self, document: Document, confidence: float) -> Document:  # noqa: ARG002
        """Add what it shows to the readable form."""
        return document


@dataclass(frozen=True, kw_only=True)
class AuditedSegments(EvaluatedPart):
    """Audit of a rule by segment."""

    audit: Audit

    @property
    def tested(self) -> str:
        """See EvaluatedPart."""
        return "segments"

    def metrics(self) -> Metrics:
        """See EvaluatedPart."""
        return self.audit.metrics()

    def payload(self) -> Mapping[str, Any]:
        """See EvaluatedPart."""
        return {"audit": self.audit.payload()}

    def notes(self) -> Sequence[str]:
        """See EvaluatedPart."""
        return [self.audit.lead()]

    def listed_segments(self) -> Sequence[Segment]:
        """See EvaluatedPart."""
        return self.audit.segments

    def added_to(self, document: Document, confidence: float) -> Document:  # noqa: ARG002
        """See EvaluatedPart."""
        return with_audit(document, self.audit)


def said_of(name: str, verdict: str) -> str:
    """Join the name of a rule and the verdict on it; a target that is not tested is its own subject."""
    if " not tested" in verdict:
        return verdict if name == "the rule" else f"{name}: {verdict}"
    return f"{name} {'is ' if verdict.startswith(('consistent', 'below')) else ''}{verdict}"


def best_of_several(rules: int) -> list[Notice]:
    """Caution that tests are not corrected for three or more rules; empty for fewer."""
    if rules < 3:
        return []
    best = (
        f"you compared {rules} rules on one file, so the best one looks better than it is: confirm it on "
        "other rows."
    )
    return [Notice("best-of-several", best)]


def verdicts(names: Sequence[str], sentences: Sequence[str]) -> str:
    """Join the verdicts of rules, of many only the first, those that miss their target before others.

    If two are equal, state them once for both.
    """
    if len(names) == 1:
        return capitalised(said_of("the rule", sentences[0]))
    if len(names) == 2 and sentences[0] == sentences[1] and sentences[0].startswith("consistent"):
        return f"Both are {sentences[0]}"
    named = list(zip(names, sentences, strict=True))
    if len(named) > MOST_NAMED:
        named.sort(key=lambda pair: not pair[1].startswith("misses"))
    said = [said_of(name, verdict.rstrip(".")) for name, verdict in named]
    if len(said) > MOST_NAMED:
        said[MOST_NAMED:] = [f"the other {len(said) - MOST_NAMED} are among the notes (--verbose)"]
    return f"{'; '.join(said)}."


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    """Parts shared by the evaluations of all kinds of rules.

    The results are the name, rule and metrics of each rule file, in the order of the command line. The parts
    are the results of a single rule by group and by segment, or the difference of two rules.
    """

    source: Source
    parameters: EvaluateParameters
    results: Results
    parts: Sequence[EvaluatedPart] = ()

    @property
    def names(self) -> list[str]:
        """Names of the rule files, without folders unless two would be equal."""
        return short_names([name for name, _, _ in self.results])

    @property
    def measured(self) -> list[Any]:
        """Metrics of each rule file."""
        return [measured for _, _, measured in self.results]

    @property
    def named(self) -> list[tuple[str, Any]]:
        """Name and metrics of each rule file."""
        return list(zip(self.names, self.measured, strict=True))

    def uncorrected_tests(self) -> list[Notice]:
        """Caution that tests are not corrected for three or more rules."""
        return best_of_several(len(self.results))

    def verdicts(self, sentences: Sequence[str]) -> str:
        """Join the verdicts of the rules."""
        return verdicts(self.names, sentences)

    def each_verdict(self, claims: Sequence[Claim]) -> list[str]:
        """State the verdict of each rule, if there are so many that ``verdicts`` leaves some out."""
        return [claim.sentence for claim in claims] if len(self.results) > MOST_NAMED else []

    @property
    def checked_metrics(self) -> Mapping[str, Metrics]:
        """Metrics by rule file; under '' those of a single rule, or the difference of two."""
        more = self._metrics_of_parts()
        if len(self.results) == 1:
            return {"": {**self.measured[0].metrics(), **more}}
        together = {"": more} if more else {}
        return {**together, **{name: measured.metrics() for name, _, measured in self.results}}

    def build_payload(
        self, notes: Sequence[str], more: Mapping[str, Any] = MappingProxyType({})
    ) -> dict[str, Any]:
        """Build the JSON form: ``results`` of all rules, ``metrics`` of one or of the difference of two.

        ``more`` has further parameters.
        """
        head = head_of("evaluate", self.source, {**msgspec.to_builtins(self.parameters), **more})
        together = plain(self._metrics_of_parts())
        metrics = [plain(measured.metrics()) for measured in self.measured]
        if len(self.results) == 1:
            metrics = [together := {**metrics[0], **together}]
        single = {"metrics": together} if together else {}
        results = [
            {"artifact": name, "metrics": of_rule}
            for (name, _, _), of_rule in zip(self.results, metrics, strict=True)
        ]
        keys: dict[str, Any] = {}
        for part in self.parts:
            keys |= part.payload()
            notes = [*part.notes(), *notes]
        return {**head, **single, "results": results, **keys, "notes": list(notes)}

    def _metrics_of_parts(self) -> Metrics:
        return joined(part.metrics() for part in self.parts)

    @property
    def groups(self) -> list[Any]:
        """Results of a single rule by group; empty unless requested."""
        return [group for part in self.parts for group in part.listed_groups()]

    @property
    def segments(self) -> list[Segment]:
        """Tests of a single rule by segment; empty unless requested."""
        return [segment for part in self.parts for segment in part.listed_segments()]

    def with_parts(self, document: Document) -> Document:
        """Add what the parts show to the readable form."""
        for part in self.parts:
            document = part.added_to(document, self.parameters.confidence)
        return document


def apply_command(name: str) -> str:
    """Return the command line that applies a rule file."""
    return f"uqcli apply {quote(name)} NEW.csv -o applied.csv"
