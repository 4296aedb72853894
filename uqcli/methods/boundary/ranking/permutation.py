"""Permutation test of the cross-validated gain from uncertainty over the score alone.

Each cell is ranked by smoothed rates of the other folds. The gain over the score at equal alerts is compared
with that under permuted uncertainties. Permutations are among rows of similar score, so that they preserve
the association of uncertainty and score.
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
from uqcli.running.progress import with_progress

PERMUTATIONS: Final = 100
"""Permutations per uncertainty compared, including the identity."""

_BLOCK_ROWS: Final = 20
"""Minimum rows in a block of adjacent score cells within which uncertainties are permuted."""

_BATCH_PERMUTATIONS: Final = 25
"""Permutations that are ranked in one batch."""

_MAX_POPULATION: Final = 10**9 - 1
"""Maximum population from which numpy draws without replacement."""

_ALERT_FACTORS: Final = np.array([0.5, 0.7, 0.85, 1.0, 1.2, 1.4])
"""Factors on the alerts of the single threshold at which gains are averaged."""

RESAMPLES: Final = 200
_AT_BOUND, _AT_ALERTS = 5, 2
"""Resamples at or beyond either end of an interval. With 5 % in each tail, intervals at equal alerts
would miss the truth in 7 to 8 % of small calibration sets. At the bound they miss it in fewer than 5 %.
"""


@dataclass(frozen=True, kw_only=True)
class Gain:
    """Cross-validated gain in recall of score x uncertainty over the score alone.

    Attributes
    ----------
    equal_alerts
        Gain at equal alerts, averaged around those of a single threshold at the bound.
    at_bound
        Gain if both meet the constraint.
    ``placebo``
        Mean gain of the permutations at equal alerts.
    p_value, p_hurts
        Share of permutations, including the identity, whose gain is at least, and at most, as large.
    value, value_equal_alerts
        Both gains in units of the utility, for as many rows; None for other constraints.
    """

    equal_alerts: Estimate
    at_bound: Estimate
    placebo: float
    p_value: float
    p_hurts: float
    value: Estimate | None = None
    value_equal_alerts: Estimate | None = None


@dataclass(frozen=True, kw_only=True)
class CrossValidatedGrid:
    """Rows of a grid split into folds, each ranked by the rates of the other folds.

    Attributes
    ----------
    cells
        With score edges shared by all uncertainty bins.
    count, positives : int64, shape (FOLDS, cells)
        Rows of each fold, by uncertainty bin.
    """

    cells: Cells
    count: Ints
    positives: Ints

    @classmethod
    def from_cells(cls, cells: Cells, seed: int) -> CrossValidatedGrid:
        """Split the rows of a grid into folds."""
        count, positives = folds_of(cells, seed)
        return cls(cells=cells, count=count, positives=positives)

    @property
    def length(self) -> int:
        """Number of score cells."""
        return len(self.cells.rows[0].count)

    @cached_property
    def by_score(self) -> Curve:
        """Curve of ranking by the score alone."""
        (row,) = self.cells.joined(1).rows
        return Curve.summed(row.count[::-1], row.positives[::-1])

    @cached_property
    def shares(self) -> Floats:
        """Share of the other folds' rows ranked up to each cell, inclusive; float64, shape (FOLDS, cells)."""
        shares: Floats = self._shares(self.count[None], self.positives[None])[0]
        return shares

    @cached_property
    def by_rank(self) -> Curve:
        """Curve of ranking by score and uncertainty."""
        return Curve.from_counts(self.shares.ravel(), self.positives.ravel(), self.count.ravel())

    def gained(self, count: Ints, positives: Ints, alerts: int) -> list[float]:
        """Compute the mean gain in recall of tables, shape (draws, FOLDS, cells), around some alerts."""
        return [
            gain(Curve.from_counts(shares.ravel(), p.ravel(), n.ravel()), self.by_score, alerts)
            for shares, n, p in zip(self._shares(count, positives), count, positives, strict=True)
        ]

    def _shares(self, count: Ints, positives: Ints) -> Floats:
        """Compute ``shares`` for several tables; shape (draws, FOLDS, cells)."""
        train = [
            (values.sum(axis=1, keepdims=True) - values).reshape(-1, values.shape[-1])
            for values in (count, positives)
        ]
        shares = np.ones(train[0].shape)
        ranked = nested_of_draws(Layout.from_cells(self.cells), *train)
        for share, nested in zip(shares, ranked, strict=True):
            if nested.selected[-1]:
                share[nested.order] = nested.selected / nested.selected[-1]
        return shares.reshape(count.shape)

    def permutations(self, draws: int, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Permute the uncertainties of rows within blocks.

        Blocks are runs of score cells of at least ``_BLOCK_ROWS`` rows. Every row keeps its fold, score cell
        and label.

        Returns
        -------
        int64, shape (draws, FOLDS, cells) each
            Rows and positive rows.
        """
        shape = FOLDS, len(self.cells.rows), self.length
        observed = np.stack([self.positives, self.count - self.positives]).reshape(2, *shape)
        block = _blocks(observed.sum(axis=(0, 1, 2)))
        # by score cell, label and fold
        kinds = observed.sum(axis=2).transpose(2, 0, 1).reshape(self.length, -1)
        dealt = np.zeros((shape[1], draws, kinds.size), dtype=np.int64)
        left = _sums_by(block, observed.sum(axis=(0, 1)))[:, None].repeat(draws, axis=1)
        for indices, blocks in _in_turn(kinds, block):
            sizes = np.broadcast_to(kinds.ravel()[indices], (draws, len(indices))).copy()
            remaining = left[:, :, blocks]
            for bin_number in range(shape[1] - 1):
                later_bins = remaining[bin_number + 1 :].sum(axis=0)
                sample = _draw_sample(remaining[bin_number], later_bins, sizes, random)
                dealt[bin_number][:, indices] = sample
                sizes -= sample
            dealt[-1][:, indices] = sizes
            left[:, :, blocks] = remaining - dealt[:, :, indices]
        by_kind = dealt.reshape(shape[1], draws, self.length, 2, FOLDS).transpose(3, 1, 4, 0, 2)
        positives, negatives = by_kind.reshape(2, draws, FOLDS, -1)
        return positives + negatives, positives


def _blocks(rows: Ints) -> Ints:
    """Return the block of each score cell: runs with enough rows; a remainder joins the last block."""
    block, block_index, rows_in_block = np.zeros(len(rows), dtype=np.int64), 0, 0
    for cell, count in enumerate(rows.tolist()):
        block[cell] = block_index
        rows_in_block += count
        if rows_in_block >= _BLOCK_ROWS:
            block_index, rows_in_block = block_index + 1, 0
    return np.minimum(block, max(block_index - 1, 0))


def _sums_by(block: Ints, rows: Ints) -> Ints:
    """Return the rows of each uncertainty bin in each block; int64, shape (bins, blocks)."""
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    sums: Ints = np.add.reduceat(rows, starts, axis=1)
    return sums


def _in_turn(kinds: Ints, block: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield indices and blocks of the non-empty kinds of rows, one per block at a time."""
    indices = np.flatnonzero(kinds)
    block_numbers = block[indices // kinds.shape[1]]
    turn = np.arange(len(indices)) - np.searchsorted(block_numbers, block_numbers)
    for turn_index in range(int(turn.max(initial=-1)) + 1):
        in_turn = turn == turn_index
        yield indices[in_turn], block_numbers[in_turn]


def _draw_sample(good: Ints, bad: Ints, sample: Ints, random: np.random.Generator) -> Ints:
    """Draw the number of good rows in a sample (hypergeometric; approximately normal from a billion rows)."""
    large = np.maximum(good, bad) > _MAX_POPULATION
    if not large.any():
        return random.hypergeometric(good, bad, sample)
    exact_arguments = [np.where(large, 1, argument) for argument in (good, bad, sample)]
    counts = random.hypergeometric(*exact_arguments)
    total = np.maximum(good + bad, 2)
    share = good / total
    error = np.sqrt(sample * share * (1 - share) * (total - sample) / (total - 1))
    approximate = np.rint(sample * share + error * random.standard_normal(good.shape)).astype(np.int64)
    return np.where(
        large, np.clip(approximate, np.maximum(sample - bad, 0), np.minimum(sample, good)), counts
    )


@dataclass(frozen=True, kw_only=True)
class Curve:
    """True positives by number of alerts, from none to all.

    Attributes
    ----------
    alerts, hits : int64, shape (m+1,)
        Cumulative alerts and true positives after 0, 1, ... groups of tied rows.
    """

    alerts: Ints
    hits: Ints

    @classmethod
    def from_counts(cls, key: Floats | Ints, positives: Ints, count: Ints) -> Curve:
        """Build the curve in ascending order of a key."""
        order = np.argsort(key, kind="stable")
        starts = run_starts(key[order])
        alerts, hits = (np.add.reduceat(values[order], starts) for values in (count, positives))
        return cls.summed(alerts, hits)

    @classmethod
    def summed(cls, count: Ints, positives: Ints) -> Curve:
        """Build the curve from counts of groups in order."""
        return cls(
            alerts=np.concatenate([[0], np.cumsum(count)]), hits=np.concatenate([[0], np.cumsum(positives)])
        )

    def hits_of(self, alerts: Floats) -> Floats:
        """Return the true positives at a number of alerts, interpolated linearly within tied groups."""
        hits: Floats = np.interp(np.minimum(alerts, self.alerts[-1]), self.alerts, self.hits)
        return hits

    def recall(self, constraint: Constraint) -> float:
        """Compute the recall under a constraint, 0 if infeasible."""
        index = self.alerts_at(constraint)
        return 0.0 if index is None else float(self.hits[index]) / int(self.hits[-1])

    def value(self, constraint: Constraint) -> Fraction:
        """Compute the objective under a constraint, 0 if infeasible."""
        index = self.alerts_at(constraint)
        if index is None:
            return Fraction(0)
        return constraint.objective(int(self.hits[index]), int(self.alerts[index]))

    def alerts_at(self, constraint: Constraint) -> int | None:
        """Find the best number of groups under a constraint; None if infeasible."""
        all_alerts = CellRow(lower=LOWEST_EDGE, count=self.alerts[-1:], positives=self.hits[-1:])
        goal = constraint.goal(Cells(uncertainty_edges=np.empty(0), rows=(all_alerts,)))
        best = goal.best_of(self.hits[1:], self.alerts[1:])
        return None if best is None else best + 1


def gain(curve: Curve, baseline: Curve, alerts: int) -> float:
    """Compute the gain in recall over a baseline curve, averaged around a number of alerts."""
    gained_hits = curve.hits_of(_ALERT_FACTORS * alerts) - baseline.hits_of(_ALERT_FACTORS * alerts)
    return float(gained_hits.mean()) / int(baseline.hits[-1])


def gain_of(
    cells: Cells, constraint: Constraint, seed: int, permutations: int = PERMUTATIONS - 1
) -> Gain | None:
    """Test the uncertainty by permutation; None if no single threshold meets the constraint.

    Parameters
    ----------
    cells
        At least two uncertainty bins, with shared score edges.
    """
    constraint = replace(constraint, margin=Fraction(0))  # evaluated at the bound itself
    grid, digest = CrossValidatedGrid.from_cells(cells, seed), digest_of(cells)
    index = grid.by_score.alerts_at(constraint)
    if index is None:
        return None
    alerts = int(grid.by_score.alerts[index])
    observed = gain(grid.by_rank, grid.by_score, alerts)
    draws: list[float] = []
    for first in with_progress(
        range(0, permutations, _BATCH_PERMUTATIONS), "permutations", -(-permutations // _BATCH_PERMUTATIONS)
    ):
        random = generator(seed, Purpose.PLACEBO, digest, first)
        draws += grid.gained(
            *grid.permutations(min(_BATCH_PERMUTATIONS, permutations - first), random), alerts
        )
    gains = np.array(draws)
    at_alerts, at_bound, *in_value = _resampled(grid, constraint, alerts, (seed, digest))
    found = Gain(
        equal_alerts=_estimate(observed, at_alerts, _AT_ALERTS),
        at_bound=_estimate(_more_recall(grid.by_rank, grid.by_score, constraint), at_bound, _AT_BOUND),
        placebo=float(gains.mean()),
        p_value=(1 + int((gains >= observed).sum())) / (permutations + 1),
        p_hurts=(1 + int((gains <= observed).sum())) / (permutations + 1),
    )
    if not in_value:
        return found
    # at equal alerts, one more true positive means one false positive fewer
    full_recall_value = float(sum(constraint.numbers)) * int(grid.by_score.hits[-1])
    return replace(
        found,
        value=_estimate(_more_value(grid.by_rank, grid.by_score, constraint), in_value[0], _AT_BOUND),
        value_equal_alerts=_scaled(found.equal_alerts, full_recall_value),
    )


def _more_recall(curve: Curve, baseline: Curve, constraint: Constraint) -> float:
    return curve.recall(constraint) - baseline.recall(constraint)


def _more_value(curve: Curve, baseline: Curve, constraint: Constraint) -> float:
    return float(curve.value(constraint) - baseline.value(constraint))


def _scaled(estimate: Estimate, factor: float) -> Estimate:
    """Scale an estimate that has a value and both ends."""
    value, low, high = (
        factor * (value_or_end or 0.0) for value_or_end in (estimate.value, estimate.low, estimate.high)
    )
    return Estimate(value=value, low=low, high=high)


def _resampled(
    grid: CrossValidatedGrid, constraint: Constraint, alerts: int, key: tuple[int, int]
) -> list[Floats]:
    """Bootstrap the gains at equal alerts, at the bound and, for a utility, in its units. Ranks are fixed."""
    present = np.flatnonzero(grid.count)
    from_top = np.tile(np.arange(grid.length)[::-1], FOLDS * len(grid.cells.rows))
    keys = grid.shares.ravel()[present], from_top[present]
    orders = [np.unique(column, return_inverse=True)[1] for column in keys]
    positives = grid.positives.ravel()[present]
    labelled = np.concatenate([positives, grid.count.ravel()[present] - positives])
    seed, digest = key
    measures = [_more_recall, *([_more_value] if constraint.kind is ConstraintKind.UTILITY else [])]
    gains: list[list[float]] = []
    for resample_index in with_progress(range(RESAMPLES), "resampling", RESAMPLES):
        hits, misses = np.split(
            resample(labelled, generator(seed, Purpose.BOOTSTRAP, digest, resample_index)), 2
        )
        if hits.any():
            ranked, baseline = (
                Curve.summed(_sums(order, hits + misses), _sums(order, hits)) for order in orders
            )
            gains.append(
                [
                    gain(ranked, baseline, alerts),
                    *(measure(ranked, baseline, constraint) for measure in measures),
                ]
            )
    return list(np.array(gains).T)


def _sums(index: Ints, amount: Ints) -> Ints:
    """Compute the sums by index; exact, far below 2**53."""
    return np.bincount(index, weights=amount).astype(np.int64)


def _estimate(value: float, draws: Floats, outside: int) -> Estimate:
    """Build an estimate whose interval leaves ``outside`` draws at or beyond either end."""
    ordered = np.sort(draws)
    return Estimate(value=value, low=float(ordered[outside - 1]), high=float(ordered[-outside]))
