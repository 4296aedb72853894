"""Whether the uncertainty finds positives that the score alone does not, on rows held out.

Each row is ranked by smoothed rates of score x uncertainty cells that the other folds gave. Its gain over the
score at as many alerts is held against placebos: the same rows with uncertainties exchanged among neighbours
in score, which keeps all that the uncertainty has from following the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from uqcli.choices import ConstraintKind
from uqcli.counts import LOWEST_EDGE, Bools, CellRow, Cells, Floats, Ints, run_starts
from uqcli.defaults import FOLDS
from uqcli.document import Estimate
from uqcli.draws import Purpose, generator
from uqcli.methods.boundary.constraint import Constraint
from uqcli.methods.boundary.ranking.smoothing import nested_boundaries
from uqcli.methods.resampling import resample
from uqcli.running.progress import followed

LEVELS: Final = 3
"""Uncertainty bins, or fewer where ties leave some of them empty."""

PLACEBOS: Final = 100
"""For each of several uncertainties, one of which is the rows themselves."""

_SCORE_CELLS: Final = 100
_NEIGHBOURS: Final = 20
"""Rows next to each other in score among which placebos exchange uncertainties."""

_FACTORS: Final = np.array([0.5, 0.7, 0.85, 1.0, 1.2, 1.4])
"""Numbers of alerts at which the gain is averaged, over those of the score at the bound."""

RESAMPLINGS: Final = 200
_AT_BOUND, _AT_ALERTS = 5, 2
"""Resamplings that lie at or beyond either end of an interval. At equal alerts the outer twentieth would
leave out the truth in 7 to 8 % of small hold-outs; at the bound it does so in fewer than 5 %."""


@dataclass(frozen=True, kw_only=True)
class Gain:
    """What score x uncertainty finds beyond the score alone, in recall, on rows held out.

    Attributes
    ----------
    equal_alerts
        At as many alerts, averaged around those of the score at the bound.
    at_bound
        Where each meets the constraint.
    placebo
        Mean of the placebos' gains at as many alerts.
    p_value, p_hurts
        Share of placebos, the rows themselves among them, that gain as much, and as little.
    value, value_equal_alerts
        The same two gains in utility, on as many rows; None under another constraint.
    """

    equal_alerts: Estimate
    at_bound: Estimate
    placebo: float
    p_value: float
    p_hurts: float
    value: Estimate | None = None
    value_equal_alerts: Estimate | None = None


@dataclass(frozen=True, kw_only=True)
class OrderedRows:
    """Single rows in ascending order of score, ties in an order that says nothing.

    Attributes
    ----------
    first : int64, shape (n,)
        Place of the first row with the same score.
    positive : bool, shape (n,)
    fold : int64, shape (n,)
        0 to FOLDS - 1.
    level : int64, shape (n,)
        Uncertainty bin, 0 to LEVELS - 1 at most; there are rows in each up to the last.
    """

    first: Ints
    positive: Bools
    fold: Ints
    level: Ints

    @cached_property
    def ones(self) -> Ints:
        """How often each row counts; int64, shape (n,)."""
        return np.ones(len(self.first), dtype=np.int64)

    @cached_property
    def by_score(self) -> Curve:
        """Alerts by the score alone."""
        return Curve.of(-self.first, self.positive.astype(np.int64), self.ones)

    @cached_property
    def by_rank(self) -> Curve:
        """Alerts by score and uncertainty."""
        return Curve.of(self.ranks, self.positive.astype(np.int64), self.ones)

    @cached_property
    def rankings(self) -> tuple[Floats, list[Floats]]:
        """Of each fold, shares of the other folds' rows up to and with each cell, and where cells begin.

        Returns
        -------
        float64, shape (FOLDS, cells), and of each bin float64, shape (L,): places in the order of the scores.
        """
        cell, lower = self._cells(self.level)
        return _shares(*self._counts(cell, len(lower)), lower), lower

    @cached_property
    def ranks(self) -> Floats:
        """Share of the other folds' rows that are ranked no lower than a row; float64, shape (n,)."""
        return self.rankings[0][self.fold, self._cells(self.level)[0]]

    def gained(self, level: Ints, alerts: int) -> float:
        """The mean gain in recall around a number of alerts.

        Parameters
        ----------
        level : int64, shape (n,)
            Uncertainty bin of each row, its own or a placebo's.
        """
        cell, lower = self._cells(level)
        count, positives = self._counts(cell, len(lower))
        shares = _shares(count, positives, lower)
        return gain(Curve.of(shares.ravel(), positives.ravel(), count.ravel()), self.by_score, alerts)

    def _cells(self, level: Ints) -> tuple[Ints, list[Floats]]:
        """Cell of each row, and where the cells of each bin begin in the order of the scores."""
        cell, lower = np.empty(len(level), dtype=np.int64), []
        for number in range(int(level.max()) + 1):
            places = np.flatnonzero(level == number)
            edges = self.first[places[np.arange(1, _SCORE_CELLS) * len(places) // _SCORE_CELLS]]
            sizes = np.diff(np.searchsorted(places, edges), prepend=0, append=len(places))
            cell[places] = number * _SCORE_CELLS + np.repeat(np.arange(_SCORE_CELLS), sizes)
            lower.append(np.concatenate([LOWEST_EDGE, edges]))
        return cell, lower

    def _counts(self, cell: Ints, levels: int) -> tuple[Ints, Ints]:
        """Rows and positive rows of each fold's cells; int64, shape (FOLDS, cells)."""
        shape = FOLDS, levels * _SCORE_CELLS
        number = self.fold * shape[1] + cell
        count = np.bincount(number, minlength=shape[0] * shape[1])
        positives = np.bincount(number[self.positive], minlength=shape[0] * shape[1])
        return count.reshape(shape), positives.reshape(shape)


def _shares(count: Ints, positives: Ints, lower: Sequence[Floats]) -> Floats:
    """Share of the other folds' rows up to and with each cell in their ranking; shape (FOLDS, cells)."""
    shares = np.ones(count.shape)
    for fold in range(FOLDS):
        others = [(each.sum(axis=0) - each[fold]).reshape(len(lower), -1) for each in (count, positives)]
        rows = [CellRow(lower=low, count=n, positives=p) for low, n, p in zip(lower, *others, strict=True)]
        cells = Cells(uncertainty_edges=np.arange(1.0, len(rows)), rows=tuple(rows))
        if cells.total:
            nested = nested_boundaries(cells)
            shares[fold, nested.order] = nested.selected / cells.total
    return shares


@dataclass(frozen=True, kw_only=True)
class Curve:
    """What alerts find, from none to all.

    Attributes
    ----------
    alerts, hits : int64, shape (m+1,)
        Alerts and true positives of the first 0, 1, ... groups of rows that are told apart.
    """

    alerts: Ints
    hits: Ints

    @classmethod
    def of(cls, key: Floats | Ints, positives: Ints, count: Ints) -> Curve:
        """The lowest keys first."""
        order = np.argsort(key, kind="stable")
        starts = run_starts(key[order])
        alerts, hits = (np.add.reduceat(each[order], starts) for each in (count, positives))
        return cls.summed(alerts, hits)

    @classmethod
    def summed(cls, count: Ints, positives: Ints) -> Curve:
        """From counts of groups in their order."""
        return cls(
            alerts=np.concatenate([[0], np.cumsum(count)]), hits=np.concatenate([[0], np.cumsum(positives)])
        )

    def hits_of(self, alerts: Floats) -> Floats:
        """True positives among so many alerts, linear where rows are not told apart."""
        found: Floats = np.interp(np.minimum(alerts, self.alerts[-1]), self.alerts, self.hits)
        return found

    def recall(self, constraint: Constraint) -> float:
        """The recall at a constraint, 0 where nothing meets it."""
        at = self.alerts_at(constraint)
        return 0.0 if at is None else float(self.hits[at]) / int(self.hits[-1])

    def value(self, constraint: Constraint) -> Fraction:
        """What is maximised under a constraint, 0 where nothing meets it."""
        at = self.alerts_at(constraint)
        if at is None:
            return Fraction(0)
        return constraint.objective(int(self.hits[at]), int(self.alerts[at]))

    def alerts_at(self, constraint: Constraint) -> int | None:
        """The number of groups that are best under a constraint; None where nothing meets it."""
        whole = CellRow(lower=LOWEST_EDGE, count=self.alerts[-1:], positives=self.hits[-1:])
        goal = constraint.goal(Cells(uncertainty_edges=np.empty(0), rows=(whole,)))
        best = goal.best_of(self.hits[1:], self.alerts[1:])
        return None if best is None else best + 1


def gain(ours: Curve, other: Curve, alerts: int) -> float:
    """Recall beyond that of another order, averaged over numbers of alerts around one."""
    more = ours.hits_of(_FACTORS * alerts) - other.hits_of(_FACTORS * alerts)
    return float(more.mean()) / int(other.hits[-1])


def exchanged(level: Ints, random: np.random.Generator) -> Ints:
    """Levels exchanged among neighbours; the last, incomplete group of rows by itself."""
    whole = len(level) // _NEIGHBOURS * _NEIGHBOURS
    blocks = random.permuted(level[:whole].reshape(-1, _NEIGHBOURS), axis=1).ravel()
    return np.concatenate([blocks, random.permutation(level[whole:])])


def gain_of(
    rows: OrderedRows, constraint: Constraint, key: tuple[int, int], placebos: int = PLACEBOS - 1
) -> Gain | None:
    """Hold the uncertainty against placebos; None where no threshold on the score meets the constraint.

    Parameters
    ----------
    key
        Of the draws: a seed, and a number that depends on all rows.
    """
    at = rows.by_score.alerts_at(constraint)
    if at is None:
        return None
    alerts = int(rows.by_score.alerts[at])
    observed = gain(rows.by_rank, rows.by_score, alerts)
    seed, table = key
    drawn = np.array(
        [
            rows.gained(exchanged(rows.level, generator(seed, Purpose.PLACEBO, table, number)), alerts)
            for number in followed(range(placebos), "placebos", placebos)
        ]
    )
    at_alerts, at_bound, *in_value = _resampled(rows, constraint, alerts, key)
    found = Gain(
        equal_alerts=_estimate(observed, at_alerts, _AT_ALERTS),
        at_bound=_estimate(_more_recall(rows.by_rank, rows.by_score, constraint), at_bound, _AT_BOUND),
        placebo=float(drawn.mean()),
        p_value=(1 + int((drawn >= observed).sum())) / (placebos + 1),
        p_hurts=(1 + int((drawn <= observed).sum())) / (placebos + 1),
    )
    if not in_value:
        return found
    worth = float(sum(constraint.amounts)) * int(rows.by_score.hits[-1])  # one more hit, one false alarm less
    return replace(
        found,
        value=_estimate(_more_value(rows.by_rank, rows.by_score, constraint), in_value[0], _AT_BOUND),
        value_equal_alerts=_times(found.equal_alerts, worth),
    )


def _more_recall(ours: Curve, other: Curve, constraint: Constraint) -> float:
    return ours.recall(constraint) - other.recall(constraint)


def _more_value(ours: Curve, other: Curve, constraint: Constraint) -> float:
    return float(ours.value(constraint) - other.value(constraint))


def _times(estimate: Estimate, factor: float) -> Estimate:
    """An estimate, whose value and ends are there, in another unit."""
    value, low, high = (factor * (each or 0.0) for each in (estimate.value, estimate.low, estimate.high))
    return Estimate(value=value, low=low, high=high)


def _resampled(rows: OrderedRows, constraint: Constraint, alerts: int, key: tuple[int, int]) -> list[Floats]:
    """Gains at as many alerts, at the bound and, under a utility, in that, among rows drawn again by rank."""
    orders = [np.unique(each, return_inverse=True)[1] for each in (rows.ranks, -rows.first)]
    seed, table = key
    measures = [_more_recall, *([_more_value] if constraint.kind is ConstraintKind.UTILITY else [])]
    gains: list[list[float]] = []
    for number in followed(range(RESAMPLINGS), "resampling", RESAMPLINGS):
        weight = resample(rows.ones, generator(seed, Purpose.BOOTSTRAP, table, number))
        hits = weight * rows.positive
        if hits.any():
            ours, other = (Curve.summed(_sums(order, weight), _sums(order, hits)) for order in orders)
            gains.append([gain(ours, other, alerts), *(each(ours, other, constraint) for each in measures)])
    return list(np.array(gains).T)


def _sums(number: Ints, amount: Ints) -> Ints:
    """Sums by number; exact, far below 2**53."""
    return np.bincount(number, weights=amount).astype(np.int64)


def _estimate(value: float, drawn: Floats, outside: int) -> Estimate:
    """With ends at or beyond which there are so many draws on either side."""
    ordered = np.sort(drawn)
    return Estimate(value=value, low=float(ordered[outside - 1]), high=float(ordered[-outside]))
