"""Designs of samples by definition, row by row."""

import math


def probabilities(rates, flagged, labels):
    """Return the probability of each row in a Poisson sample for recall, by water filling."""
    recall = sum(rate for rate, flag in zip(rates, flagged, strict=True) if flag) / sum(rates)
    sizes = [
        math.sqrt(rate) * (1 - recall if flag else recall) for rate, flag in zip(rates, flagged, strict=True)
    ]
    least = 0.5 * labels / len(rates)
    low, high = 0.0, 1e9
    for _ in range(2000):
        middle = (low + high) / 2
        drawn = [min(1.0, max(least, middle * size)) for size in sizes]
        low, high = (middle, high) if sum(drawn) < labels else (low, middle)
    return [min(1.0, max(least, high * size)) for size in sizes]


def first_by_draw(draws, flagged, labels):
    """Return the flagged rows with the lowest draws."""
    ranked = sorted((draw, index) for index, draw in enumerate(draws) if flagged[index])
    return {index for _, index in ranked[:labels]}
