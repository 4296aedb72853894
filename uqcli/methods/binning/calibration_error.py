"""Calibration error of each score bin: one isotonic fit against one in each uncertainty bin [UB app. C.6]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uqcli.counts import Bools, Cells, Floats, Ints, ValueCounts, bin_of, merge, pool
from uqcli.kernels.pava import isotonic_blocks
from uqcli.methods.binning.edges import equi_weight_edges
from uqcli.parts import sums_from


@dataclass(frozen=True, kw_only=True)
class BinError:
    """ECE@j of every score bin j, and its mean over the bins from j on.

    Attributes
    ----------
    ece, cumulative : float64, shape (L,)
        Mean over the uncertainty bins that hold rows in bin j of |mean of (score - label)|; NaN where
        none does.
    """

    ece: Floats
    cumulative: Floats


def isotonic_errors(parts: tuple[ValueCounts, ...], cells: Cells) -> tuple[BinError, BinError]:
    """Errors by score bin of isotonic regression on the score (IST) and within uncertainty bins (MIST).

    Both are fitted on the rows they are measured on.

    Parameters
    ----------
    parts
        Tie-pooled scores of each uncertainty bin.
    cells
        The same rows in L score bins each.
    """
    pooled = merge(parts)
    everywhere = _isotonic(pooled)
    single = [everywhere[np.searchsorted(pooled.value, part.value)] for part in parts]
    return _errors(parts, cells, single), _errors(parts, cells, [_isotonic(part) for part in parts])


def _isotonic(counts: ValueCounts) -> Floats:
    """Fitted positivity at each distinct score."""
    if len(counts.value) == 0:
        return np.empty(0)
    starts = isotonic_blocks(counts.positives, counts.count)
    rate = sums_from(counts.positives, starts) / sums_from(counts.count, starts)
    return np.repeat(rate, np.diff(starts, append=len(counts.count)))


def _errors(parts: tuple[ValueCounts, ...], cells: Cells, fitted: list[Floats]) -> BinError:
    width = len(cells.rows[0].count)
    error = np.full((len(parts), width), np.nan)
    for number, (part, row, score) in enumerate(zip(parts, cells.rows, fitted, strict=True)):
        surplus = score * part.count - part.positives
        total = np.bincount(bin_of(part.value, row.lower[1:]), weights=surplus, minlength=width)
        filled = row.count > 0
        error[number, filled] = np.abs(total[filled]) / row.count[filled]
    return BinError(ece=_mean(error), cumulative=_mean_from(_mean(error)))


def errors_of_rows(
    row: Ints,
    rows: int,
    *,
    score: Floats,
    probability: Floats,
    positive: Bools,
    weight: Ints | None,
    score_bins: int,
) -> BinError:
    """Errors by score bin of given probabilities; bins of equal weight in each uncertainty bin.

    Parameters
    ----------
    row : int64, shape (n,)
        Uncertainty bin of each row, below ``rows``.
    score, probability : float64; positive : bool; weight : int64; shape (n,)
    """
    error = np.full((rows, score_bins), np.nan)
    for number in range(rows):
        inside = np.flatnonzero(row == number)
        if len(inside):
            times = np.ones(len(inside), dtype=np.int64) if weight is None else weight[inside]
            counts = pool(score[inside], positive[inside], times)
            cell = bin_of(score[inside], equi_weight_edges(counts, score_bins))
            surplus = times * (probability[inside] - positive[inside])
            size = np.bincount(cell, weights=times, minlength=score_bins)
            total = np.bincount(cell, weights=surplus, minlength=score_bins)
            filled = size > 0
            error[number, filled] = np.abs(total[filled]) / size[filled]
    return BinError(ece=_mean(error), cumulative=_mean_from(_mean(error)))


def _mean(error: Floats) -> Floats:
    held = ~np.isnan(error)
    total = np.where(held, error, 0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean: Floats = total / held.sum(axis=0)
    return mean


def _mean_from(error: Floats) -> Floats:
    held = ~np.isnan(error)
    total = np.cumsum(np.where(held, error, 0)[::-1])[::-1]
    with np.errstate(invalid="ignore"):
        mean: Floats = total / np.cumsum(held[::-1])[::-1]
    return mean
