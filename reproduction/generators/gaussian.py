"""Two Gaussian classes, and scores of a logistic model trained under other class priors [TCE sec. 4.1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reproduction.generators.blocks import Columns, draw_blocks
from uqcli.base.counts import Bools, Floats
from uqcli.base.draws import Purpose
from uqcli.kernels.logistic import logistic_fit, sigmoid

CENTRE, SCALE = 0.5, 2.0
"""x given the label is normal around +-0.5 with standard deviation 2, as in the paper's figures."""
TRAIN_ROWS = 14_000


@dataclass(frozen=True, kw_only=True)
class GaussianModel:
    """Parameters of the simulation.

    Attributes
    ----------
    prevalence
        Positive rate of the rows, in [0, 1].
    train_prevalence
        Positive rate in training, in (0, 1); if it differs, scores are miscalibrated.
    noise
        Standard deviation of normal noise on the log-odds of the scores [TCE table 9]; labels and true
        probabilities do not depend on it.
    """

    prevalence: float = 0.5
    train_prevalence: float = 0.5
    noise: float = 0.0

    def draw(self, rows: int, seed: int = 0) -> Columns:
        """Draw rows.

        Returns
        -------
        Columns
            score
                Probability from the logistic model.
            label
            x
            true_positivity
                True probability of a positive label given x.
        """
        intercept, slope = self.train(seed)

        def draw_block(rows: int, random: np.random.Generator) -> Columns:
            label, x = _labels_and_x(self.prevalence, rows, random)
            score_log_odds = intercept + slope * x
            if self.noise:
                score_log_odds += random.normal(0.0, self.noise, rows)
            return {
                "score": sigmoid(score_log_odds),
                "label": label,
                "x": x,
                "true_positivity": self._true_positivity(x),
            }

        return draw_blocks(draw_block, rows, seed, Purpose.SIMULATE)

    def train(self, seed: int) -> tuple[float, float]:
        """Train a logistic model on rows with the training prevalence; return intercept and slope."""

        def draw_block(rows: int, random: np.random.Generator) -> Columns:
            label, x = _labels_and_x(self.train_prevalence, rows, random)
            return {"label": label, "x": x}

        rows = draw_blocks(draw_block, TRAIN_ROWS, seed, Purpose.TRAIN)
        count, positives = np.ones(TRAIN_ROWS, dtype=np.int64), rows["label"].astype(np.int64)
        intercept, slope = logistic_fit(rows["x"][None, :], count, positives)
        return float(intercept), float(slope)

    def _true_positivity(self, x: Floats) -> Floats:
        if not 0 < self.prevalence < 1:
            return np.full(len(x), self.prevalence, dtype=np.float64)
        return sigmoid(np.log(self.prevalence / (1 - self.prevalence)) + 2 * CENTRE / SCALE**2 * x)


def _labels_and_x(prevalence: float, rows: int, random: np.random.Generator) -> tuple[Bools, Floats]:
    label = random.random(rows) < prevalence
    return label, random.normal(np.where(label, CENTRE, -CENTRE), SCALE)
