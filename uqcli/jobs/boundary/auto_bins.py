"""How many uncertainty bins pay on rows that were not used to find the boundary."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from uqcli.choices import Algorithm, ConstraintKind
from uqcli.counts import Floats
from uqcli.defaults import FOLDS
from uqcli.jobs.boundary.keyed import dealt
from uqcli.methods.bin.grid import GridSpec, cells_from, pool_by, uncertainty_edges_of
from uqcli.methods.boundary.constraint import Constraint
from uqcli.methods.boundary.decide import decide
from uqcli.methods.boundary.optimum import optimise
from uqcli.methods.boundary.result import FittedBoundary
from uqcli.reports.boundary.bins_tried import BinsTried
from uqcli.rows import Rows

BINS: Final = (1, 2, 3, 5, 8)
_OFFSETS: Final = (Fraction(-1, 10), Fraction(-1, 20), Fraction(0), Fraction(1, 20))
"""Bounds beside the one that is asked for, so that the answer does not hang on one of them."""


def tried_bins(rows: Rows, spec: GridSpec, constraint: Constraint, seed: int) -> tuple[BinsTried, ...]:
    """What each number of bins gains over the score alone, at as many alerts, on folds held out.

    Parameters
    ----------
    rows
        Pooled, with uncertainty.
    """
    ends = [fold * rows.size // FOLDS for fold in range(1, FOLDS)]
    gaps = np.zeros((len(BINS), FOLDS))
    for fold, held in enumerate(dealt(rows, seed, ends)):
        held_out, train = rows.weighing(held), rows.weighing(rows.counted() - held)
        if not held_out.size or not held_out.labels.any() or not train.size:
            continue
        for at, bins in enumerate(BINS[1:], start=1):
            shape = replace(spec, uncertainty_bins=bins)
            gaps[at, fold] = _gap(train, held_out, shape, _beside(constraint))
    best = int(np.argmax(gaps.mean(axis=1)))
    return tuple(
        BinsTried(
            bins=bins,
            gain=float(gap.mean()),
            behind=float((gaps[best] - gap).mean()),
            error=float((gaps[best] - gap).std(ddof=1) / math.sqrt(FOLDS)),
        )
        for bins, gap in zip(BINS, gaps, strict=True)
    )


def fewest_of(tried: tuple[BinsTried, ...]) -> int:
    """The fewest bins that are within a standard error of the best."""
    return min(each.bins for each in tried if each.behind <= each.error)


def _beside(constraint: Constraint) -> list[Constraint]:
    """The bounds that are tried; of a precision also some around it."""
    if constraint.kind is not ConstraintKind.PRECISION:
        return [constraint]
    (bound,) = constraint.amounts
    return [
        replace(constraint, amounts=(bound + offset,)) for offset in _OFFSETS if 0 < bound + offset < 1
    ] or [constraint]


def _gap(train: Rows, held_out: Rows, spec: GridSpec, constraints: list[Constraint]) -> float:
    """Recall on held-out rows less that of the score alone, averaged over the constraints."""
    edges = uncertainty_edges_of(train, spec)
    cells = cells_from(edges, pool_by(train, edges), spec)
    by_score = _hits_of_score(held_out)
    total = 0.0
    for constraint in constraints:
        found = optimise(cells, Algorithm.VW_DPMT, constraint).found
        if found is not None:
            total += _more_hits(found, held_out, by_score)
    return total / len(constraints) / int(held_out.counted()[held_out.labels].sum())


def _hits_of_score(rows: Rows) -> tuple[Floats, Floats]:
    """Alerts and true positives of every threshold on the score, from none to all."""
    counts = rows.counts(rows.score)
    alerts = np.concatenate([[0], np.cumsum(counts.count[::-1])]).astype(np.float64)
    hits = np.concatenate([[0], np.cumsum(counts.positives[::-1])]).astype(np.float64)
    return alerts, hits


def _more_hits(found: FittedBoundary, rows: Rows, by_score: tuple[Floats, Floats]) -> float:
    """True positives beyond those of as many alerts by score, linear inside ties."""
    chosen = decide(
        rows.score,
        rows.uncertainty,
        uncertainty_edges=found.uncertainty_edges,
        thresholds=found.thresholds,
    )
    count = rows.counted()
    alerts, hits = int(count[chosen].sum()), int(count[chosen & rows.labels].sum())
    return hits - float(np.interp(alerts, *by_score))
