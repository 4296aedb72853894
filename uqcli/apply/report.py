"""Report of ``uqcli apply``."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from uqcli.base.records import dataclass
from uqcli.base.wording import count, percent, rows_of
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.reports.document import Document, HeadCard, KeyNumber, Metrics, OneResult, Verdict, head_of
from uqcli.rules.rows_output import WrittenRows
from uqcli.rules.saved import Saved

_TITLES: Final = {
    "boundary": "Decided",
    "calibrator": "Calibrated the probabilities of",
    "conformal": "Added prediction sets to",
}


def metrics_of(
    *,
    rows: int,
    selected: int | None,
    undecided: int,
    reviewed: int | None = None,
    outside: float | None = None,
    unknown: int | None = None,
) -> Metrics:
    """Return the counts of the output by key.

    Parameters
    ----------
    selected, reviewed
        None if the rule makes no decisions, or has no review.
    outside
        Share of the rows outside the range of the calibration rows; None if unknown.
    unknown
        Rows with a category that the rule does not know; None if it reads no categories.
    """
    categories = {} if unknown is None else {"new_categories": unknown}
    if selected is None:
        return {"rows": rows, "undecided": undecided, **categories}
    share = reviewed / rows if reviewed is not None and rows else None
    zones = {} if reviewed is None else {"reviewed": reviewed, "review_share": share}
    return {
        **zones,
        "rows": rows,
        "selected": selected,
        "undecided": undecided,
        "selected_share": selected / rows if rows else None,
        "outside_range": outside,
        **categories,
    }


@dataclass(frozen=True, kw_only=True)
class ApplyReport(OneResult):
    """Rows written with what a rule adds to them.

    Attributes
    ----------
    taken
        Rows flagged in each group within a capacity; None without one.
    likeness
        Comparison with the calibration rows; None if the rule flags nothing.
    unknown
        Rows with a category that the rule does not know; None if it reads no categories.
    """

    command: ClassVar = "apply"

    rule: Saved
    source: WrittenRows
    columns: list[str]
    on_invalid: str
    only_selected: bool = False
    top: int | None = None
    per: str | None = None
    selected: int | None
    undecided: int
    reviewed: int | None = None
    taken: tuple[int, ...] | None = None
    likeness: Likeness | None = None
    unknown: int | None = None

    @property
    def metrics(self) -> Metrics:
        """Counts of the output."""
        return metrics_of(
            rows=self.source.rows,
            selected=self.selected,
            undecided=self.undecided,
            reviewed=self.reviewed,
            outside=None if self.likeness is None else self.likeness.share_outside,
            unknown=self.unknown,
        )

    @property
    def warnings(self) -> list[str]:
        """How the rows differ from the calibration rows; empty if they do not."""
        return [] if self.likeness is None else self.likeness.cautions

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **head_of(self.command, self.source, self._parameters()),
            "metrics": dict(self.metrics),
            "notes": self.warnings,
        }

    def _parameters(self) -> dict[str, Any]:
        given = {"only_selected": self.only_selected, "top": self.top, "per": self.per}
        always = {"kind": self.rule.kind, "columns": self.columns, "on_invalid": self.on_invalid}
        return always | {name: value for name, value in given.items() if value}

    def document(self) -> Document:
        """Return the readable form."""
        rows = self.source.rows
        title = f"{_TITLES.get(self.rule.kind, 'Added columns to')} {rows_of(rows)}"
        if self.selected is not None:
            rate = f" ({percent(self.selected / rows)})" if rows else ""
            title = f"Flagged {count(self.selected)} of {rows_of(rows)}{rate}"
        if self.reviewed is not None:
            rate = f" ({percent(self.reviewed / rows)})" if rows else ""
            title = f"{title} and sent {count(self.reviewed)}{rate} to review"
        title = f"{title}."
        cautions = self.warnings
        if self.undecided:
            has = "has" if self.undecided == 1 else "have"
            cautions.append(f"{rows_of(self.undecided)} {has} a missing value, and so no result.")
        if self.unknown and not isinstance(self.rule, CalibratorArtifact):
            belong = "belongs" if self.unknown == 1 else "belong"
            cautions.append(
                f"{rows_of(self.unknown)} {belong} to groups that the rule does not know; "
                "the rule of all rows decides there."
            )
        elif self.unknown:
            has, a_category = ("has", "a new category") if self.unknown == 1 else ("have", "new categories")
            cautions.append(f"{rows_of(self.unknown)} {has} {a_category}, which the rule does not know.")
        if self.source.dropped:
            were = "was" if self.source.dropped == 1 else "were"
            cautions.append(f"{rows_of(self.source.dropped)} without a usable value {were} dropped.")
        added = f"Columns added: {', '.join(self.columns)}."
        if self.only_selected:
            added += " Only flagged rows are written."
        added += self._capacity()
        return Document(
            title=title,
            tables=[],
            lead=[f"{self.rule.in_a_sentence().rstrip('.')}.", added],
            cautions=cautions,
            card=self._card(title),
        )

    def _capacity(self) -> str:
        """State the capacity and the groups below it; empty without one."""
        top, per = self.top, self.per
        if self.taken is None or top is None:
            return ""
        if not self.taken:  # no row has a group
            return ""
        below = sum(rows < top for rows in self.taken)
        first = f"The first {rows_of(top)}"
        verb = "is" if top == 1 else "are"
        if per is not None:
            fewer = f"; {count(below)} {'has' if below == 1 else 'have'} fewer" if below else ""
            groups = f"each of {count(len(self.taken))} groups" if len(self.taken) != 1 else "1 group"
            flagged = f"{first} of {groups} {verb} flagged{fewer}."
        elif below:
            flagged = f"All usable rows are flagged, since there are fewer than {count(top)}."
        else:
            flagged = f"{first} {verb} flagged, whatever the thresholds."
        certified = isinstance(self.rule, BoundaryArtifact) and self.rule.risk
        return f" {flagged}{' No certificate is about them.' if certified else ''}"

    def _card(self, title: str) -> HeadCard:
        rows = self.source.rows
        written = self.selected if self.only_selected else rows
        numbers = [KeyNumber(label="rows written", value=count(written or 0))]
        if self.selected is not None and rows:
            usual = None if self.taken is not None else self.rule.alert_rate
            beside = "" if usual is None else f"{percent(usual)} on the calibration set"
            numbers.append(KeyNumber(label="flagged", value=percent(self.selected / rows), interval=beside))
        if self.reviewed is not None and rows:
            numbers.append(KeyNumber(label="for review", value=percent(self.reviewed / rows)))
        else:
            numbers.append(KeyNumber(label="undecided", value=count(self.undecided)))
        action = "When labels arrive, check the rule with uqcli evaluate."
        if self.selected is not None:
            evaluated = "" if self.taken is not None else f" {action}"  # evaluate tests the thresholds
            action = f"Handle the rows whose {self.columns[0]} is true.{evaluated}"
        verdict = None
        if self.selected is not None:
            compared = self.likeness is not None and self.likeness.explained is not None
            rate = "alert rate as usual; " if compared else ""
            verdict = Verdict(text=f"{rate}hit rate unknown until labels arrive")
        if self.likeness is not None and not self.likeness.is_usual:
            verdict = Verdict(text="unusual alert rate", tone="bad")
        elif self.warnings:
            verdict = Verdict(text="unusual rows", tone="bad")
        subject = "{rules} applied to {inputs}; rows written to {output}."
        return HeadCard(title=title, subject=subject, verdict=verdict, numbers=numbers, action=action)


LEVEL: Final = 0.999
"""Level of the range of flagged rows, and of the limit on rows outside the range of the calibration rows."""

MOST_OUTSIDE: Final = 0.01
"""Share of rows outside the range of the calibration rows up to which there is no caution."""


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """Comparison of decided rows with the calibration rows of their rule.

    Attributes
    ----------
    rows, selected
        Rows that were decided, and the flagged ones among them.
    explained
        Fewest and most flagged rows that the rate on the calibration rows explains; None if not compared.
    outside
        Rows with a number outside the range of the calibration rows; None if the rule does not know it.
    most_outside
        Most rows outside that range if the rows are like the calibration rows.
    roles
        Numbers with a range.
    """

    rows: int
    selected: int
    explained: tuple[int, int] | None
    outside: int | None
    most_outside: int
    roles: tuple[str, ...]

    @property
    def share_outside(self) -> float | None:
        """Share of the rows outside the range of the calibration rows; None if unknown."""
        return self.outside / self.rows if self.outside is not None and self.rows else None

    @property
    def is_usual(self) -> bool:
        """Whether the rate on the calibration rows explains the flagged rows; true if it is not compared."""
        return self.explained is None or self.explained[0] <= self.selected <= self.explained[1]

    @property
    def cautions(self) -> list[str]:
        """What differs; empty if nothing does."""
        cautions = []
        if self.explained is not None and not self.is_usual:
            rate, low, high = (_rate(count / self.rows) for count in (self.selected, *self.explained))
            cautions.append(
                f"the alert rate is {rate}. For rows like the calibration set, "
                f"its {100 * LEVEL:g} % range is {low} to {high}. Check the columns, or fit the rule again."
            )
        share = self.share_outside
        if share is not None and share > MOST_OUTSIDE and (self.outside or 0) > self.most_outside:
            numbers = "a score or an uncertainty" if len(self.roles) > 1 else "a score"
            cautions.append(
                f"{_rate(share)} of rows have {numbers} outside the range of the calibration set. "
                "Check the columns, or fit the rule again."
            )
        return cautions


def _rate(share: float) -> str:
    return f"{100 * share:.4g} %"
