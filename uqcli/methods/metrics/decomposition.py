"""The Brier score in parts by isotonic regression (CORP; Dimitriadis, Gneiting and Jordan 2021)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uqcli.counts import ValueCounts
from uqcli.kernels.pava import isotonic_blocks
from uqcli.methods.metrics.calibration_error import brier


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


def brier_parts(counts: ValueCounts) -> BrierParts:
    """Decompose the Brier score of tie-pooled probabilities."""
    first = isotonic_blocks(counts.positives, counts.count)
    rows = np.add.reduceat(counts.count, first)
    positives = np.add.reduceat(counts.positives, first)
    total, hits = counts.rows, int(positives.sum())
    fitted = float((positives * ((rows - positives) / rows)).sum()) / total
    uncertainty = hits / total * ((total - hits) / total)
    return BrierParts(
        miscalibration=max(0.0, brier(counts) - fitted),  # rounding may leave -1e-17 of a perfect fit
        discrimination=max(0.0, uncertainty - fitted),
        uncertainty=uncertainty,
    )
