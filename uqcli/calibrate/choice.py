"""Choose the simplest method, or tree, whose cross-fitted log loss is as good as the lowest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from uqcli.base import defaults
from uqcli.base.choices import CalibrationMethod, Partitioner
from uqcli.base.counts import ValueCounts
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.calibrate.fit import FittedCalibration, cross_validated, fit, fit_scores
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.folds import CrossFittedLosses, ScoreFolds, folds_from, folds_of, thinned, units_of
from uqcli.calibrate.maps.score_map import ScoreMap
from uqcli.estimates.score_metrics import log_losses


@dataclass(frozen=True, kw_only=True)
class Tried:
    """Cross-fitted log loss of a method, its excess over the lowest, and the standard error of the excess."""

    method: CalibrationMethod
    log_loss: float
    excess: float
    error: float


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A choice among methods.

    Attributes
    ----------
    tried
        Methods from the simplest; empty if there are too few rows to compare them.
    """

    method: CalibrationMethod
    tried: tuple[Tried, ...]

    @classmethod
    def among(cls, losses: Mapping[CalibrationMethod, CrossFittedLosses]) -> Choice:
        """Choose the first method whose loss exceeds the lowest by at most one standard error."""
        above = excesses(list(losses.values()))
        tried = tuple(
            Tried(method=method, log_loss=loss.mean, excess=excess, error=error)
            for (method, loss), (excess, error) in zip(losses.items(), above, strict=True)
        )
        return cls(method=tried[first_within_error(above)].method, tried=tried)

    def reason(self) -> str:
        """State why the method was chosen."""
        if not self.tried:
            return f"Chose {self.method}: too few rows to compare methods."
        lowest = min(self.tried, key=lambda candidate: candidate.log_loss)
        if lowest.method is self.method:
            least = "it has the lowest log loss, by more than a standard error"
            return f"Chose {self.method}: of {len(self.tried)} methods tried, {least}."
        return (
            f"Chose {self.method}: simpler than {lowest.method}, and within a standard error of its log loss."
        )


def excesses(losses: Sequence[CrossFittedLosses]) -> list[tuple[float, float]]:
    """Return by how much each mean loss exceeds the lowest, with the standard error of the excess."""
    best = min(losses, key=lambda loss: loss.mean)
    return [loss.excess(best) for loss in losses]


def first_within_error(above: Sequence[tuple[float, float]]) -> int:
    """Return the first position whose excess is at most its standard error (see ``excesses``)."""
    return next(index for index, (excess, error) in enumerate(above) if excess <= error)


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
    if units_of(rows, options.cluster) < defaults.FOLDS:
        return Choice(method=SIMPLEST_FIRST[0], tried=())
    parts = [held_out for _, held_out in folds_of(rows, options.seed, options.cluster)]
    return _chosen(folds_from([options.corrected(part.counts(part.score)) for part in parts]), options)


def _chosen(folds: ScoreFolds, options: CalibrationOptions) -> Choice:
    if not folds.has_training_rows:
        return Choice(method=SIMPLEST_FIRST[0], tried=())
    losses = {}
    for method in SIMPLEST_FIRST:
        single = replace(options, method=method)
        maps: list[ScoreMap] = [fit_scores(training, single).map for training in folds.training]
        losses[method] = folds.losses(maps, options.scale)
    return Choice.among(losses)


_DEPTHS: Final = (1, 2, 3, 4, 5)
_LEAVES: Final = (2000, 500, 200)
"""Sizes of a tree that are compared: its depth first, then the least rows of a leaf."""


def fit_with_tree_sizes(rows: Rows, options: CalibrationOptions, tree_rows: Rows | None) -> FittedCalibration:
    """Fit a map, after its tree's sizes are chosen if not given."""
    options, notes = with_tree_sizes(rows, options, tree_rows)
    fitted = fit(rows, options, tree_rows)
    return replace(fitted, notes=(*fitted.notes, *notes))


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
    if options.max_depth is None:
        options = _simplest([replace(options, max_depth=depth) for depth in _DEPTHS], rows, tree_rows)
    if options.min_leaf is None:
        options = _simplest([replace(options, min_leaf=leaf) for leaf in _LEAVES], rows, tree_rows)
    sizes = f"depth {options.depth} with at least {options.rows_of_leaf:,} rows a leaf"
    return options, (f"Tree of {sizes}, by cross-validation.",)


def _simplest(
    candidates: Sequence[CalibrationOptions], rows: Rows, tree_rows: Rows | None
) -> CalibrationOptions:
    """Return the first candidate within one standard error of the lowest cross-fitted log loss."""
    losses = [_held_out_losses(candidate, rows, tree_rows) for candidate in candidates]
    return candidates[first_within_error(excesses(losses))]


def _held_out_losses(options: CalibrationOptions, rows: Rows, tree_rows: Rows | None) -> CrossFittedLosses:
    held_out = cross_validated(rows, options, tree_rows)
    assert held_out is not None  # there are rows for all folds
    if_positive, if_negative = log_losses(held_out.after)
    return CrossFittedLosses(
        loss=np.where(held_out.rows.labels, if_positive, if_negative), count=held_out.rows.weights()
    )
