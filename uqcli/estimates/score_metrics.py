"""Metrics of scores: proper scoring losses with standard errors, AUC and average precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from uqcli.base.blockwise import COUNTS_PER_PART, parts
from uqcli.base.counts import Floats, ValueCounts
from uqcli.base.notices import Notice
from uqcli.base.wording import count
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.resampling import mean_with_error

CLIP = 1e-15
"""Probabilities are clipped to this distance from 0 and 1 for the log loss."""

Loss = Callable[[Floats], tuple[Floats, Floats]]
"""Function from probabilities to the losses of positive and of negative rows."""


def squared_error(probability: Floats) -> tuple[Floats, Floats]:
    """Compute ``(1 - p)^2`` and ``p^2``."""
    return (1 - probability) ** 2, probability**2


def log_losses(probability: Floats) -> tuple[Floats, Floats]:
    """Compute ``-ln p`` and ``-ln(1 - p)`` of probabilities clipped to [1e-15, 1 - 1e-15], in nats."""
    clipped = np.clip(probability, CLIP, 1 - CLIP)
    return -np.log(clipped), -np.log1p(-clipped)


LOSSES: Final[Mapping[str, Loss]] = MappingProxyType({"brier": squared_error, "log_loss": log_losses})
"""Losses by the name of the metric that is their mean."""


def is_bounded(name: str, probability: Floats) -> bool:
    """Whether no single row can dominate the mean loss; the log loss at 0 or 1 only depends on the clipping.

    Otherwise intervals are invalid: most bootstrap samples lack the rare row that dominates.
    """
    return name != "log_loss" or bool(probability.min() > CLIP and probability.max() < 1 - CLIP)


def mean_loss(counts: ValueCounts, name: str) -> Estimate:
    """Average a loss over pooled probabilities, with a standard error unless a single row may dominate."""
    loss = LOSSES[name]
    if not is_bounded(name, counts.value):
        return Estimate(value=None)
    if_positive, if_negative = loss(counts.value)
    negatives = counts.count - counts.positives
    return mean_with_error(
        np.concatenate([if_positive, if_negative]), np.concatenate([counts.positives, negatives])
    )


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
    twice_wins, below = positives.astype(np.float64), 0
    # whole arrays beside the counts would take as much again
    for part in parts(len(negatives), COUNTS_PER_PART):
        wins = np.cumsum(negatives[part])
        wins += below
        below = int(wins[-1])
        wins *= 2
        wins -= negatives[part]
        twice_wins[part] *= wins  # in place: fresh memory takes longer than the arithmetic
    return float(twice_wins.sum() / 2 / total)


def is_reversed(counts: ValueCounts) -> bool:
    """Whether low scores are more often positive than high ones, significantly.

    The rank-sum test with ties, at two-sided 1 %; not with fewer than five rows of a class, for which its
    normal limit does not hold.
    """
    return ranks_below_chance(counts, auc(counts))


def ranks_below_chance(counts: ValueCounts, area: float | None) -> bool:
    """Whether a score is reversed (see ``is_reversed``), whose AUC is known."""
    n, positives = int(counts.count.sum()), int(counts.positives.sum())
    if area is None or area >= 1 / 2 or min(positives, n - positives) < _FEWEST_RANKED:
        return False
    ties = counts.count.astype(np.float64)
    for part in parts(len(ties), COUNTS_PER_PART):
        ties[part] = ties[part] * ties[part] * ties[part] - ties[part]
    tied = float(ties.sum()) / (n * (n - 1))
    error = math.sqrt((n + 1 - tied) / (12 * positives * (n - positives))) if n + 1 > tied else 0.0
    return error > 0 and (area - 0.5) / error <= -_BY_MORE_THAN_CHANCE


REVERSED: Final = (
    "low scores are more often positive than high ones: check --label, --positive and the sign of the score."
)
_FEWEST_RANKED: Final = 5
_BY_MORE_THAN_CHANCE: Final = 2.576
"""Normal quantile of 99.5 %."""


def average_precision(counts: ValueCounts) -> float | None:
    """Compute the average precision: precision at every threshold, weighted by the recall gained there.

    None without positive rows. Counts may be 0, as in a sample.
    """
    hits = np.cumsum(counts.positives[::-1])
    selected = np.cumsum(counts.count[::-1])
    if len(hits) == 0 or hits[-1] == 0:
        return None
    precision = hits / np.maximum(selected, 1)
    precision *= counts.positives[::-1]
    return float(precision.sum() / hits[-1])


def certain_misses(problems: Iterable[ValueCounts]) -> list[Notice]:
    """Caution of rows that have a score of exactly 0 or 1, and the other label.

    With classes there is a problem for each, whose ascending scores are the class's probability.
    """
    missed = 0
    for counts in problems:
        ends = counts.value[[0, -1]], counts.count[[0, -1]], counts.positives[[0, -1]]
        (low, high), (_, last), (positive, hits) = (column.tolist() for column in ends)
        missed = max(missed, (low == 0) * positive + (high == 1) * (last - hits))
    if not missed:
        return []
    rows = "row has" if missed == 1 else "rows have"
    sentence = (
        f"{count(missed)} {rows} a score of exactly 0 or 1 and the other label. The slope, the intercept and "
        "the log loss mostly tell where such a score is cut: look at these rows, or round the scores less."
    )
    return [Notice("certain-misses", sentence)]
