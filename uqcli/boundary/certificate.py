"""Certified boundaries: guaranteed rates on new data, at a stated risk.

A small pilot ranks nested boundaries. The other rows test them in sequence, beginning with the safest by the
pilot, each at the full level, until a test fails. The sequence is fixed before any test row is seen. The
last certified boundary therefore breaks its promise with probability at most delta, for any distribution of
the rows. Several promises about one boundary need no correction, since every one of them is tested at the
full level (intersection-union test).

If rows depend on each other within clusters, each cluster of the test counts once, by one of its selected
rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from uqcli.base.counts import Cells, Floats, Ints
from uqcli.base.records import dataclass
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.constraint_kinds import promised_rates
from uqcli.boundary.search.smoothing import NestedBoundaries, nested_boundaries
from uqcli.boundary.search.thresholds import Thresholds, thresholds_at
from uqcli.estimates.confusion import Confusion, Rate

PILOT_PARTS = 5
"""Inverse of the share of rows in the pilot."""

_MIN_VARIANCE = 1e-9
_MAX_TIMES = 1e6
"""Factor on the rows above which no number of rows is named."""

_BISECTIONS = 30

MIN_ALERTS = 30
"""Tested alerts below which a boundary's rates say nothing about the number of rows needed."""


LeastRate: TypeAlias = tuple[Rate, Fraction]
"""A rate of a boundary, and its minimum in [0, 1].

For a maximum false-positive rate, the rate is the specificity; for a maximum of positives among the rows that
are not flagged, it is the negatives' share there (NPV).
"""


def least_rates(constraint: Constraint) -> tuple[LeastRate, ...]:
    """Return the least rates that a constraint promises, one for each of its bounds."""
    return tuple((bound.kept, bound.least) for bound in promised_rates(constraint))


@dataclass(frozen=True, kw_only=True)
class Certified:
    """Last certified boundary, which takes a number of cells in the order of the ranking.

    The p-value is the probability of at least as many successes among the tested rows at exactly the bound,
    the largest of several promises. ``tested`` counts the tested rows, or clusters, and those that the
    boundary selects.
    """

    uncertainty_edges: Floats
    thresholds: Thresholds
    cells: int
    p_value: float
    tested: Confusion[int]


@dataclass(frozen=True, kw_only=True)
class NotCertified:
    """Nothing could be tested, so that no boundary is certified.

    Promises are provable if some number of rows could show them; none shows a rate of 1.
    """

    provable: bool = True


@dataclass(frozen=True, kw_only=True)
class Failed(NotCertified):
    """No boundary passed its test.

    The p-value is that of the first boundary tested. ``rows_needed`` is the approximate size of a sufficient
    calibration set (see ``Certifier.rows_needed``); None if these rows do not suggest that any size suffices.
    It is ``promising`` nevertheless if a boundary with too few tested alerts for that has better rates than
    are promised.
    """

    p_value: float
    rows_needed: int | None
    promising: bool


