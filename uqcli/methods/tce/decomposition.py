"""The Brier score in parts by isotonic regression (CORP; Dimitriadis, Gneiting and Jordan 2021)."""

from __future__ import annotations

from dataclasses import dataclass

from uqcli.counts import Ints


@dataclass(frozen=True, kw_only=True)
class BrierParts:
    """``Brier score = miscalibration - discrimination + uncertainty``, each at least 0.

    Attributes
    ----------
    miscalibration
        What the best rising map of the scores would take off the Brier score.
    discrimination
        What that map is better than saying the overall rate of every row.
    uncertainty
        The Brier score of the overall rate.
    """

    miscalibration: float
    discrimination: float
    uncertainty: float


def brier_parts(score: float, rows: Ints, positives: Ints) -> BrierParts:
    """Decompose a Brier score.

    Parameters
    ----------
    score
        Of the probabilities.
    rows, positives : int64, shape (B,)
        In the blocks of their isotonic fit.
    """
    total, hits = int(rows.sum()), int(positives.sum())
    fitted = float((positives * ((rows - positives) / rows)).sum()) / total
    uncertainty = hits / total * ((total - hits) / total)
    return BrierParts(
        miscalibration=max(0.0, score - fitted),  # rounding may leave -1e-17 of a perfect fit
        discrimination=max(0.0, uncertainty - fitted),
        uncertainty=uncertainty,
    )
