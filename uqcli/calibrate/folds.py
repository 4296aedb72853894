"""Samples and folds of rows; scores pooled to few, so that a fit to a fold has the same cost for any rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from uqcli.base.counts import Floats, Ints, ValueCounts, distinct_numbers, merge, run_starts
from uqcli.base.defaults import FEW_SCORES, FOLDS, MEASURED_ROWS
from uqcli.base.draws import Purpose, dealt, digest, generator
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.calibrate.scale import Scale
from uqcli.engines.repeated_rows import are_copies
from uqcli.estimates.score_metrics import log_losses
from uqcli.kernels.sums import indices_of_ranks, sums_before, sums_from
from uqcli.kernels.units import dense_ranks


def rows_of(counts: ValueCounts) -> Rows:
    """Return the distinct rows in sorted order: for each score the negative row before the positive one."""
    weight = np.stack([counts.count - counts.positives, counts.positives], axis=1).astype(np.int64).ravel()
    present = np.flatnonzero(weight)
    return Rows(
        numbers={"score": counts.value[present // 2]}, positive=present % 2 == 1, weight=weight[present]
    )


def sample_of(counts: ValueCounts, seed: int) -> ValueCounts:
    """Sample ``MEASURED_ROWS`` rows without replacement; return all rows if there are no more."""
    rows = counts.rows
    if rows <= MEASURED_ROWS:
        return counts
    random = generator(seed, Purpose.SPLIT, 2)
    rank = np.sort(random.choice(rows, MEASURED_ROWS, replace=False, shuffle=False))
    # for each score the negative rows come first
    index = indices_of_ranks(counts.count, rank)
    first = run_starts(index)
    indices = index[first]
    before = sums_before(counts.count, indices)
    negative = rank - before[np.searchsorted(indices, index)] < counts.count[index] - counts.positives[index]
    count = np.diff(first, append=len(rank))
    negatives = np.add.reduceat(negative, first, dtype=np.int64)
    return ValueCounts(value=counts.value[indices], count=count, positives=count - negatives)


def sample_of_rows(rows: Rows, most: int, seed: int) -> Rows:
    """Sample rows without replacement; return all rows if there are no more than ``most``."""
    if rows.size <= most:
        return rows
    weight = rows.weights()
    ranks = np.sort(generator(seed, Purpose.SPLIT, 2).choice(rows.size, most, replace=False, shuffle=False))
    return rows.reweighted(np.bincount(indices_of_ranks(weight, ranks), minlength=len(weight)))


def folds_of(rows: Rows, seed: int, cluster: str | None) -> Iterator[tuple[Rows, Rows]]:
    """Deal rows, or whole clusters, to at most five folds; yield the rows outside each, and its own.

    There are at least two of them.
    """
    weight = rows.weights()
    for fold in weights_of_folds(rows, seed, cluster):
        yield rows.reweighted(weight - fold), rows.reweighted(fold)


def weights_of_folds(rows: Rows, seed: int, cluster: str | None) -> Ints:
    """Return the weight of each row in each of at most five folds; int64, shape (folds, n)."""
    random = generator(seed, Purpose.SPLIT, 1)
    return deal_rows(rows, min(FOLDS, units_of(rows, cluster)), random, cluster)


def units_of(rows: Rows, cluster: str | None) -> int:
    """Return the number of rows that can be split, or of clusters."""
    return rows.size if cluster is None else len(distinct_numbers(rows.groups[cluster]))


def can_be_split(rows: Rows, cluster: str | None) -> bool:
    """Whether some rows, or clusters, can be left out of a fit."""
    return units_of(rows, cluster) > 1


def deal_rows(rows: Rows, parts: int, random: np.random.Generator, cluster: str | None = None) -> Ints:
    """Split pooled rows as ``split_into_folds`` does, but keep copies together unless a fold would be empty.

    The rows of a cluster, given by its key, stay together too; there are at least as many as parts.
    """
    weight = rows.weights()
    if cluster is not None:
        return _deal_clusters(weight, rows.groups[cluster], parts, random)
    if are_copies(rows):
        order = random.permutation(len(weight))
        last = np.cumsum(weight[order])
        # fold of the row's middle
        fold = np.minimum((2 * last - weight[order]) * parts // (2 * last[-1]), parts - 1)
        dealt = np.zeros((parts, len(weight)), dtype=np.int64)
        dealt[fold, order] = weight[order]
        if dealt.any(axis=1).all():
            return dealt
    return split_into_folds(weight, parts, random)


def _deal_clusters(weight: Ints, cluster: Ints, parts: int, random: np.random.Generator) -> Ints:
    """Deal whole clusters in turn, in an order by the hash of their key."""
    clusters, index = dense_ranks(cluster)
    fold = dealt(clusters, parts, int(random.integers(1 << 62)))
    return np.where(fold[index] == np.arange(parts)[:, None], weight, 0)


def split_into_folds(weight: Ints, parts: int, random: np.random.Generator) -> Ints:
    """Deal rows to folds one by one in a random order; a row of weight w is w rows.

    Weights are those of m distinct rows in sorted order. The multiplicity of each row in each fold has shape
    (parts, m); fold sizes differ by at most one.
    """
    order = random.permutation(len(weight))
    last = np.cumsum(weight[order])
    multiplicity = np.empty((parts, len(weight)), dtype=np.int64)
    for fold in range(parts):
        dealt_so_far = (last + (parts - 1 - fold)) // parts  # to this fold, up to each row
        multiplicity[fold, order] = np.diff(dealt_so_far, prepend=0)
    return multiplicity


def on_few_scores(counts: ValueCounts, most: int = FEW_SCORES) -> ValueCounts:
    """Merge adjacent scores into bins of equal weight, up to ties, if there are more than ``most`` scores.

    The score of a bin is that of its middle row, the lower one of two. It is a score of the data, so no sum
    of floats is needed. The lowest and the highest score are bins of their own: the range stays exact, and
    ``most`` is at least 3.

    Examples
    --------
    >>> from uqcli.base.counts import pool
    >>> few = on_few_scores(pool(np.arange(8.0), np.arange(8) > 3), most=4)
    >>> few.value.tolist(), few.count.tolist(), few.positives.tolist()
    ([0.0, 2.0, 5.0, 7.0], [1, 3, 3, 1], [0, 0, 3, 1])
    """
    if len(counts.value) <= most:
        return counts
    starts = starts_of_bins(counts, most)
    count = sums_from(counts.count, starts)
    middle = np.cumsum(count) - count + (count - 1) // 2
    return ValueCounts(
        value=counts.value[indices_of_ranks(counts.count, middle)],
        count=count,
        positives=sums_from(counts.positives, starts),
    )


def starts_of_bins(counts: ValueCounts, most: int = FEW_SCORES) -> Ints:
    """Return the position of the first score of each bin of ``on_few_scores``; int64, ascending."""
    if len(counts.value) <= most:
        return np.arange(len(counts.value))
    rows = counts.rows
    ranks = np.array([r * rows // (most - 2) for r in range(1, most - 2)], dtype=np.int64)
    begins = indices_of_ranks(counts.count, ranks)
    return distinct_numbers(np.concatenate([[0, 1], begins, [len(counts.value) - 1]]))


class MapOfScores(Protocol):
    """What folds ask of a calibration map."""

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """Compute the probabilities of corrected scores."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreFolds:
    """Positive and negative rows of each fold, shape (FOLDS, m), on m scores, at most 500."""

    value: Floats
    positives: Ints
    negatives: Ints

    @property
    def has_training_rows(self) -> bool:
        """Whether every fold leaves rows to fit a map to."""
        by_fold = (self.positives + self.negatives).sum(axis=1)
        return bool((by_fold < by_fold.sum()).all())

    @cached_property
    def training(self) -> tuple[ValueCounts, ...]:
        """Rows of all folds but one, for each fold."""
        return tuple(map(self._without, range(len(self.positives))))

    def _without(self, fold: int) -> ValueCounts:
        positives, negatives = (side.sum(axis=0) - side[fold] for side in (self.positives, self.negatives))
        present = np.flatnonzero(positives + negatives)
        return ValueCounts(
            value=self.value[present], count=(positives + negatives)[present], positives=positives[present]
        )

    def losses(self, maps: Sequence[MapOfScores], scale: Scale) -> CrossFittedLosses:
        """Compute the log losses of each fold under its map, which was fitted to the other folds."""
        probability = np.stack([fitted.probability(self.value, scale) for fitted in maps])
        if_positive, if_negative = log_losses(probability)
        loss = np.concatenate([if_positive, if_negative])
        return CrossFittedLosses(loss=loss, count=np.concatenate([self.positives, self.negatives]))


