"""Paired difference of two boundaries on the same rows, with intervals."""

from __future__ import annotations

from uqcli.document import Estimate
from uqcli.methods.evaluate.difference import (
    Chosen,
    PairedSelections,
    mcnemar,
    precisions_interval,
    shares_interval,
)
from uqcli.reports.evaluate.difference import BoundaryDifference


def difference_of(pair: PairedSelections, rows: int, positives: int, confidence: float) -> BoundaryDifference:
    """Compute the differences of recall, precision and alerts, second less first, each with an interval.

    Parameters
    ----------
    rows, positives
        Rows (at least one), and positive rows, by weight.
    """
    lost, gained = pair.lost, pair.gained
    return BoundaryDifference(
        recall=share_difference(gained.positives, lost.positives, positives, confidence),
        precision=_precision(pair, confidence),
        selected=_rows_selected(gained.rows, lost.rows, rows, confidence),
        recall_p=mcnemar(gained.positives, lost.positives) if positives else None,
        selected_p=mcnemar(gained.rows, lost.rows),
        disagreements=gained.rows + lost.rows,
        disagreements_positive=gained.positives + lost.positives,
    )


def share_difference(gained: int, lost: int, trials: int, confidence: float) -> Estimate:
    """Compute the difference of two shares of the same rows; the value is None without rows."""
    low, high = shares_interval(gained, lost, trials, confidence)
    return Estimate(value=(gained - lost) / trials if trials else None, low=low, high=high)


def _precision(pair: PairedSelections, confidence: float) -> Estimate:
    low, high = precisions_interval(pair, confidence)
    first, second = (_share(pair.kept, exclusive) for exclusive in (pair.lost, pair.gained))
    value = None if first is None or second is None else second - first
    return Estimate(value=value, low=low, high=high)


def _share(kept: Chosen, exclusive: Chosen) -> float | None:
    rows = kept.rows + exclusive.rows
    return (kept.positives + exclusive.positives) / rows if rows else None


def _rows_selected(gained: int, lost: int, rows: int, confidence: float) -> Estimate:
    """Compute the difference in alerts; the interval is for the expectation over samples of this size."""
    low, high = shares_interval(gained, lost, rows, confidence)
    return Estimate(value=gained - lost, low=rows * low, high=rows * high)
