"""Calibration error without bins: the range of cumulated differences (Arrieta-Ibarra et al. 2022)."""

from __future__ import annotations

import numpy as np

from uqcli.counts import ValueCounts
from uqcli.parts import each_part


def cumulative_error(counts: ValueCounts) -> float:
    """Largest less smallest sum of (label - score) / N over the lowest scores, up to any of them or none."""

    def running(part: slice) -> tuple[float, float, float]:
        steps = counts.positives[part] - counts.count[part] * counts.value[part]
        np.cumsum(steps, out=steps)
        return float(steps.max()), float(steps.min()), float(steps[-1])

    highest = lowest = reached = 0.0
    for most, least, last in each_part(running, len(counts.value)):
        # rounding keeps the order: what is highest in a part stays so when what was reached is added
        highest, lowest = max(highest, reached + most), min(lowest, reached + least)
        reached += last
    return (highest - lowest) / counts.rows
