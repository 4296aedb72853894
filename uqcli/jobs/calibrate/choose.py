"""Choose the simplest calibration method whose cross-fitted log loss is as good as the lowest."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from uqcli import defaults
from uqcli.choices import CalibrationMethod
from uqcli.counts import ValueCounts
from uqcli.draws import Purpose, generator
from uqcli.jobs.calibrate.fit import CalibrationOptions, fit_scores
from uqcli.jobs.calibrate.sampled_rows import deal_rows, units_of
from uqcli.methods.calibrate.choice import Choice
from uqcli.methods.calibrate.folds import ScoreFolds, folds_from, thinned
from uqcli.methods.calibrate.maps.score_map import ScoreMap
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
