"""What every search has: its calibration rows, its goal, and the best that these rows allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import ADD_NEGATIVES, ADD_POSITIVES, count, rows_of
from uqcli.boundary.rule_file import NEW_FORMAT, BoundaryParameters
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.statements import BoundaryPart, Phrases
from uqcli.reports.document import Metrics
from uqcli.reports.parts import Statement
from uqcli.rules.saved import Source


@dataclass(frozen=True, kw_only=True)
class Calibration(BoundaryPart):
    """Rows of a search, its goal and its random seed; rows and positives are counted by weight."""

    source: Source
    parameters: BoundaryParameters
    constraint: Constraint
    rows: int
    positives: int
    seed: int

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        source = self.source
        dropped = f", {count(source.dropped)} dropped" if source.dropped else ""
        by_weight = "" if self.rows == source.rows else f" ({count(self.rows)} by weight)"
        yield (
            "calibration-set",
            f"Calibration set: {rows_of(source.rows)}{by_weight}{phrases.within}, "
            f"{count(source.positives)} positive{dropped}.",
        )
        yield "goal", f"Goal: {self.constraint.aim()}."
        if self.positives == 0:
            yield "no-positive", f"no row is positive: {ADD_POSITIVES}"
        if self.positives >= self.rows:
            only = (
                f"every row is positive, so that any threshold reaches any precision here; {ADD_NEGATIVES}."
            )
            yield "one-class", Notice("one-class", only)

    def metrics(self, phrases: Phrases) -> Metrics:
        """Return the counts, and null for what other parts may know."""
        unknown = (
            "score_only_recall",
            "score_only_equal_alerts",
            "best_precision",
            "recall_at_best_precision",
        )
        expected = {"precision": None, "recall": None}
        return {
            "rows": self.rows,
            "positives": self.positives,
            "expected": expected,
            **dict.fromkeys(unknown),
        }

    def saved(self) -> Mapping[str, Any]:
        margin = self.constraint.margin
        return {
            "source": self.source,
            "parameters": self.parameters,
            "constraint": self.parameters.constraint,
            "expected": None,
            "margin": float(margin) if margin else msgspec.UNSET,
            **({"format_version": NEW_FORMAT} if self.constraint.amounts else {}),
        }
