"""Ranking metrics of scores."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import ValueCounts


def auc(counts: ValueCounts) -> float | None:
    """Compute the AUC: the probability that a positive row has the higher score, ties counting half.

    None if a class is missing.
    """
    positives = counts.positives
    negatives = counts.count - positives
    total = int(positives.sum()) * int(negatives.sum())
    if total == 0:
        return None
    # 2 * below + ties is exact in integers; the sum of products may exceed 2^63, so it is computed in floats
    wins = np.cumsum(negatives)
    wins *= 2
    wins -= negatives
    twice_wins = positives.astype(np.float64)
    twice_wins *= wins  # in place: fresh memory takes longer than the arithmetic
    return float(twice_wins.sum() / 2 / total)


def average_precision(counts: ValueCounts) -> float | None:
    """Compute the average precision: precision at every threshold, weighted by the recall gained there.

    None without positive rows.
    """
    hits = np.cumsum(counts.positives[::-1])
    selected = np.cumsum(counts.count[::-1])
    if len(hits) == 0 or hits[-1] == 0:
        return None
    precision = hits / selected
    precision *= counts.positives[::-1]
    return float(precision.sum() / hits[-1])
