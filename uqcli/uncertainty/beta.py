"""Uncertainties of a Beta distribution over the probability of the positive class [UB sec. 3].

Its parameters are given, or fitted to the members of an ensemble.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqcli.base.counts import Floats
from uqcli.base.records import dataclass

_MIN_NORMAL_PARAMETER = 1e7
_MIN_SERIES_ARGUMENT = 1e4


@dataclass(frozen=True, kw_only=True)
class Uncertainties:
    """Score and uncertainty of every row.

    Attributes
    ----------
    score : float64, shape (n,)
        Mean probability.
    beta_entropy : float64, shape (n,), nats
        Differential entropy of the Beta distribution: higher is less certain; it has no lower bound.
    std : float64, shape (n,)
        Standard deviation of the probability.
    entropy : float64, shape (n,), nats
        Predictive entropy: the entropy of a label drawn with the mean probability.
    mutual_information : float64, shape (n,), nats
        Predictive entropy less the expected entropy of a label given the probability.
    """

    score: Floats
    beta_entropy: Floats
    std: Floats
    entropy: Floats
    mutual_information: Floats


def beta_entropy(alpha1: Floats, alpha0: Floats) -> Floats:
    """Compute the differential entropy of Beta(alpha1, alpha0), positive and of shape (n,), in nats.

    ln B(a0, a1) - (a0-1) psi(a0) - (a1-1) psi(a1) + (a0+a1-2) psi(a0+a1); the paper has the sign of the last
    term wrong. Digamma terms are computed as differences, which avoids cancellation for a large parameter. If
    both exceed 1e7 the entropy of the normal distribution of equal variance is used.

    >>> beta_entropy(np.array([1.0]), np.array([1.0])).tolist()
    [0.0]
    """
    from scipy.special import betaln

    exact = betaln(alpha1, alpha0) + (alpha1 - 1) * _psi_rise(alpha1, alpha0)
    exact = exact + (alpha0 - 1) * _psi_rise(alpha0, alpha1)
    normal = 0.5 * np.log(2 * np.pi * np.e * _variance(alpha1, alpha0))
    entropy: Floats = np.where(np.minimum(alpha1, alpha0) > _MIN_NORMAL_PARAMETER, normal, exact)
    return entropy


def _psi_rise(start: Floats, increment: Floats) -> Floats:
    """Compute ``psi(start + increment) - psi(start)``; by the asymptotic series if start is large."""
    from scipy.special import psi

    shifted = start + increment
    large = np.maximum(start, _MIN_SERIES_ARGUMENT)
    large_shifted = large + increment
    series = (
        np.log1p(increment / large)
        + (1 / large - 1 / large_shifted) / 2
        + (large**-2 - large_shifted**-2) / 12
    )
    rise: Floats = np.where(start > _MIN_SERIES_ARGUMENT, series, psi(shifted) - psi(start))
    return rise


def from_beta(alpha1: Floats, alpha0: Floats) -> Uncertainties:
    """Compute the score and uncertainties of Beta(alpha1, alpha0), each of shape (n,) and positive."""
    total = alpha1 + alpha0
    score, complement = alpha1 / total, alpha0 / total
    # entropy less its mean, term by term, so that each term is of the order of the difference
    information = score * _psi_less_log(alpha1) + complement * _psi_less_log(alpha0) - _psi_less_log(total)
    return Uncertainties(
        score=score,
        beta_entropy=beta_entropy(alpha1, alpha0),
        std=np.sqrt(_variance(alpha1, alpha0)),
        entropy=_entropy_term(score, complement) + _entropy_term(complement, score),
        mutual_information=np.maximum(information, 0),
    )


def _entropy_term(probability: Floats, complement: Floats) -> Floats:
    """Compute ``-p log(p)``, accurate also for p near 1, given 1 - p."""
    with np.errstate(divide="ignore", invalid="ignore"):  # for p = 0 and 1
        logarithm = np.where(probability < 0.5, np.log(probability), np.log1p(-complement))
    term: Floats = np.where(probability > 0, -probability * logarithm, 0.0)
    return term


def _psi_less_log(x: Floats) -> Floats:
    """Compute ``psi(x + 1) - log(x)``; by the asymptotic series if x is large."""
    from scipy.special import psi

    large = np.maximum(x, _MIN_SERIES_ARGUMENT)
    series = (1 / 2 - (1 / 12 - 1 / 120 / large**2) / large) / large
    difference: Floats = np.where(x > _MIN_SERIES_ARGUMENT, series, psi(x + 1) - np.log(x))
    return difference


def binary_entropy(probability: Floats) -> Floats:
    """Compute the entropy in nats of a binary label; 0 at 0 and 1."""
    from scipy.special import entr

    entropy: Floats = entr(probability) + entr(1 - probability)
    return entropy


def _variance(alpha1: Floats, alpha0: Floats) -> Floats:
    total = alpha1 + alpha0
    return (alpha1 / total) * (alpha0 / total) / (total + 1)


_MARGIN = 1e-6
"""Minimum distance of the Beta distribution's mean from 0 and 1, and its minimum standard deviation."""


def from_members(members: Sequence[Floats]) -> Uncertainties:
    """Compute score and uncertainties from two or more members' probabilities, shape (n,) each.

    The Beta distribution has the mean and the population variance of the members. Members that all agree, or
    all predict 0 or 1, have no such distribution. Its mean is therefore kept 1e-6 away from 0 and 1. Its
    standard deviation is at least 1e-6, its variance at most 0.999 of the Bernoulli variance.
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
