"""Whether the uncertainty finds positives that the score alone does not, on folds of the counts held out.

Each cell is ranked by smoothed rates that the other folds gave. Its gain over the score at as many alerts is
compared with that of placebos: uncertainties exchanged among rows of like score, which keeps all that the
uncertainty has from following the score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from uqcli.choices import ConstraintKind
from uqcli.counts import LOWEST_EDGE, CellRow, Cells, Floats, Ints, run_starts
from uqcli.defaults import FOLDS
from uqcli.document import Estimate
from uqcli.draws import Purpose, generator
from uqcli.methods.boundary.constraint import Constraint
from uqcli.methods.boundary.draws_of_cells import digest_of, folds_of
from uqcli.methods.boundary.ranking.smoothing import Layout, nested_of_draws
from uqcli.methods.resampling import resample
from uqcli.running.progress import followed

PLACEBOS: Final = 100
"""For each of several uncertainties, one of which is the rows themselves."""

_LIKE: Final = 20
"""Rows of neighbouring score cells among which placebos exchange uncertainties, or one cell of more."""

_AT_ONCE: Final = 25
"""Placebos that are ranked together."""

_MOST_DRAWN_FROM: Final = 10**9 - 1
"""Rows that numpy draws from without replacement at most."""

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
class HeldOut:
    """The rows of a grid, dealt to folds and ranked by the rates of the others.

    Attributes
    ----------
    cells
        Under score edges that all uncertainty bins share.
    count, positives : int64, shape (FOLDS, cells)
        Rows of each fold, bin after bin.
    """

    cells: Cells
    count: Ints
    positives: Ints

    @classmethod
    def of(cls, cells: Cells, seed: int) -> HeldOut:
        """Deal the rows of a grid."""
        count, positives = folds_of(cells, seed)
        return cls(cells=cells, count=count, positives=positives)

    @property
    def length(self) -> int:
        """Score cells."""
        return len(self.cells.rows[0].count)

    @cached_property
    def by_score(self) -> Curve:
        """Alerts by the score alone."""
        (row,) = self.cells.joined(1).rows
        return Curve.summed(row.count[::-1], row.positives[::-1])

    @cached_property
    def shares(self) -> Floats:
        """Share of the other folds' rows ranked up to and with each cell; float64, shape (FOLDS, cells)."""
        shares: Floats = self._shares(self.count[None], self.positives[None])[0]
        return shares

    @cached_property
    def by_rank(self) -> Curve:
        """Alerts by score and uncertainty."""
        return Curve.of(self.shares.ravel(), self.positives.ravel(), self.count.ravel())

    def gained(self, count: Ints, positives: Ints, alerts: int) -> list[float]:
        """Mean gain in recall around a number of alerts, of placebos; shape (draws, FOLDS, cells)."""
        return [
            gain(Curve.of(shares.ravel(), p.ravel(), n.ravel()), self.by_score, alerts)
            for shares, n, p in zip(self._shares(count, positives), count, positives, strict=True)
        ]

    def _shares(self, count: Ints, positives: Ints) -> Floats:
        """The shares of several tables; shape (draws, FOLDS, cells)."""
        train = [
            (each.sum(axis=1, keepdims=True) - each).reshape(-1, each.shape[-1])
            for each in (count, positives)
        ]
        shares = np.ones(train[0].shape)
        ranked = nested_of_draws(Layout.of(self.cells), *train)
        for share, nested in zip(shares, ranked, strict=True):
            if nested.selected[-1]:
                share[nested.order] = nested.selected / nested.selected[-1]
        return shares.reshape(count.shape)

    def placebos(self, draws: int, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Tables in which the rows of a block have exchanged their uncertainties.

        Blocks are runs of score cells of at least ``_LIKE`` rows. Every row keeps its fold, cell and label.

        Returns
        -------
        int64, shape (draws, FOLDS, cells) each
            Rows and positive rows.
        """
        shape = FOLDS, len(self.cells.rows), self.length
        own = np.stack([self.positives, self.count - self.positives]).reshape(2, *shape)
        block = _blocks(own.sum(axis=(0, 1, 2)))
        kinds = own.sum(axis=2).transpose(2, 0, 1).reshape(self.length, -1)  # cell, label and fold
        given = np.zeros((shape[1], draws, kinds.size), dtype=np.int64)
        left = _sums_by(block, own.sum(axis=(0, 1)))[:, None].repeat(draws, axis=1)
        for places, blocks in _in_turn(kinds, block):
            wanted = np.broadcast_to(kinds.ravel()[places], (draws, len(places))).copy()
            there = left[:, :, blocks]
            for bin_number in range(shape[1] - 1):
                others = there[bin_number + 1 :].sum(axis=0)
                taken = _drawn(there[bin_number], others, wanted, random)
                given[bin_number][:, places] = taken
                wanted -= taken
            given[-1][:, places] = wanted
            left[:, :, blocks] = there - given[:, :, places]
        by_kind = given.reshape(shape[1], draws, self.length, 2, FOLDS).transpose(3, 1, 4, 0, 2)
        positives, negatives = by_kind.reshape(2, draws, FOLDS, -1)
        return positives + negatives, positives


def _blocks(rows: Ints) -> Ints:
    """Block of each score cell: runs of cells that end with enough rows; what is left joins the last."""
    block, number, held = np.zeros(len(rows), dtype=np.int64), 0, 0
    for cell, count in enumerate(rows.tolist()):
        block[cell] = number
        held += count
        if held >= _LIKE:
            number, held = number + 1, 0
    return np.minimum(block, max(number - 1, 0))


def _sums_by(block: Ints, rows: Ints) -> Ints:
    """Rows of each uncertainty bin in each block; int64, shape (bins, blocks)."""
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    sums: Ints = np.add.reduceat(rows, starts, axis=1)
    return sums


def _in_turn(kinds: Ints, block: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Kinds of rows that are not empty, one of each block at a time: their places, and their blocks."""
    places = np.flatnonzero(kinds)
    of_block = block[places // kinds.shape[1]]
    turn = np.arange(len(places)) - np.searchsorted(of_block, of_block)
    for number in range(int(turn.max(initial=-1)) + 1):
        here = turn == number
        yield places[here], of_block[here]


def _drawn(good: Ints, bad: Ints, sample: Ints, random: np.random.Generator) -> Ints:
    """How many of a sample without replacement are good; by the normal law where there are a billion."""
    large = np.maximum(good, bad) > _MOST_DRAWN_FROM
    if not large.any():
        return random.hypergeometric(good, bad, sample)
    few = [np.where(large, 1, each) for each in (good, bad, sample)]
    drawn = random.hypergeometric(*few)
    total = np.maximum(good + bad, 2)
    share = good / total
    error = np.sqrt(sample * share * (1 - share) * (total - sample) / (total - 1))
    near = np.rint(sample * share + error * random.standard_normal(good.shape)).astype(np.int64)
    return np.where(large, np.clip(near, np.maximum(sample - bad, 0), np.minimum(sample, good)), drawn)


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


def gain_of(cells: Cells, constraint: Constraint, seed: int, placebos: int = PLACEBOS - 1) -> Gain | None:
    """Compare the uncertainty with placebos; None where no threshold on the score meets the constraint.

    Parameters
    ----------
    cells
        At least two uncertainty bins, under score edges they share.
    """
    constraint = replace(constraint, margin=Fraction(0))  # what it finds at the bound itself
    rows, table = HeldOut.of(cells, seed), digest_of(cells)
    at = rows.by_score.alerts_at(constraint)
    if at is None:
        return None
    alerts = int(rows.by_score.alerts[at])
    observed = gain(rows.by_rank, rows.by_score, alerts)
    drawn: list[float] = []
    for first in followed(range(0, placebos, _AT_ONCE), "permutations", -(-placebos // _AT_ONCE)):
        random = generator(seed, Purpose.PLACEBO, table, first)
        drawn += rows.gained(*rows.placebos(min(_AT_ONCE, placebos - first), random), alerts)
    gains = np.array(drawn)
    at_alerts, at_bound, *in_value = _resampled(rows, constraint, alerts, (seed, table))
    found = Gain(
        equal_alerts=_estimate(observed, at_alerts, _AT_ALERTS),
        at_bound=_estimate(_more_recall(rows.by_rank, rows.by_score, constraint), at_bound, _AT_BOUND),
        placebo=float(gains.mean()),
        p_value=(1 + int((gains >= observed).sum())) / (placebos + 1),
        p_hurts=(1 + int((gains <= observed).sum())) / (placebos + 1),
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


def _resampled(rows: HeldOut, constraint: Constraint, alerts: int, key: tuple[int, int]) -> list[Floats]:
    """Gains at as many alerts, at the bound and, under a utility, in that, among rows drawn again by rank."""
    there = np.flatnonzero(rows.count)
    from_top = np.tile(np.arange(rows.length)[::-1], FOLDS * len(rows.cells.rows))
    keys = rows.shares.ravel()[there], from_top[there]
    orders = [np.unique(each, return_inverse=True)[1] for each in keys]
    positives = rows.positives.ravel()[there]
    labelled = np.concatenate([positives, rows.count.ravel()[there] - positives])
    seed, table = key
    measures = [_more_recall, *([_more_value] if constraint.kind is ConstraintKind.UTILITY else [])]
    gains: list[list[float]] = []
    for number in followed(range(RESAMPLINGS), "resampling", RESAMPLINGS):
        hits, misses = np.split(resample(labelled, generator(seed, Purpose.BOOTSTRAP, table, number)), 2)
        if hits.any():
            ours, other = (Curve.summed(_sums(order, hits + misses), _sums(order, hits)) for order in orders)
            gains.append([gain(ours, other, alerts), *(each(ours, other, constraint) for each in measures)])
    return list(np.array(gains).T)


def _sums(number: Ints, amount: Ints) -> Ints:
    """Sums by number; exact, far below 2**53."""
    return np.bincount(number, weights=amount).astype(np.int64)


def _estimate(value: float, drawn: Floats, outside: int) -> Estimate:
    """With ends at or beyond which there are so many draws on either side."""
    ordered = np.sort(drawn)
    return Estimate(value=value, low=float(ordered[outside - 1]), high=float(ordered[-outside]))
