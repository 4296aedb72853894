"""Uncertainties of the members of an ensemble, or of Monte-Carlo samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqcli.base.counts import Floats
from uqcli.uncertainty.beta import Uncertainties, beta_entropy, binary_entropy

_MARGIN = 1e-6
"""Minimum distance of the Beta distribution's mean from 0 and 1, and its minimum standard deviation."""


def from_members(members: Sequence[Floats]) -> Uncertainties:
    """Compute score and uncertainties from members' probabilities.

    The Beta distribution has the mean and the population variance of the members. Members that all agree, or
    all predict 0 or 1, have no such distribution. Its mean is therefore kept 1e-6 away from 0 and 1.
    Its standard deviation is at least 1e-6, its variance at most 0.999 of the Bernoulli variance.

    Parameters
    ----------
    members : M arrays of float64, shape (n,)
        Probabilities; M is at least 2.
    """
    mean, variance, expected = _moments(members)
    entropy = binary_entropy(mean)
    centre = np.clip(mean, _MARGIN, 1 - _MARGIN)
    bernoulli_variance = centre * (1 - centre)
    concentration = bernoulli_variance / np.clip(variance, _MARGIN**2, 0.999 * bernoulli_variance) - 1
    return Uncertainties(
        score=mean,
        beta_entropy=beta_entropy(centre * concentration, (1 - centre) * concentration),
        std=np.sqrt(variance),
        entropy=entropy,
        mutual_information=np.maximum(entropy - expected, 0),
    )


def _moments(members: Sequence[Floats]) -> tuple[Floats, Floats, Floats]:
    """Compute the mean, variance and mean entropy over the members, in a fixed summation order."""
    mean = sum(members, np.zeros_like(members[0])) / len(members)
    squares = sum(((member - mean) ** 2 for member in members), np.zeros_like(mean))
    entropies = sum((binary_entropy(member) for member in members), np.zeros_like(mean))
    return np.clip(mean, 0, 1), squares / len(members), entropies / len(members)