@dataclass(frozen=True, kw_only=True)
class Certifier:
    """Nested boundaries, from a ranking of the cells of a pilot, to be tested on other rows.

    ``tested`` counts the rows of the test, or its clusters if rows depend on each other, at each boundary;
    shape (cells,). Of clusters only the precision of flagged rows can be promised. ``size`` is the number of
    rows, or clusters, of the calibration set.
    """

    pilot: Cells
    nested: NestedBoundaries
    tested: Confusion[Ints]
    size: int

    @classmethod
    def from_cells(
        cls, pilot: Cells, test: Cells, *, has_own_pilot: bool = True, nested: NestedBoundaries | None = None
    ) -> Certifier:
        """Count independent rows, in cells with the edges of the pilot.

        The pilot may be a part of the calibration set, or older rows. The ranking of its cells is that by
        their smoothed rates, unless it is given.
        """
        nested = nested or nested_boundaries(pilot)
        true_positives, selected = nested.counts_of(test)
        tested = Confusion(
            rows=np.full_like(selected, test.total),
            positives=np.full_like(selected, test.positives),
            selected=selected,
            true_positives=true_positives,
        )
        size = test.total + (pilot.total if has_own_pilot else 0)
        return cls(pilot=pilot, nested=nested, tested=tested, size=size)

    def certify(
        self,
        promises: Sequence[LeastRate],
        delta: float,
        *,
        at_least: int = 0,
        at_most: int | None = None,
        sequence: Ints | None = None,
    ) -> Certified | NotCertified:
        """Find the last boundary of the sequence that keeps all promises, at risk delta.

        The sequence starts where the pilot expects the largest margin, in standard errors. For recall, and
        for the rows that are not flagged, it goes to stricter boundaries, otherwise to looser ones. A given
        sequence, int64 of shape (boundaries,), has the indices of the boundaries to test, in order.

        Boundaries have at least ``at_least`` cells, for a promise that looser boundaries keep as well, or
        that was tested for them, and at most ``at_most``, which the pilot chose.
        """
        if any(minimum >= 1 for _, minimum in promises):
            return NotCertified(provable=False)
        if sequence is None:
            start, cells = self.start(promises), at_most or len(self.nested.order)
            if start is None:
                return NotCertified()
            stricter = all(rate.rises_with_flags for rate, _ in promises)
            end, step = (-1, -1) if stricter else (cells, 1)
            sequence = np.arange(min(start, cells - 1), end, step)
        p_values = self._p_values(promises)
        failed = np.flatnonzero(~(p_values[sequence] <= delta))
        passed = int(failed[0]) if len(failed) else len(sequence)
        certified = sequence[:passed]
        certified = certified[self.tested.true_positives[certified] > 0]  # others are of no use
        if len(certified) == 0:
            next_tested = sequence[min(passed, len(sequence) - 1)]
            return Failed(
                p_value=float(p_values[next_tested]),
                rows_needed=self.rows_needed(promises, delta, int(next_tested)),
                promising=self._is_promising(promises),
            )
        last, tested = max(int(certified[-1]), at_least - 1), self.tested
        return Certified(
            uncertainty_edges=self.pilot.uncertainty_edges,
            thresholds=thresholds_at(self.pilot, self.nested.tops(last, len(self.pilot.rows))),
            cells=last + 1,
            p_value=float(p_values[last]),
            tested=Confusion(
                rows=int(tested.rows[last]),
                positives=int(tested.positives[last]),
                selected=int(tested.selected[last]),
                true_positives=int(tested.true_positives[last]),
            ),
        )

    def start(self, promises: Sequence[LeastRate]) -> int | None:
        """Return the first boundary with the largest expected margin; None if the rate has no trials."""
        count, _ = self.pilot.flat
        expected = np.cumsum(count[self.nested.order] * self.nested.rate)
        selected = self.nested.selected.astype(np.float64)
        boundaries = Confusion[Any](
            rows=np.full_like(selected, self.pilot.total),
            positives=np.full_like(selected, expected[-1]),
            selected=selected,
            true_positives=expected,
        )
        margins = np.min(
            [_standard_errors(*boundaries.trials(rate), minimum) for rate, minimum in promises], axis=0
        )
        start = int(np.argmax(margins))
        return None if margins[start] == -np.inf else start

    def _p_values(self, promises: Sequence[LeastRate]) -> Floats:
        """Compute the exact p-value of each boundary, the largest of the promises."""
        p_values: Floats = np.max(
            [_binomial_tail(*self.tested.trials(rate), float(minimum)) for rate, minimum in promises], axis=0
        )
        return p_values

    def _is_promising(self, promises: Sequence[LeastRate]) -> bool:
        """Whether a boundary with fewer alerts than ``rows_needed`` takes has better rates than promised."""
        few = self.tested.selected < MIN_ALERTS
        for rate, minimum in promises:
            successes, trials = self.tested.trials(rate)
            few = few & (successes > float(minimum) * trials)
        return bool(few.any())

    def rows_needed(self, promises: Sequence[LeastRate], delta: float, failed: int = -1) -> int | None:
        """Estimate the size of a calibration set that certifies some boundary of the sequence.

        It is the smallest number at which a boundary passes if its rates are those of the tested rows, each
        (k+1)/(n+2), and so does the one at the index that failed, if its rates let it; rounded up and more
        than there are, since those failed. None if no boundary suggests it that has 30 tested alerts and 30
        rows in each rate.
        """
        known = self.tested.selected >= MIN_ALERTS
        if not known.any():
            return None
        rates = []
        for rate, minimum in promises:
            successes, trials = (count[known].astype(np.float64) for count in self.tested.trials(rate))
            if trials.min() < MIN_ALERTS:
                return None
            rates.append((trials * (successes + 1) / (trials + 2), trials, float(minimum)))
        hopeful = np.all([hits > least * n for hits, n, least in rates], axis=0)
        if not hopeful.any():
            return None

        of_failed = np.flatnonzero(known) == failed

        def passes(times: float) -> bool:
            tails = [
                _scaled_tail(times * hits[hopeful], times * n[hopeful], least) for hits, n, least in rates
            ]
            has_passed = np.max(tails, axis=0) <= delta
            return bool(has_passed.any() and has_passed[of_failed[hopeful]].all())

        enough = 1.0  # not fewer rows than there are: those are not enough
        while not passes(enough):
            if enough > _MAX_TIMES:
                return None
            enough *= 2
        few = enough / 2 if enough > 1 else enough
        for _ in range(_BISECTIONS):
            middle = (few + enough) / 2
            few, enough = (few, middle) if passes(middle) else (middle, enough)
        return max(_two_digits(enough * self.size), _two_digits(self.size + 1))


def _two_digits(number: float) -> int:
    """Round up to two digits."""
    unit: int = 10 ** max(0, len(str(math.ceil(number))) - 2)
    return math.ceil(number / unit) * unit


def _standard_errors(successes: Ints | Floats, trials: Ints | Floats, minimum: Fraction) -> Floats:
    """Compute how far rates are above their minimum, in standard errors; minus infinity without trials."""
    rate = float(minimum)
    z = np.full(len(trials), -np.inf)
    tried = trials > 0
    spread = np.sqrt(max(rate * (1 - rate), _MIN_VARIANCE) * trials[tried])
    z[tried] = (successes[tried] - rate * trials[tried]) / spread
    return z


def _binomial_tail(successes: Ints | Floats, trials: Ints | Floats, rate: float) -> Floats:
    """Compute ``P(Bin(trials, rate) >= successes)``, 1 without a success."""
    from scipy.special import bdtrc

    p_values = np.ones(len(trials))
    hit = successes > 0
    p_values[hit] = bdtrc(successes[hit] - 1.0, trials[hit], rate)
    return p_values


def _scaled_tail(successes: Floats, trials: Floats, rate: float) -> Floats:
    """Compute the binomial tails for counts that need not be whole, by the incomplete beta function."""
    from scipy.special import betainc

    tails: Floats = betainc(successes, trials - successes + 1, rate)
    return tails
