"""The rule that was found: what it does with the calibration rows, and its thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from uqcli.base.choices import Algorithm
from uqcli.base.records import dataclass
from uqcli.base.wording import count
from uqcli.boundary.results import fit_cells, fit_metrics
from uqcli.boundary.rule_words import answer, recalibration_in_words, rule, threshold_table
from uqcli.boundary.search.algorithms import SavedRecalibration
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.boundary.statements import BoundaryPart, Fact, Phrases
from uqcli.reports.document import Metrics, by_key
from uqcli.reports.parts import Statement

JOINT_TARGET = "The thresholds meet the target together, but not necessarily in each uncertainty bin."


@dataclass(frozen=True, kw_only=True)
class FoundRule(BoundaryPart):
    """A boundary, with its counts on the calibration rows."""

    boundary: FittedBoundary
    algorithm: Algorithm
    constraint: Constraint

    @property
    def _is_single(self) -> bool:
        return len(self.boundary.thresholds) == 1

    def voids(self) -> Iterable[Fact]:
        return () if self._is_single else (Fact.ONE_THRESHOLD,)

    def reworded(self, phrases: Phrases) -> Phrases:
        fit = self.boundary.fit
        return replace(
            phrases,
            flagged=(fit.selected, fit.rows),
            advice="The rule is one threshold." if self._is_single else "",
            curves=(("boundary", self.boundary.thresholds),),
        )

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        boundary, fit = self.boundary, self.boundary.fit
        yield "answer", answer(fit, phrases, independent=not phrases.between)
        if beside := self.constraint.beside_answer(fit):
            yield "beside-answer", beside
        for bound in self.constraint.bounds:
            for caution in bound.cautions(fit, fit.rows):
                yield "bound", caution
        flag_when = f"Flag when {rule(boundary.printed[0], raised=phrases.raised)}."
        yield "flag-when", " ".join(filter(None, (flag_when, phrases.one_threshold)))
        hits, alerts = count(fit.true_positives), count(fit.selected)
        yield "hits", f"{hits} of {alerts} flagged rows of the calibration set are positive."
        if not self._is_single:
            yield "joint-target", JOINT_TARGET
            yield "joint-target-bound", JOINT_TARGET
        yield "next", f"evaluate {{rule}} TEST.csv{phrases.next_option}"
        yield "result", (phrases.this_rule, *fit_cells(fit))

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        if not self._is_single:
            edges = self.boundary.uncertainty_edges.tolist()
            yield "thresholds", threshold_table(edges, self.boundary.printed, raised=phrases.raised)

    def metrics(self, phrases: Phrases) -> Metrics:
        return by_key(fit_metrics(self.boundary.fit))

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        return {
            "feasible": True,
            "algorithm": str(self.algorithm),
            "uncertainty_edges": self.boundary.uncertainty_edges.tolist(),
            "thresholds": list(self.boundary.thresholds),
        }

    def saved(self) -> Mapping[str, Any]:
        fit = self.boundary.fit
        return {
            "algorithm": self.algorithm,
            "uncertainty_edges": self.boundary.uncertainty_edges.tolist(),
            "thresholds": list(self.boundary.thresholds),
            "fit": {
                "selected": fit.selected,
                "true_positives": fit.true_positives,
                "rows": fit.rows,
                "positives": fit.positives,
                "precision": fit.precision or 0.0,  # below a score, rows may lack flagged ones, or positives
                "recall": fit.recall or 0.0,
            },
        }


@dataclass(frozen=True, kw_only=True)
class RaisedScores(BoundaryPart):
    """How the uncertainty raises scores before they are compared (hr)."""

    recalibration: SavedRecalibration

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, raised=True)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        by = self.recalibration
        sentence = recalibration_in_words(by.coefficient, by.low, by.high)
        yield "raised-score", sentence
        yield "raised-scores", sentence

    def saved(self) -> Mapping[str, Any]:
        return {"recalibration": self.recalibration}
