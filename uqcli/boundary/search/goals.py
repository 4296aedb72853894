"""Goals of boundaries, exact and in integers.

A goal selects among candidates by their counts (``best_of``: single thresholds, isotonic groups). It also
finds the optimum over top runs of all rows (``optimum``: the knapsack or a simpler problem). Ties go to the
highest recall, then the fewest selected rows, then the highest thresholds. At least one true positive must be
selected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Protocol

import numpy as np

from uqcli.base.counts import Bools, Ints
from uqcli.base.records import dataclass
from uqcli.boundary.search.knapsack import OWN, solve
from uqcli.boundary.search.precision import LinearBound, Margin, next_fraction, precision_bound
from uqcli.boundary.search.score_runs import TopRuns, best_precision_tops, highest_ratio, joined

Tops = tuple[int, ...]
"""Number of top cells taken in each uncertainty bin."""


class Goal(Protocol):
    """Goal of a boundary: constraint and objective."""

    def best_of(self, candidates: TopRuns) -> int | None:
        """Find the best candidate, or None if infeasible; earlier candidates have higher thresholds."""

    def within_reach(self, before: TopRuns, after: TopRuns, best: TopRuns | None) -> Bools:
        """Whether part of each range could equal the best candidate, if its positive rows came first.

        Parameters
        ----------
        before, after
            Counts before and after each of m ranges of scores.
        best
            The best candidate so far; None without one.
        """

    def optimum(self, runs: Sequence[TopRuns]) -> Tops | None:
        """Find the best choice of one top run per row; None if none meets the constraint."""

    def closest(self, runs: Sequence[TopRuns]) -> Tops | None:
        """Find the nearest choice if none meets the constraint; None without positive rows."""


@dataclass(frozen=True, kw_only=True)
class KeepBounds:
    """Highest recall within all of some bounds; ``best_of`` also requires the margin, if any.

    Attributes
    ----------
    precision
        None without a bound on it.
    limits
        Limits of the selected rows and of the false positives.
    """

    precision: LinearBound | None = None
    margin: Margin | None = None
    limits: tuple[LinearBound, ...] = ()

    @property
    def bounds(self) -> tuple[LinearBound, ...]:
        """All bounds."""
        return self.limits if self.precision is None else (self.precision, *self.limits)

    def within(self, other: KeepBounds) -> KeepBounds:
        """Return the goal with the limits of another one."""
        return replace(self, limits=self.limits + other.limits)

    def best_of(self, candidates: TopRuns) -> int | None:
        """See Goal."""
        counts = candidates.true_positives, candidates.selected
        feasible = np.all([bound.surplus(*counts) >= 0 for bound in self.bounds], axis=0)
        if self.margin is not None:
            feasible &= self.margin.is_met(*counts)
        return most_positives(feasible, candidates)

    def within_reach(self, before: TopRuns, after: TopRuns, best: TopRuns | None) -> Bools:
        """See Goal; part of a range may be within limits if the whole is not."""
        first_row = before.true_positives + 1, before.selected + 1
        feasible = np.ones(len(after.selected), dtype=np.bool_)
        for limit in self.limits:
            feasible &= limit.surplus(*first_row) >= 0
        if self.precision is not None:
            positives_first = _positives_first(before, after).selected
            feasible &= self.precision.surplus(after.true_positives, positives_first) >= 0
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
        """Find the highest precision within the limits; if there is none, the cheapest true positive.

        The cheapest one is a single run in a single row, the nearest to all limits.
        """
        if self.precision is not None:
            if not self.limits:
                return best_precision_tops(runs)
            within = KeepRecall(minimum=1, limits=self.limits).optimum(runs)
            if within is not None:
                return within
        best: tuple[int, int, int] | None = None
        for row_index, run in enumerate(runs):
            with_positives = np.flatnonzero(run.true_positives)
            if len(with_positives):
                top = int(with_positives[0])
                counts = run.true_positives[[top]], run.selected[[top]]
                excess = max(-int(limit.surplus(*counts)[0]) for limit in self.limits)
                best = min(best or (excess, row_index, top), (excess, row_index, top))
        return None if best is None else tuple(best[2] if i == best[1] else 0 for i in range(len(runs)))


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
        tops = KeepBounds(precision=precision_bound(precision, rows), limits=self.limits).optimum(runs)
        if tops is None:
            return None
        true_positives = sum(int(run.true_positives[top]) for run, top in zip(runs, tops, strict=True))
        return tops if true_positives >= self.minimum else None


@dataclass(frozen=True, kw_only=True)
class MaximiseUtility:
    """Highest gain of true positives less cost of false positives, positive; in integers.

    Attributes
    ----------
    gain, cost
        Of each true positive, and of each false positive; not negative.
    gain_index, cost_index
        Index of the amount that replaces ``gain`` or ``cost`` by a sum over rows; None for none.
    """

    gain: int
    cost: int
    gain_index: int | None = None
    cost_index: int | None = None

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
        """Compute the utility of each candidate; int64, shape (m,)."""
        return self.gained(runs) - self._lost(runs)

    def gained(self, runs: TopRuns) -> Ints:
        """Compute the gain of the true positives of each candidate."""
        if self.gain_index is None:
            return self.gain * runs.true_positives
        assert runs.sums is not None  # an amount has an index
        gained: Ints = runs.sums[1, self.gain_index]
        return gained

    def _lost(self, runs: TopRuns) -> Ints:
        if self.cost_index is None:
            return self.cost * (runs.selected - runs.true_positives)
        assert runs.sums is not None  # an amount has an index
        lost: Ints = runs.sums[0, self.cost_index] - runs.sums[1, self.cost_index]
        return lost


def _positives_first(before: TopRuns, after: TopRuns) -> TopRuns:
    """Return the counts after the positive rows of each range, if they came before its negative rows."""
    sums = None
    if before.sums is not None and after.sums is not None:
        sums = np.stack([before.sums[0] + after.sums[1] - before.sums[1], after.sums[1]])
    return TopRuns(
        true_positives=after.true_positives,
        selected=before.selected + after.true_positives - before.true_positives,
        sums=sums,
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
