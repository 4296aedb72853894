"""Which of many sorted scores a test rejects, as runs: neighbours nearly always share their fate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from uqcli.counts import Bools, Ints


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """Runs of sorted scores that are rejected, or are not.

    Attributes
    ----------
    start : int64, shape (r+1,)
        Where each run begins, ascending; the last one is the number of scores.
    rejected : bool, shape (r,)
    """

    start: Ints
    rejected: Bools

    @classmethod
    def of(cls, runs: Iterable[tuple[Ints, Bools]], scores: int) -> Verdicts:
        """Put runs in order.

        Parameters
        ----------
        runs
            Where some of them begin and whether they are rejected; each run ends where the next one begins.
        scores
            How many scores there are.
        """
        start, rejected = (np.concatenate(column) for column in zip(*runs, strict=True))
        order = np.argsort(start)
        start, rejected = start[order], rejected[order]
        new = np.ones(len(start), dtype=np.bool_)
        new[1:] = rejected[1:] != rejected[:-1]
        return cls(start=np.append(start[new], scores), rejected=rejected[new])

    def at(self, place: Ints) -> Bools:
        """Whether the scores at some places are rejected."""
        return self.rejected[self.start.searchsorted(place, side="right") - 1]

    def each(self) -> Bools:
        """Whether each score is rejected: bool of shape (m,)."""
        return np.repeat(self.rejected, np.diff(self.start))


def changes(rejected: Bools, place: Ints) -> tuple[Ints, Bools]:
    """Runs of single verdicts, without those that the one before tells.

    Parameters
    ----------
    rejected : bool, shape (n,)
    place : int64, shape (n,)
        Ascending.
    """
    new = np.ones(len(place), dtype=np.bool_)
    new[1:] = (rejected[1:] != rejected[:-1]) | (place[1:] != place[:-1] + 1)
    return place[new], rejected[new]
