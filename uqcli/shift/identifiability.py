"""Check that unlabelled rows identify the class priors [LS sec. 2; Saerens et al. 2002]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats, Ints
from uqcli.base.errors import InfeasibleError
from uqcli.kernels.linear import is_positive_definite

Matrix = NDArray[np.float64]

_MIN_INFORMATION = 1e-6
"""Minimum information about the priors, relative to observed labels."""

_MIN_PRIOR = 1e-3
"""Lower bound of the priors: at 0 a label would carry infinite information."""


def require_identified(probability: Matrix, weight: Ints, source_prior: Floats, weights: Floats) -> None:
    """Refuse a maximum of the likelihood that the rows hardly determine.

    There are two conditions on the target rows. Their probabilities must differ, unless they all name one
    class. The information about the free priors must be at least a millionth of that of as many observed
    labels, in every direction.

    Parameters
    ----------
    probability : float64, shape (n, C)
        Class probabilities of the target rows.
    weight : int64, shape (n,)
    source_prior, weights : float64, shape (C,)
        ``weights`` at the maximum of the likelihood.

    Raises
    ------
    InfeasibleError
        The target rows do not identify the priors.
    """
    shares = weight / weight.sum()
    mean = (shares[:, None] * probability).sum(axis=0)
    spread = float((shares[:, None] * (probability - mean) ** 2).sum())
    impurity = float(1 - (mean**2).sum())
    if impurity > _MIN_PRIOR and spread < _MIN_INFORMATION * impurity:
        raise _unidentified("all its rows have nearly the same probabilities")
    prior = np.maximum(weights * source_prior, _MIN_PRIOR / len(weights))
    prior /= prior.sum()
    joint = probability * (prior / source_prior)
    posterior = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
    deviation = (posterior - prior)[:, :-1]
    information = np.einsum("ij,ik->jk", deviation, deviation * shares[:, None])
    label_information = np.diag(prior[:-1]) - np.outer(prior[:-1], prior[:-1])
    if not is_positive_definite(information - _MIN_INFORMATION * label_information):
        raise _unidentified("probabilities of some classes are collinear")


def _unidentified(why: str) -> InfeasibleError:
    return InfeasibleError(
        f"cannot estimate the class priors of the new data: {why}",
        expected="probabilities that separate the classes",
        remedy="merge classes, or use --estimator bbse or known",
    )
