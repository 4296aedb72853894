"""MIST: isotonic regression per uncertainty bin, then a single threshold on its values [UB Alg. 3]."""

from __future__ import annotations

from functools import cmp_to_key
from typing import NamedTuple

import numpy as np

from uqcli.base.counts import CellRow, Cells
from uqcli.boundary.search.goals import Goal, Tops
from uqcli.boundary.search.registry import AlgorithmEntry, WorksOn
from uqcli.boundary.search.score_runs import in_all_rows, top_runs
from uqcli.kernels.pava import isotonic_sums


class _Block(NamedTuple):
    """Adjacent cells with a common calibrated value, positives / total."""

    row: int
    first_cell: int
    total: int
    positives: int


def isotonic_single_threshold(cells: Cells, goal: Goal) -> Tops | None:
    """Select cells in descending order of calibrated value, as many as are best for the goal.

    The paper's Algorithm 3, with its comparison corrected. Cells of equal calibrated value, compared as exact
    fractions, are taken together over all rows. Empty cells have no value, and a last group without positives
    is omitted.
    """
    blocks = [block for row_index, row in enumerate(cells.rows) for block in _blocks(row_index, row)]
    blocks.sort(key=cmp_to_key(_by_falling_value))
    group_ends = [
        index + 1
        for index, block in enumerate(blocks)
        if index + 1 == len(blocks) or _by_falling_value(block, blocks[index + 1]) != 0
    ]
    taken = np.zeros((len(cells.rows), len(blocks)), dtype=np.int64)
    for index, block in enumerate(blocks):
        taken[block.row, index] = len(cells.rows[block.row].count) - block.first_cell
    tops = np.maximum.accumulate(taken, axis=1)[:, np.array(group_ends, dtype=np.int64) - 1]
    best = goal.best_of(in_all_rows([top_runs(row) for row in cells.rows], list(tops)))
    return None if best is None else tuple(tops[:, best].tolist())


def _blocks(row_index: int, row: CellRow) -> list[_Block]:
    filled = np.flatnonzero(row.count)
    if len(filled) == 0:
        return []
    first, total, positives = isotonic_sums(row.positives[filled], row.count[filled])
    columns = filled[first].tolist(), total.tolist(), positives.tolist()
    return [_Block(row_index, *block) for block in zip(*columns, strict=True)]


def _by_falling_value(first: _Block, second: _Block) -> int:
    """Compare calibrated values exactly, in descending order."""
    return second.positives * first.total - first.positives * second.total


ALGORITHM = AlgorithmEntry(method=isotonic_single_threshold, works_on=WorksOn.GRID)
