"""Non-conformity scores and prediction sets by method [LS sec. 2]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from uqcli.base.choices import ConformalMethod
from uqcli.base.class_counts import Matrix
from uqcli.base.counts import Floats, Ints
from uqcli.base.records import dataclass
from uqcli.kernels.nonconformity import sets_below, true_label_scores


@dataclass(frozen=True, kw_only=True)
class ScoreRule:
    """A non-conformity score.

    Attributes
    ----------
    label_scores
        Function from probabilities (n, C), labels (n,) and uniforms (n,) to the labels' scores (n,).
    sets
        Function from probabilities (n, C), thresholds (n or 1, C) and uniforms (n,) to sets (n, C).
    sets_of_format_1
        The same for thresholds of rule files of format 1.
    every_label
        Largest score: a threshold at which every label is in the set.
    """

    label_scores: Callable[[Matrix, Ints, Floats], Floats]
    sets: Callable[[Matrix, Matrix, Floats], np.ndarray]
    sets_of_format_1: Callable[[Matrix, Matrix, Floats], np.ndarray]
    every_label: float


_IMPOSSIBLE: Final = 2.0
"""Score of a class of probability 0. Above 1, it is above every class of positive probability of any row."""


def _aps(probability: Matrix, label: Ints, uniform: Floats) -> Floats:
    """Cumulate probabilities (Romano, Sesia and Candes 2020); a class of probability 0 scores 2."""
    score = true_label_scores(probability, label, uniform)
    score[probability[np.arange(len(label)), label] <= 0] = _IMPOSSIBLE
    return score


def _aps_sets(probability: Matrix, threshold: Matrix, uniform: Floats) -> np.ndarray:
    inside: np.ndarray = sets_below(probability, threshold, uniform)
    inside &= (probability > 0) | (threshold >= _IMPOSSIBLE)
    return inside


def _lac(probability: Matrix, label: Ints, uniform: Floats) -> Floats:
    """Compute 1 less the label's probability (Sadinle et al. 2019)."""
    del uniform
    score: Floats = 1 - probability[np.arange(len(label)), label]
    return score


def _lac_sets(probability: Matrix, threshold: Matrix, uniform: Floats) -> np.ndarray:
    del uniform
    inside: np.ndarray = 1 - probability <= threshold
    return inside


SCORES: Final[Mapping[ConformalMethod, ScoreRule]] = MappingProxyType(
    {
        ConformalMethod.APS: ScoreRule(
            label_scores=_aps, sets=_aps_sets, sets_of_format_1=sets_below, every_label=_IMPOSSIBLE
        ),
        ConformalMethod.LAC: ScoreRule(
            label_scores=_lac, sets=_lac_sets, sets_of_format_1=_lac_sets, every_label=1.0
        ),
    }
)
