"""CORP decomposition of the Brier score by isotonic regression (Dimitriadis, Gneiting and Jordan 2021)."""

from __future__ import annotations

from uqcli.base.counts import Ints
from uqcli.base.records import dataclass


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


def brier_parts(brier_score: float, rows: Ints, positives: Ints) -> BrierParts:
    """Decompose a Brier score.

    Parameters
    ----------
    brier_score
        Brier score of the probabilities.
    rows, positives : int64, shape (B,)
        Counts of the isotonic blocks.
    """
    total, total_positives = int(rows.sum()), int(positives.sum())
    fitted_brier_score = float((positives * ((rows - positives) / rows)).sum()) / total
    uncertainty = total_positives / total * ((total - total_positives) / total)
    return BrierParts(
        # rounding may leave -1e-17 for a perfect fit
        miscalibration=max(0.0, brier_score - fitted_brier_score),
        discrimination=max(0.0, uncertainty - fitted_brier_score),
        uncertainty=uncertainty,
    )
