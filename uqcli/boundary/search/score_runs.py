"""Cumulative counts of candidates for a boundary, such as the j highest cells of a row, for every j."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from uqcli.base.counts import CellRow, Ints
from uqcli.base.records import dataclass


@dataclass(frozen=True, kw_only=True)
class TopRuns:
    """Counts of candidates; as top runs, of the j highest cells of one row, j = 0 .. cells.

    True positives and selected rows, int64 of shape (m,), are pi(i, j) and nu(i, j) of the paper. With
    amounts, ``sums`` of shape (2, amounts, m) are those over the selected rows, and over the true positives.
    """

    true_positives: Ints
    selected: Ints
    sums: Ints | None = None

    def at(self, indices: Ints | slice) -> TopRuns:
        """Return the candidates at some positions."""
        return TopRuns(
            true_positives=self.true_positives[indices],
            selected=self.selected[indices],
            sums=None if self.sums is None else self.sums[..., indices],
        )


def top_runs(row: CellRow) -> TopRuns:
    """Accumulate a row from its highest cell downwards."""
    return TopRuns(
        true_positives=_accumulate(row.positives),
        selected=_accumulate(row.count),
        sums=None if row.sums is None else _accumulate(row.sums),
    )


def merged_runs(rows: Sequence[CellRow], numbers: Sequence[int], tops: Ints) -> dict[int, list[TopRuns]]:
    """Accumulate rows with the same score edges, adjacent ones merged to each of some numbers of rows.

    ``tops`` are the numbers of top cells to return the counts of, int64 of shape (m,).
    """
    counts, positives = (
        _accumulate(np.stack([getattr(row, name) for row in rows]))[:, tops]
        for name in ("count", "positives")
    )
    sums = [row.sums for row in rows if row.sums is not None]
    amounts = _accumulate(np.stack(sums))[..., tops] if sums else None

    def merged(number: int) -> list[TopRuns]:
        selected, true_positives, added = (
            [None] * number if table is None else table.reshape(number, -1, *table.shape[1:]).sum(axis=1)
            for table in (counts, positives, amounts)
        )
        columns = zip(selected, true_positives, added, strict=True)
        return [TopRuns(selected=n, true_positives=p, sums=s) for n, p, s in columns]

    return {number: merged(number) for number in numbers}


def joined(runs: Sequence[TopRuns]) -> TopRuns:
    """Concatenate candidates, without their amounts."""
    return TopRuns(
        true_positives=np.concatenate([run.true_positives for run in runs]),
        selected=np.concatenate([run.selected for run in runs]),
    )


def in_all_rows(runs: Sequence[TopRuns], tops: Sequence[Ints]) -> TopRuns:
    """Add up the counts of m boundaries over all rows, from the number of top cells of each row in them."""
    chosen = [run.at(row_tops) for run, row_tops in zip(runs, tops, strict=True)]
    sums = [run.sums for run in chosen if run.sums is not None]
    return TopRuns(
        true_positives=np.sum([run.true_positives for run in chosen], axis=0),
        selected=np.sum([run.selected for run in chosen], axis=0),
        sums=np.sum(sums, axis=0) if sums else None,
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
