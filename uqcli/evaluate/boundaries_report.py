"""Report of ``uqcli evaluate`` on boundaries: what the parts of the rules, and of their test set, say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from uqcli.base.choices import ReviewKind
from uqcli.base.records import dataclass
from uqcli.base.wording import count, rows_of
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.search.constraint_kinds import PROMISED, PromisedRate
from uqcli.estimates.confusion import Rate
from uqcli.evaluate.measured_boundary import BoundaryDifference, MeasuredBoundary
from uqcli.evaluate.parts.rows import tested_elsewhere
from uqcli.evaluate.report import HEADER, Evaluated, rates_figure
from uqcli.evaluate.statements import LAYOUT, Fact, MeasuredPart, Phrases, Slot
from uqcli.reports.document import Document, Figure, HeadCard, Table
from uqcli.reports.parts import Composition


@dataclass(frozen=True, kw_only=True)
class EvaluateReport(Evaluated):
    """Metrics of saved boundaries on a test set, and what their parts and those of the test set say."""

    results: Sequence[tuple[str, BoundaryArtifact, MeasuredBoundary]]
    of_test_set: Sequence[MeasuredPart]

    @property
    def _differences(self) -> list[BoundaryDifference]:
        """The difference of two rules, if there are two."""
        return [part for part in self.parts if isinstance(part, BoundaryDifference)]

    @cached_property
    def story(self) -> Composition[Phrases]:
        """All parts, and what they say."""
        compared = [*self.measured, *self._differences]
        tested = [part.tested for part in self.parts if part.tested]
        parts = [
            *self.of_test_set,
            *tested_elsewhere(self.results[0][1].constraint.parsed(), tested),
            *(part for each in compared for part in each.parts),
        ]
        return Composition(layout=LAYOUT, parts=parts, plain_phrases=Phrases())

    def payload(self) -> dict[str, Any]:
        """Return the JSON form (see Evaluated)."""
        said = self.story.said
        claims = [claim.sentence for claim in said(Slot.CLAIM)]
        payload = self.build_payload(
            [*said(Slot.CAUTION), *claims, *said(Slot.LABELS), *self._notes(), *said(Slot.ADVICE)]
        )
        for (_, rule, _), result in zip(self.results, payload["results"], strict=True):
            if not rule.is_fitted:
                result["artifact"] = None
        return payload

    def document(self) -> Document:
        """Return the readable form."""
        said = self.story.said
        document = Document(
            title=said(Slot.TITLE)[0],
            tables=[replace(self._table(brief=False), brief=self._table(brief=True)), *self._rules_tables()],
            lead=[*said(Slot.LEAD), *said(Slot.LABELS), *said(Slot.ADVICE)],
            cautions=said(Slot.CAUTION),
            notes=[*said(Slot.VERDICTS), *self._notes()],
            figures=[self._figure()],
            claims=said(Slot.CLAIM),
            card=self._card(),
        )
        return self.with_parts(document)

    def _card(self) -> HeadCard:
        said, actions = self.story.said, list[str]()
        if Fact.FEW_RULES in self.story.facts:
            actions = said(Slot.ADVICE)[-1:] or said(Slot.APPLY)
        numbers, of_review = said(Slot.FIRST_NUMBER), said(Slot.REVIEW_NUMBER)
        if of_review:
            numbers[1:] = of_review
        return HeadCard(
            title=said(Slot.TITLE)[0],
            subject="".join(said(Slot.SUBJECT)),
            verdict=self.story.first(Slot.VERDICT, None),
            action="".join(actions),
            numbers=numbers,
        )

    def _table(self, *, brief: bool) -> Table:
        """Build the table of rates and counts; differences have their intervals unless brief."""
        rules = [measured.cells(brief=brief) for measured in self.measured]
        columns = [*rules, *(difference.cells(brief=brief) for difference in self._differences)]
        slots = {Slot.ROW, Slot.ROW_OF_RULES} if brief else {Slot.ROW, Slot.ROW_OF_RULES, Slot.LONG_ROW}
        rows = []
        for name, place in LAYOUT.places.items():
            if (
                place.slot in slots
                and place.is_open(self.story.facts)
                and any(name in cells for cells in rules)
            ):
                shown = rules if place.slot is Slot.ROW_OF_RULES else columns
                label = name.removesuffix(" beside a review")
                rows.append((label, *(cells.get(name, "") for cells in shown)))
        header = ("", *self.names, *(HEADER for _ in self._differences))
        return Table(title="", header=header, rows=rows)

    def _rules_tables(self) -> list[Table]:
        """Build the table of the rule files; none if there is no file."""
        rows = [
            (
                name,
                str(artifact.algorithm),
                ", ".join(f"{bound.kind} {bound.value}" for bound in artifact.constraint.parsed().bounds),
                rows_of(artifact.source.rows),
            )
            for name, artifact, _ in self.results
            if artifact.is_fitted
        ]
        header = ("rule file", "algorithm", "target", "calibration set")
        return [Table(title="", header=header, rows=rows, left=4, detail=True)] if rows else []

    def _notes(self) -> list[str]:
        confusion = self.results[0][2].confusion
        dropped = f", {count(self.source.dropped)} dropped" if self.source.dropped else ""
        level = f"{100 * self.parameters.confidence:g} % CI"
        size = f"{rows_of(confusion.rows)}, {count(confusion.positives)} positive{dropped}"
        return [f"Test set: {size}; all intervals are {level}.", *self.story.said(Slot.NOTE)]

    def _figure(self) -> Figure:
        constraints = [artifact.constraint.parsed() for _, artifact, _ in self.results]
        own = [  # rules of other constraints have no rate of the cleared rows
            rule
            for rule in PROMISED.values()
            if rule.own_column
            and (all if rule.is_of_cleared else any)(isinstance(each, rule) for each in constraints)
        ]
        panels = []
        for rule in (*own, *(rule for rule in PROMISED.values() if not rule.own_column)):
            rates = [
                (name, measured.evidence.rate(*rule.rates), _target(artifact, rule))
                for name, artifact, measured in self.results
            ]
            panels.append((rule.name.capitalize(), rates))
        if all(artifact.has_zones for _, artifact, _ in self.results):
            rates = [
                (name, measured.evidence.rate(Rate.CAUGHT), least_caught(artifact))
                for name, artifact, measured in self.results
            ]
            panels[-1:] = [("Positives flagged or reviewed", rates)]
        return rates_figure(panels, self.parameters.confidence)


def _target(artifact: BoundaryArtifact, rule: type[PromisedRate]) -> float | None:
    """Return the bound of a rate; None if the rule has none, or if its thresholds do not decide."""
    if not artifact.by_thresholds:
        return None
    bounds = artifact.constraint.parsed().bounds
    return next((float(bound.value) for bound in bounds if isinstance(bound, rule)), None)


def least_caught(artifact: BoundaryArtifact) -> float | None:
    """Return the share of positives that a rule must flag or review; None if it has no such target."""
    review = artifact.review
    if review is None or review.kind is not ReviewKind.MISS:
        return None
    return float(1 - review.limit.number)
