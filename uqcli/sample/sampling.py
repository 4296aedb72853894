"""Which rows to label: designs of random samples, and the labels that an interval of some width needs.

For precision, a simple random sample of the flagged rows is as good as it gets. For recall, a row counts in
proportion to the square root of its part in the variance (Neyman allocation). With the recall R and the rate
c of rows with the same score, this part is (1 - R)^2 c for a flagged row. For a cleared row it is R^2 c.
Rows are drawn independently (Poisson sampling), each with a probability of its own. No probability
is below half of their mean, so that no weight is large where a rate is too low.

Rows that have a label already are not drawn. Each of them stands for itself alone, with weight 1, and the
rows drawn stand for all others. So rates of all rows are right however those labels were chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.records import dataclass
from uqcli.estimates.proportion import clopper_pearson
from uqcli.estimates.survey import Outcome, weighted_interval

STEPS: Final = 1 << 16
"""Square roots of rates are rounded to multiples of 1/STEPS, so that any number of rows is a few counts."""

LEAST_SHARE: Final = 0.5
"""Least probability, as a share of the mean; with a tenth, intervals of recall are mostly 5 to 30 % wider."""

_HALVINGS: Final = 100


def steps(rate: Floats) -> Ints:
    """Round the square roots of rates, in [0, 1], to steps.

    >>> steps(np.array([0.0, 0.25, 1.0])).tolist()
    [0, 32768, 65536]
    """
    nearest: Ints = np.rint(np.sqrt(rate) * STEPS).astype(np.int64)
    return nearest


class RateCounter:
    """Counts rows by rate, cleared and flagged ones apart; integers, so that their order has no effect."""

    def __init__(self) -> None:
        self._count, self._labelled = np.zeros((2, 2 * (STEPS + 1)), dtype=np.int64)

    def add(self, step: Ints, flagged: Bools, labelled: Bools) -> None:
        """Add rows; int64 and bool, shape (n,)."""
        place = _places(step, flagged)
        self._count += np.bincount(place, minlength=len(self._count))
        self._labelled += np.bincount(place[labelled], minlength=len(self._labelled))

    def result(self) -> RatedRows:
        """Return the rows so far."""
        place = np.flatnonzero(self._count)
        return RatedRows(place=place, count=self._count[place], labelled=self._labelled[place])


@dataclass(frozen=True, kw_only=True, eq=False)
class RatedRows:
    """Rows pooled by rate and decision; int64, shape (m,) each.

    ``place`` is the step of the rate, plus STEPS + 1 for flagged rows; ascending. ``labelled`` are rows that
    have a label already.
    """

    place: Ints
    count: Ints
    labelled: Ints

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.count.sum())

    @property
    def flagged(self) -> int:
        """Number of flagged rows."""
        return int(self.count[self.place > STEPS].sum())

    @property
    def unlabelled(self) -> Ints:
        """Rows without a label; int64, shape (m,)."""
        return self.count - self.labelled

    @property
    def rows_labelled(self) -> int:
        """Number of rows that have a label."""
        return int(self.labelled.sum())

    @property
    def flagged_labelled(self) -> int:
        """Number of flagged rows that have a label."""
        return int(self.labelled[self.place > STEPS].sum())

    @cached_property
    def positives(self) -> Floats:
        """Expected positive rows; float64, shape (m,)."""
        return self.count * self._rate

    @cached_property
    def recall(self) -> float:
        """Recall to expect; 0 without positives."""
        total = float(self.positives.sum())
        return float(self.positives[self.place > STEPS].sum()) / total if total > 0 else 0.0

    @cached_property
    def size(self) -> Floats:
        """Square root of the part of a row in the variance of recall; float64, shape (m,)."""
        part_of_positive = np.where(self.place > STEPS, (1 - self.recall) ** 2, self.recall**2)
        size: Floats = np.sqrt(part_of_positive * self._rate)
        return size

    @cached_property
    def _rate(self) -> Floats:
        rate: Floats = np.square(self.place % (STEPS + 1) / STEPS)
        return rate


@dataclass(frozen=True, kw_only=True, eq=False)
class RecallDesign:
    """Poisson sample for recall: probabilities, shape (m,), of rows of each place without a label."""

    rows: RatedRows
    probability: Floats

    @property
    def labels(self) -> float:
        """Expected number of rows drawn."""
        return float((self.rows.unlabelled * self.probability).sum())

    def width(self, confidence: float) -> float:
        """Return the width of the interval of recall to expect from the rows drawn and those with a label.

        Recall is above 0 and below 1.
        """
        low, high = weighted_interval(self._outcome(flagged=True), self._outcome(flagged=False), confidence)
        return high - low

    def _outcome(self, *, flagged: bool) -> Outcome:
        """Return what to expect of the weights of positive rows with a decision, and of all rows with it."""
        rows, inside = self.rows, (self.rows.place > STEPS) == flagged
        squares, cubes = (  # of the weights of all rows
            (rows.labelled + rows.unlabelled / self.probability**power)[inside] for power in (1, 2)
        )
        count, positives = rows.count[inside], rows.positives[inside]
        return Outcome(
            total=float(positives.sum()),
            squares=float((positives * squares / count).sum()),
            further=float(cubes.sum()) / float(squares.sum()),
        )

    def of_rows(self, step: Ints, flagged: Bools) -> Floats:
        """Return the probabilities of rows, which are among ``rows``; shape (n,)."""
        index = np.searchsorted(self.rows.place, _places(step, flagged))
        probability: Floats = self.probability[index.clip(0, len(self.probability) - 1)]
        return probability


def recall_design(rows: RatedRows, labels: int) -> RecallDesign:
    """Choose the probabilities at which about ``labels`` rows, at least 1, estimate recall best."""
    unlabelled = int(rows.unlabelled.sum())
    if labels >= unlabelled:
        return RecallDesign(rows=rows, probability=np.ones(len(rows.place)))
    least = LEAST_SHARE * labels / unlabelled

    def probability(factor: float) -> Floats:
        return np.minimum(1.0, np.maximum(least, factor * rows.size))

    low, high = 0.0, 1.0 / float(rows.size[rows.size > 0].min(initial=1.0))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if float((rows.unlabelled * probability(middle)).sum()) < labels:
            low = middle
        else:
            high = middle
    return RecallDesign(rows=rows, probability=probability(high))


def uniform_design(rows: RatedRows, labels: int) -> RecallDesign:
    """Draw each row without a label with the same probability."""
    share = min(1.0, labels / max(1, int(rows.unlabelled.sum())))
    return RecallDesign(rows=rows, probability=np.full(len(rows.place), share))


def precision_width(rows: RatedRows, precision: float, labels: float, confidence: float) -> float:
    """Return the width of the interval of precision to expect from flagged rows.

    ``labels`` are the flagged rows without a label that are drawn, above 0; those that have one count as
    well.
    """
    unlabelled = rows.flagged - rows.flagged_labelled
    squares = rows.flagged_labelled + unlabelled**2 / labels  # of weights
    effective = rows.flagged**2 / squares
    low, high = clopper_pearson(precision * effective, effective, confidence)
    return high - low


def labels_for(width: Callable[[int], float], wanted: float, most: int) -> int | None:
    """Return the least number of labels at which an interval has the wanted width at most.

    None if even labels of all ``most`` rows leave it wider; the width falls with the labels.
    """
    if most < 1 or width(most) > wanted:
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if width(middle) <= wanted else (middle, high)
    return high


def _places(step: Ints, flagged: Bools) -> Ints:
    return step + flagged * (STEPS + 1)
