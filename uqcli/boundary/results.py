"""Counts of a boundary on the calibration set, as metrics and as cells of a table."""

from __future__ import annotations

from uqcli.base.wording import count, percent
from uqcli.boundary.rule_words import precision_cell
from uqcli.estimates.confusion import Confusion
from uqcli.reports.document import Metric


def fit_metrics(fit: Confusion[int]) -> list[Metric]:
    """Return the results on the calibration set."""
    return [
        Metric("recall", "recall", fit.recall, percent),
        Metric("precision", "precision", fit.precision, percent),
        Metric("selected", "flagged", fit.selected, count),
        Metric("true_positives", "", fit.true_positives),
    ]


def fit_cells(fit: Confusion[int]) -> tuple[str, ...]:
    """Format the results for a table: recall, precision and flagged rows."""
    return percent(fit.recall), precision_cell(fit), count(fit.selected)
