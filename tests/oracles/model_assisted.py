"""Difference estimator of rates, row by row."""

from math import exp, log, sqrt

from scipy.stats import t


def assisted(every, labelled, numerator, denominator, confidence, clusters=None):
    """Return a rate with its interval, and how many labelled rows of each kind there are.

    Parameters
    ----------
    every
        Probability and decision of each row.
    labelled
        Probability, decision, label and inclusion probability of each labelled row.
    numerator, denominator
        Functions of decision and label: what a row adds to either sum.
    clusters
        Cluster of each row, and of each labelled row; None if rows are independent.
    """

    def expected(part, probability, flagged):
        return probability * part(flagged, 1) + (1 - probability) * part(flagged, 0)

    def total(part):
        value = sum(expected(part, probability, flagged) for probability, flagged in every)
        for probability, flagged, label, inclusion in labelled:
            value += (part(flagged, label) - expected(part, probability, flagged)) / inclusion
        return value

    inside, whole = total(numerator), total(denominator)
    rate = inside / whole

    def residual(flagged, label):
        return numerator(flagged, label) - rate * denominator(flagged, label)

    contributions = [
        (residual(flagged, label) - expected(residual, probability, flagged)) / inclusion
        for probability, flagged, label, inclusion in labelled
    ]
    size = len(labelled)
    sampling = (
        size / (size - 1) * sum((1 - row[3]) * u * u for row, u in zip(labelled, contributions, strict=True))
    )
    new = total(lambda flagged, label: residual(flagged, label) ** 2)
    variance = (sampling + max(0, new)) / whole**2
    if clusters is not None:
        sums = dict.fromkeys(clusters[0], 0.0)
        for name, (probability, flagged) in zip(clusters[0], every, strict=True):
            sums[name] += expected(residual, probability, flagged)
        for name, contribution in zip(clusters[1], contributions, strict=True):
            sums[name] += contribution
        contributions = list(sums.values())
        variance = len(sums) / (len(sums) - 1) * sum(u * u for u in contributions) / whole**2
    freedom = sum(u * u for u in contributions) ** 2 / sum(u**4 for u in contributions) - 1
    reach = t.ppf((1 + confidence) / 2, freedom) * sqrt(variance) / (rate * (1 - rate))
    ends = [1 / (1 + exp(-(log(rate / (1 - rate)) + side * reach))) for side in (-1, 1)]
    return rate, *ends
