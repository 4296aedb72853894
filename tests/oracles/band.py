"""Oracle of the band of the calibration curve: every block of cells, and every row."""

import math
from itertools import chain

from scipy import stats


def cells(rows, most):
    """Cut sorted (score, label) rows into cells: rows of one score stay together, at their first rank."""
    by_cell = {}
    first_rank = {}
    for rank, (score, label) in enumerate(sorted(rows)):
        start = first_rank.setdefault(score, rank)
        by_cell.setdefault(start * most // len(rows), []).append((score, label))
    return [by_cell[number] for number in sorted(by_cell)]


def blocks(rows, most, confidence):
    """List every run of cells with the exact interval of its rate."""
    parts = cells(rows, most)
    runs = [list(chain(*parts[i : j + 1])) for i in range(len(parts)) for j in range(i, len(parts))]
    level = 1 - (1 - confidence) / len(runs)
    intervals = []
    for run in runs:
        labels, scores = [label for _, label in run], [score for score, _ in run]
        interval = stats.binomtest(sum(labels), len(labels)).proportion_ci(level, method="exact")
        intervals.append((scores, interval.low, interval.high))
    return intervals


def limits(intervals, score):
    """Return the limits of the curve at a score: of the blocks below it, and of those above."""
    low = max((low for scores, low, _ in intervals if scores[-1] <= score), default=0.0)
    high = min((high for scores, _, high in intervals if scores[0] >= score), default=1.0)
    return low, high


def deviations(rows, most, confidence):
    """Return within, within_low and within_runs, row by row."""
    intervals = blocks(rows, most, confidence)
    distances, proved = [], [0.0]
    for score, _ in rows:
        low, high = limits(intervals, score)
        distances.append(max(high - score, score - low))
        proved += [low - score, score - high]
    within = sorted(distances)[math.ceil(19 * len(rows) / 20) - 1]
    runs = [
        max(high - sum(scores) / len(scores), sum(scores) / len(scores) - low)
        for scores, low, high in intervals
        if 20 * len(scores) >= len(rows)
    ]
    return within, max(proved), max(runs)
