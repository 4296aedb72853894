"""Calibration error without bins: the range of cumulated differences (Arrieta-Ibarra et al. 2022)."""

from __future__ import annotations

import numpy as np

from uqcli.counts import ValueCounts


def cumulative_error(counts: ValueCounts) -> float:
    """Largest less smallest sum of (label - score) / N over the lowest scores, up to any of them or none."""
    running = np.cumsum((counts.positives - counts.count * counts.value) / counts.rows)
    return float(max(0.0, running.max()) - min(0.0, running.min()))
