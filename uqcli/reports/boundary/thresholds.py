"""The table of thresholds, shared by the reports of ``boundary`` and ``show``."""

from __future__ import annotations

from collections.abc import Sequence

from uqcli.defaults import LOWEST
from uqcli.document import Table, number


def threshold_table(uncertainty_edges: Sequence[float], thresholds: Sequence[float | None]) -> Table:
    """Which scores are positive in each uncertainty bin."""
    if len(thresholds) == 1:
        return Table(title="Decision", header=("positive when",), rows=((_rule(thresholds[0]),),))
    rows = [
        (_range(uncertainty_edges, number_of), _rule(threshold))
        for number_of, threshold in enumerate(thresholds)
    ]
    return Table(title="Decision", header=("uncertainty", "positive when"), rows=rows, left=2)


def recalibration_in_words(coefficient: float, low: float, high: float) -> str:
    """How scores are raised before they are compared with a threshold (hr)."""
    return f"Scores are raised by {coefficient:g} x the uncertainty's place between {low:.6g} and {high:.6g}."


def _range(edges: Sequence[float], bin_number: int) -> str:
    if bin_number == 0:
        return f"below {number(edges[0])}"
    if bin_number == len(edges):
        return f"{number(edges[-1])} and above"
    return f"{number(edges[bin_number - 1])} to below {number(edges[bin_number])}"


def _rule(threshold: float | None) -> str:
    if threshold is None:
        return "never"
    return "always" if threshold == LOWEST else f"score >= {number(threshold)}"
