"""Calibration error without bins: the range of cumulated differences (Arrieta-Ibarra et al. 2022)."""

from __future__ import annotations

import numpy as np

from uqcli.counts import ValueCounts

_PART = 1 << 14
"""Values at a time, to stay in the cache."""


def cumulative_error(counts: ValueCounts) -> float:
    """Largest less smallest sum of (label - score) / N over the lowest scores, up to any of them or none."""
    highest = lowest = reached = 0.0
    for start in range(0, len(counts.value), _PART):
        part = slice(start, start + _PART)
        steps = counts.positives[part] - counts.count[part] * counts.value[part]
        running = reached + np.cumsum(steps)
        reached = float(running[-1])
        highest, lowest = max(highest, float(running.max())), min(lowest, float(running.min()))
    return (highest - lowest) / counts.rows
