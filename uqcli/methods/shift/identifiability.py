"""Whether unlabelled rows tell the priors of their classes at all [LS sec. 2; Saerens et al. 2002]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqcli.counts import Floats, Ints
from uqcli.errors import InfeasibleError
from uqcli.kernels.linear import is_positive_definite

Matrix = NDArray[np.float64]

_LEAST = 1e-6
"""Share of what observed labels would tell below which nothing is told."""

_FLOOR = 1e-3
"""Priors are taken for at least this: at 0 a label would tell infinitely much of them."""


def require_identified(probability: Matrix, weight: Ints, source_prior: Floats, weights: Floats) -> None:
    """Refuse a maximum of the likelihood on which rows have hardly any say.

    Two things are asked of the target: that probabilities differ between its rows at all, unless they all
    name one class, and that the information about the free priors is at least a millionth, in every
    direction, of what as many observed labels would give.

    Parameters
    ----------
    probability : float64, shape (n, C)
        Of the target.
    weight : int64, shape (n,)
    source_prior, weights : float64, shape (C,)
        ``weights`` where the likelihood is highest.

    Raises
    ------
    InfeasibleError
        The target does not tell its priors.
    """
    shares = weight / weight.sum()
    mean = (shares[:, None] * probability).sum(axis=0)
    spread = float((shares[:, None] * (probability - mean) ** 2).sum())
    undecided = float(1 - (mean**2).sum())
    if undecided > _FLOOR and spread < _LEAST * undecided:
        raise _unidentified("all its rows have nearly the same probabilities")
    prior = np.maximum(weights * source_prior, _FLOOR / len(weights))
    prior /= prior.sum()
    joint = probability * (prior / source_prior)
    posterior = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
    away = (posterior - prior)[:, :-1]
    told = np.einsum("ij,ik->jk", away, away * shares[:, None])
    labels = np.diag(prior[:-1]) - np.outer(prior[:-1], prior[:-1])
    if not is_positive_definite(told - _LEAST * labels):
        raise _unidentified("probabilities of some classes are collinear")


def _unidentified(why: str) -> InfeasibleError:
    return InfeasibleError(
        f"cannot estimate the class priors of the new data: {why}",
        expected="probabilities that separate the classes",
        remedy="merge classes, or use --estimator bbse or known",
    )
