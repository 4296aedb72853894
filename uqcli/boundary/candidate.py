"""Optimum of one algorithm on a calibration set."""

from __future__ import annotations

from uqcli.base.choices import Algorithm
from uqcli.base.records import dataclass
from uqcli.boundary.expected import Expected
from uqcli.boundary.results import fit_cells
from uqcli.boundary.search.algorithms import Optimum


@dataclass(frozen=True, kw_only=True)
class Candidate(Optimum):
    """Optimum of one algorithm, or why it does not apply.

    The seconds of the search vary from run to run, so only a terminal shows them. Precision and recall
    expected on new data are None if not estimated.
    """

    algorithm: Algorithm
    obstacle: str = ""
    seconds: float = 0.0
    expected: Expected | None = None

    @property
    def orders_rows(self) -> bool:
        """Whether its rule orders rows, as a daily capacity needs."""
        return self.algorithm is Algorithm.SMOOTH or self.bins == 1


def candidate_cells(candidate: Candidate) -> tuple[str, ...]:
    """Format the results of a candidate for a table."""
    if not candidate.boundary:
        return ("does not apply" if candidate.obstacle else "infeasible", "", "")
    return fit_cells(candidate.boundary.fit)
