"""Permutation test of the cross-validated gain from uncertainty over the score alone.

Each cell is ranked by smoothed rates of the other folds. The gain over the score at equal alerts is compared
with that under permuted uncertainties. Permutations are among rows of similar score, so that they preserve
the association of uncertainty and score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from uqcli.base.amounts import UNITS
from uqcli.base.counts import LOWEST_EDGE, Bools, CellRow, Cells, Floats, Ints, no_amounts, run_starts
from uqcli.base.defaults import FOLDS
from uqcli.base.draws import Purpose, generator
from uqcli.base.records import dataclass
from uqcli.base.running.concurrency import parallel_map
from uqcli.base.running.messages import with_progress
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.cross_validation import digest_of, folds_of
from uqcli.boundary.search.goals import TopRuns
from uqcli.boundary.search.smoothing import Layout, nested_of_draws
from uqcli.boundary.search.thresholds import as_sums
from uqcli.estimates.confusion import Confusion
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.resampling import resample
from uqcli.estimates.value import Moments, Net

PERMUTATIONS: Final = 100
"""Permutations per uncertainty compared, including the identity."""

_BLOCK_ROWS: Final = 20
"""Minimum rows in a block of adjacent score cells within which uncertainties are permuted."""

_BATCH_PERMUTATIONS: Final = 25
"""Permutations that are ranked in one batch."""

_LARGE_P: Final = 0.1
"""A p-value above this after ``PERMUTATIONS`` permutations or more needs no further ones."""

_MAX_POPULATION: Final = 10**9 - 1
"""Maximum population from which numpy draws without replacement."""

_ALERT_FACTORS: Final = np.array([0.5, 0.7, 0.85, 1.0, 1.2, 1.4])
"""Factors on the alerts of the single threshold at which gains are averaged."""

VALUE_LEVEL: Final = 0.95
"""Level of the interval of a gain in value."""

RESAMPLES: Final = 200
_AT_BOUND, _AT_ALERTS = 5, 2
"""Resamples at or beyond either end of an interval. With 5 % in each tail, intervals at equal alerts
would miss the truth in 7 to 8 % of small calibration sets. At the bound they miss it in fewer than 5 %.
"""


@dataclass(frozen=True, kw_only=True)
class Gain:
    """Cross-validated gain in recall of score x uncertainty over the score alone.

    ``equal_alerts`` is the gain at equal alerts, averaged around those of a single threshold at the bound,
    and ``at_bound`` that if both meet the constraint. ``placebo`` is the mean gain of the permutations at
    equal alerts. ``p_value`` and ``p_hurts`` are the shares of permutations, including the identity, whose
    gain is at least, and at most, as large; ``least_p`` is the least share that so many permutations allow.
    """

    equal_alerts: Estimate
    at_bound: Estimate
    placebo: float
    p_value: float
    p_hurts: float
    least_p: float


@dataclass(frozen=True, kw_only=True)
class ValueGain(Gain):
    """Also the gain at the best thresholds in units of the utility, for as many rows."""

    value: Estimate


@dataclass(frozen=True, kw_only=True)
class UtilityGain(ValueGain):
    """Also that at equal alerts, of a utility without columns of amounts."""

    value_equal_alerts: Estimate


@dataclass(frozen=True, kw_only=True)
class FoldAmounts:
    """Amounts of the rows of each fold and cell.

    ``sums``, int64 of shape (2, amounts, FOLDS, cells), are as in ``ValueCounts``. ``rows``, ``totals`` (both
    int64) and ``squares`` (float64), of shape (2, FOLDS, cells), are of the values of flagging each row: the
    positive ones, then the negative ones with their sign turned round. ``largest`` are the largest of both.
    """

    sums: Ints
    rows: Ints
    totals: Ints
    squares: Floats
    largest: tuple[int, int]

    @classmethod
    def from_rows(cls, index: Ints, length: int, positive: Bools, amounts: Ints, values: Ints) -> FoldAmounts:
        """Add up the amounts of single rows, shape (amounts, n), and the values of flagging each, shape (n,).

        ``index`` is the cell of each row among those of all folds, of ``length`` cells each.
        """
        sides = [np.maximum(values, 0), np.maximum(-values, 0)]
        squares = [np.bincount(index, side.astype(np.float64) ** 2, FOLDS * length) for side in sides]
        return cls(
            sums=np.stack(
                [
                    [added_by_cell(index, length, amount * mask) for amount in amounts]
                    for mask in (True, positive)
                ]
            ),
            rows=np.stack([added_by_cell(index, length, side > 0) for side in sides]),
            totals=np.stack([added_by_cell(index, length, side) for side in sides]),
            squares=np.stack(squares).astype(np.float64).reshape(2, FOLDS, length),
            largest=(int(sides[0].max(initial=0)), int(sides[1].max(initial=0))),
        )

    def moments(self, side: int, cells: Bools) -> Moments:
        """Return the moments of the values of one sign in some cells of the folds, shape (FOLDS, cells)."""
        return Moments(
            rows=int(self.rows[side][cells].sum()),
            total=int(self.totals[side][cells].sum()),
            squares=int(self.squares[side][cells].sum()),
        )


_NONE: Final = np.zeros((2, 0, 0), dtype=np.int64)
NO_AMOUNTS: Final = FoldAmounts(
    sums=_NONE[..., None], rows=_NONE, totals=_NONE, squares=_NONE.astype(np.float64), largest=(0, 0)
)


def added_by_cell(index: Ints, length: int, column: Ints | Bools) -> Ints:
    """Add up a column of single rows by fold and cell; int64, shape (FOLDS, length)."""
    totals = np.zeros(FOLDS * length, dtype=np.int64)
    np.add.at(totals, index, column)
    return totals.reshape(FOLDS, length)


@dataclass(frozen=True, kw_only=True)
class CrossValidatedGrid:
    """Rows of a grid split into folds, each ranked by the rates of the other folds.

    All uncertainty bins share the score edges of the cells. ``count`` and ``positives`` are the rows of each
    fold, by uncertainty bin; int64, shape (FOLDS, cells). There may be amounts of the rows.
    """

    cells: Cells
    count: Ints
    positives: Ints
    amounts: FoldAmounts = NO_AMOUNTS

    @classmethod
    def from_cells(cls, cells: Cells, seed: int) -> CrossValidatedGrid:
        """Split the rows of a grid into folds."""
        count, positives = folds_of(cells, seed)
        return cls(cells=cells, count=count, positives=positives)

    @classmethod
    def from_rows(
        cls, cells: Cells, *, fold: Ints, cell: Ints, positive: Bools, amounts: Ints, values: Ints
    ) -> CrossValidatedGrid:
        """Count single rows in folds, with their amounts.

        ``fold`` and ``cell`` are the index of each row's fold, and of its cell by uncertainty bin, and
        ``values`` the value of flagging it; int64, shape (n,). Amounts have shape (amounts, n).
        """
        length = sum(len(row.count) for row in cells.rows)
        index = fold * length + cell
        return cls(
            cells=cells,
            count=added_by_cell(index, length, np.ones(len(index), dtype=np.int64)),
            positives=added_by_cell(index, length, positive),
            amounts=FoldAmounts.from_rows(index, length, positive, amounts, values),
        )

    @property
    def length(self) -> int:
        """Number of score cells."""
        return len(self.cells.rows[0].count)

    @cached_property
    def by_score(self) -> Curve:
        """Curve of ranking by the score alone."""
        (row,) = self.cells.joined(1).rows
        return Curve.summed(row.count[::-1], row.positives[::-1], row.amounts[..., ::-1])

    @cached_property
    def shares(self) -> Floats:
        """Share of the other folds' rows ranked up to each cell, inclusive; float64, shape (FOLDS, cells)."""
        shares: Floats = self._shares(self.count[None], self.positives[None])[0]
        return shares

    @cached_property
    def by_rank(self) -> Curve:
        """Curve of ranking by score and uncertainty."""
        sums = self.amounts.sums.reshape(*self.amounts.sums.shape[:2], self.count.size)
        return Curve.from_counts(self.shares.ravel(), self.positives.ravel(), self.count.ravel(), sums)

    def value_gained(self, constraint: Constraint) -> Estimate:
        """Estimate the value gained over the score alone if each has its best threshold.

        The interval is that of the rows on which the two differ. The thresholds are fixed: near its maximum
        the value hardly depends on them.
        """
        by_rank, by_score = self.by_rank.alerts_at(constraint), self.by_score.alerts_at(constraint)
        value = float(self.by_rank.value(constraint) - self.by_score.value(constraint))
        order = np.argsort(self.shares.ravel(), kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.cumsum(np.append(0, np.diff(self.shares.ravel()[order]) != 0))
        flagged = rank.reshape(self.shares.shape) < (by_rank or 0)
        from_top = np.tile(np.arange(self.length)[::-1], len(self.cells.rows))
        limits = self.limits_of_value(flagged, from_top < (by_score or 0))
        if limits is None:
            return Estimate(value=value)
        low, high = (end / UNITS for end in limits)
        return Estimate(value=value, low=min(low, value), high=max(high, value))

    def limits_of_value(self, flagged: Bools, by_score: Bools) -> tuple[float, float] | None:
        """Compute the range of the value that flagging some cells adds to flagging those by the score alone.

        ``flagged`` has shape (FOLDS, cells), ``by_score`` (cells,). None with too few rows on which the two
        differ, or without any gain.
        """
        amounts = self.amounts
        if not amounts.largest[0]:
            return None
        added, removed = flagged & ~by_score, by_score & ~flagged
        net = Net(
            gains=amounts.moments(0, added) + amounts.moments(1, removed),
            losses=amounts.moments(1, added) + amounts.moments(0, removed),
            largest_gain=amounts.largest[0],
            largest_loss=amounts.largest[1],
        )
        return net.of_a_difference.limits(VALUE_LEVEL)

    def gained(self, count: Ints, positives: Ints, alerts: int) -> list[float]:
        """Compute the mean gain in recall of tables, shape (draws, FOLDS, cells), around some alerts."""
        return [
            gain(
                Curve.from_counts(shares.ravel(), p.ravel(), n.ravel(), no_amounts(n.size)),
                self.by_score,
                alerts,
            )
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

    def resampled(self, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Draw as many rows with replacement; return positives and negatives, int64, shape (FOLDS*cells,)."""
        positives = self.positives.ravel()
        drawn = resample(np.concatenate([positives, self.count.ravel() - positives]), random)
        hits, misses = np.split(drawn, 2)
        return hits, misses

    def permutations(self, draws: int, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Permute the uncertainties of rows within blocks; return rows and positive rows.

        Both are int64 of shape (draws, FOLDS, cells). Blocks are runs of score cells of at least
        ``_BLOCK_ROWS`` rows. Every row keeps its fold, score cell and label.
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

    Alerts and hits are cumulative, after 0, 1, ... groups of tied rows; int64, shape (m+1,). The cumulative
    sums of amounts are as in ``TopRuns``, shape (2, amounts, m+1).
    """

    alerts: Ints
    hits: Ints
    sums: Ints

    @classmethod
    def from_counts(cls, key: Floats | Ints, positives: Ints, count: Ints, sums: Ints) -> Curve:
        """Build the curve in ascending order of a key."""
        order = np.argsort(key, kind="stable")
        starts = run_starts(key[order])
        alerts, hits = (np.add.reduceat(values[order], starts) for values in (count, positives))
        return cls.summed(alerts, hits, np.add.reduceat(sums[..., order], starts, axis=-1))

    @classmethod
    def summed(cls, count: Ints, positives: Ints, sums: Ints) -> Curve:
        """Build the curve from counts of groups in order."""
        return cls(
            alerts=np.concatenate([[0], np.cumsum(count)]),
            hits=np.concatenate([[0], np.cumsum(positives)]),
            sums=np.concatenate([np.zeros_like(sums[..., :1]), np.cumsum(sums, axis=-1)], axis=-1),
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
        fit = Confusion(
            selected=int(self.alerts[index]),
            true_positives=int(self.hits[index]),
            rows=int(self.alerts[-1]),
            positives=int(self.hits[-1]),
            sums_selected=as_sums(self.sums[..., index]),
            sums=as_sums(self.sums[..., -1]),
        )
        return constraint.objective(fit)

    def alerts_at(self, constraint: Constraint) -> int | None:
        """Find the best number of groups under a constraint; None if infeasible."""
        all_alerts = CellRow(lower=LOWEST_EDGE, count=self.alerts[-1:], positives=self.hits[-1:])
        goal = constraint.goal(Cells(uncertainty_edges=np.empty(0), rows=(all_alerts,)))
        curve = TopRuns(true_positives=self.hits, selected=self.alerts, sums=self.sums)
        best = goal.best_of(curve.at(slice(1, None)))
        return None if best is None else best + 1


def gain(curve: Curve, baseline: Curve, alerts: int) -> float:
    """Compute the gain in recall over a baseline curve, averaged around a number of alerts."""
    gained_hits = curve.hits_of(_ALERT_FACTORS * alerts) - baseline.hits_of(_ALERT_FACTORS * alerts)
    return float(gained_hits.mean()) / int(baseline.hits[-1])


def _is_clear(gains: Floats, observed: float) -> bool:
    """Whether both p-values are so large that more permutations, as several columns need, cannot matter.

    A p-value of at most ``_LARGE_P`` is then that of all permutations, so that its level holds.
    """
    sides = (gains >= observed).mean(), (gains <= observed).mean()
    return bool(min(sides) > _LARGE_P)


def gain_of(
    grid: CrossValidatedGrid, constraint: Constraint, seed: int, permutations: int = PERMUTATIONS - 1
) -> Gain | None:
    """Test the uncertainty, of at least two bins, by permutation; None if no single threshold is feasible."""
    constraint = replace(constraint, margin=Fraction(0))  # evaluated at the bound itself
    digest = digest_of(grid.cells)
    index = grid.by_score.alerts_at(constraint)
    if index is None:
        return None
    alerts = int(grid.by_score.alerts[index])
    observed = gain(grid.by_rank, grid.by_score, alerts)

    def draw(first: int) -> list[float]:
        random = generator(seed, Purpose.PLACEBO, digest, first)
        size = min(_BATCH_PERMUTATIONS, permutations - first)
        return grid.gained(*grid.permutations(size, random), alerts)

    draws: list[float] = []
    batches = range(0, permutations, _BATCH_PERMUTATIONS)
    for gains_of_batch in with_progress(parallel_map(draw, batches), "permutations", len(batches)):
        draws += gains_of_batch
        if len(draws) >= PERMUTATIONS and _is_clear(np.array(draws), observed):
            break
    gains, drawn = np.array(draws), len(draws)
    at_alerts, *at_bound = _resampled(grid, constraint, alerts, (seed, digest))
    more_recall = _more_recall(grid.by_rank, grid.by_score, constraint)
    measured = Gain(
        equal_alerts=_estimate(observed, at_alerts, _AT_ALERTS),
        at_bound=_estimate(more_recall, at_bound[0], _AT_BOUND) if at_bound else Estimate(value=more_recall),
        placebo=float(gains.mean()),
        p_value=(1 + int((gains >= observed).sum())) / (drawn + 1),
        p_hurts=(1 + int((gains <= observed).sum())) / (drawn + 1),
        least_p=1 / (drawn + 1),
    )
    if constraint.amounts:
        return ValueGain(**vars(measured), value=grid.value_gained(constraint))
    if constraint.is_bound:
        return measured
    # at equal alerts, one more true positive means one false positive fewer
    full_recall_value = float(sum(constraint.numbers)) * int(grid.by_score.hits[-1])
    return UtilityGain(
        **vars(measured),
        value=_estimate(_more_value(grid.by_rank, grid.by_score, constraint), at_bound[1], _AT_BOUND),
        value_equal_alerts=_scaled(measured.equal_alerts, full_recall_value),
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
    """Bootstrap the gains at equal alerts, at the bound and, for a utility, in its units. Ranks are fixed.

    With amounts only the first: counts do not vary as amounts do.
    """
    present = np.flatnonzero(grid.count)
    from_top = np.tile(np.arange(grid.length)[::-1], FOLDS * len(grid.cells.rows))
    keys = grid.shares.ravel()[present], from_top[present]
    orders = [np.unique(column, return_inverse=True)[1] for column in keys]
    seed, digest = key
    measures = [_more_recall, *([] if constraint.is_bound else [_more_value])]
    if constraint.amounts:
        measures = []

    def draw(resample_index: int) -> list[float] | None:
        random = generator(seed, Purpose.BOOTSTRAP, digest, resample_index)
        hits, misses = (labelled[present] for labelled in grid.resampled(random))
        if not hits.any():
            return None
        ranked, baseline = (
            Curve.summed(alerts_of, _sums(order, hits), no_amounts(len(alerts_of)))
            for order, alerts_of in ((order, _sums(order, hits + misses)) for order in orders)
        )
        return [
            gain(ranked, baseline, alerts),
            *(measure(ranked, baseline, constraint) for measure in measures),
        ]

    draws = with_progress(parallel_map(draw, range(RESAMPLES)), "resampling", RESAMPLES)
    return list(np.array([gains for gains in draws if gains is not None]).T)


def _sums(index: Ints, amount: Ints) -> Ints:
    """Compute the sums by index; exact, far below 2**53."""
    return np.bincount(index, weights=amount).astype(np.int64)


def _estimate(value: float, draws: Floats, outside: int) -> Estimate:
    """Build an estimate whose interval leaves ``outside`` draws at or beyond either end."""
    ordered = np.sort(draws)
    return Estimate(value=value, low=float(ordered[outside - 1]), high=float(ordered[-outside]))
