"""Probabilities as logits, and back."""

from __future__ import annotations

import numpy as np

from uqcli.base.class_counts import Matrix
from uqcli.base.counts import Floats

CLIP = 1e-12
"""Probabilities are clipped to this distance from 0 and 1 before a logarithm."""


def class_logits(probability: Matrix) -> Matrix:
    """Compute the logarithms of class probabilities clipped to [1e-12, 1], centred over the classes."""
    logarithm = np.log(np.clip(probability, CLIP, 1))
    centred: Matrix = logarithm - logarithm.mean(axis=1, keepdims=True)
    return centred


def softmax(logits: Matrix) -> Matrix:
    """Return the class probabilities of shape (n, C) from logits."""
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities: Matrix = exponentials / exponentials.sum(axis=1, keepdims=True)
    return probabilities


def log_odds(probability: Floats) -> Floats:
    """Compute the log-odds of probabilities clipped to [1e-12, 1 - 1e-12]."""
    clipped = np.clip(probability, CLIP, 1 - CLIP)
    odds: Floats = np.log(clipped)
    np.negative(clipped, out=clipped)
    odds -= np.log1p(clipped, out=clipped)  # in place: fresh memory takes longer than the arithmetic
    return odds
