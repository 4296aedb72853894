"""Goals of boundaries, exact and in integers.

A goal selects among candidates by their counts (``best_of``: single thresholds, isotonic groups). It also
finds the optimum over top runs of all rows (``optimum``: the knapsack or a simpler problem). Ties go to the
highest recall, then the fewest selected rows, then the highest thresholds. At least one true positive must be
selected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from uqcli.counts import Bools, Ints
from uqcli.methods.boundary.knapsack import Options, solve
from uqcli.methods.boundary.precision import Margin, PrecisionBound, next_fraction, precision_bound
from uqcli.methods.boundary.runs import TopRuns, best_precision_tops, highest_ratio

Tops = tuple[int, ...]
"""Number of top cells taken in each uncertainty bin."""


class Goal(Protocol):
    """Goal of a boundary: constraint and objective."""

    def best_of(self, true_positives: Ints, selected: Ints) -> int | None:
        """Find the best candidate, or None if infeasible; earlier candidates have higher thresholds."""

    def within_reach(self, start: tuple[Ints, Ints], positives: Ints, best: tuple[int, int] | None) -> Bools:
        """Whether each candidate could equal the best one if its positive rows came before its negative rows.

        Parameters
        ----------
        start
            True positives and selected rows before the candidate, int64, shape (m,).
        positives : int64, shape (m,)
            Maximum true positives of a candidate.
        best
            True positives and selected rows of the best candidate so far; None without one.
        """

    def optimum(self, runs: Sequence[TopRuns]) -> Tops | None:
        """Find the best choice of one top run per row; None if none meets the constraint."""

    def closest(self, runs: Sequence[TopRuns]) -> Tops | None:
        """Find the nearest choice if none meets the constraint; None without positive rows."""


@dataclass(frozen=True, kw_only=True)
class KeepPrecision:
    """Highest recall at a precision; ``best_of`` also requires the margin, if any."""

    bound: PrecisionBound
    margin: Margin | None = None

    def best_of(self, true_positives: Ints, selected: Ints) -> int | None:
        """See Goal."""
        feasible = self.bound.surplus(true_positives, selected) >= 0
        if self.margin is not None:
            feasible &= self.margin.is_met(true_positives, selected)
        return most_positives(feasible, true_positives, selected)

    def within_reach(self, start: tuple[Ints, Ints], positives: Ints, best: tuple[int, int] | None) -> Bools:
        """See Goal."""
        selected = start[1] + positives - start[0]
        feasible = self.bound.surplus(positives, selected) >= 0
        return feasible if best is None else feasible & (positives >= best[0])

    def optimum(self, runs: Sequence[TopRuns]) -> Tops | None:
        """See Goal."""
        return _choice(
            [
                Options(
                    value=run.true_positives, surplus=self.bound.surplus(run.true_positives, run.selected)
                )
                for run in runs
            ]
        )

    def closest(self, runs: Sequence[TopRuns]) -> Tops | None:
        """Find the highest precision."""
        return best_precision_tops(runs)


@dataclass(frozen=True, kw_only=True)
class KeepBudget:
    """Highest recall with at most ``limit`` selected rows, or false positives if ``false_only``."""

    limit: int
    false_only: bool

    def best_of(self, true_positives: Ints, selected: Ints) -> int | None:
        """See Goal."""
        spent = self._cost(true_positives, selected)
        return most_positives(spent <= self.limit, true_positives, selected)

    def within_reach(self, start: tuple[Ints, Ints], positives: Ints, best: tuple[int, int] | None) -> Bools:
        """See Goal; part of a range may fit if the whole does not."""
        spent = self._cost(*start) + (0 if self.false_only else 1)
        feasible = spent <= self.limit
        return feasible if best is None else feasible & (positives >= best[0])

    def optimum(self, runs: Sequence[TopRuns]) -> Tops | None:
        """See Goal."""
        options = []
        for row_index, run in enumerate(runs):
            start = self.limit if row_index == 0 else 0
            spent = self._cost(run.true_positives, run.selected)
            options.append(Options(value=run.true_positives, surplus=start - spent))
        return _choice(options)

    def closest(self, runs: Sequence[TopRuns]) -> Tops | None:
        """Find the cheapest true positive: a single run in a single row."""
        best: tuple[int, int, int] | None = None
        for row_index, run in enumerate(runs):
            with_positives = np.flatnonzero(run.true_positives)
            if len(with_positives):
                top = int(with_positives[0])
                spent = int(self._cost(run.true_positives, run.selected)[top])
                best = min(best or (spent, row_index, top), (spent, row_index, top))
        return None if best is None else tuple(best[2] if i == best[1] else 0 for i in range(len(runs)))

    def _cost(self, true_positives: Ints, selected: Ints) -> Ints:
        return selected - true_positives if self.false_only else selected


@dataclass(frozen=True, kw_only=True)
class KeepRecall:
    """Highest precision with at least ``minimum`` true positives."""

    minimum: int

    def best_of(self, true_positives: Ints, selected: Ints) -> int | None:
        """See Goal."""
        enough = np.flatnonzero((true_positives >= self.minimum) & (true_positives > 0))
        if len(enough) == 0:
            return None
        n, d = true_positives[enough], selected[enough]
        index = highest_ratio(n, d)
        equal = n * d[index] == n[index] * d
        best = most_positives(equal, n, d)
        return None if best is None else int(enough[best])

    def within_reach(self, start: tuple[Ints, Ints], positives: Ints, best: tuple[int, int] | None) -> Bools:
        """See Goal."""
        selected = start[1] + positives - start[0]
        feasible = positives >= max(self.minimum, 1)
        return feasible if best is None else feasible & (positives * best[1] >= best[0] * selected)

    def optimum(self, runs: Sequence[TopRuns]) -> Tops | None:
        """See Goal; finds the highest precision bound that permits the recall, by bisection.

        Every precision is a fraction whose denominator is at most the number of rows. The bisection ends when
        no such fraction lies between the met and the unmet bounds.
        """
        rows = sum(int(run.selected[-1]) for run in runs)
        positives = sum(int(run.true_positives[-1]) for run in runs)
        if positives < max(self.minimum, 1):
            return None
        reached, missed = Fraction(positives, rows), Fraction(2)
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
        tops = KeepPrecision(bound=precision_bound(precision, rows)).optimum(runs)
        if tops is None:
            return None
        true_positives = sum(int(run.true_positives[top]) for run, top in zip(runs, tops, strict=True))
        return tops if true_positives >= self.minimum else None


@dataclass(frozen=True, kw_only=True)
class MaximiseUtility:
    """Highest ``gain * true positives - cost * false positives``, positive; in integers."""

    gain: int
    cost: int

    def best_of(self, true_positives: Ints, selected: Ints) -> int | None:
        """See Goal."""
        utility = self._utility(true_positives, selected)
        best = utility.max(initial=0)
        return most_positives(utility == best, true_positives, selected) if best > 0 else None

    def within_reach(self, start: tuple[Ints, Ints], positives: Ints, best: tuple[int, int] | None) -> Bools:
        """See Goal."""
        utility = self._utility(positives, start[1] + positives - start[0])
        required = 1 if best is None else self.gain * best[0] - self.cost * (best[1] - best[0])
        return utility >= required

    def optimum(self, runs: Sequence[TopRuns]) -> Tops | None:
        """See Goal; rows are independent."""
        tops = []
        for run in runs:
            utility = self._utility(run.true_positives, run.selected)
            equal = np.flatnonzero(utility == utility.max())
            order = np.lexsort((equal, run.selected[equal], -run.true_positives[equal]))
            tops.append(int(equal[order[0]]))
        total = sum(
            int(self._utility(run.true_positives, run.selected)[top])
            for run, top in zip(runs, tops, strict=True)
        )
        return tuple(tops) if total > 0 else None

    def closest(self, runs: Sequence[TopRuns]) -> Tops | None:
        """Return None: selecting nothing is better."""
        del runs
        return None

    def _utility(self, true_positives: Ints, selected: Ints) -> Ints:
        return self.gain * true_positives - self.cost * (selected - true_positives)


def most_positives(feasible: Bools, true_positives: Ints, selected: Ints) -> int | None:
    """Select the feasible candidate with most true positives, then fewest selected rows, then the first."""
    candidates = np.flatnonzero(feasible & (true_positives > 0))
    if len(candidates) == 0:
        return None
    best = candidates[true_positives[candidates] == true_positives[candidates].max()]
    return int(best[np.argmin(selected[best])])


def _choice(options: list[Options]) -> Tops | None:
    tops = solve(options)
    return tops if any(int(item.value[top]) for item, top in zip(options, tops, strict=True)) else None


def _precision(tops: Tops, runs: Sequence[TopRuns]) -> Fraction:
    taken = list(zip(runs, tops, strict=True))
    return Fraction(
        sum(int(run.true_positives[top]) for run, top in taken),
        sum(int(run.selected[top]) for run, top in taken),
    )
