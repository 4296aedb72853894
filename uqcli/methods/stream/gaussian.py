"""Simulate two Gaussian classes and a logistic model trained under other class priors [TCE sec. 4.1]."""

from __future__ import annotations

import numpy as np

from uqcli import defaults
from uqcli.counts import Bools, Floats
from uqcli.draws import Purpose, blocks
from uqcli.errors import UsageError
from uqcli.kernels.logistic import logistic_fit, sigmoid
from uqcli.records import dataclass

CENTRE, SCALE = 0.5, 2.0
"""x given the label is normal around +-0.5 with standard deviation 2, as in the paper's figures."""
MAX_NOISE = 100.0
"""Noise beyond which probabilities are indistinguishable from 0 and 1 as doubles."""


@dataclass(frozen=True, kw_only=True)
class GaussianModel:
    """Parameters of the simulation.

    Attributes
    ----------
    prevalence
        Positive rate of the rows, in [0, 1].
    train_prevalence
        Positive rate in training, in (0, 1); if it differs, scores are miscalibrated.
    train_rows
        Number of training rows.
    noise
        Standard deviation of normal noise on the log-odds of the scores [TCE table 9]; labels and true
        probabilities do not depend on it.
    """

    prevalence: float = defaults.PREVALENCE
    train_prevalence: float = defaults.PREVALENCE
    train_rows: int = defaults.TRAIN_ROWS
    noise: float = defaults.NOISE

    def check(self) -> None:
        """Refuse parameters out of range.

        Raises
        ------
        UsageError
            A parameter is out of range.
        """
        if not 0 <= self.prevalence <= 1:
            raise UsageError(f"prevalence is {self.prevalence:g}", expected="a number from 0 to 1")
        if not 0 < self.train_prevalence < 1:
            raise UsageError(
                f"train_prevalence is {self.train_prevalence:g}", expected="a number between 0 and 1"
            )
        if not 0 <= self.noise <= MAX_NOISE:
            raise UsageError(f"noise is {self.noise:g}", expected=f"a number from 0 to {MAX_NOISE:g}")
        if not 2 <= self.train_rows <= 10**7:
            raise UsageError(f"train_rows is {self.train_rows}", expected="from 2 to 10,000,000")


@dataclass(frozen=True, kw_only=True)
class GaussianRows:
    """Simulated rows, each of shape (n,).

    Attributes
    ----------
    score
        Probability from the logistic model.
    true_positivity
        True probability of a positive label given x.
    """

    score: Floats
    label: Bools
    x: Floats
    true_positivity: Floats


def train(model: GaussianModel, seed: int) -> tuple[float, float]:
    """Train a logistic model on rows with the training prevalence; return intercept and slope.

    Raises
    ------
    UsageError
        The training rows have a single class, or are separable.
    """
    parts = [
        _labels_and_x(model.train_prevalence, rows, random)
        for rows, random in blocks(model.train_rows, seed, Purpose.TRAIN)
    ]
    label = np.concatenate([part[0] for part in parts])
    x = np.concatenate([part[1] for part in parts])
    if label.all() or not label.any() or _are_separable(x, label):
        raise UsageError(
            f"cannot fit {model.train_rows} training rows at prevalence {model.train_prevalence:g}",
            expected="overlapping rows of both classes",
            remedy="raise --train-rows",
        )
    ones = np.ones(len(x), dtype=np.int64)
    intercept, slope = logistic_fit(x[None, :], ones, label.astype(np.int64))
    return float(intercept), float(slope)


def _are_separable(x: Floats, label: Bools) -> bool:
    positive, negative = x[label], x[~label]
    return bool(positive.min() >= negative.max() or positive.max() <= negative.min())


def draw_gaussian(
    model: GaussianModel, fitted: tuple[float, float], rows: int, random: np.random.Generator
) -> GaussianRows:
    """Simulate rows.

    Parameters
    ----------
    fitted
        Intercept and slope of the scoring model.
    """
    label, x = _labels_and_x(model.prevalence, rows, random)
    intercept, slope = fitted
    score_log_odds = intercept + slope * x
    if model.noise:
        score_log_odds += random.normal(0.0, model.noise, rows)
    if 0 < model.prevalence < 1:
        log_odds = np.log(model.prevalence / (1 - model.prevalence)) + 2 * CENTRE / SCALE**2 * x
        truth = sigmoid(log_odds)
    else:
        truth = np.full(rows, model.prevalence, dtype=np.float64)
    return GaussianRows(score=sigmoid(score_log_odds), label=label, x=x, true_positivity=truth)


def _labels_and_x(prevalence: float, rows: int, random: np.random.Generator) -> tuple[Bools, Floats]:
    label = random.random(rows) < prevalence
    return label, random.normal(np.where(label, CENTRE, -CENTRE), SCALE)
