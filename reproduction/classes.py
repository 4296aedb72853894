"""Gaussian classes in the plane, with the probabilities of a model that knows where they come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import uqcli

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class GaussianClasses:
    """Classes of one spread around a mean each.

    Attributes
    ----------
    means : C points
    spread
        Standard deviation along each axis.
    prior : C shares
        Where the model learned.
    """

    means: tuple[tuple[float, float], ...]
    spread: float
    prior: tuple[float, ...]

    def draw(self, shares: tuple[float, ...], rows: int, draws: np.random.Generator) -> tuple[Floats, Ints]:
        """Probabilities, shape (rows, C), and classes of rows where classes have some shares."""
        label = draws.choice(len(shares), size=rows, p=shares)
        point = np.array(self.means)[label] + self.spread * draws.normal(size=(rows, 2))
        away = ((point[:, None] - np.array(self.means)) ** 2).sum(axis=2)
        joint = np.array(self.prior) * np.exp(-(away - away.min(axis=1)[:, None]) / (2 * self.spread**2))
        return joint / joint.sum(axis=1)[:, None], label

    def towards(self, shares: tuple[float, ...], part: float) -> tuple[float, ...]:
        """Shares of classes that are part of the way from the prior to others."""
        pairs = zip(self.prior, shares, strict=True)
        return tuple(one + part * (other - one) for one, other in pairs)

    def weights(self, shares: tuple[float, ...]) -> uqcli.ShiftWeights:
        """The true class weights: those that the program finds in rows that have the prior exactly."""
        counts = np.rint(np.array(self.prior) * 10).astype(int)
        label = np.repeat(np.arange(len(counts)), counts)
        probability = np.tile(self.prior, (len(label), 1))
        return uqcli.shift_weights(probability, label, estimator="known", prior=shares, bootstrap=0)


def estimated(estimator: str, source: Floats, label: Ints, target: Floats) -> uqcli.ShiftWeights | None:
    """Class weights from unlabelled rows; None where they cannot be told."""
    try:
        return uqcli.shift_weights(source, label, target, estimator=estimator, bootstrap=0)
    except uqcli.InfeasibleError:
        return None
