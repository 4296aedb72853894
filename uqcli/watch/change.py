"""Evidence of a change of a rate, over batches whose trials depend on each other.

The evidence after t batches is the sum of the evidence of the batches j..t over all starts j. Where effective
counts alone would raise the alarm, the evidence of each start that counts is at most half the Bayes factor of
its days, for which the days before it have shown how much days differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from uqcli.base.counts import Floats, Ints
from uqcli.estimates.dependence import DivisorsSince
from uqcli.watch.bayes_factor import LogFactors
from uqcli.watch.evidence import log_e_bounds, log_e_values

if TYPE_CHECKING:
    from fractions import Fraction

    from uqcli.estimates.dependence import UnitSums

_BLOCK: Final = 32
"""Looks that are screened together."""

_ROUNDING: Final = 1e-6

_SMALL: Final = 100
"""Starts whose evidence is below the limit by this factor, and by the number of batches, stay as they are."""


class ChangeEvidence:
    """Logarithm of the evidence of a change after each batch.

    ``counts`` has the successes and trials of each batch, int64 of shape (batches, 2), and the bound is
    strictly between 0 and 1. The alarm is at ``log_limit``.
    """

    def __init__(
        self, counts: Ints, bound: Fraction, log_limit: float, calibration: UnitSums | None = None
    ) -> None:
        self._bound, self._log_limit = bound, log_limit
        has_trials = counts[:, 1] > 0
        self._successes, self._trials = counts[has_trials].T
        # days after so many batches; also the place of the first day at or after each batch
        self._days_after = np.append(0, np.cumsum(has_trials))
        self._totals = np.zeros((len(counts) + 1, 2), dtype=np.int64)
        self._totals[1:] = np.cumsum(counts, axis=0)
        self._divisors = DivisorsSince(self._successes, self._trials, calibration)

    def log_sum(self, look: int) -> float:
        """Return that after so many batches, at least one."""
        return self._log_sum(look, stop_below_limit=False)

    def alarms(self, looks: range) -> Iterator[int]:
        """Yield the looks, among consecutive numbers of batches, that reach the limit."""
        for start in looks[::_BLOCK]:
            block = np.arange(start, min(start + _BLOCK, looks.stop))
            highest = np.logaddexp.reduce(self._log_bounds(block), axis=1)
            for look in block[highest >= self._log_limit - _ROUNDING].tolist():
                if self._log_sum(look, stop_below_limit=True) >= self._log_limit:
                    yield look

    def _log_sum(self, look: int, *, stop_below_limit: bool) -> float:
        """Return the evidence, or any number below the limit that is not less."""
        log_e = self.log_effective(look)
        total = float(np.logaddexp.reduce(log_e))
        if total < self._log_limit:
            return total
        starts, days = self._days_after[:look], int(self._days_after[look])
        largest_first = np.argsort(-log_e, kind="stable")
        counted = largest_first[log_e[largest_first] >= self._log_limit - math.log(_SMALL * look)]
        for part in np.array_split(counted, -(-len(counted) // _BLOCK)):
            log_e[part] = np.minimum(log_e[part], self._factors.since(starts[part], days) - math.log(2))
            total = float(np.logaddexp.reduce(log_e))
            if stop_below_limit and total < self._log_limit:
                break
        return total

    def log_effective(self, look: int) -> Floats:
        """Return the log of the e-value of effective counts since each batch; shape (look,)."""
        days = int(self._days_after[look])
        if days == 0:
            return np.zeros(look)
        starts = np.minimum(self._days_after[:look], days - 1)
        used = self._divisors.after(days)[starts]
        successes, trials = (self._totals[look] - self._totals[:look]).T
        return log_e_values(successes / used, trials / used, self._bound)

    def _log_bounds(self, looks: Ints) -> Floats:
        """Return upper bounds of ``log_effective`` at consecutive looks; -inf after the look."""
        batches = np.arange(looks[-1])
        days = self._days_after[looks]
        used = np.full((len(looks), len(batches)), np.inf)
        if (last := int(days[-1])) > 0:
            first = max(int(days[0]), 1)
            by_day = self._divisors.at_least(first, last)
            used = by_day[np.maximum(days - first, 0)][:, np.minimum(self._days_after[batches], last - 1)]
        successes, trials = (
            (self._totals[looks, None] - self._totals[batches]).clip(0).transpose(2, 0, 1).astype(np.float64)
        )
        log_bounds = log_e_bounds(successes / used, trials / used, self._bound)
        return np.where(batches < looks[:, None], log_bounds, -np.inf)

    @cached_property
    def _factors(self) -> LogFactors:
        return LogFactors(self._successes, self._trials, self._bound)
