"""The rows and the model of the calibration paper, and what its program computes differently from uqcli.

Everything here follows from the paper's text and from its printed values.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

import uqcli
from uqcli.estimates.calibration_tests import binomial_rejected

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SEED = 0
TRAINING_SHARE = 0.7
CENTRE, SCALE = 0.5, 2.0
NOISE_LEVELS = (0.0, 0.01, 0.05, 0.1, 0.5, 1.0)
"""The program draws the noise of Table 9 level by level, also at level 0."""
ALPHA, BINS = 0.05, 10


def gaussian_rows(train: float, test: float, rows: int, noise: float = 0.0) -> tuple[Floats, Ints]:
    """Draw the scores and labels of the paper's simulation.

    Training and test rows are one draw, all labels before all features. With other class priors in the test,
    the paper draws again from the same seed, so that the rows keep their random numbers.

    Parameters
    ----------
    train, test
        Positive rates.
    rows
        Number of test rows, 30 % of all rows.
    noise
        One of ``NOISE_LEVELS``.
    """
    total = round(rows / (1 - TRAINING_SHARE))
    coefficients = _trained(train, total, total - rows)
    random, labels, features = _draw(test, total)
    log_odds = _log_odds(coefficients, features[-rows:, np.newaxis])
    for level in NOISE_LEVELS[: NOISE_LEVELS.index(noise) + 1]:
        noisy = random.normal(log_odds, level)
    return _sigmoid(noisy), labels[-rows:]


def _draw(positive_rate: float, total: int) -> tuple[np.random.RandomState, Ints, Floats]:
    random = np.random.RandomState(SEED)
    labels = random.binomial(1, positive_rate, total)
    return random, labels, random.normal(CENTRE * (2 * labels - 1), SCALE)


@cache
def _trained(positive_rate: float, total: int, training_rows: int) -> Floats:
    _, labels, features = _draw(positive_rate, total)
    return logistic(features[:training_rows, np.newaxis], labels[:training_rows])


def logistic(features: Floats, labels: Ints) -> Floats:
    """Fit scikit-learn's default logistic regression as its version 1.2 does; the intercept is last.

    Newer versions divide the loss by the number of rows, and then stop earlier at the same tolerance.
    """
    from scipy.optimize import minimize

    sign = 2.0 * labels - 1

    def loss(coefficients: Floats) -> tuple[float, Floats]:
        margin = sign * _log_odds(coefficients, features)
        slope = -sign * _sigmoid(-margin)
        weights = coefficients[:-1]
        value = np.logaddexp(0, -margin).sum() + weights @ weights / 2
        return float(value), np.append(features.T @ slope + weights, slope.sum())

    start = np.zeros(features.shape[1] + 1)
    options = {"gtol": 1e-4, "maxiter": 100}
    found: Floats = minimize(loss, start, method="L-BFGS-B", jac=True, options=options).x
    return found


def logistic_probabilities(coefficients: Floats, features: Floats) -> Floats:
    """Compute the probabilities of a model of ``logistic``."""
    return _sigmoid(_log_odds(coefficients, features))


def _log_odds(coefficients: Floats, features: Floats) -> Floats:
    log_odds: Floats = features @ coefficients[:-1] + coefficients[-1]
    return log_odds


def _sigmoid(log_odds: Floats) -> Floats:
    from scipy.special import expit

    probabilities: Floats = expit(log_odds)
    return probabilities


def quantile_cuts(rows: int, bins: int) -> Ints:
    """Return the first ranks of quantile bins, and the number of rows.

    The program rounds the product of share and rows down: 0.29 times 6,000 is 1,739 in double precision.
    """
    return (np.linspace(0, 1, bins + 1) * rows).astype(np.int64)


def pava_bc_cuts(labels: Ints, n_min: int, n_max: int) -> Ints:
    """Return the first ranks of the bins of Algorithm 2 as printed, which treats equal scores as ordered.

    Parameters
    ----------
    labels
        In the order of the scores.
    """
    rows = len(labels)
    blocks: list[tuple[int, int]] = []
    for label in labels[: rows - n_min].tolist():
        positives, size = label, 1
        while blocks:
            positives_before, size_before = blocks[-1]
            both = size_before + size
            if both > n_min and (both > n_max or positives_before * size < positives * size_before):
                break
            blocks.pop()
            positives, size = positives_before + positives, both
        blocks.append((positives, size))
    sizes = [size for _, size in blocks]
    if sizes[-1] + n_min <= n_max:
        sizes[-1] += n_min
    else:
        sizes.append(n_min)
    return np.cumsum([0, *sizes])


def printed_metrics(
    scores: Floats,
    labels: Ints,
    *,
    n_min: int,
    n_max: int,
    n_bins: int = BINS,
    alpha: float = ALPHA,
    test: str = "binomial",
) -> dict[str, float]:
    """Compute the metrics that depend on how the paper's program separates and tests rows."""
    order = np.argsort(scores, kind="stable")
    scores, labels = scores[order], labels[order]
    quantiles = quantile_cuts(len(scores), n_bins)
    gaps = np.abs(_means(labels, quantiles) - _means(scores, quantiles))
    metrics = {
        "tce": _tce(scores, labels, pava_bc_cuts(labels, n_min, n_max), alpha, test),
        "tce_q": _tce(scores, labels, quantiles, alpha, test),
        "ace": float(gaps @ np.diff(quantiles)) / len(scores),
        "mce_q": float(gaps.max()),
    }
    if test == "t":
        counts = uqcli.calibration_error(scores, labels, binning="pava").bins.count
        metrics["tce_v"] = _tce(scores, labels, np.cumsum([0, *counts]), alpha, test)
    return metrics


def label_variances(labels: Ints, cuts: Ints) -> tuple[float, float]:
    """Return the variance of the labels in bins, as mean over rows and as mean over bins [TCE eq. 8, 9].

    Parameters
    ----------
    labels
        In the order of the scores.
    """
    rates = _means(labels, cuts)
    variances = rates * (1 - rates)
    return float(variances @ np.diff(cuts)) / len(labels), float(variances.mean())


def _means(values: Floats | Ints, cuts: Ints) -> Floats:
    means: Floats = np.add.reduceat(values, cuts[:-1]) / np.diff(cuts)
    return means


def _tce(scores: Floats, labels: Ints, cuts: Ints, alpha: float, test: str) -> float:
    sizes = np.diff(cuts)
    positives = np.add.reduceat(labels, cuts[:-1])
    if test == "t":
        rates_of_rows, sizes_of_rows = np.repeat([positives / sizes, sizes], sizes, axis=1)
        is_rejected = _by_variance(scores, rates_of_rows, sizes_of_rows, alpha)
    else:
        is_rejected = binomial_rejected(scores, cuts, positives, sizes, alpha).of_scores()
    return 100 * float(is_rejected.mean())


def _by_variance(scores: Floats, rates: Floats, sizes: Floats, alpha: float) -> npt.NDArray[np.bool_]:
    """Apply the paper's t-test, which divides by the variance of the labels, not by its square root.

    The program rejects a row unless its p-value is above alpha. A bin of one row has none.
    """
    from scipy.stats import t

    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.abs(rates - scores) / (rates * (1 - rates)) * np.sqrt(sizes)
        accepted: npt.NDArray[np.bool_] = 2 * t.sf(statistic, sizes - 1) > alpha
    return ~accepted
