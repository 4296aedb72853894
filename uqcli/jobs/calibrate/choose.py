"""Choose the simplest method, or tree, whose cross-fitted log loss is as good as the lowest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from uqcli import defaults
from uqcli.choices import CalibrationMethod, Partitioner
from uqcli.counts import Ints, ValueCounts
from uqcli.draws import Purpose, generator
from uqcli.jobs.calibrate.fit import CalibrationOptions, fit, fit_scores
from uqcli.jobs.calibrate.sampled_rows import deal_rows, units_of
from uqcli.methods.calibrate.choice import Choice, first_within_error
from uqcli.methods.calibrate.folds import CrossFittedLosses, ScoreFolds, folds_from, thinned
from uqcli.methods.calibrate.maps.score_map import ScoreMap
from uqcli.methods.losses import log_losses
from uqcli.rows import Rows

SIMPLEST_FIRST: Final = (
    CalibrationMethod.TEMPERATURE,
    CalibrationMethod.PLATT,
    CalibrationMethod.BETA,
    CalibrationMethod.SPLINE,
    CalibrationMethod.ISOTONIC,
)
"""Methods of the score among which one is chosen."""


def chosen_for_counts(counts: ValueCounts, options: CalibrationOptions) -> Choice:
    """Choose a method for pooled scores.

    Parameters
    ----------
    counts
        Scores as read.
    """
    return _chosen(thinned(options.corrected(counts), options.seed), options)


def chosen_for_rows(rows: Rows, options: CalibrationOptions) -> Choice:
    """Choose a method for rows, some of which depend on each other; the folds keep clusters together."""
    units = units_of(rows, options.cluster)
    if units < defaults.FOLDS:
        return Choice(method=SIMPLEST_FIRST[0], tried=())
    random = generator(options.seed, Purpose.SPLIT, 1)
    folds = deal_rows(rows, defaults.FOLDS, random, options.cluster)
    parts = [rows.reweighted(fold) for fold in folds]
    return _chosen(folds_from([options.corrected(part.counts(part.score)) for part in parts]), options)


def _chosen(folds: ScoreFolds, options: CalibrationOptions) -> Choice:
    if not folds.has_training_rows:
        return Choice(method=SIMPLEST_FIRST[0], tried=())
    losses = {}
    for method in SIMPLEST_FIRST:
        single = replace(options, method=method)
        losses[method] = folds.losses(partial(_map, options=single), options.scale)
    return Choice.among(losses)


def _map(counts: ValueCounts, options: CalibrationOptions) -> ScoreMap:
    return fit_scores(counts, options)[0]


_DEPTHS: Final = (1, 2, 3, 4, 5)
_LEAVES: Final = (2000, 500, 200)
"""Sizes of a tree that are compared: its depth first, then the least rows of a leaf."""


def with_tree_sizes(
    rows: Rows, options: CalibrationOptions, tree_rows: Rows | None
) -> tuple[CalibrationOptions, tuple[str, ...]]:
    """Choose the depth and the least rows of a leaf of one tree, where they are not given.

    Returns
    -------
    The options with both, and a note if something was chosen.
    """
    is_tree = options.method is CalibrationMethod.HETEROGENEOUS and options.trees
    has_both = options.max_depth is not None and options.min_leaf is not None
    if not is_tree or options.partitioner is not Partitioner.TREE or has_both:
        return options, ()
    if units_of(rows, options.cluster) < defaults.FOLDS:
        return options, ()
    random = generator(options.seed, Purpose.SPLIT, 1)
    folds = deal_rows(rows, defaults.FOLDS, random, options.cluster)
    if options.max_depth is None:
        deeper = [replace(options, max_depth=depth) for depth in _DEPTHS]
        options = _simplest(deeper, rows, folds, tree_rows)
    if options.min_leaf is None:
        smaller = [replace(options, min_leaf=leaf) for leaf in _LEAVES]
        options = _simplest(smaller, rows, folds, tree_rows)
    sizes = f"depth {options.depth} with at least {options.rows_of_leaf:,} rows a leaf"
    return options, (f"Tree of {sizes}, by cross-validation.",)


def _simplest(
    candidates: Sequence[CalibrationOptions], rows: Rows, folds: Ints, tree_rows: Rows | None
) -> CalibrationOptions:
    """Return the first candidate within one standard error of the lowest cross-fitted log loss."""
    losses = [_held_out_losses(candidate, rows, folds, tree_rows) for candidate in candidates]
    return candidates[first_within_error(losses)]


def _held_out_losses(
    options: CalibrationOptions, rows: Rows, folds: Ints, tree_rows: Rows | None
) -> CrossFittedLosses:
    weight, losses, counts = rows.weights(), [], []
    for fold in folds:
        held_out = rows.reweighted(fold)
        probability = fit(rows.reweighted(weight - fold), options, tree_rows).predict(held_out).probability
        if_positive, if_negative = log_losses(probability)
        losses.append(np.where(held_out.labels, if_positive, if_negative))
        counts.append(held_out.weights())
    return CrossFittedLosses(loss=np.concatenate(losses), count=np.concatenate(counts))
