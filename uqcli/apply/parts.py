"""Parts of what ``uqcli apply`` tells: decisions, a review, a capacity, and how usual the rows are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from uqcli.apply.report import ApplyPart, Fact, Phrases, Remark
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import count, percent, rows_of
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.estimates.proportion import flagged_interval
from uqcli.reports.document import KeyNumber, Metrics, Verdict
from uqcli.reports.parts import Statement

_TITLES: Final = {
    "boundary": "Decided",
    "calibrator": "Calibrated the probabilities of",
    "conformal": "Added prediction sets to",
}

_LEVEL: Final = 0.999
"""Level of the range of flagged rows, and of the limit on rows outside the range of the calibration rows."""

_MOST_OUTSIDE: Final = 0.01
"""Share of rows outside the range of the calibration rows up to which there is no caution."""


@dataclass(frozen=True, kw_only=True)
class WrittenPart(ApplyPart):
    """Rows with what a rule of a kind adds to them; undecided ones lack a value."""

    kind: str
    rows: int
    undecided: int

    def reworded(self, phrases: Phrases) -> Phrases:
        title = f"{_TITLES.get(self.kind, 'Added columns to')} {rows_of(self.rows)}"
        return replace(phrases, title=title, written=self.rows)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        if self.undecided:
            has = "has" if self.undecided == 1 else "have"
            undecided = f"{rows_of(self.undecided)} {has} a missing value, and so no result."
            yield "undecided-rows", Notice("undecided-rows", undecided)
        yield "written", KeyNumber(label="rows written", value=count(phrases.written))
        yield "undecided", KeyNumber(label="undecided", value=count(self.undecided))

    def metrics(self, phrases: Phrases) -> Metrics:
        return {"rows": self.rows, "undecided": self.undecided}


@dataclass(frozen=True, kw_only=True)
class Decisions(ApplyPart):
    """Flagged rows, in a column; ``usual`` tells their share on the calibration set, empty if unknown."""

    rows: int
    selected: int
    column: str
    usual: str

    def reworded(self, phrases: Phrases) -> Phrases:
        rate = f" ({percent(self.selected / self.rows)})" if self.rows else ""
        return replace(
            phrases,
            title=f"Flagged {count(self.selected)} of {rows_of(self.rows)}{rate}",
            action=f"Handle the rows whose {self.column} is true. {phrases.action}",
        )

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        if self.rows:
            share = percent(self.selected / self.rows)
            yield "flagged-as-usual", KeyNumber(label="flagged", value=share, interval=self.usual)
        yield "unknown-hits", Verdict(text="hit rate unknown until labels arrive")

    def metrics(self, phrases: Phrases) -> Metrics:
        share = self.selected / self.rows if self.rows else None
        return {"selected": self.selected, "selected_share": share, "outside_range": None}


@dataclass(frozen=True, kw_only=True)
class OnlyFlagged(ApplyPart):
    """Flagged rows alone are written."""

    selected: int

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, written=self.selected)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "only-flagged", "Only flagged rows are written."


@dataclass(frozen=True, kw_only=True)
class Reviewed(ApplyPart):
    """Rows that are sent to review."""

    rows: int
    reviewed: int

    def voids(self) -> Iterable[Fact]:
        return (Fact.ONE_DECISION,) if self.rows else ()

    def reworded(self, phrases: Phrases) -> Phrases:
        rate = f" ({percent(self.reviewed / self.rows)})" if self.rows else ""
        return replace(phrases, title=f"{phrases.title} and sent {count(self.reviewed)}{rate} to review")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        if self.rows:
            yield "reviewed", KeyNumber(label="for review", value=percent(self.reviewed / self.rows))

    def metrics(self, phrases: Phrases) -> Metrics:
        share = self.reviewed / self.rows if self.rows else None
        return {"reviewed": self.reviewed, "review_share": share}


@dataclass(frozen=True, kw_only=True)
class Capacity(ApplyPart):
    """The first rows of each group are flagged, up to a number, whatever the thresholds.

    ``taken`` are the flagged rows of each group, and ``per`` says whether a column has the groups.
    """

    rank: ClassVar = 1

    decisions: Decisions
    top: int
    taken: Sequence[int]
    per: bool
    is_certified: bool

    def voids(self) -> Iterable[Fact]:
        return (Fact.BY_THRESHOLD,)

    def reworded(self, phrases: Phrases) -> Phrases:
        # evaluate tests the thresholds, which do not decide
        return replace(phrases, action=f"Handle the rows whose {self.decisions.column} is true.")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        decided = self.decisions
        if decided.rows:
            yield "flagged", KeyNumber(label="flagged", value=percent(decided.selected / decided.rows))
        if not self.taken:  # no row has a group
            return
        certificate = " No certificate is about them." if self.is_certified else ""
        yield "capacity", f"{self._per_group() if self.per else self._in_all()}{certificate}"

    def _first_of(self, groups: str) -> str:
        """State that the first rows are flagged, of which groups."""
        if self.top == 1:
            return f"The highest-ranked row{groups} is flagged"
        return f"The {count(self.top)} highest-ranked rows{groups} are flagged"

    @property
    def _below(self) -> int:
        return sum(rows < self.top for rows in self.taken)

    def _in_all(self) -> str:
        if self._below:
            return f"All usable rows are flagged, since there are fewer than {count(self.top)}."
        return f"{self._first_of('')}, whatever the thresholds."

    def _per_group(self) -> str:
        below, groups = self._below, len(self.taken)
        fewer = f"; {count(below)} {'has' if below == 1 else 'have'} fewer" if below else ""
        named = "1 group" if groups == 1 else f"each of {count(groups)} groups"
        return f"{self._first_of(f' of {named}')}{fewer}."


def likeness(rule: BoundaryArtifact, decided: int, selected: int) -> list[ApplyPart]:
    """Compare the share of flagged rows with that of the calibration rows.

    It is not compared if the rule is for other class priors, if it was fitted on rows with high scores, or if
    its rows depend on each other.
    """
    if rule.has_target or rule.region is not None or rule.source.dependence is not None:
        return []
    fewest, most = flagged_interval(*rule.fit.flagged, decided, _LEVEL)
    if fewest <= selected <= most:
        usual = Verdict(text="alert rate as usual; hit rate unknown until labels arrive")
        return [Remark(said=[("usual-rate", usual)])]
    rate, low, high = (_percent(number / decided) for number in (selected, fewest, most))
    warning = (
        f"the alert rate is {rate}. For rows like the calibration set, its {100 * _LEVEL:g} % range is {low} "
        f"to {high}. Check the columns, or fit the rule again."
    )
    verdict = Verdict(text="unusual alert rate", tone="bad")
    notice = Notice("unusual-alerts", warning)
    return [Remark(said=[("unusual-alerts", notice), ("unusual-rate", verdict)])]


def outside_range(rule: BoundaryArtifact, decided: int, outside: int) -> list[ApplyPart]:
    """Compare rows with a number outside the range of the calibration rows with those to expect there."""
    if not rule.ranges or not decided:
        return []
    share, (_, calibrated) = outside / decided, rule.fit.flagged
    # the range of k numbers leaves out at most the share that 2 k calibration rows have
    extremes = min(2 * len(rule.ranges), calibrated)
    most = flagged_interval(max(extremes - 1, 0), calibrated, decided, _LEVEL)[1]
    said: list[Statement] = []
    if share > _MOST_OUTSIDE and outside > most:
        numbers = "a score or an uncertainty" if len(rule.ranges) > 1 else "a score"
        warning = (
            f"{_percent(share)} of rows have {numbers} outside the range of the calibration set. Check the "
            "columns, or fit the rule again."
        )
        verdict = Verdict(text="unusual rows", tone="bad")
        said = [("outside-range", Notice("outside-range", warning)), ("unusual-rows", verdict)]
    return [Remark(said=said, measured={"outside_range": share})]


def new_categories(unknown: int, *, is_calibrator: bool) -> ApplyPart:
    """Tell of rows with a category, or of a group, that the rule does not know."""
    said: list[Statement] = []
    if unknown and is_calibrator:
        has, a_category = ("has", "a new category") if unknown == 1 else ("have", "new categories")
        sentence = f"{rows_of(unknown)} {has} {a_category}, which the rule does not know."
        said.append(("unknown-groups", Notice("unknown-groups", sentence)))
    elif unknown:
        belong = "belongs" if unknown == 1 else "belong"
        sentence = (
            f"{rows_of(unknown)} {belong} to groups that the rule does not know; the rule of all rows "
            "decides there."
        )
        said.append(("unknown-groups", Notice("unknown-groups", sentence)))
    return Remark(said=said, measured={"new_categories": unknown})


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"
