"""Calibration error by score bin: a single isotonic fit against one per uncertainty bin [UB app. C.6].

Errors by score bin are float64, of shape (L,), and NaN where no uncertainty bin has rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqcli.base.counts import Bools, Cells, Floats, Ints, RangeCounts, ValueCounts, bin_of
from uqcli.base.rows import Rows
from uqcli.estimates.binning import equi_weight_edges
from uqcli.kernels.sums import sums_from


def _over_bins(error: Floats) -> Floats:
    """Average the errors of cells, shape (K, L), over the uncertainty bins; NaN where all cells are empty.

    The error of a cell is |mean of (score - label)|, or NaN if it is empty. The average is ECE@j.
    """
    defined = ~np.isnan(error)
    total = np.where(defined, error, 0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean: Floats = total / defined.sum(axis=0)
    return mean


def cumulative(ece: Floats) -> Floats:
    """Average errors by score bin over the bins from each one on; float64, shape (L,)."""
    defined = ~np.isnan(ece)
    total = np.cumsum(np.where(defined, ece, 0)[::-1])[::-1]
    with np.errstate(invalid="ignore"):
        mean: Floats = total / np.cumsum(defined[::-1])[::-1]
    return mean


def isotonic_errors(
    parts: Sequence[ValueCounts], blocks: Sequence[ValueCounts], cells: Cells
) -> tuple[Floats, Floats]:
    """Compute errors by score bin of isotonic regression on the score (IST) and per uncertainty bin (MIST).

    Both are measured on the rows to which the regressions were fitted. Parts are the scores of each
    uncertainty bin, as exact as ``ranges_for_blocks`` requires. Blocks are the isotonic ones of each
    uncertainty bin, then of all rows, each at its first score. Cells are those of the same rows, L score bins
    each.
    """
    *own_blocks, shared_blocks = blocks
    return _errors(parts, cells, [shared_blocks] * len(parts)), _errors(parts, cells, own_blocks)


def ranges_for_blocks(counts: Sequence[RangeCounts], blocks: Sequence[ValueCounts]) -> list[Bools]:
    """Mark the ranges to open until the rows of each block and cell are known.

    Counts are those of each uncertainty bin, then of all rows; blocks are as in ``isotonic_errors``.
    """
    *parts, total = counts
    *own_blocks, shared_blocks = blocks
    masks = [
        (part.around(row.value) | part.around(shared_blocks.value)) & ~part.exact
        for part, row in zip(parts, own_blocks, strict=True)
    ]
    return [*masks, np.zeros(len(total.value), dtype=np.bool_)]


def _errors(parts: Sequence[ValueCounts], cells: Cells, fitted: Sequence[ValueCounts]) -> Floats:
    """Compute errors of a fit; sums over a block within a cell are integers, whatever the order of rows."""
    score_bins = len(cells.rows[0].count)
    error = np.full((len(parts), score_bins), np.nan)
    for bin_index, (part, row, blocks) in enumerate(zip(parts, cells.rows, fitted, strict=True)):
        if part.rows == 0:
            continue
        block = np.maximum(np.searchsorted(blocks.value, part.value, side="right") - 1, 0)
        cell = bin_of(part.value, row.lower[1:])
        starts_run = np.ones(len(block), dtype=np.bool_)
        starts_run[1:] = (block[1:] != block[:-1]) | (cell[1:] != cell[:-1])
        first = np.flatnonzero(starts_run)
        count, positives = sums_from(part.count, first), sums_from(part.positives, first)
        rate = (blocks.positives / blocks.count)[block[first]]
        total = np.bincount(cell[first], weights=rate * count - positives, minlength=score_bins)
        filled = row.count > 0
        error[bin_index, filled] = np.abs(total[filled]) / row.count[filled]
    return _over_bins(error)


def errors_of_rows(
    rows: Rows, probability: Floats, *, uncertainty_bin: Ints, uncertainty_bins: int, score_bins: int
) -> Floats:
    """Compute errors by score bin of given probabilities, with bins of equal weight per uncertainty bin."""
    error = np.full((uncertainty_bins, score_bins), np.nan)
    for bin_index in range(uncertainty_bins):
        inside = np.flatnonzero(uncertainty_bin == bin_index)
        if len(inside):
            row_weights, score = rows.weights()[inside], rows.score[inside]
            cell = bin_of(score, equi_weight_edges(rows.counts(rows.score, inside), score_bins))
            surplus = row_weights * (probability[inside] - rows.labels[inside])
            size = np.bincount(cell, weights=row_weights, minlength=score_bins)
            total = np.bincount(cell, weights=surplus, minlength=score_bins)
            filled = size > 0
            error[bin_index, filled] = np.abs(total[filled]) / size[filled]
    return _over_bins(error)


def errors_by_chance(cells: Cells, groups: Sequence[range]) -> Floats:
    """Compute expected errors of calibrated scores: mean |rate - expectation|, by the normal approximation.

    Groups are adjacent score bins whose pooled rate estimates that of each of their cells.
    """
    error = np.full((len(cells.rows), len(cells.rows[0].count)), np.nan)
    for bin_index, row in enumerate(cells.rows):
        for group in groups:
            count, positives = (counts[group.start : group.stop] for counts in (row.count, row.positives))
            filled = count > 0
            rate = positives.sum() / max(int(count.sum()), 1)
            expected = np.sqrt(2 / np.pi * rate * (1 - rate) / count[filled])
            error[bin_index, np.arange(group.start, group.stop)[filled]] = expected
    return _over_bins(error)
