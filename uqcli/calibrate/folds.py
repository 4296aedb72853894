"""Folds of pooled scores: maps of the score are compared at a cost that does not grow with the rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from uqcli.base.counts import Floats, Ints, ValueCounts, merge
from uqcli.base.defaults import FOLDS
from uqcli.base.draws import Purpose, digest, generator
from uqcli.base.records import dataclass
from uqcli.calibrate.few_scores import on_few_scores, starts_of_bins
from uqcli.calibrate.scale import Scale
from uqcli.estimates.score_metrics import log_losses


class MapOfScores(Protocol):
    """What folds ask of a calibration map."""

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """Compute the probabilities of corrected scores."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreFolds:
    """Rows of each fold on at most 500 scores.

    Attributes
    ----------
    value : float64, shape (m,)
    positives, negatives : int64, shape (FOLDS, m)
    """

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
    """Log losses of held-out rows.

    Attributes
    ----------
    loss : float64, shape (2 * FOLDS, m)
    count : int64, shape (2 * FOLDS, m)
        Rows that have the loss.
    """

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
