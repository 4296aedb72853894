"""Folds and bootstrap samples of cell counts, distributed as if single rows were drawn."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from uqcli.base.counts import Cells, Floats, Ints
from uqcli.base.defaults import FOLDS
from uqcli.base.draws import Purpose, digest, generator

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

    The multiplicity of every row is Poisson with mean 1.

    Returns
    -------
    int64, shape (2, draws, cells) each
        Rows and positive rows of each sample, with multiplicity, and those left out of it.
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
