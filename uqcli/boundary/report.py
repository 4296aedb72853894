"""Report of ``uqcli boundary`` for one bound: the title, and what the parts of its outcome say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from uqcli.base.records import dataclass
from uqcli.boundary.comparison import UncertaintyComparison
from uqcli.boundary.dependent_columns import AlikeRows
from uqcli.boundary.operating_points import frontier_figure
from uqcli.boundary.outcome import Found, Outcome
from uqcli.boundary.rule_words import boundary_card
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.statements import Slot
from uqcli.estimates.confusion import Confusion
from uqcli.reports.document import (
    Claim,
    Document,
    Figure,
    HeadCard,
    Metrics,
    OneResult,
    OnTerminal,
    OperatingPoints,
    Table,
    Verdict,
    head_of,
    plain,
)


@dataclass(frozen=True, kw_only=True)
class BoundaryReport(OneResult):
    """A boundary on the calibration set, or why there is none."""

    outcome: Outcome

    @property
    def constraint(self) -> Constraint:
        """Bound of the search."""
        return self.outcome.calibration.constraint

    @property
    def metrics(self) -> Metrics:
        """Recall, precision and counts on the calibration set."""
        return self.outcome.story.metrics()

    @property
    def compared(self) -> Sequence[UncertaintyComparison]:
        """Comparisons of uncertainty columns, the best first; empty without ``--compare``."""
        return self.outcome.said(Slot.COMPARISON)

    @property
    def alike(self) -> Sequence[AlikeRows]:
        """Rows of one day or customer that are alike, though taken as independent, if there are any."""
        return self.outcome.said(Slot.ALIKE)

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        outcome, margin = self.outcome, self.constraint.margin
        parameters = msgspec.to_builtins(outcome.calibration.parameters)
        parameters |= {"margin": float(margin)} if margin else {}
        notes = [self._title(), *self._lead(), *outcome.said(Slot.CAUTION), *self._notes()]
        head = head_of("boundary", outcome.calibration.source, parameters)
        return {**head, "metrics": plain(self.metrics), **outcome.story.payload(notes=notes)}

    def document(self) -> Document:
        """Return the readable form."""
        said = self.outcome.said
        return Document(
            title=self._title(),
            lead=self._lead(),
            tables=[*self._results(), *self.outcome.story.shown(Slot.TABLE)],
            cautions=said(Slot.CAUTION),
            notes=self._notes(),
            next="".join(said(Slot.NEXT)),
            figures=self.outcome.story.shown(Slot.FIGURE),
            claims=[self.claim, *said(Slot.CLAIM)],
            card=self.card,
            operating_points=self.operating_points,
            terminal=OnTerminal(live=said(Slot.LIVE)),
        )

    def shortfall(self) -> str:
        """State why there is no boundary, without a full stop; empty if there is one."""
        return str(self.outcome.story.first(Slot.SHORTFALL))

    def _answer(self) -> str:
        return " ".join(self.outcome.said(Slot.ANSWER))

    def _title(self) -> str:
        if shortfall := self.shortfall():
            return f"{shortfall[:1].upper()}{shortfall[1:]}."
        return str(self.outcome.story.first(Slot.TITLE, self._answer()))

    def _lead(self) -> list[str]:
        """State what to expect on new data, and what title and table do not say."""
        answers = [self._answer()] if self.outcome.said(Slot.TITLE) else []
        return [*answers, *self.outcome.said(Slot.LEAD)]

    def _notes(self) -> list[str]:
        notes = self.outcome.said(Slot.NOTE)
        if shortfall := self.shortfall():
            return [*notes, f"Infeasible: {shortfall}."]
        affected = self.outcome.said(Slot.RANDOM)
        seed = f"The random seed ({self.outcome.calibration.seed}) affects {' and '.join(affected)}."
        return [*notes, seed] if affected else notes

    def _results(self) -> list[Table]:
        rows = self.outcome.said(Slot.RESULTS)
        header = ["", "recall", "precision", "flagged"]
        return [Table(title="", header=header, rows=rows)] if rows else []

    @property
    def claim(self) -> Claim:
        """Claim that a boundary meets the constraint."""
        shortfall, certified = self.shortfall(), self.outcome.story.phrases.certified
        sentence = f"Infeasible: {shortfall}." if shortfall else ""
        return Claim(name=f"{self.constraint.text()}{certified}", met=not shortfall, sentence=sentence)

    def operating_points(self) -> OperatingPoints | None:
        """Compute the operating points, once.

        None with a certificate, which a later choice would void, and if rows depend on each other.
        """
        return next((grid.points() for grid in self.outcome.said(Slot.POINTS)), None)

    def frontiers(self, marked: Sequence[Constraint]) -> list[Figure]:
        """Build the figure of precision and recall at other operating points, if there is a grid."""
        return [frontier_figure(self.operating_points, marked)] if self.outcome.said(Slot.GRID) else []

    @property
    def grid_size(self) -> int:
        """Number of uncertainty bins of the grid; 0 without one."""
        return max((len(grid.cells.rows) for grid in self.outcome.said(Slot.GRID)), default=0)

    @property
    def card(self) -> HeadCard:
        """Head of the page."""
        return HeadCard(title=self._title(), verdict=Verdict(text="infeasible", tone="bad"))


@dataclass(frozen=True, kw_only=True)
class FoundReport(BoundaryReport):
    """A boundary on the calibration set."""

    outcome: Found

    @property
    def fit(self) -> Confusion[int]:
        """Counts on the calibration set."""
        return self.outcome.boundary.fit

    @property
    def card(self) -> HeadCard:
        """Head of the page."""
        phrases = self.outcome.story.phrases
        card = boundary_card(self.fit, phrases, self._title())
        return replace(card, numbers=[*self.outcome.said(Slot.NUMBER), *card.numbers])
