"""Why no rule was found: how close the best boundary comes to its bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from uqcli.base.choices import Algorithm
from uqcli.base.records import dataclass
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.statements import BoundaryPart, Fact, Phrases
from uqcli.estimates.confusion import Confusion
from uqcli.reports.document import Metrics
from uqcli.reports.parts import Statement


@dataclass(frozen=True, kw_only=True)
class NoRule(BoundaryPart):
    """A search that found no boundary, not even one that flags a positive row."""

    algorithm: Algorithm
    constraint: Constraint

    def voids(self) -> Iterable[Fact]:
        return Fact.FOUND, Fact.ONE_THRESHOLD

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "out-of-reach", self.shortfall(phrases)

    def shortfall(self, phrases: Phrases) -> str:
        """State how close the best boundary comes, without a full stop."""
        return f"{phrases.no_boundary} with {self.constraint.text()} has a positive result"

    def metrics(self, phrases: Phrases) -> Metrics:
        worth = {} if self.constraint.is_bound else {"value": None, "value_caught": None}
        return {"recall": None, "precision": None, "selected": 0, "true_positives": 0, **worth}

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        nothing = {"uncertainty_edges": None, "thresholds": None}
        return {"feasible": False, "algorithm": str(self.algorithm), **nothing}


@dataclass(frozen=True, kw_only=True)
class OutOfReach(NoRule):
    """A search whose closest boundary misses one of several bounds, or its margin."""

    sentence: str

    def shortfall(self, phrases: Phrases) -> str:
        return self.sentence


@dataclass(frozen=True, kw_only=True)
class BoundOutOfReach(NoRule):
    """A search whose closest boundary misses its bound; ``remedy`` says what lists those that can be met."""

    closest: Confusion[int]
    remedy: str

    def shortfall(self, phrases: Phrases) -> str:
        return self.constraint.shortfall(self.closest, phrases.since, self.remedy)
