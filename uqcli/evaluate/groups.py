"""Results of a rule by group of a column: its bound is tested exactly on each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from uqcli.base.defaults import MIN_GROUP_ROWS
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import count, first_of, p_text, percent, printable
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate
from uqcli.estimates.proportion import BoundedRate, holm
from uqcli.evaluate.report import EvaluatedPart, rates_figure
from uqcli.reports.document import Claim, Document, Figure, Metrics, Table, Verdict, plain

_MAX_DRAWN: Final = 50
_MAX_NAMED: Final = 12


@dataclass(frozen=True, kw_only=True)
class EvaluatedGroup:
    """A rule's results on one group, which is not tested; ``untested`` says why.

    ``cells`` are those of the table, without name, rows and p-value.
    """

    name: str
    rows: int
    metrics: Metrics
    cells: tuple[str, ...]
    untested: str = ""

    @property
    def label(self) -> str:
        """Name in tables and sentences."""
        return printable(self.name, 40)

    @property
    def p_value(self) -> float | None:
        """That its rate breaks the bound, adjusted for all groups (Holm); None if this is not tested."""
        return None

    @property
    def detectable(self) -> float | None:
        """The rate that the test would detect with a probability of 80 %; None if there is none."""
        return None


@dataclass(frozen=True, kw_only=True)
class BoundedGroup(EvaluatedGroup):
    """Results on a group whose rate has a bound, with the counts of that rate."""

    rate: Estimate
    bounded: BoundedRate

    @property
    def rate_in_words(self) -> str:
        """The rate for a sentence, of few rows as a count; empty if it is unknown."""
        if self.rate.value is None:
            return ""
        bounded = self.bounded
        if bounded.tail is None and bounded.trials < FEWEST_FLAGGED:
            return f"{count(bounded.successes)} of {count(bounded.trials)}, "
        return f"{percent(self.rate.value)}, "


@dataclass(frozen=True, kw_only=True)
class TestedGroup(BoundedGroup):
    """Results on a group whose bound is tested, with p-values adjusted for all groups and not."""

    adjusted: float
    unadjusted: float
    most: float | None

    @property
    def p_value(self) -> float:
        """See EvaluatedGroup."""
        return self.adjusted

    @property
    def detectable(self) -> float | None:
        """See EvaluatedGroup."""
        return self.most


@dataclass(frozen=True, kw_only=True)
class GroupEvaluation(EvaluatedPart):
    """A rule's results by group of a column, in the order of the groups' names; the header names the cells.

    ``bound`` is the bound of the rule, such as "precision >= 0.7", which no group is tested for; empty if
    there is none.
    """

    by: str
    groups: Sequence[EvaluatedGroup]
    header: tuple[str, ...]
    bound: str

    @property
    def broken(self) -> Sequence[TestedGroup]:
        """Groups that break the bound."""
        return []

    def listed_groups(self) -> Sequence[EvaluatedGroup]:
        """See EvaluatedPart."""
        return self.groups

    def payload(self) -> Mapping[str, Any]:
        """Return the JSON form: the groups, and the name of the worst."""
        return {
            "groups": [
                {
                    "name": group.name,
                    "rows": group.rows,
                    "tested": isinstance(group, TestedGroup),
                    "p": group.p_value,
                    "detectable": group.detectable,
                    "metrics": plain(group.metrics),
                }
                for group in self.groups
            ],
            "worst_group": None,
        }

    def metrics(self) -> Metrics:
        """Return the metrics by group, and those of the worst."""
        return {
            "by_group": {group.name: group.metrics for group in self.groups},
            "worst_group": {**dict.fromkeys(self.groups[0].metrics), "p": None},
            "groups_below": None,
        }

    def lead(self) -> list[str]:
        """State the verdict on the worst group; empty if none is tested."""
        return []

    def cautions(self) -> list[Notice]:
        """Name the groups that are not tested, by reason."""
        by_reason: dict[str, list[str]] = {}
        for group in self.groups:
            if self.bound and not isinstance(group, TestedGroup):
                by_reason.setdefault(group.untested, []).append(f"{group.label} ({count(group.rows)})")
        return [
            Notice(
                "groups-untested",
                f"these groups are {reason.replace(', not tested', ' and not tested')}: "
                f"{first_of(names, _MAX_NAMED)}.",
            )
            for reason, names in by_reason.items()
        ]

    def notes(self) -> Sequence[str]:
        """See EvaluatedPart."""
        return [*self.lead(), *self.cautions()]

    def on_each(self, claim: Claim) -> Claim:
        """Return what the claim about all rows is in each group."""
        reasons = (group.untested.removesuffix(", not tested") for group in self.groups)
        why = "; ".join(dict.fromkeys(reason.removeprefix("not tested, since ") for reason in reasons))
        return replace(claim, met=None, sentence=f"{claim.name} is tested in no group: {why}.")

    def added_to(self, document: Document, confidence: float) -> Document:
        """Add its verdict, table and figure to the readable form."""
        return replace(
            document,
            lead=[*self.lead(), *document.lead],
            tables=[self._table(), *(replace(table, detail=True) for table in document.tables)],
            cautions=[*self.cautions(), *document.cautions],
            figures=[*self._figures(confidence), *document.figures],
        )

    def _table(self) -> Table:
        p_values = ("p",) if self.bound else ()
        shown = self._by_deviation()
        rows = [
            (
                group.label,
                count(group.rows),
                *group.cells,
                *((f"{group.p_value:.3g}" if isinstance(group, TestedGroup) else "-",) if self.bound else ()),
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
            return (group.p_value, group.unadjusted) if isinstance(group, TestedGroup) else (2.0, 0.0)

        return sorted((group for group in self.groups if group.rows), key=deviation)

    def _figures(self, confidence: float) -> list[Figure]:
        """Build the figure of the bounded rate by group."""
        drawn = [group for group in self._by_deviation() if isinstance(group, BoundedGroup)][:_MAX_DRAWN]
        if not drawn:
            return []
        rates = [(group.name, group.rate, float(group.bounded.bound)) for group in drawn]
        name = self.bound.partition(" ")[0] or "rate"
        return [rates_figure([(f"{name.capitalize()} by {printable(self.by, 30)}", rates)], confidence)]


@dataclass(frozen=True, kw_only=True)
class TestedGroups(GroupEvaluation):
    """Results by group, of which some are tested at a level for all of them.

    Rows without a label are left out if ``labels_missing``.
    """

    level: float
    labels_missing: bool

    @property
    def tested(self) -> str:
        """See EvaluatedPart."""
        return "groups"

    @property
    def _tested_groups(self) -> list[TestedGroup]:
        return [group for group in self.groups if isinstance(group, TestedGroup)]

    @property
    def worst(self) -> TestedGroup:
        """The group with the lowest p-value."""
        return min(self._tested_groups, key=lambda group: (group.p_value, group.unadjusted, group.name))

    @property
    def broken(self) -> Sequence[TestedGroup]:
        """Groups that break the bound."""
        return [group for group in self._tested_groups if group.p_value <= self.level]

    def payload(self) -> Mapping[str, Any]:
        """Return the JSON form: the groups, and the name of the worst."""
        return {**super().payload(), "worst_group": self.worst.name}

    def metrics(self) -> Metrics:
        """Return the metrics by group, and those of the worst."""
        worst = {**self.worst.metrics, "p": self.worst.p_value}
        return {**super().metrics(), "worst_group": worst, "groups_below": len(self.broken)}

    def lead(self) -> list[str]:
        """State the verdict on the worst group."""
        worst, tested, missing = self.worst, len(self._tested_groups), len(self.broken)
        name = f"{self.by} = {worst.label}"
        corrected = f", corrected for {tested} groups" if tested > 1 else ""
        test = f"{worst.rate_in_words}{p_text(worst.p_value)}{corrected}"
        groups = f"{tested} {'' if tested == len(self.groups) else 'tested '}groups"
        if missing == 1:
            return [f"1 of {groups} misses {self.bound}: {name} ({test})."]
        if missing:
            return [f"{missing} of {groups} miss {self.bound}; the worst is {name} ({test})."]
        detectable = ""
        if worst.detectable is not None:
            detectable = (
                f" A rate of {percent(worst.detectable)} there would have been detected (80 % power)."
            )
        return [f"No group misses {self.bound} significantly; the worst is {name} ({test}).{detectable}"]

    def cautions(self) -> list[Notice]:
        """Name the groups that are not tested, and say on which rows others are."""
        cautions = super().cautions()
        if self.labels_missing:
            rows = (
                "Groups are tested on their labelled rows, as if labels were given at random among the "
                "flagged rows of a group."
            )
            cautions.append(Notice("tested-elsewhere", rows))
        return cautions

    def on_each(self, claim: Claim) -> Claim:
        """Return what the claim about all rows is in each group."""
        return replace(claim, met=not self.broken, sentence=f"{claim.name} is tested in each group.")

    def added_to(self, document: Document, confidence: float) -> Document:
        """Add its verdict, table, figure and claims to the readable form."""
        card, claims = document.card, [self._claim(group) for group in self._tested_groups]
        if card is not None and self.broken:
            card = replace(card, verdict=Verdict(text="a group misses the target", tone="bad"))
        return replace(super().added_to(document, confidence), claims=[*document.claims, *claims], card=card)

    def _claim(self, group: TestedGroup) -> Claim:
        name = f"{self.by} = {group.name}: {self.bound}"
        sentence = f"{self.by} = {group.label}: {self.bound}, {p_text(group.p_value)}."
        return Claim(name=name, met=group.p_value > self.level, sentence=sentence)


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
    large = [group for group in groups if isinstance(group, BoundedGroup) and group.rows >= MIN_GROUP_ROWS]
    tested = {group.name: group for group in large}
    p_values = {
        name: p_value for name, group in tested.items() if (p_value := group.bounded.p_value()) is not None
    }
    adjusted = holm(p_values)
    results = [
        TestedGroup(
            **vars(tested[group.name]),
            adjusted=adjusted[group.name],
            unadjusted=p_values[group.name],
            most=tested[group.name].bounded.detectable(level / len(adjusted)),
        )
        if group.name in adjusted
        else replace(group, untested=group.untested or _why_untested(group, units))
        for group in groups
    ]
    if not adjusted:
        return GroupEvaluation(by=by, groups=results, header=header, bound=bound)
    return TestedGroups(
        by=by, groups=results, header=header, bound=bound, level=level, labels_missing=labels_missing
    )


def _why_untested(group: EvaluatedGroup, units: str) -> str:
    if group.rows < MIN_GROUP_ROWS:
        return f"too small to test (below {MIN_GROUP_ROWS} rows)"
    if units and isinstance(group, BoundedGroup) and group.bounded.trials:
        return f"not tested, since too few {units} have rows that count for the target"
    return "not tested, since no row counts for the target"
