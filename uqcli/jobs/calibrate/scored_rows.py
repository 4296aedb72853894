"""Labelled rows of any method of calibration: pooled, drawn, dealt out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from uqcli.counts import Bools, Feature, Floats, Ints, ValueCounts
from uqcli.defaults import MEASURED_ROWS
from uqcli.draws import Purpose, generator
from uqcli.parts import places_of, sums_before


@dataclass(frozen=True, kw_only=True)
class ScoredRows:
    """Labelled rows, each of shape (n,); scores as given."""

    score: Floats
    uncertainty: Floats | None
    positive: Bools
    weight: Ints
    features: Mapping[str, Feature]

    @property
    def size(self) -> int:
        """Rows by weight."""
        return int(self.weight.sum())

    def only(self, rows: Bools | Ints) -> ScoredRows:
        """Some of the rows."""
        return ScoredRows(
            score=self.score[rows],
            uncertainty=None if self.uncertainty is None else self.uncertainty[rows],
            positive=self.positive[rows],
            weight=self.weight[rows],
            features={name: each.only(rows) for name, each in self.features.items()},
        )

    def weighing(self, weight: Ints) -> ScoredRows:
        """The rows that weigh something under other weights."""
        there = np.flatnonzero(weight)
        return replace(self.only(there), weight=weight[there])

    def pooled(self) -> ScoredRows:
        """Equal rows as one, sorted by their values: the order of the rows leaves no trace."""
        columns = [self.score, self.positive, *(each.value for each in self.features.values())]
        if self.uncertainty is not None:
            columns.append(self.uncertainty)
        keys = [np.where(np.isnan(each), -np.inf, each) for each in columns]  # a missing value equals another
        there = np.flatnonzero(self.weight)
        order = there[np.lexsort([each[there] for each in reversed(keys)])]
        new = np.zeros(len(order), dtype=np.bool_)
        new[:1] = True
        for key in keys:
            new[1:] |= key[order][1:] != key[order][:-1]
        starts = np.flatnonzero(new)
        return replace(self.only(order[starts]), weight=np.add.reduceat(self.weight[order], starts))

    @staticmethod
    def joined(parts: Sequence[ScoredRows]) -> ScoredRows:
        """Parts of the same rows one after the other."""
        first = parts[0]
        return ScoredRows(
            score=np.concatenate([part.score for part in parts]),
            uncertainty=None
            if first.uncertainty is None
            else np.concatenate([part.uncertainty for part in parts if part.uncertainty is not None]),
            positive=np.concatenate([part.positive for part in parts]),
            weight=np.concatenate([part.weight for part in parts]),
            features={
                name: replace(feature, value=np.concatenate([part.features[name].value for part in parts]))
                for name, feature in first.features.items()
            },
        )


def rows_of(counts: ValueCounts) -> ScoredRows:
    """Distinct rows in sorted order: of each score the negative ones before the positive ones."""
    weight = np.stack([counts.count - counts.positives, counts.positives], axis=1).astype(np.int64).ravel()
    there = np.flatnonzero(weight)
    return ScoredRows(
        score=counts.value[there // 2],
        uncertainty=None,
        positive=there % 2 == 1,
        weight=weight[there],
        features={},
    )


def drawn_from(counts: ValueCounts, seed: int) -> ValueCounts:
    """Counts of as many rows as are measured at most, drawn without replacement; fewer are all taken."""
    rows = counts.rows
    if rows <= MEASURED_ROWS:
        return counts
    random = generator(seed, Purpose.SPLIT, 2)
    rank = np.sort(random.choice(rows, MEASURED_ROWS, replace=False, shuffle=False))
    # of each score the negative rows come first
    place = places_of(counts.count, rank)
    taken, first = np.unique(place, return_index=True)
    before = sums_before(counts.count, taken)
    negative = rank - before[np.searchsorted(taken, place)] < (counts.count - counts.positives)[place]
    count = np.diff(first, append=len(rank))
    negatives = np.add.reduceat(negative, first, dtype=np.int64)
    return ValueCounts(value=counts.value[taken], count=count, positives=count - negatives)


def deal(weight: Ints, parts: int, random: np.random.Generator) -> Ints:
    """Deal rows out in a drawn order, one to each part in turn; a row of weight w is w rows.

    Parameters
    ----------
    weight : int64, shape (m,)
        Of distinct rows in sorted order.

    Returns
    -------
    int64, shape (parts, m)
        How often each row is in each part; part sizes differ by at most one.
    """
    order = random.permutation(len(weight))
    last = np.cumsum(weight[order])
    dealt = np.empty((parts, len(weight)), dtype=np.int64)
    for part in range(parts):
        upto = (last - 1 - part) // parts
        dealt[part, order] = upto - (last - weight[order] - 1 - part) // parts
    return dealt
