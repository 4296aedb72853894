"""Folds and bootstrap samples of cells, and the number of uncertainty bins that cross-validated gains choose.

Counts of cells are drawn as if single rows were.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from uqcli.base.counts import Cells, Floats, Ints
from uqcli.base.defaults import FOLDS
from uqcli.base.draws import Purpose, digest, generator
from uqcli.base.records import dataclass
from uqcli.boundary.search.algorithms import single_threshold
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.goals import TopRuns, Tops, merged_runs, optima, top_runs

_MAX_COPIES: Final = 6
"""Maximum multiplicity of a row in a bootstrap sample; larger Poisson counts are merged into it."""

_COPY_PROBABILITIES: Final = np.array([math.exp(-1) / math.factorial(k) for k in range(_MAX_COPIES)])


def digest_of(cells: Cells) -> int:
    """Compute the digest of edges and counts."""
    score_edges = np.concatenate([row.lower[1:] for row in cells.rows])
    return digest([cells.uncertainty_edges, score_edges, *cells.flat])


def folds_of(cells: Cells, seed: int) -> tuple[Ints, Ints]:
    """Split the rows and positive rows of each cell into folds; int64, shape (FOLDS, cells) each."""
    random = generator(seed, Purpose.THIN, digest_of(cells))
    shares = np.full(FOLDS, 1 / FOLDS)
    positives, negatives = (random.multinomial(counts, shares) for counts in _by_label(cells))
    return (positives + negatives).T, positives.T


def resampled(cells: Cells, seed: int, draws: int) -> tuple[Ints, Ints]:
    """Draw bootstrap samples of each cell's rows, with the rows left out.

    The multiplicity of every row is Poisson with mean 1. Both are int64 of shape (2, draws, cells): rows and
    positive rows, those of each sample with multiplicity.
    """
    cells_digest, labels = digest_of(cells), _by_label(cells)
    shares: Floats = np.append(_COPY_PROBABILITIES, 1 - _COPY_PROBABILITIES.sum())
    sample, left_out = (np.empty((2, draws, len(labels[0])), dtype=np.int64) for _ in range(2))
    for draw in range(draws):
        random = generator(seed, Purpose.EXPECT, cells_digest, draw)
        positives, negatives = (random.multinomial(label, shares) for label in labels)
        for index, copies in ((0, positives + negatives), (1, positives)):
            sample[index, draw] = copies @ np.arange(_MAX_COPIES + 1)
            left_out[index, draw] = copies[:, 0]
    return sample, left_out


def _by_label(cells: Cells) -> tuple[Ints, Ints]:
    count, positives = cells.flat
    return positives, count - positives


BINS: Final = (1, 2, 4, 8)
_MIN_ALERTS: Final = 100


@dataclass(frozen=True, kw_only=True)
class BinsTried:
    """Cross-validated gain of a number of uncertainty bins.

    It is a gain in recall over a single threshold at equal alerts; for a utility, a fraction of the maximum.
    ``behind`` is its difference from the best one, and ``error`` the standard error of this difference.
    """

    bins: int
    gain: float
    behind: float
    error: float


def has_few_alerts(constraint: Constraint, rows: int, positives: int) -> bool:
    """Whether no single threshold can meet a constraint with enough alerts to compare numbers of bins."""
    return constraint.reachable_alerts(rows, positives) < _MIN_ALERTS


def tried_bins(
    cells: Cells, constraint: Constraint, seed: int, folds: tuple[Ints, Ints] | None = None
) -> tuple[BinsTried, ...]:
    """Compute the cross-validated gain of each number of uncertainty bins; empty if there are too few alerts.

    The cells are those of uncertainty bins with shared score edges. The numbers in ``BINS`` that divide the
    number of these bins are tried. Folds have rows and positive rows, int64 of shape (FOLDS, cells) each;
    None to draw them.
    """
    constraint = replace(constraint, margin=Fraction(0))  # chosen at the bound itself
    one_bin = cells.joined(1)
    tops = single_threshold(one_bin, constraint.goal(one_bin))
    if tops is None or int(top_runs(one_bin.rows[0]).selected[tops[0]]) < _MIN_ALERTS:
        return ()
    bin_counts = [bins for bins in BINS if len(cells.rows) % bins == 0]
    gains = np.zeros((len(bin_counts), FOLDS))
    # only a cell with positive rows can be the lowest one taken; the last end counts all rows
    below = np.flatnonzero(np.append(one_bin.rows[0].positives[:0:-1] > 0, True))
    ends = np.concatenate([[0], below + 1])
    count, positives = folds or folds_of(cells, seed)
    total, total_positives = count.sum(axis=0), positives.sum(axis=0)
    for fold in range(FOLDS):
        test = cells.with_counts(count[fold], positives[fold])
        train = cells.with_counts(total - count[fold], total_positives - positives[fold])
        by_score = top_runs(test.joined(1).rows[0])
        if not constraint.worth(by_score)[1]:
            continue
        nearby = constraint.nearby(Fraction(train.total / cells.total))
        goals = [bound.goal(train) for bound in nearby]
        runs, test_runs = (merged_runs(part.rows, bin_counts, ends) for part in (train, test))
        for index, bins in enumerate(bin_counts[1:], start=1):
            boundaries = optima(goals, runs[bins])
            gains[index, fold] = _gain(boundaries, test_runs[bins], constraint, by_score)
    best = int(np.argmax(gains.mean(axis=1)))
    return tuple(
        BinsTried(
            bins=bins,
            gain=float(gain.mean()),
            behind=float((gains[best] - gain).mean()),
            error=float((gains[best] - gain).std(ddof=1) / math.sqrt(FOLDS)),
        )
        for bins, gain in zip(bin_counts, gains, strict=True)
    )


def fewest_of(tried: Sequence[BinsTried]) -> int:
    """Find the smallest number of bins within a standard error of the best; 1 if none was tried."""
    return min((candidate.bins for candidate in tried if candidate.behind <= candidate.error), default=1)


def _gain(
    boundaries: Sequence[Tops | None], runs: Sequence[TopRuns], constraint: Constraint, by_score: TopRuns
) -> float:
    """Average the gain over a single threshold on the left-out fold at equal alerts.

    It is a share of the fold's positives or, with amounts, of the gain of all of them.
    """
    worth_of_runs = [constraint.worth(run)[0] for run in runs]
    alerts = [
        sum(int(run.selected[top]) for run, top in zip(runs, tops or (), strict=False)) for tops in boundaries
    ]
    worth = [
        sum(int(worth[top]) for worth, top in zip(worth_of_runs, tops or (), strict=False))
        for tops in boundaries
    ]
    of_score, most = constraint.worth(by_score)
    gained: Floats = np.array(worth, dtype=np.float64) - np.interp(
        alerts, by_score.selected, of_score.astype(np.float64)
    )
    return float(gained.mean()) / most
