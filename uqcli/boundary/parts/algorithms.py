"""Results of several algorithms beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from uqcli.base.records import dataclass
from uqcli.base.wording import money
from uqcli.boundary.candidate import Candidate, candidate_cells
from uqcli.boundary.expected import expected_cells, expected_metrics
from uqcli.boundary.results import fit_metrics
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.statements import UNTESTED, BoundaryPart, Fact, Phrases
from uqcli.estimates.estimate import FEWEST_FLAGGED
from uqcli.reports.document import Table, by_key, plain
from uqcli.reports.parts import Statement


@dataclass(frozen=True, kw_only=True)
class AllAlgorithms(BoundaryPart):
    """What each algorithm finds, or why it does not apply."""

    candidates: Sequence[Candidate]
    constraint: Constraint

    def voids(self) -> Iterable[Fact]:
        return (Fact.ONE_ALGORITHM,)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        for candidate in self.candidates:
            if candidate.obstacle:
                yield "obstacle", f"{candidate.algorithm} does not apply: it {candidate.obstacle}."
        yield "untested", UNTESTED
        yield "untested-bound", UNTESTED
        times = [f"{run.algorithm} {run.seconds:.3f}" for run in self.candidates if not run.obstacle]
        yield "seconds", f"Seconds: {', '.join(times)}."

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        values = [] if self.constraint.is_bound else ["value"]
        rows = [
            (
                str(candidate.algorithm),
                *candidate_cells(candidate),
                *self._value_cell(candidate),
                *_expected(candidate),
            )
            for candidate in self.candidates
        ]
        header = ["calibration set", "recall", "precision", "flagged", *values]
        yield (
            "algorithms",
            Table(title="", header=[*header, "expected recall", "expected precision"], rows=rows),
        )

    def _value_cell(self, candidate: Candidate) -> list[str]:
        """Format the value of a boundary; empty without gain and cost."""
        if self.constraint.is_bound:
            return []
        worth = self.constraint.value_of(candidate.boundary.fit) if candidate.boundary else {}
        return [money(worth["value"] or 0.0) if worth else ""]

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        return {"algorithms": [_as_json(candidate) for candidate in self.candidates]}


def _expected(candidate: Candidate) -> tuple[str, str]:
    """Format what to expect of a boundary, empty if it flags too few rows to expect anything."""
    is_few = bool(candidate.boundary and candidate.boundary.fit.selected < FEWEST_FLAGGED)
    return expected_cells(None if is_few else candidate.expected)


def _as_json(candidate: Candidate) -> dict[str, Any]:
    metrics = None
    if candidate.boundary:
        fit, expected = candidate.boundary.fit, expected_metrics(candidate.expected)
        metrics = plain({**by_key(fit_metrics(fit)), "expected": expected})
    return {"algorithm": str(candidate.algorithm), "metrics": metrics, "obstacle": candidate.obstacle or None}
