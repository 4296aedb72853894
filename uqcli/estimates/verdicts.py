"""Test results of sorted scores as runs, since adjacent scores mostly have the same result."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from uqcli.base.counts import Bools, Ints
from uqcli.base.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """Runs of sorted scores that are rejected, or not.

    Attributes
    ----------
    start : int64, shape (r+1,)
        Start of each run, ascending; the last element is the number of scores.
    rejected : bool, shape (r,)
    """

    start: Ints
    rejected: Bools

    @classmethod
    def from_runs(cls, runs: Iterable[tuple[Ints, Bools]], scores: int) -> Verdicts:
        """Sort and merge runs.

        Parameters
        ----------
        runs
            Starts and results of some runs; each run ends where the next begins.
        scores
            Number of scores.
        """
        start, rejected = (np.concatenate(column) for column in zip(*runs, strict=True))
        order = np.argsort(start)
        start, rejected = start[order], rejected[order]
        starts_run = np.ones(len(start), dtype=np.bool_)
        starts_run[1:] = rejected[1:] != rejected[:-1]
        return cls(start=np.append(start[starts_run], scores), rejected=rejected[starts_run])

    def take(self, index: Ints) -> Bools:
        """Whether the scores at given positions are rejected."""
        return self.rejected[self.start.searchsorted(index, side="right") - 1]

    def of_scores(self) -> Bools:
        """Whether each score is rejected; bool, shape (m,)."""
        return np.repeat(self.rejected, np.diff(self.start))


def changes(rejected: Bools, index: Ints) -> tuple[Ints, Bools]:
    """Merge the results of single scores into runs; return their starts and results.

    Parameters
    ----------
    rejected : bool, shape (n,)
    index : int64, shape (n,)
        Ascending.
    """
    starts_run = np.ones(len(index), dtype=np.bool_)
    starts_run[1:] = (rejected[1:] != rejected[:-1]) | (index[1:] != index[:-1] + 1)
    return index[starts_run], rejected[starts_run]
