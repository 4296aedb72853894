"""Goals of boundaries, exact and in integers, and the counts of the candidates that they judge.

Counts are cumulative, such as those of the j highest cells of a row, for every j (top runs). A goal selects
among candidates by their counts (``best_of``: single thresholds, isotonic groups). It also finds the optimum
over top runs of all rows (``optimum``: the knapsack or a simpler problem). Ties go to the highest recall,
then the fewest selected rows, then the highest thresholds. At least one true positive must be selected.
Bounds are in integers, so that no decision depends on rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final, Protocol, Self

import numpy as np

from uqcli.base.counts import Bools, CellRow, Ints, no_amounts
from uqcli.base.records import dataclass
from uqcli.base.whole_numbers import product
from uqcli.boundary.search.knapsack import OWN, solve

_ROUNDING_TOLERANCE: Final = 1e-6
"""Relative distance from equality below which the comparison is exact instead of in doubles."""


@dataclass(frozen=True, kw_only=True)
class TopRuns:
    """Counts of candidates; as top runs, of the j highest cells of one row, j = 0 .. cells.

    True positives and selected rows, int64 of shape (m,), are pi(i, j) and nu(i, j) of the paper. ``sums`` of
    amounts, of shape (2, amounts, m), are those over the selected rows, and over the true positives.
    """

    true_positives: Ints
    selected: Ints
    sums: Ints

    def at(self, indices: Ints | slice) -> TopRuns:
        """Return the candidates at some positions."""
        return TopRuns(
            true_positives=self.true_positives[indices],
            selected=self.selected[indices],
            sums=self.sums[..., indices],
        )


def top_runs(row: CellRow) -> TopRuns:
    """Accumulate a row from its highest cell downwards."""
    return TopRuns(
        true_positives=_accumulate(row.positives),
        selected=_accumulate(row.count),
        sums=_accumulate(row.amounts),
    )


def merged_runs(rows: Sequence[CellRow], numbers: Sequence[int], tops: Ints) -> dict[int, list[TopRuns]]:
    """Accumulate rows with the same score edges, adjacent ones merged to each of some numbers of rows.

    ``tops`` are the numbers of top cells to return the counts of, int64 of shape (m,).
    """
    tables = [
        _accumulate(np.stack([getattr(row, name) for row in rows]))[..., tops]
        for name in ("count", "positives", "amounts")
    ]

    def merged(number: int) -> list[TopRuns]:
        selected, true_positives, added = (
            table.reshape(number, len(rows) // number, *table.shape[1:]).sum(axis=1) for table in tables
        )
        columns = zip(selected, true_positives, added, strict=True)
        return [TopRuns(selected=n, true_positives=p, sums=s) for n, p, s in columns]

    return {number: merged(number) for number in numbers}


def joined(runs: Sequence[TopRuns]) -> TopRuns:
    """Concatenate candidates, without their amounts."""
    selected = np.concatenate([run.selected for run in runs])
    return TopRuns(
        true_positives=np.concatenate([run.true_positives for run in runs]),
        selected=selected,
        sums=no_amounts(len(selected)),
    )


def in_all_rows(runs: Sequence[TopRuns], tops: Sequence[Ints]) -> TopRuns:
    """Add up the counts of m boundaries over all rows, from the number of top cells of each row in them."""
    chosen = [run.at(row_tops) for run, row_tops in zip(runs, tops, strict=True)]
    return TopRuns(
        true_positives=np.sum([run.true_positives for run in chosen], axis=0),
        selected=np.sum([run.selected for run in chosen], axis=0),
        sums=np.sum([run.sums for run in chosen], axis=0),
    )


def _accumulate(ascending: Ints) -> Ints:
    """Accumulate the last axis from its end, beginning with 0."""
    start = np.zeros((*ascending.shape[:-1], 1), dtype=np.int64)
    return np.concatenate([start, np.cumsum(ascending[..., ::-1], axis=-1)], axis=-1)


def best_precision_tops(runs: Sequence[TopRuns]) -> tuple[int, ...] | None:
    """Return the boundary of highest precision and, among several, the one with the most true positives.

    A boundary's precision is a weighted mean of its rows' precisions. The best run of any single row is
    therefore the best overall. Every row that reaches it can be added. None without positive rows.
    """
    best_of_rows = [_best_run(run) for run in runs]
    best = max((precision for precision, _ in best_of_rows), default=Fraction(0))
    if best == 0:
        return None
    return tuple(top if precision == best else 0 for precision, top in best_of_rows)


def highest_ratio(numerator: Ints, denominator: Ints) -> int:
    """Find the position of an exactly highest ratio; denominators are positive."""
    best = int(np.argmax(numerator / denominator))
    while True:  # the division rounds: an exact comparison may find a better one
        better = np.flatnonzero(numerator * denominator[best] > numerator[best] * denominator)
        if len(better) == 0:
            return best
        best = int(better[0])


def _best_run(runs: TopRuns) -> tuple[Fraction, int]:
    """Find the highest precision of a top run, and the longest run that attains it."""
    n, d = runs.true_positives, np.maximum(runs.selected, 1)
    best = highest_ratio(n, d)
    longest = int(np.flatnonzero(n * d[best] == n[best] * d)[-1])
    return Fraction(int(n[best]), int(d[best])), longest


@dataclass(frozen=True, kw_only=True)
class LinearBound:
    """``precision >= numerator / denominator``, or another bound that is linear in the counts.

    The surplus of a selection is ``denominator * true_positives - numerator * selected + allowance``; the
    bound is met iff the surplus is non-negative. With numerator 1 the allowance is the most selected rows
    (denominator 0) or the most false positives (denominator 1).
    """

    numerator: int
    denominator: int
    allowance: int = 0

    def surplus(self, true_positives: Ints, selected: Ints) -> Ints:
        """Compute the surplus of each selection; int64."""
        return self.denominator * true_positives - self.numerator * selected + self.allowance


@dataclass(frozen=True, kw_only=True)
class Margin:
    """Margin of the true positives over those at a precision bound in (0, 1], in standard errors."""

    target: Fraction
    standard_errors: Fraction

    def is_met(self, true_positives: Ints, selected: Ints) -> Bools:
        """Whether each selection meets the bound with the margin; exact.

        With precision ``a/b``, ``Z^2 = c/d`` and surplus ``w = b TP - a n``, it does if ``w >= 0`` and ``d
        w^2 >= c a (b - a) n``.
        """
        a, b, square = self.target.numerator, self.target.denominator, self.standard_errors**2
        factor = Fraction(square.numerator * a * (b - a), square.denominator)
        surplus = float(b) * true_positives - float(a) * selected
        left, right = surplus**2, float(factor) * selected
        feasible: Bools = (surplus >= 0) & (left >= right)
        is_close = np.abs(left - right) <= _ROUNDING_TOLERANCE * (left + right)
        is_close |= np.abs(surplus) <= _ROUNDING_TOLERANCE * float(a) * selected
        for index in np.flatnonzero(is_close).tolist():
            positives, rows = int(true_positives[index]), int(selected[index])
            exact = b * positives - a * rows
            feasible[index] = exact >= 0 and exact**2 >= factor * rows
        return feasible


def precision_bound(target: Fraction, rows: int) -> LinearBound:
    """Convert a precision in (0, 1] to an integer bound for a data set of a given size.

    A precision with many digits would overflow 64-bit surpluses. It is replaced by the smallest fraction at
    or above it with a denominator of at most ``rows``, the total weight, which is less than 3e9. Selections
    of at most ``rows`` rows meet both or neither, and surpluses stay below ``rows**2``.

    Examples
    --------
    >>> precision_bound(Fraction("0.7"), 1000)
    LinearBound(numerator=7, denominator=10, allowance=0)
    >>> precision_bound(Fraction("0.66666666"), 10)
    LinearBound(numerator=2, denominator=3, allowance=0)
    """
    tight = target if target.denominator <= rows else _ceiling_fraction(target, max(rows, 1))
    return LinearBound(numerator=tight.numerator, denominator=tight.denominator)


def next_fraction(value: Fraction, limit: int) -> Fraction:
    """Find the smallest fraction above a value, with denominators of both at most ``limit``.

    Examples
    --------
    >>> next_fraction(Fraction(1, 2), 5)
    Fraction(3, 5)
    """
    if value >= 1:
        return Fraction(value.numerator * limit + value.denominator, value.denominator * limit)
    return _ceiling_fraction(value + Fraction(1, 2 * limit * limit), limit)


def _ceiling_fraction(target: Fraction, limit: int) -> Fraction:
    """Find the smallest fraction >= target, in (0, 1], whose denominator is at most ``limit`` (Stern-Brocot).

    low < target <= high are neighbours; their mediant is the fraction between them with the smallest
    denominator. Consecutive mediants on one side are taken in one step.
    """
    low_n, low_d, high_n, high_d = 0, 1, 1, 1
    while True:
        below = target.numerator * low_d - low_n * target.denominator
        above = high_n * target.denominator - target.numerator * high_d
        by_limit = (limit - low_d) // high_d
        up = min(by_limit, (below - 1) // above) if above else by_limit
        low_n, low_d = low_n + up * high_n, low_d + up * high_d
        below -= up * above
        down = min((limit - high_d) // low_d, above // below)
        high_n, high_d = high_n + down * low_n, high_d + down * low_d
        if up <= 0 and down <= 0:
            return Fraction(high_n, high_d)


Tops = tuple[int, ...]
"""Number of top cells taken in each uncertainty bin."""


class Goal(Protocol):
    """Goal of a boundary: constraint and objective."""

    def best_of(self, candidates: TopRuns) -> int | None:
        """Find the best candidate, or None if infeasible; earlier candidates have higher thresholds."""

    def within_reach(self, before: TopRuns, after: TopRuns, best: TopRuns | None) -> Bools:
        """Whether part of each range could equal the best candidate, if its positive rows came first.

        ``before`` and ``after`` are the counts before and after each of m ranges of scores; there may be no
        best candidate so far.
        """

    def optimum(self, runs: Sequence[TopRuns]) -> Tops | None:
        """Find the best choice of one top run per row; None if none meets the constraint."""

    def closest(self, runs: Sequence[TopRuns]) -> Tops | None:
        """Find the nearest choice if none meets the constraint; None without positive rows."""


@dataclass(frozen=True, kw_only=True)
class KeepBounds:
    """Highest recall within all of some bounds: limits of the selected rows and of the false positives."""

    limits: tuple[LinearBound, ...] = ()

    @property
    def bounds(self) -> tuple[LinearBound, ...]:
        """All bounds."""
        return self.limits

    def within(self, other: KeepBounds) -> Self:
        """Return the goal with the limits of another one."""
        return replace(self, limits=self.limits + other.limits)

    def best_of(self, candidates: TopRuns) -> int | None:
        """See Goal."""
        counts = candidates.true_positives, candidates.selected
        feasible = np.all([bound.surplus(*counts) >= 0 for bound in self.bounds], axis=0)
        return most_positives(feasible & self._are_safe(*counts), candidates)

    def _are_safe(self, true_positives: Ints, selected: Ints) -> Bools | bool:  # noqa: ARG002
        """Whether each selection also has the margin; there is none."""
        return True

    def within_reach(self, before: TopRuns, after: TopRuns, best: TopRuns | None) -> Bools:
        """See Goal; part of a range may be within limits if the whole is not."""
        first_row = before.true_positives + 1, before.selected + 1
        feasible = np.ones(len(after.selected), dtype=np.bool_)
        for limit in self.limits:
            feasible &= limit.surplus(*first_row) >= 0
        return feasible if best is None else feasible & (after.true_positives >= best.true_positives)

    def optimum(self, runs: Sequence[TopRuns]) -> Tops | None:
        """See Goal."""
        return optima([self], runs)[0]

    def surplus(self, together: TopRuns, first_row: slice) -> tuple[Ints, list[tuple[int, int, int]]]:
        """Return what each top run of the rows adds to a surplus, and the bounds in terms of it.

        The surplus of a single bound is its own; its allowance is added by the top runs of the first row. For
        several, which all prefer fewer selected rows at equal true positives, it is minus the selected rows.
        """
        if len(self.bounds) > 1:
            bounds = [(bound.denominator, bound.numerator, bound.allowance) for bound in self.bounds]
            return -together.selected, bounds
        (bound,) = self.bounds
        surplus = replace(bound, allowance=0).surplus(together.true_positives, together.selected)
        surplus[first_row] += bound.allowance
        return surplus, [OWN]

    def closest(self, runs: Sequence[TopRuns]) -> Tops | None:
        """Find the cheapest true positive: a single run in a single row, the nearest to all limits."""
        best: tuple[int, int, int] | None = None
        for row_index, run in enumerate(runs):
            with_positives = np.flatnonzero(run.true_positives)
            if len(with_positives):
                top = int(with_positives[0])
                counts = run.true_positives[[top]], run.selected[[top]]
                excess = max(-int(limit.surplus(*counts)[0]) for limit in self.limits)
                best = min(best or (excess, row_index, top), (excess, row_index, top))
        return None if best is None else tuple(best[2] if i == best[1] else 0 for i in range(len(runs)))


@dataclass(frozen=True, kw_only=True)
class KeepPrecision(KeepBounds):
    """Highest recall at a precision, within limits."""

    precision: LinearBound

    @property
    def bounds(self) -> tuple[LinearBound, ...]:
        """All bounds."""
        return (self.precision, *self.limits)

    def within_reach(self, before: TopRuns, after: TopRuns, best: TopRuns | None) -> Bools:
        """See Goal."""
        positives_first = _positives_first(before, after).selected
        reaches: Bools = self.precision.surplus(after.true_positives, positives_first) >= 0
        return super().within_reach(before, after, best) & reaches

    def closest(self, runs: Sequence[TopRuns]) -> Tops | None:
        """Find the highest precision within the limits; if there is none, the cheapest true positive."""
        if not self.limits:
            return best_precision_tops(runs)
        return KeepRecall(minimum=1, limits=self.limits).optimum(runs) or super().closest(runs)


@dataclass(frozen=True, kw_only=True)
class KeepMargin(KeepPrecision):
    """Highest recall at a precision; ``best_of`` also requires a margin over it."""

    margin: Margin

    def _are_safe(self, true_positives: Ints, selected: Ints) -> Bools:
        return self.margin.is_met(true_positives, selected)


def keep_budget(limit: int, *, false_only: bool) -> KeepBounds:
    """Return the goal of at most ``limit`` selected rows, or false positives if ``false_only``."""
    return KeepBounds(limits=(LinearBound(numerator=1, denominator=int(false_only), allowance=limit),))


@dataclass(frozen=True, kw_only=True)
class KeepRecall:
    """Highest precision with at least ``minimum`` true positives; ``optimum`` also keeps any limits."""

    minimum: int
    limits: tuple[LinearBound, ...] = ()

    def best_of(self, candidates: TopRuns) -> int | None:
        """See Goal."""
        true_positives = candidates.true_positives
        enough = np.flatnonzero((true_positives >= self.minimum) & (true_positives > 0))
        if len(enough) == 0:
            return None
        n, d = true_positives[enough], candidates.selected[enough]
        index = highest_ratio(n, d)
        equal = n * d[index] == n[index] * d
        best = most_positives(equal, candidates.at(enough))
        return None if best is None else int(enough[best])

    def within_reach(self, before: TopRuns, after: TopRuns, best: TopRuns | None) -> Bools:
        """See Goal."""
        positives, selected = after.true_positives, _positives_first(before, after).selected
        feasible = positives >= max(self.minimum, 1)
        if best is None:
            return feasible
        return feasible & (positives * best.selected >= best.true_positives * selected)

    def optimum(self, runs: Sequence[TopRuns]) -> Tops | None:
        """See Goal; finds the highest precision bound that permits the recall, by bisection.

        Every precision is a fraction whose denominator is at most the number of rows. The bisection ends when
        no such fraction lies between the met and the unmet bounds.
        """
        rows = sum(int(run.selected[-1]) for run in runs)
        positives = sum(int(run.true_positives[-1]) for run in runs)
        if positives < max(self.minimum, 1):
            return None
        lowest = 1 if self.limits else positives  # that of all rows may exceed a limit
        reached, missed = Fraction(lowest, rows), Fraction(2)
        best = self._at(reached, runs, rows)
        while best is not None:
            reached = _precision(best, runs)
            next_precision = next_fraction(reached, rows)
            if next_precision >= missed or next_precision > 1:
                return best
            midpoint = precision_bound((reached + min(missed, Fraction(1))) / 2, rows)
            precision = max(next_precision, Fraction(midpoint.numerator, midpoint.denominator))
            precision = precision if precision < missed else next_precision
            tops = self._at(precision, runs, rows)
            if tops is None:
                missed = precision
            else:
                best = tops
        return None

    def closest(self, runs: Sequence[TopRuns]) -> Tops | None:
        """Return None: a recall bound can always be met if there are positive rows."""
        del runs
        return None

    def _at(self, precision: Fraction, runs: Sequence[TopRuns], rows: int) -> Tops | None:
        tops = KeepPrecision(precision=precision_bound(precision, rows), limits=self.limits).optimum(runs)
        if tops is None:
            return None
        true_positives = sum(int(run.true_positives[top]) for run, top in zip(runs, tops, strict=True))
        return tops if true_positives >= self.minimum else None


@dataclass(frozen=True, kw_only=True)
class Same:
    """An amount that is the same for each row."""

    amount: int

    def sum(self, rows: Ints, sums: Ints) -> Ints:  # noqa: ARG002
        """Add it up over some numbers of rows, shape (m,)."""
        return product(rows, self.amount)

    def of_rows(self, amounts: Ints) -> Ints | int:  # noqa: ARG002
        """Return that of single rows."""
        return self.amount


@dataclass(frozen=True, kw_only=True)
class Own:
    """An amount of each row, by the place of its column among those that are summed."""

    index: int

    def sum(self, rows: Ints, sums: Ints) -> Ints:  # noqa: ARG002
        """Return its sums, which are among all of shape (amounts, m)."""
        added: Ints = sums[self.index]
        return added

    def of_rows(self, amounts: Ints) -> Ints | int:
        """Return that of single rows, whose amounts have shape (amounts, n)."""
        own: Ints = amounts[self.index]
        return own


@dataclass(frozen=True, kw_only=True)
class MaximiseUtility:
    """Highest gain of true positives less cost of false positives, positive; in integers.

    The gain of each true positive and the cost of each false positive are not negative.
    """

    gain: Same | Own
    cost: Same | Own

    def best_of(self, candidates: TopRuns) -> int | None:
        """See Goal."""
        utility = self.utility(candidates)
        best = utility.max(initial=0)
        return most_positives(utility == best, candidates) if best > 0 else None

    def within_reach(self, before: TopRuns, after: TopRuns, best: TopRuns | None) -> Bools:
        """See Goal."""
        utility = self.utility(_positives_first(before, after))
        required = 1 if best is None else self.utility(best)
        return utility >= required

    def optimum(self, runs: Sequence[TopRuns]) -> Tops | None:
        """See Goal; rows are independent."""
        tops = []
        for run in runs:
            utility = self.utility(run)
            equal = np.flatnonzero(utility == utility.max())
            order = np.lexsort((equal, run.selected[equal], -run.true_positives[equal]))
            tops.append(int(equal[order[0]]))
        total = sum(int(self.utility(run)[top]) for run, top in zip(runs, tops, strict=True))
        return tuple(tops) if total > 0 else None

    def closest(self, runs: Sequence[TopRuns]) -> Tops | None:
        """Return None: selecting nothing is better."""
        del runs
        return None

    def utility(self, runs: TopRuns) -> Ints:
        """Compute the utility of each candidate, shape (m,); see ``whole_numbers`` for its type."""
        return self.gained(runs) - self._lost(runs)

    def gained(self, runs: TopRuns) -> Ints:
        """Compute the gain of the true positives of each candidate."""
        return self.gain.sum(runs.true_positives, runs.sums[1])

    def _lost(self, runs: TopRuns) -> Ints:
        return self.cost.sum(runs.selected - runs.true_positives, runs.sums[0] - runs.sums[1])


def _positives_first(before: TopRuns, after: TopRuns) -> TopRuns:
    """Return the counts after the positive rows of each range, if they came before its negative rows."""
    return TopRuns(
        true_positives=after.true_positives,
        selected=before.selected + after.true_positives - before.true_positives,
        sums=np.stack([before.sums[0] + after.sums[1] - before.sums[1], after.sums[1]]),
    )


def most_positives(feasible: Bools, candidates: TopRuns) -> int | None:
    """Select the feasible candidate with most true positives, then fewest selected rows, then the first."""
    true_positives = candidates.true_positives
    indices = np.flatnonzero(feasible & (true_positives > 0))
    if len(indices) == 0:
        return None
    best = indices[true_positives[indices] == true_positives[indices].max()]
    return int(best[np.argmin(candidates.selected[best])])


def optima(goals: Sequence[Goal], runs: Sequence[TopRuns]) -> list[Tops | None]:
    """Find the optimum of each goal; in one go for goals that are knapsacks of the same top runs."""
    knapsacks = [goal for goal in goals if isinstance(goal, KeepBounds)]
    if len(knapsacks) < len(goals):
        return [goal.optimum(runs) for goal in goals]
    together, sizes = joined(runs), [len(run.selected) for run in runs]
    surplus, bounds = zip(*(goal.surplus(together, slice(sizes[0])) for goal in knapsacks), strict=True)
    chosen = solve(together.true_positives, np.stack(surplus), sizes, bounds)
    return [
        tops if any(int(run.true_positives[top]) for run, top in zip(runs, tops, strict=True)) else None
        for tops in chosen
    ]


def _precision(tops: Tops, runs: Sequence[TopRuns]) -> Fraction:
    taken = list(zip(runs, tops, strict=True))
    return Fraction(
        sum(int(run.true_positives[top]) for run, top in taken),
        sum(int(run.selected[top]) for run, top in taken),
    )
