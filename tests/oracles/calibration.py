"""Oracle of calibration maps: general minimisers and loops over rows."""

from fractions import Fraction

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, softmax
from scipy.stats import norm

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


def surface(score, uncertainty, label, ridge, curved):
    """Return the probability of each row under the logistic model in (x, z, x z, z^2) of the smallest loss.

    With ``curved`` it is also in x^2. z is the normal score of the row's middle rank; the penalty is on
    standardised features.
    """
    rank = [(sum(v < u for v in uncertainty) + sum(v <= u for v in uncertainty)) / 2 for u in uncertainty]
    z = norm.ppf(np.array(rank) / len(uncertainty))
    x = logit(score)
    features = [x, z, x * z, z * z if np.std(z * z) >= 0.1 else 0 * z, *([x * x] if curved else [])]
    features = np.stack(features)
    varies = features.std(axis=1) > 1e-12
    features = features[varies]
    features = (features - features.mean(axis=1, keepdims=True)) / features.std(axis=1, keepdims=True)
    design = np.vstack([np.ones(len(x)), features])
    optimum = minimize(
        lambda b: loss(b @ design, label) + ridge / 2 * (b**2).sum(),
        np.zeros(len(design)),
        jac=lambda b: design @ (expit(b @ design) - label) + ridge * b,
        method="BFGS",
        options={"gtol": 1e-10},
    )
    return expit(optimum.x @ design)


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


def class_loss_derivatives(slope, probability, label, weight):
    """Return the first and second derivative of ``class_loss`` by the slope, row by row."""
    first, second = 0.0, 0.0
    for row, y, row_weight in zip(probability, label, weight, strict=True):
        logarithm = np.log(np.clip(row, CLIP, 1))
        share = softmax(slope * logarithm)
        mean = (share * logarithm).sum()
        first += row_weight * (mean - logarithm[y])
        second += row_weight * (share * (logarithm - mean) ** 2).sum()
    return first, second


def class_temperature_slope(probability, label, weight):
    """Return the slope 1/T of the smallest loss, in [1e-3, 1e3]."""
    optimum = minimize_scalar(
        lambda log_slope: class_loss(np.exp(log_slope), probability, label, weight),
        bounds=(np.log(1e-3), np.log(1e3)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return np.exp(optimum.x)


def isotonic_fit(count, positives):
    """Return the isotonic fit of each atom as exact fractions."""
    blocks = []
    for rows, hits in zip(count, positives, strict=True):
        blocks.append([Fraction(int(hits)), int(rows), 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            hits_above, rows_above, atoms = blocks.pop()
            blocks[-1] = [blocks[-1][0] + hits_above, blocks[-1][1] + rows_above, blocks[-1][2] + atoms]
    return [hits / rows for hits, rows, atoms in blocks for _ in range(atoms)]


def venn_abers(score, label, new_score):
    """Return the isotonic fits at a new score as a negative and as a positive row."""
    fits = []
    for new_label in (0, 1):
        values = sorted({*score, new_score})
        rows = [(*pair,) for pair in zip(score, label, strict=True)] + [(new_score, new_label)]
        count = [sum(s == value for s, _ in rows) for value in values]
        positives = [sum(y for s, y in rows if s == value) for value in values]
        fits.append(float(isotonic_fit(count, positives)[values.index(new_score)]))
    return fits


def linear_loss(flat, probability, label, ridges, identity):
    """Return the penalised mean log loss of softmax(A z + b), row by row."""
    coefficients = flat.reshape(identity.shape)
    total = 0.0
    for row, y in zip(probability, label, strict=True):
        z = np.log(np.clip(row, CLIP, 1))
        z -= z.mean()
        slopes = coefficients[:, :-1]
        scores = (slopes[:, 0] * z if slopes.shape[1] == 1 else slopes @ z) + coefficients[:, -1]
        total += np.logaddexp.reduce(scores) - scores[y]
    return total / len(label) + (ridges * (coefficients - identity) ** 2).sum() / 2


def class_histogram(probability, label, bins):
    """Return the class frequencies of each row's bin, by predicted class and quantile of its probability."""
    classes = probability.shape[1]
    predicted = [row.tolist().index(max(row)) for row in probability]
    frequencies = []
    for row, own in zip(probability, predicted, strict=True):
        ordered = sorted(max(other) for other, c in zip(probability, predicted, strict=True) if c == own)
        edges = [ordered[b * len(ordered) // bins] for b in range(1, bins)]
        own_bin = sum(edge <= max(row) for edge in edges)
        labels = [
            y
            for other, c, y in zip(probability, predicted, label, strict=True)
            if c == own and sum(edge <= max(other) for edge in edges) == own_bin
        ]
        frequencies.append([labels.count(c) / len(labels) for c in range(classes)])
    return np.array(frequencies)
