"""The first rows of each group are flagged, up to a number, in place of a rule that was searched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from uqcli.base.choices import Algorithm
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import count, printable
from uqcli.boundary.results import fit_cells, fit_metrics
from uqcli.boundary.rule_file import CAPACITY_FORMAT, SavedCapacity
from uqcli.boundary.rule_words import answer
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.boundary.statements import BoundaryPart, Fact, Phrases
from uqcli.reports.document import Metrics, by_key
from uqcli.reports.parts import Statement


@dataclass(frozen=True, kw_only=True)
class FoundFirstRows(BoundaryPart):
    """The first rows of each group, in words, and what they are among the calibration rows.

    ``taken`` are the numbers of flagged rows by group, and ``ties`` others that rank as the last one of their
    group does, which ``cautions`` say. ``fewer`` says which groups have fewer rows; empty if none has.
    """

    rank: ClassVar = 1  # the next command finds the groups in the rule

    boundary: FittedBoundary
    capacity: SavedCapacity
    first: str
    fewer: str
    taken: Sequence[int]
    ties: int
    cautions: Sequence[Notice]

    def voids(self) -> Iterable[Fact]:
        return (Fact.SEARCHED,)

    def reworded(self, phrases: Phrases) -> Phrases:
        fit, words = self.boundary.fit, replace(phrases.rows, flags=f"Flags {self.first}:")
        per = f" of each value of '{printable(self.capacity.per, 30)}'"
        return replace(phrases, rows=words, flagged=(fit.selected, fit.rows), certified=per, next_option="")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        fit = self.boundary.fit
        yield "answer", answer(fit, phrases, independent=not phrases.between)
        hits, alerts = count(fit.true_positives), count(fit.selected)
        yield "hits", f"{hits} of {alerts} flagged rows of the calibration set are positive."
        yield "first-rows", "Thresholds play no part: the order is that of the score alone."
        for caution in self.cautions:
            yield "ties", caution
        if self.fewer:
            yield "fewer-rows", self.fewer
        yield "next", "evaluate {rule} TEST.csv"
        yield "result", (phrases.this_rule, *fit_cells(fit))

    def metrics(self, phrases: Phrases) -> Metrics:
        groups = {
            "groups": len(self.taken),
            "min": min(self.taken),
            "median": float(np.median(self.taken)),
            "max": max(self.taken),
            "ties": self.ties,
        }
        return {**by_key(fit_metrics(self.boundary.fit)), "capacity": groups}

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        capacity = {"top": self.capacity.top, "per": self.capacity.per}
        return {"feasible": True, "algorithm": str(Algorithm.ST), "capacity": capacity}

    def saved(self) -> Mapping[str, Any]:
        fit = self.boundary.fit
        return {
            "format_version": CAPACITY_FORMAT,
            "algorithm": Algorithm.ST,
            "uncertainty_edges": [],
            "thresholds": [None],
            "fit": {
                "selected": fit.selected,
                "true_positives": fit.true_positives,
                "rows": fit.rows,
                "positives": fit.positives,
                "precision": fit.precision or 0.0,
                "recall": fit.recall or 0.0,
            },
            "capacity": self.capacity,
        }
