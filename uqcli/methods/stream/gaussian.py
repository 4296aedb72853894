"""Two Gaussian classes and a logistic model of another class mix [TCE sec. 4.1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uqcli import defaults
from uqcli.counts import Bools, Floats
from uqcli.draws import Purpose, blocks
from uqcli.errors import UsageError
from uqcli.kernels.logistic import logistic_fit, sigmoid

CENTRE, SCALE = 0.5, 2.0
"""x given the label is normal around +-0.5 with standard deviation 2, as the paper's figures were made."""


@dataclass(frozen=True, kw_only=True)
class GaussianModel:
    """How the data come about.

    Attributes
    ----------
    prevalence
        Share of positives among the rows, in (0, 1).
    train_prevalence
        The same where the model learned; if it differs the scores are miscalibrated.
    train_rows
        Rows the model learned from.
    """

    prevalence: float = defaults.PREVALENCE
    train_prevalence: float = defaults.PREVALENCE
    train_rows: int = defaults.TRAIN_ROWS

    def check(self) -> None:
        """Refuse values that make no sense.

        Raises
        ------
        UsageError
            See the attributes.
        """
        for name, value in (("prevalence", self.prevalence), ("train_prevalence", self.train_prevalence)):
            if not 0 < value < 1:
                raise UsageError(f"{name} is {value:g}", expected="a number between 0 and 1")
        if not 2 <= self.train_rows <= 10**7:
            raise UsageError(f"train_rows is {self.train_rows}", expected="2 to 10,000,000")


@dataclass(frozen=True, kw_only=True)
class GaussianRows:
    """Simulated rows, each of shape (n,).

    Attributes
    ----------
    score
        What the logistic model says.
    true_positivity
        Probability of the label given x.
    """

    score: Floats
    label: Bools
    x: Floats
    true_positivity: Floats


def train(model: GaussianModel, seed: int) -> tuple[float, float]:
    """Intercept and slope of a logistic model learned from rows of the training mix.

    Raises
    ------
    UsageError
        The training rows hold one class only, or separate the classes.
    """
    parts = [
        _labels_and_x(model.train_prevalence, rows, random)
        for rows, random in blocks(model.train_rows, seed, Purpose.TRAIN)
    ]
    label = np.concatenate([part[0] for part in parts])
    x = np.concatenate([part[1] for part in parts])
    if label.all() or not label.any() or _separate(x, label):
        raise UsageError(
            f"{model.train_rows} training rows at prevalence {model.train_prevalence:g} determine no model",
            expected="rows of both classes that overlap",
            remedy="give more --train-rows",
        )
    ones = np.ones(len(x), dtype=np.int64)
    intercept, slope = logistic_fit(x[None, :], ones, label.astype(np.int64))
    return float(intercept), float(slope)


def _separate(x: Floats, label: Bools) -> bool:
    positive, negative = x[label], x[~label]
    return bool(positive.min() >= negative.max() or positive.max() <= negative.min())


def draw_gaussian(
    model: GaussianModel, fitted: tuple[float, float], rows: int, random: np.random.Generator
) -> GaussianRows:
    """Draw rows.

    Parameters
    ----------
    fitted
        Intercept and slope of the model that scores them.
    """
    label, x = _labels_and_x(model.prevalence, rows, random)
    intercept, slope = fitted
    log_odds = np.log(model.prevalence / (1 - model.prevalence)) + 2 * CENTRE / SCALE**2 * x
    return GaussianRows(
        score=sigmoid(intercept + slope * x), label=label, x=x, true_positivity=sigmoid(log_odds)
    )


def _labels_and_x(prevalence: float, rows: int, random: np.random.Generator) -> tuple[Bools, Floats]:
    label = random.random(rows) < prevalence
    return label, random.normal(np.where(label, CENTRE, -CENTRE), SCALE)
