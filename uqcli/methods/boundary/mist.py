"""MIST: isotonic regression in each uncertainty bin, then one threshold on its values [UB Alg. 3]."""

from __future__ import annotations

from functools import cmp_to_key
from typing import NamedTuple

import numpy as np

from uqcli.counts import CellRow, Cells
from uqcli.kernels.pava import isotonic_blocks
from uqcli.methods.boundary.precision import PrecisionBound
from uqcli.methods.boundary.result import Tops


class _Block(NamedTuple):
    """Neighbouring cells that share one calibrated value, positives / total."""

    row: int
    first_cell: int
    total: int
    positives: int


def isotonic_single_threshold(cells: Cells, bound: PrecisionBound) -> Tops | None:
    """Take cells in descending calibrated value while the precision keeps the bound.

    The paper's Algorithm 3 with its comparison corrected: cells of equal calibrated value, compared as
    exact fractions, are taken together over all rows; empty cells have no value; a last group without
    positives is left out.
    """
    blocks = [block for number, row in enumerate(cells.rows) for block in _blocks(number, row)]
    blocks.sort(key=cmp_to_key(_by_falling_value))
    tops = [0] * len(cells.rows)
    true_positives = selected = start = 0
    while start < len(blocks):
        end = start + 1
        while end < len(blocks) and _by_falling_value(blocks[start], blocks[end]) == 0:
            end += 1
        group = blocks[start:end]
        true_positives += sum(block.positives for block in group)
        selected += sum(block.total for block in group)
        surplus = bound.denominator * true_positives - bound.numerator * selected
        if surplus < 0 or group[0].positives == 0:
            break
        for block in group:
            tops[block.row] = len(cells.rows[block.row].count) - block.first_cell
        start = end
    return tuple(tops) if any(tops) else None


def _blocks(number: int, row: CellRow) -> list[_Block]:
    filled = np.flatnonzero(row.count)
    starts = isotonic_blocks(row.positives[filled], row.count[filled])
    if len(starts) == 0:
        return []
    counts = np.add.reduceat(row.count[filled], starts).tolist()
    positives = np.add.reduceat(row.positives[filled], starts).tolist()
    first_cells = filled[starts].tolist()
    return [
        _Block(number, first, count, positive)
        for first, count, positive in zip(first_cells, counts, positives, strict=True)
    ]


def _by_falling_value(one: _Block, other: _Block) -> int:
    """Compare calibrated values exactly, the higher one first."""
    return other.positives * one.total - one.positives * other.total
