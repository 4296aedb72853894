"""Uncertainty of an ensemble's, or of Monte-Carlo, members."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqcli.counts import Floats
from uqcli.methods.stream.beta import Uncertainties, beta_entropy, binary_entropy

_EDGE = 1e-6
"""How far from 0 and 1 the mean of the matching Beta distribution is kept, and its least deviation."""


def of_members(members: Sequence[Floats]) -> Uncertainties:
    """Score and uncertainties of members' probabilities.

    The Beta distribution is the one of the members' mean and variance (over the members, not an
    estimate beyond them). Members that agree exactly, or all say 0 or 1, match none: its mean is kept
    1e-6 away from 0 and 1, its standard deviation at least 1e-6, its variance within 0.999 of a coin's.

    Parameters
    ----------
    members : M arrays of float64, shape (n,)
        Probabilities; M at least 2.
    """
    mean, variance, expected = _moments(members)
    entropy = binary_entropy(mean)
    centre = np.clip(mean, _EDGE, 1 - _EDGE)
    coin = centre * (1 - centre)
    strength = coin / np.clip(variance, _EDGE**2, 0.999 * coin) - 1
    return Uncertainties(
        score=mean,
        beta_entropy=beta_entropy(centre * strength, (1 - centre) * strength),
        std=np.sqrt(variance),
        entropy=entropy,
        mutual_information=np.maximum(entropy - expected, 0),
    )


def _moments(members: Sequence[Floats]) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and mean entropy over the members, summed in their order."""
    mean = sum(members, np.zeros_like(members[0])) / len(members)
    squares = sum(((member - mean) ** 2 for member in members), np.zeros_like(mean))
    entropies = sum((binary_entropy(member) for member in members), np.zeros_like(mean))
    return np.clip(mean, 0, 1), squares / len(members), entropies / len(members)
