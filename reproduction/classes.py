"""Gaussian classes in the plane, with the probabilities of a model that knows their distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import uqcli

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class GaussianClasses:
    """Classes with different means and one standard deviation.

    Attributes
    ----------
    means : C points
    standard_deviation
        Standard deviation along each axis.
    prior : C shares
        Class priors of the training data.
    """

    means: tuple[tuple[float, float], ...]
    standard_deviation: float
    prior: tuple[float, ...]

    def draw(self, shares: tuple[float, ...], rows: int, random: np.random.Generator) -> tuple[Floats, Ints]:
        """Draw probabilities, shape (rows, C), and classes of rows with these class priors."""
        label = random.choice(len(shares), size=rows, p=shares)
        point = np.array(self.means)[label] + self.standard_deviation * random.normal(size=(rows, 2))
        squared_distance = ((point[:, None] - np.array(self.means)) ** 2).sum(axis=2)
        joint = np.array(self.prior) * np.exp(
            -(squared_distance - squared_distance.min(axis=1)[:, None]) / (2 * self.standard_deviation**2)
        )
        return joint / joint.sum(axis=1)[:, None], label

    def towards(self, shares: tuple[float, ...], fraction: float) -> tuple[float, ...]:
        """Return class priors at a fraction of the way from ``prior`` to ``shares``."""
        pairs = zip(self.prior, shares, strict=True)
        return tuple(start + fraction * (goal - start) for start, goal in pairs)

    def weights(self, shares: tuple[float, ...]) -> uqcli.ShiftWeights:
        """Return the true class weights, which uqcli computes from rows with exactly the prior."""
        counts = np.rint(np.array(self.prior) * 10).astype(int)
        label = np.repeat(np.arange(len(counts)), counts)
        probability = np.tile(self.prior, (len(label), 1))
        return uqcli.shift_weights(probability, label, estimator="known", prior=shares, bootstrap=0)


def estimate_weights(
    estimator: str, source: Floats, label: Ints, target: Floats
) -> uqcli.ShiftWeights | None:
    """Estimate class weights from unlabelled rows; return None if they cannot be estimated."""
    try:
        return uqcli.shift_weights(source, label, target, estimator=estimator, bootstrap=0)
    except uqcli.InfeasibleError:
        return None
