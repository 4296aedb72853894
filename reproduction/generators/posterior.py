"""Scores and uncertainties of a posterior network trained on undersampled negatives [UB sec. 3, app. E]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reproduction.generators.blocks import Columns, draw_blocks
from uqcli.base.counts import Floats, Ints
from uqcli.base.draws import Purpose
from uqcli.uncertainty.beta import beta_entropy

_QUADRATURE_NODES = 601


@dataclass(frozen=True, kw_only=True)
class PosteriorModel:
    """Parameters of the simulation.

    Attributes
    ----------
    tau
        Undersampling factor of negatives in training; 1 for none.
    omega, xi
        Positive rate of the model's prior and of the true prior, in (0, 1).
    prior
        Strength of the model's prior, b1P + b0P.
    nu
        Strength of the true prior relative to the model's.
    gammas
        Ratios of prior to evidence; each row draws one. A region has ``prior/gamma`` training rows, rounded,
        at least 1. A higher gamma means a higher uncertainty.
    """

    tau: float = 3.0
    omega: float = 0.5
    xi: float = 0.25
    prior: float = 2.0
    nu: float = 4.0
    gammas: tuple[float, ...] = (0.01, 0.05, 0.25)

    def evidence(self) -> list[int]:
        """Return the training rows per region, for each gamma."""
        return [max(1, round(self.prior / gamma)) for gamma in self.gammas]

    def draw(self, rows: int, seed: int = 0) -> Columns:
        """Draw rows.

        Returns
        -------
        Columns
            score
                Mean of Beta(alpha1, alpha0), the model's posterior.
            uncertainty
                Differential entropy of that distribution in nats.
            evidence
                Training rows of the row's region.
            alpha1, alpha0
            label
            true_positivity
                True probability of a positive label.
            expected_positivity
                Expected true probability given the training rows of the region.
        """
        return draw_blocks(self._draw_block, rows, seed, Purpose.SIMULATE)

    def _draw_block(self, rows: int, random: np.random.Generator) -> Columns:
        evidence = np.array(self.evidence(), dtype=np.int64)[random.integers(0, len(self.gammas), rows)]
        strength = self.nu * self.prior
        truth = random.beta(strength * self.xi, strength * (1 - self.xi), rows)
        positive_evidence = random.binomial(evidence, self.tau * truth / (1 + (self.tau - 1) * truth))
        alpha1 = (self.prior * self.omega + positive_evidence).astype(np.float64)
        alpha0 = (self.prior * (1 - self.omega) + evidence - positive_evidence).astype(np.float64)
        return {
            "score": alpha1 / (alpha1 + alpha0),
            "uncertainty": beta_entropy(alpha1, alpha0),
            "evidence": evidence,
            "alpha1": alpha1,
            "alpha0": alpha0,
            "label": random.random(rows) < truth,
            "true_positivity": truth,
            "expected_positivity": expected_positivity(self, evidence, positive_evidence),
        }


def expected_positivity(model: PosteriorModel, evidence: Ints, positive_evidence: Ints) -> Floats:
    """Compute the expected true probability of regions, given the positives among their training rows.

    The density of the true probability r is proportional to ``(1+(tau-1)r)**-n r**(a-1) (1-r)**(b-1)``. Here
    a and b are the true prior's parameters plus the counts. The mean has a closed form in hypergeometric
    functions, which overflow. The integrals are therefore computed in log space on the logit scale. Their
    nodes are spaced by sinh, to cover both the peak and the tails.

    Parameters
    ----------
    evidence, positive_evidence : int64, shape (n,)
        Training rows, and positives among them.

    Returns
    -------
    float64, shape (n,)
    """
    base = int(evidence.max(initial=0)) + 1
    regions, region_index = np.unique(evidence * base + positive_evidence, return_inverse=True)
    n, k = regions // base, regions % base
    strength = model.nu * model.prior
    mean = np.empty(len(regions))
    for start in range(0, len(regions), 2000):
        block = slice(start, start + 2000)
        a, b = strength * model.xi + k[block], strength * (1 - model.xi) + (n - k)[block]
        mean[block] = _mean_on_logit_scale(a, b, n[block].astype(np.float64), model.tau)
    by_row: Floats = mean[region_index]
    return by_row


@dataclass(frozen=True, kw_only=True)
class ExpectedCurve:
    """Expected true probability by score, at one ratio of prior to evidence [UB Theorem 3.1].

    Attributes
    ----------
    score, positivity : float64, shape (m,)
        Scores that occur at this ratio, and the expected true probability at each.
    """

    gamma: float
    evidence: int
    score: Floats
    positivity: Floats


def expected_curves(model: PosteriorModel, max_points: int = 101) -> list[ExpectedCurve]:
    """Compute a curve of at most ``max_points`` points for each gamma, lowest uncertainty first."""
    curves = []
    for gamma, evidence in sorted(zip(model.gammas, model.evidence(), strict=True)):
        positive_evidence = np.unique(
            np.linspace(0, evidence, min(max_points, evidence + 1)).round().astype(np.int64)
        )
        score: Floats = ((model.prior * model.omega + positive_evidence) / (model.prior + evidence)).astype(
            np.float64
        )
        positivity = expected_positivity(model, np.full(len(positive_evidence), evidence), positive_evidence)
        curves.append(ExpectedCurve(gamma=gamma, evidence=evidence, score=score, positivity=positivity))
    return curves


def _mean_on_logit_scale(a: Floats, b: Floats, n: Floats, tau: float) -> Floats:
    mode = _mode(a, b, n, tau)
    step = 1e-3
    values = [_log_density(mode + shift, a, b, n, tau) for shift in (-step, 0.0, step)]
    curvature = -(values[0] - 2 * values[1] + values[2]) / step**2
    spread = 1 / np.sqrt(np.maximum(curvature, 1e-12))
    farthest = np.arcsinh(60 / (np.minimum(a, b) * spread) + 60)
    nodes = np.linspace(-1, 1, _QUADRATURE_NODES)[None, :] * farthest[:, None]
    logit = mode[:, None] + spread[:, None] * np.sinh(nodes)
    log_weight = _log_density(logit, a[:, None], b[:, None], n[:, None], tau) + np.log(np.cosh(nodes))
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    positivity = 1 / (1 + np.exp(-np.clip(logit, -700, 700)))
    mean: Floats = (weight * positivity).sum(axis=1) / weight.sum(axis=1)
    return mean


def _log_density(logit: Floats, a: Floats, b: Floats, n: Floats, tau: float) -> Floats:
    """Compute the log density on the logit scale, up to a constant."""
    log_r, log_rest = -np.logaddexp(0, -logit), -np.logaddexp(0, logit)
    density: Floats = np.asarray(a * log_r + b * log_rest - n * np.log1p((tau - 1) * np.exp(log_r)))
    return density


def _mode(a: Floats, b: Floats, n: Floats, tau: float) -> Floats:
    """Compute the mode of the density on the logit scale, by bisection of its slope."""
    low, high = np.full(len(a), -750.0), np.full(len(a), 750.0)
    for _ in range(80):
        middle = (low + high) / 2
        probability, complement = np.exp(-np.logaddexp(0, -middle)), np.exp(-np.logaddexp(0, middle))
        slope = (
            a * complement
            - b * probability
            - n * (tau - 1) * probability * complement / (1 + (tau - 1) * probability)
        )
        low, high = np.where(slope > 0, middle, low), np.where(slope > 0, high, middle)
    mode: Floats = (low + high) / 2
    return mode
