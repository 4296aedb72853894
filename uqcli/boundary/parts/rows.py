"""How the calibration rows were drawn and labelled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from uqcli.base.choices import Algorithm
from uqcli.base.notices import Notice
from uqcli.base.operating_system import quote
from uqcli.base.records import dataclass
from uqcli.base.wording import count, percent, rows_of
from uqcli.boundary.dependent_columns import AlikeRows
from uqcli.boundary.expected import OPTIMISM_CORRECTED, Expected
from uqcli.boundary.rule_words import LABELLED_ROWS
from uqcli.boundary.statements import BoundaryPart, Fact, Phrases, Remark
from uqcli.estimates.estimate import unreliable
from uqcli.estimates.survey import few_clusters
from uqcli.reports.parts import Statement


@dataclass(frozen=True, kw_only=True)
class DependentRows(BoundaryPart):
    """Rows of one cluster or day, of a column, depend on each other."""

    unit: str
    column: str

    def voids(self) -> Iterable[Fact]:
        return (Fact.INDEPENDENT,)

    def reworded(self, phrases: Phrases) -> Phrases:
        # the next command takes rows of one day or customer as dependent, too
        option = f" --{self.unit} {quote(self.column)}"
        return replace(phrases, between=f"{self.unit}s", next_option=option)


@dataclass(frozen=True, kw_only=True)
class CountedUnits(DependentRows):
    """A rule on dependent rows, with the numbers of their clusters or days by metric.

    ``no_range`` says which expectations have no range, and why; empty if all have one.
    """

    numbers: Mapping[str, int]
    no_range: tuple[str, ...]
    cautions: tuple[Notice, ...]

    def reworded(self, phrases: Phrases) -> Phrases:
        units = f"{self.unit}s"
        return replace(
            super().reworded(phrases),
            within=f" in {count(self.numbers['clusters'])} {units}",
            limit_also=f" The share of new {units} has no range.",
        )

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        for caution in self.cautions:
            yield "few-clusters", caution
        for sentence in self.no_range:
            yield "no-range", sentence


def ranges_missing(algorithm: Algorithm, groups: int) -> tuple[str, ...]:
    """State which ranges are missing that rows of one unit allow for; few clusters are a caution."""
    if algorithm not in OPTIMISM_CORRECTED:
        return (f"Recall has no range: none is known to hold for {algorithm}; use smooth.",)
    if groups > 1:
        return ("Recall has no range: the thresholds of several groups vary too much.",)
    return ()


def no_ranges(unit: str) -> tuple[str, ...]:
    """State that nothing is expected of dependent rows."""
    reason = "the grid has too many cells, or too few resamples have a boundary"
    return (f"Expectations have no range by {unit}: {reason}.",)


def few_units(expected: Expected, numbers: Mapping[str, int], unit: str) -> tuple[Notice, ...]:
    """Caution that expected ranges rest on few clusters, or that too few give none."""
    cautions = list[Notice]()
    for subject, estimate, number, whose in (
        ("expected precision", expected.precision, numbers["clusters_flagged"], "flagged rows"),
        ("expected recall", expected.recall, numbers["clusters_positive"], "positive rows"),
    ):
        few = few_clusters(subject, number, whose, f"{unit}s")
        cautions += few or unreliable(subject, estimate)
    return tuple(cautions)


@dataclass(frozen=True, kw_only=True)
class UnlabelledRows(BoundaryPart):
    """Flagged rows, and the rows, with those that have no label, of which the others are a part."""

    rank: ClassVar = 1

    selected: int
    rows: int

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(
            phrases,
            flagged=(self.selected, self.rows),
            this_rule=f"this rule, {LABELLED_ROWS}",
            where="new rows like the labelled ones",
        )

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield (
            "without-label",
            f"Of all {rows_of(self.rows)}, with and without a label, the rule flags "
            f"{percent(self.selected / self.rows)}; evaluate it with --on-invalid drop for the recall among "
            "them.",
        )


def alike(rows: AlikeRows) -> BoundaryPart:
    """Return the part of rows of one day or customer that are alike, though taken as independent."""
    return Remark(said=[("dependent-rows", rows.caution), ("alike", rows)])