@dataclass(frozen=True, kw_only=True)
class CrossFittedLosses:
    """Log losses of held-out rows, and the number of rows that have each; shape (2 * FOLDS, m)."""

    loss: Floats
    count: Ints

    @property
    def mean(self) -> float:
        """Mean log loss in nats."""
        return float((self.loss * self.count).sum() / self.count.sum())

    def excess(self, best: CrossFittedLosses) -> tuple[float, float]:
        """Compute the mean excess over other losses of the same rows, and its standard error."""
        difference = np.where(self.count > 0, self.loss - best.loss, 0.0)
        rows = int(self.count.sum())
        mean = float((difference * self.count).sum() / rows)
        squares = float(((difference - mean) ** 2 * self.count).sum())
        return mean, (squares / max(1, rows - 1) / rows) ** 0.5


def thinned(counts: ValueCounts, seed: int) -> ScoreFolds:
    """Deal the rows at each score to the folds; the law is that of dealing single rows."""
    few = on_few_scores(counts)
    random = generator(seed, Purpose.THIN, digest([few.value, few.count, few.positives]))
    shares = np.full(FOLDS, 1 / FOLDS)
    positives, negatives = (
        random.multinomial(rows, shares).T for rows in (few.positives, few.count - few.positives)
    )
    return ScoreFolds(value=few.value, positives=positives, negatives=negatives)


def folds_from(parts: Sequence[ValueCounts]) -> ScoreFolds:
    """Build folds from given parts of the rows, such as whole clusters."""
    counts = merge(parts)
    starts = starts_of_bins(counts)
    positives, negatives = (np.zeros((len(parts), len(starts)), dtype=np.int64) for _ in range(2))
    for fold, part in enumerate(parts):
        bins = np.searchsorted(counts.value[starts], part.value, side="right") - 1
        np.add.at(positives[fold], bins, part.positives)
        np.add.at(negatives[fold], bins, part.count - part.positives)
    return ScoreFolds(value=on_few_scores(counts).value, positives=positives, negatives=negatives)
