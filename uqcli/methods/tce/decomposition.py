"""CORP decomposition of the Brier score by isotonic regression (Dimitriadis, Gneiting and Jordan 2021)."""

from __future__ import annotations

from dataclasses import dataclass

from uqcli.counts import Ints


@dataclass(frozen=True, kw_only=True)
class BrierParts:
    """``Brier score = miscalibration - discrimination + uncertainty``, each at least 0.

    Attributes
    ----------
    miscalibration
        Reduction of the Brier score by the best monotone recalibration.
    discrimination
        Improvement of the recalibrated scores over the overall rate.
    uncertainty
        Brier score of the overall rate.
    """

    miscalibration: float
    discrimination: float
    uncertainty: float


def brier_parts(score: float, rows: Ints, positives: Ints) -> BrierParts:
    """Decompose a Brier score.

    Parameters
    ----------
    score
        Brier score of the probabilities.
    rows, positives : int64, shape (B,)
        Counts of the isotonic blocks.
    """
    total, hits = int(rows.sum()), int(positives.sum())
    fitted = float((positives * ((rows - positives) / rows)).sum()) / total
    uncertainty = hits / total * ((total - hits) / total)
    return BrierParts(
        miscalibration=max(0.0, score - fitted),  # rounding may leave -1e-17 for a perfect fit
        discrimination=max(0.0, uncertainty - fitted),
        uncertainty=uncertainty,
    )
