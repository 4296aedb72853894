"""Non-conformity scores and prediction sets by method [LS sec. 2]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from uqcli.choices import ConformalMethod
from uqcli.counts import Floats, Ints
from uqcli.kernels.nonconformity import Matrix, sets_below, true_label_scores


@dataclass(frozen=True, kw_only=True)
class ScoreRule:
    """A non-conformity score.

    Attributes
    ----------
    label_scores
        Function from probabilities (n, C), labels (n,) and uniforms (n,) to the labels' scores (n,).
    sets
        Function from probabilities (n, C), thresholds (n or 1, C) and uniforms (n,) to sets (n, C).
    """

    label_scores: Callable[[Matrix, Ints, Floats], Floats]
    sets: Callable[[Matrix, Matrix, Floats], np.ndarray]


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
        ConformalMethod.APS: ScoreRule(label_scores=true_label_scores, sets=sets_below),
        ConformalMethod.LAC: ScoreRule(label_scores=_lac, sets=_lac_sets),
    }
)
