"""Bin-free calibration error: range of the cumulative differences (Arrieta-Ibarra et al. 2022)."""

from __future__ import annotations

import numpy as np

from uqcli.base.blockwise import each_part
from uqcli.base.counts import ValueCounts


def cumulative_error(counts: ValueCounts) -> float:
    """Compute the range of the cumulative sums of (label - score) / N in ascending order of score, from 0."""

    def extremes(part: slice) -> tuple[float, float, float]:
        steps = counts.positives[part] - counts.count[part] * counts.value[part]
        np.cumsum(steps, out=steps)
        return float(steps.max()), float(steps.min()), float(steps[-1])

    highest = lowest = offset = 0.0
    for greatest, least, last in each_part(extremes, len(counts.value)):
        # rounding is monotone: the maximum of a part stays its maximum after the offset is added
        highest, lowest = max(highest, offset + greatest), min(lowest, offset + least)
        offset += last
    return (highest - lowest) / counts.rows
