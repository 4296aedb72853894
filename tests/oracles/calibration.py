"""Oracle of calibration maps: general minimisers and loops over rows."""

import numpy as np
from scipy.optimize import minimize, minimize_scalar

CLIP = 1e-12


def logit(score):
    clipped = np.clip(score, CLIP, 1 - CLIP)
    return np.log(clipped) - np.log1p(-clipped)


def loss(log_odds, label):
    return np.logaddexp(0, np.where(label, -log_odds, log_odds)).sum()


def temperature_slope(score, label):
    """Return the slope 1/T of the smallest loss, in [1e-3, 1e3]."""
    optimum = minimize_scalar(
        lambda log_slope: loss(np.exp(log_slope) * logit(score), label),
        bounds=(np.log(1e-3), np.log(1e3)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return np.exp(optimum.x)


def smallest_beta_loss(score, label):
    """Return the smallest loss with a, b >= 0."""
    clipped = np.clip(score, CLIP, 1 - CLIP)
    first, second = np.log(clipped), -np.log1p(-clipped)
    optimum = minimize(
        lambda p: loss(p[0] * first + p[1] * second + p[2], label),
        np.array([1.0, 1.0, 0.0]),
        bounds=[(0, None), (0, None), (None, None)],
        method="L-BFGS-B",
        options={"ftol": 1e-14, "gtol": 1e-10, "maxiter": 10_000},
    )
    return optimum.fun


def histogram(score, label, bins):
    """Return the positive rate of each row's quantile bin."""
    ordered = sorted(score)
    edges = [ordered[b * len(ordered) // bins] for b in range(1, bins)]
    bin_of_row = [sum(edge <= value for edge in edges) for value in score]
    return [
        np.mean([y for y, row_bin in zip(label, bin_of_row, strict=True) if row_bin == own_bin])
        for own_bin in bin_of_row
    ]


def class_loss(slope, probability, label, weight):
    """Return the log loss of softmax(slope * ln p), row by row."""
    total = 0.0
    for row, y, row_weight in zip(probability, label, weight, strict=True):
        logits = slope * np.log(np.clip(row, CLIP, 1))
        total += row_weight * (np.logaddexp.reduce(logits) - logits[y])
    return total


def class_temperature_slope(probability, label, weight):
    """Return the slope 1/T of the smallest loss, in [1e-3, 1e3]."""
    optimum = minimize_scalar(
        lambda log_slope: class_loss(np.exp(log_slope), probability, label, weight),
        bounds=(np.log(1e-3), np.log(1e3)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return np.exp(optimum.x)
