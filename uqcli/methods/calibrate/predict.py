"""Calibrated probabilities of scores under a fitted map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from uqcli.counts import Floats, Ints, bin_of
from uqcli.kernels.logistic import sigmoid
from uqcli.methods.calibrate.maps import (
    BetaMap,
    CalibrationMap,
    GroupsMap,
    HistogramMap,
    IsotonicMap,
    Leaf,
    LogisticMap,
    ScoreMap,
    TreesMap,
    UncertaintyMap,
)
from uqcli.methods.calibrate.partition import group_of, leaf_of
from uqcli.methods.calibrate.scale import CLIP, Scale


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """Probabilities of rows, and their leaves where one partition gave them; each of shape (n,)."""

    probability: Floats
    leaf: Ints | None = None


def predict(
    map_: CalibrationMap,
    score: Floats,
    scale: Scale,
    uncertainty: Floats | None = None,
    features: Mapping[str, Floats] | None = None,
) -> Calibrated:
    """Calibrate rows.

    Parameters
    ----------
    score : float64, shape (n,)
        As given; the scale's correction is applied here.
    uncertainty : float64, shape (n,)
        For maps by uncertainty.
    features
        For partitions: values as in ``Feature`` under the map's own levels, by column name.
    """
    corrected = scale.corrected(score)
    if isinstance(map_, UncertaintyMap):
        assert uncertainty is not None  # the artifact says that it needs it
        return Calibrated(probability=_by_uncertainty(map_, corrected, uncertainty))
    if isinstance(map_, GroupsMap):
        leaf = group_of(map_, features or {})
        return Calibrated(probability=calibrated_in_leaves(map_.leaves, leaf, corrected, scale), leaf=leaf)
    if isinstance(map_, TreesMap):
        return _through_trees(map_, corrected, scale, features or {})
    return Calibrated(probability=predict_scores(map_, corrected, scale))


def predict_scores(map_: ScoreMap, corrected: Floats, scale: Scale) -> Floats:
    """Probabilities of corrected scores under a map that looks at nothing else."""
    if isinstance(map_, LogisticMap):
        with np.errstate(over="ignore"):  # infinite log-odds are probabilities 0 and 1
            return sigmoid(map_.intercept + map_.slope * scale.log_odds(corrected))
    if isinstance(map_, BetaMap):
        score = np.clip(scale.probability(corrected), CLIP, 1 - CLIP)
        return sigmoid(map_.a * np.log(score) - map_.b * np.log1p(-score) + map_.c)
    if isinstance(map_, IsotonicMap):
        fitted: Floats = np.interp(corrected, np.array(map_.x), np.array(map_.y))
        return fitted
    if isinstance(map_, HistogramMap):
        rate = np.array(map_.rate)
        by_row: Floats = rate[bin_of(corrected, np.array(map_.edges, dtype=np.float64))]
        return by_row
    return scale.probability(corrected)


def _by_uncertainty(map_: UncertaintyMap, corrected: Floats, uncertainty: Floats) -> Floats:
    row = bin_of(uncertainty, np.array(map_.uncertainty_edges, dtype=np.float64))
    result = np.empty(len(corrected))
    for number, each in enumerate(map_.maps):
        inside = row == number
        result[inside] = np.interp(corrected[inside], np.array(each.x), np.array(each.y))
    return result


def calibrated_in_leaves(leaves: Sequence[Leaf], leaf: Ints, corrected: Floats, scale: Scale) -> Floats:
    """Each row's probability under the map of its leaf."""
    result = np.empty(len(corrected))
    for number, each in enumerate(leaves):
        inside = leaf == number
        if inside.any():
            result[inside] = predict_scores(each.calibration, corrected[inside], scale)
    return result


def _through_trees(
    map_: TreesMap, corrected: Floats, scale: Scale, features: Mapping[str, Floats]
) -> Calibrated:
    leaves = [leaf_of(tree.nodes, map_.features, features) for tree in map_.trees]
    if map_.combine == "sequence":
        score, read_as = corrected, scale
        for tree, leaf in zip(map_.trees, leaves, strict=True):
            score = Scale().log_odds(calibrated_in_leaves(tree.leaves, leaf, score, read_as))
            read_as = Scale(real=True)
        return Calibrated(probability=sigmoid(score))
    total = np.zeros(len(corrected))
    for tree, leaf in zip(map_.trees, leaves, strict=True):
        total += calibrated_in_leaves(tree.leaves, leaf, corrected, scale)
    return Calibrated(probability=total / len(leaves), leaf=leaves[0] if len(leaves) == 1 else None)
