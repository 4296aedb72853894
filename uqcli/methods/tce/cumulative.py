"""Bin-free calibration error: range of the cumulative differences (Arrieta-Ibarra et al. 2022)."""

from __future__ import annotations

import numpy as np

from uqcli.counts import ValueCounts
from uqcli.parts import each_part


def cumulative_error(counts: ValueCounts) -> float:
    """Compute the maximum less the minimum of the sums of (label - score) / N over the lowest scores."""

    def running(part: slice) -> tuple[float, float, float]:
        steps = counts.positives[part] - counts.count[part] * counts.value[part]
        np.cumsum(steps, out=steps)
        return float(steps.max()), float(steps.min()), float(steps[-1])

    highest = lowest = reached = 0.0
    for greatest, least, last in each_part(running, len(counts.value)):
        # rounding is monotone: the maximum of a part stays the maximum after adding an offset
        highest, lowest = max(highest, reached + greatest), min(lowest, reached + least)
        reached += last
    return (highest - lowest) / counts.rows
