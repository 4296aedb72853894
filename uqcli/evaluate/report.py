"""What the reports on rules of all kinds share: results by group, verdicts, differences, and a figure.

The bound of a rule is tested exactly on each group. The figure has rates with their intervals, of groups or
of several rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from uqcli.audit.report import Audit, with_audit
from uqcli.base.defaults import MIN_GROUP_ROWS
from uqcli.base.notices import Notice
from uqcli.base.operating_system import quote
from uqcli.base.records import dataclass
from uqcli.base.wording import (
    MOST_NAMED,
    capitalised,
    count,
    first_of,
    p_text,
    percent,
    points,
    printable,
    short_names,
)
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate, direction, ends_of, interval
from uqcli.estimates.proportion import BoundedRate, holm
from uqcli.reports.document import (
    Claim,
    Document,
    Figure,
    HoverText,
    Metrics,
    Report,
    Table,
    Verdict,
    head_of,
    plain,
)
from uqcli.reports.figures import BLUE, GREY, RED, label_lines, panels
from uqcli.rules.saved import Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_MAX_DRAWN: Final = 50
_MAX_NAMED: Final = 12


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

    @property
    def units(self) -> str:
        """What dependent rows are within."""
        return "clusters" if self.day is msgspec.UNSET else "days"


@dataclass(frozen=True, kw_only=True)
class EvaluatedGroup:
    """A rule's results on one group.

    ``cells`` are those of the table, without name, rows and p-value. ``rate`` is the rate that is tested, and
    ``bounded`` has its counts and its bound; if it is not tested, ``untested`` says why. The p-values, that
    the rate breaks its bound, are adjusted for all groups (Holm) and not. ``detectable`` is the rate that the
    test would detect with a probability of 80 %; None if there is none.
    """

    name: str
    rows: int
    metrics: Metrics
    cells: tuple[str, ...]
    rate: Estimate | None = None
    bounded: BoundedRate | None = None
    untested: str = ""
    p_value: float | None = None
    unadjusted: float | None = None
    detectable: float | None = None

    @property
    def label(self) -> str:
        """Name in tables and sentences."""
        return printable(self.name, 40)

    @property
    def rate_in_words(self) -> str:
        """The tested rate for a sentence, of few rows as a count; empty if it is unknown."""
        if self.rate is None or self.rate.value is None:
            return ""
        bounded = self.bounded
        if bounded is not None and bounded.tail is None and bounded.trials < FEWEST_FLAGGED:
            return f"{count(bounded.successes)} of {count(bounded.trials)}"
        return percent(self.rate.value)


@dataclass(frozen=True, kw_only=True)
class GroupEvaluation:
    """A rule's results by group of a column, in the order of the groups' names; the header names the cells.

    ``bound`` is the tested bound, such as "precision >= 0.7", empty if there is none, and ``target`` its
    value. The level is that of the tests over all groups. Rows without a label are left out if
    ``labels_missing``.
    """

    by: str
    groups: tuple[EvaluatedGroup, ...]
    header: tuple[str, ...]
    bound: str
    target: float | None
    level: float
    labels_missing: bool = False

    @property
    def worst(self) -> EvaluatedGroup | None:
        """The group with the lowest p-value; None if none was tested."""
        tested = [group for group in self.groups if group.p_value is not None]
        return min(
            tested, key=lambda group: (group.p_value or 0, group.unadjusted or 0, group.name), default=None
        )

    @property
    def broken(self) -> list[EvaluatedGroup]:
        """Groups that break the bound."""
        return [group for group in self.groups if group.p_value is not None and group.p_value <= self.level]

    def payload(self) -> dict[str, Any]:
        """Return the JSON form: the groups, and the name of the worst."""
        return {
            "groups": [
                {
                    "name": group.name,
                    "rows": group.rows,
                    "tested": group.p_value is not None,
                    "p": group.p_value,
                    "detectable": group.detectable,
                    "metrics": plain(group.metrics),
                }
                for group in self.groups
            ],
            "worst_group": None if self.worst is None else self.worst.name,
        }

    def metrics(self) -> dict[str, Any]:
        """Return the metrics by group, and those of the worst."""
        worst = self.worst
        if worst is None:
            worst_metrics: Mapping[str, Any] = {**dict.fromkeys(self.groups[0].metrics), "p": None}
        else:
            worst_metrics = {**worst.metrics, "p": worst.p_value}
        return {
            "by_group": {group.name: group.metrics for group in self.groups},
            "worst_group": worst_metrics,
            "groups_below": None if worst is None else len(self.broken),
        }

    def lead(self) -> list[str]:
        """State the verdict on the worst group."""
        worst = self.worst
        if worst is None:
            return []
        name = f"{self.by} = {worst.label}"
        tested = sum(group.p_value is not None for group in self.groups)
        rate = f"{rate}, " if (rate := worst.rate_in_words) else ""
        corrected = f", corrected for {tested} groups" if tested > 1 else ""
        test = f"{rate}{p_text(worst.p_value)}{corrected}"
        if self.broken:
            missing = len(self.broken)
            groups = f"{tested} {'' if tested == len(self.groups) else 'tested '}groups"
            if missing == 1:
                return [f"1 of {groups} misses {self.bound}: {name} ({test})."]
            return [f"{missing} of {groups} miss {self.bound}; the worst is {name} ({test})."]
        detectable = ""
        if worst.detectable is not None:
            detectable = (
                f" A rate of {percent(worst.detectable)} there would have been detected (80 % power)."
            )
        return [f"No group misses {self.bound} significantly; the worst is {name} ({test}).{detectable}"]

    def cautions(self) -> list[Notice]:
        """Name the groups that are not tested, by reason."""
        by_reason: dict[str, list[str]] = {}
        for group in self.groups:
            if self.bound and group.p_value is None:
                by_reason.setdefault(group.untested, []).append(f"{group.label} ({count(group.rows)})")
        cautions = [
            Notice(
                "groups-untested",
                f"these groups are {reason.replace(', not tested', ' and not tested')}: "
                f"{first_of(names, _MAX_NAMED)}.",
            )
            for reason, names in by_reason.items()
        ]
        if self.labels_missing and self.worst is not None:
            cautions.append(
                Notice(
                    "tested-elsewhere",
                    "Groups are tested on their labelled rows, as if labels were given at random among the "
                    "flagged rows of a group.",
                )
            )
        return cautions

    def no_test(self) -> str:
        """Return why no group is tested; empty if one is."""
        if self.worst is not None:
            return ""
        reasons = (group.untested.removesuffix(", not tested") for group in self.groups)
        return "; ".join(dict.fromkeys(reason.removeprefix("not tested, since ") for reason in reasons))

    def table(self) -> Table:
        """Build the table of the groups."""
        p_values = ("p",) if self.bound else ()
        shown = self._by_deviation()
        rows = [
            (
                group.label,
                count(group.rows),
                *group.cells,
                *(("-" if group.p_value is None else f"{group.p_value:.3g}",) if self.bound else ()),
            )
            for group in shown
        ]
        if empty := len(self.groups) - len(shown):
            blank = [""] * (len(self.header) + len(p_values))
            rows.append((f"{count(empty)} {'group' if empty == 1 else 'groups'} without rows", "0", *blank))
        return Table(title="", header=(self.by, "rows", *self.header, *p_values), rows=rows)

    def _by_deviation(self) -> list[EvaluatedGroup]:
        """Return the groups that have rows: the most significant first, those without a test as they were."""

        def deviation(group: EvaluatedGroup) -> tuple[float, float]:
            if group.p_value is None or group.unadjusted is None:
                return 2.0, 0.0
            return group.p_value, group.unadjusted

        return sorted((group for group in self.groups if group.rows), key=deviation)

    def figures(self, confidence: float) -> list[Figure]:
        """Build the figure of the tested rate by group."""
        drawn = [group for group in self._by_deviation() if group.rate is not None][:_MAX_DRAWN]
        if not drawn:
            return []
        rates = [(group.name, group.rate, self.target) for group in drawn if group.rate is not None]
        name = self.bound.partition(" ")[0] or "rate"
        return [rates_figure([(f"{name.capitalize()} by {printable(self.by, 30)}", rates)], confidence)]

    def claims(self) -> list[Claim]:
        """Return the claim that each tested group keeps the bound."""
        return [
            Claim(
                name=f"{self.by} = {group.name}: {self.bound}",
                met=group.p_value > self.level,
                sentence=f"{self.by} = {group.label}: {self.bound}, {p_text(group.p_value)}.",
            )
            for group in self.groups
            if group.p_value is not None
        ]


def group_evaluation(
    by: str,
    groups: Sequence[EvaluatedGroup],
    header: tuple[str, ...],
    bound: str,
    level: float,
    *,
    units: str = "",
    labels_missing: bool = False,
) -> GroupEvaluation:
    """Test the bound in each group that is large enough, at one level for all (Holm).

    ``units`` is what rows of a group depend on each other within; empty if they are independent.
    """
    p_values = {
        group.name: p_value
        for group in groups
        if group.bounded is not None
        and group.rows >= MIN_GROUP_ROWS
        and (p_value := group.bounded.p_value()) is not None
    }
    adjusted = holm(p_values)
    tested = [
        replace(
            group,
            p_value=adjusted[group.name],
            unadjusted=p_values[group.name],
            detectable=group.bounded.detectable(level / len(adjusted)),
        )
        if group.bounded is not None and group.name in adjusted
        else replace(group, untested=group.untested or _why_untested(group, units))
        for group in groups
    ]
    bounds = [float(group.bounded.bound) for group in groups if group.bounded is not None]
    return GroupEvaluation(
        by=by,
        groups=tuple(tested),
        header=header,
        bound=bound,
        target=bounds[0] if bounds else None,
        level=level,
        labels_missing=labels_missing,
    )


def _why_untested(group: EvaluatedGroup, units: str) -> str:
    if group.rows < MIN_GROUP_ROWS:
        return f"too small to test (below {MIN_GROUP_ROWS} rows)"
    if units and group.bounded is not None and group.bounded.trials:
        return f"not tested, since too few {units} have rows that count for the target"
    return "not tested, since no row counts for the target"


class ReportByGroup(Report, Protocol):
    """Report of an evaluation, with results by group and by segment if they were requested."""

    @property
    def audit(self) -> Audit | None:
        """Tests of a single rule by segment, if requested."""

    @property
    def by_group(self) -> GroupEvaluation | None:
        """Results of a single rule by group, if requested."""


NamedRate = tuple[str, Estimate, float | None]
"""Name of a rule or group, its rate, and the target of the rate; None if the rule has another constraint."""


def rates_figure(rates: Sequence[tuple[str, Sequence[NamedRate]]], confidence: float) -> Figure:
    """Build a figure with one panel per rate that is known for a rule, and one line per rule."""
    known = [
        (title, measured)
        for title, measured in rates
        if any(rate.value is not None or rate.low is not None for _, rate, _ in measured)
    ]
    rates = known or rates
    has_intervals = any(rate.low is not None for _, measured in rates for _, rate, _ in measured)
    lines = len(rates[0][1])

    def draw(canvas: Canvas) -> list[HoverText]:
        texts = []
        all_axes = panels(canvas, [1] * len(rates), share_y=True)
        for axes, (title, measured) in zip(all_axes, rates, strict=True):
            _draw(axes, title, measured)
            for position, (name, rate, _) in enumerate(measured):
                low, high = rate.low, rate.high
                if low is not None and high is not None:
                    text = f"{title} of {printable(name)}: {interval(rate)}"
                    texts.append(HoverText(axes=axes, x=(low, high), y=(position, position), text=text))
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
        value, low, high = rate.value, rate.low, rate.high
        if target is not None:
            axes.plot([target] * 2, [position - 0.36, position + 0.36], color=RED, linewidth=2)
        if low is not None and high is not None:
            axes.plot(
                [low, high],
                [position, position],
                color=GREY if value is None else BLUE,
                linewidth=1.2 if value is None else 1.6,
                linestyle=(0, (2, 2)) if value is None else "-",
            )
        if value is not None:
            axes.plot([value], [position], color=BLUE, marker="o", markersize=6)
    if any(target is not None for _, _, target in measured):
        axes.plot([], [], color=RED, linewidth=2, label="target")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False, borderpad=0)
    label_lines(axes, [name for name, _, _ in measured])
    if all(rate.low is None for _, rate, _ in measured):
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
    if estimate.low is None:
        return ""
    significance = "n.s." if not direction(estimate) else "sig." if p_value is None else p_text(p_value)
    return f" ({significance.replace(' ', '')})"


class HasMetrics(Protocol):
    """Metrics of a rule of any kind."""

    def metrics(self) -> Metrics:
        """Return the metrics by key."""


Results = Sequence[tuple[str, Any, HasMetrics]]
"""Name, rule and metrics of each rule file, in the order of the command line."""


def said_of(name: str, verdict: str) -> str:
    """Join the name of a rule and the verdict on it; a target that is not tested is its own subject."""
    if " not tested" in verdict:
        return verdict if name == "the rule" else f"{name}: {verdict}"
    return f"{name} {'is ' if verdict.startswith(('consistent', 'below')) else ''}{verdict}"


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    """Parts shared by the evaluations of all kinds of rules.

    The results are the name, rule and metrics of each rule file, in the order of the command line. The
    difference is the second rule less the first, if there are two. By group, and by segment (an audit), there
    are results of a single rule, if requested.
    """

    source: Source
    parameters: EvaluateParameters
    results: Results
    difference: HasMetrics | None = None
    by_group: GroupEvaluation | None = None
    audit: Audit | None = None

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
        if len(self.results) < 3:
            return []
        return [
            Notice(
                "best-of-several",
                f"you compared {len(self.results)} rules on one file, so the best one looks better than it "
                "is: confirm it on other rows.",
            )
        ]

    def verdicts(self, sentences: Sequence[str]) -> str:
        """Join the verdicts of the rules, of many only the first, those that miss their target before others.

        If two are equal, state them once for both.
        """
        if len(self.results) == 1:
            return capitalised(said_of("the rule", sentences[0]))
        if len(self.results) == 2 and sentences[0] == sentences[1] and sentences[0].startswith("consistent"):
            return f"Both are {sentences[0]}"
        named = list(zip(self.names, sentences, strict=True))
        if len(named) > MOST_NAMED:
            named.sort(key=lambda pair: not pair[1].startswith("misses"))
        said = [said_of(name, verdict.rstrip(".")) for name, verdict in named]
        if len(said) > MOST_NAMED:
            said[MOST_NAMED:] = [f"the other {len(said) - MOST_NAMED} are among the notes (--verbose)"]
        return f"{'; '.join(said)}."

    def each_verdict(self, claims: Sequence[Claim]) -> list[str]:
        """State the verdict of each rule, if there are so many that ``verdicts`` leaves some out."""
        return [claim.sentence for claim in claims] if len(self.results) > MOST_NAMED else []

    @property
    def checked_metrics(self) -> Mapping[str, Metrics]:
        """Metrics by rule file; under '' those of a single rule, or the difference of two."""
        if len(self.results) == 1:
            return {"": {**self.results[0][2].metrics(), **self._metrics_of_parts()}}
        together = {} if self.difference is None else {"": {"difference": self.difference.metrics()}}
        return {**together, **{name: measured.metrics() for name, _, measured in self.results}}

    def build_payload(
        self, notes: Sequence[str], more: Mapping[str, Any] = MappingProxyType({})
    ) -> dict[str, Any]:
        """Build the JSON form: ``results`` of all rules, ``metrics`` of one or of the difference of two.

        ``more`` has further parameters.
        """
        head = head_of("evaluate", self.source, {**msgspec.to_builtins(self.parameters), **more})
        results = [
            {"artifact": name, "metrics": plain({**measured.metrics(), **self._metrics_of_parts()})}
            for name, _, measured in self.results
        ]
        single = {"metrics": results[0]["metrics"]} if len(results) == 1 else {}
        if self.difference is not None:
            single = {"metrics": {"difference": plain(self.difference.metrics())}}
        parts: dict[str, Any] = {}
        if self.by_group is not None:
            parts |= self.by_group.payload()
            notes = [*self.by_group.lead(), *self.by_group.cautions(), *notes]
        if self.audit is not None:
            parts["audit"] = self.audit.payload()
            notes = [self.audit.lead(), *notes]
        return {**head, **single, "results": results, **parts, "notes": list(notes)}

    def _metrics_of_parts(self) -> Metrics:
        return {
            **({} if self.by_group is None else self.by_group.metrics()),
            **({} if self.audit is None else self.audit.metrics()),
        }

    def with_parts(self, document: Document) -> Document:
        """Add the results by group and by segment to the readable form: verdict, table and figure."""
        return with_audit(self._with_groups(document), self.audit)

    def _with_groups(self, document: Document) -> Document:
        groups = self.by_group
        if groups is None:
            return document
        card = document.card
        if card is not None and groups.broken:
            card = replace(card, verdict=Verdict(text="a group misses the target", tone="bad"))
        return replace(
            document,
            lead=[*groups.lead(), *document.lead],
            tables=[groups.table(), *(replace(table, detail=True) for table in document.tables)],
            cautions=[*groups.cautions(), *document.cautions],
            figures=[*groups.figures(self.parameters.confidence), *document.figures],
            claims=[*document.claims, *groups.claims()],
            card=card,
        )


def apply_command(name: str) -> str:
    """Return the command line that applies a rule file."""
    return f"uqcli apply {quote(name)} NEW.csv -o applied.csv"
