"""Simulations of the error bounds of histograms whose edges are scores of the rows themselves."""

import numpy as np
import pytest

from tests.statistical.levels import highest, keep, repetitions
from uqcli.base.counts import bin_of, pool
from uqcli.base.rows import ClassCounts
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.maps.histogram import fit_class_histogram, fit_histogram

REPETITIONS = repetitions(60)
POPULATION = 200_000
"""Points of a population; a law of few scores repeats them."""


def population(law):
    """Return scores and the true rate at each: distinct, on 101 or 7 scores, or half of them at one score."""
    random = np.random.default_rng(1)
    score = random.beta(0.6, 2.0, POPULATION)
    if law == "two decimals":
        score = score.round(2)
    elif law == "few scores":
        score = np.ceil(7 * score) / 7
    elif law == "half at one score":
        score = np.where(random.random(POPULATION) < 0.5, 0.21, score)
    return score, (0.03 + 0.94 * (score > np.median(score)) * score**0.3).clip(0, 1)


@pytest.mark.parametrize("law", ["distinct", "two decimals", "few scores", "half at one score"])
@pytest.mark.parametrize(("rows", "bins"), [(40, 4), (200, 10), (3000, 10)])
@pytest.mark.parametrize("confidence", [0.95, 0.5])
def test_the_rates_of_all_bins_are_within_their_bounds_of_those_of_new_rows(law, rows, bins, confidence):
    score, rate = population(law)
    options = CalibrationOptions(n_bins=bins)
    missed = 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng(seed)
        drawn = random.integers(0, POPULATION, rows)
        counts = pool(score[drawn], random.random(rows) < rate[drawn])
        fitted = fit_histogram(counts, options.histogram_edges(counts), confidence)
        new_bin = bin_of(score, np.array(fitted.edges))
        for index, (own_rate, error) in enumerate(zip(fitted.rate, fitted.error, strict=True)):
            inside = new_bin == index
            if error is not None and inside.any() and abs(own_rate - rate[inside].mean()) > error:
                missed += 1
                break
    allowed = 1 - confidence
    assert missed / REPETITIONS <= highest(allowed, REPETITIONS)
    if confidence == 0.95:
        keep(f"histogram/bound missed/{law}, {rows} rows", missed / REPETITIONS, REPETITIONS)


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize(("rows", "bins"), [(60, 2), (600, 5)])
def test_the_class_frequencies_of_all_bins_are_within_their_bounds(decimals, rows, bins):
    random = np.random.default_rng(2)
    truth = random.dirichlet([0.6, 0.6, 0.6, 0.6], POPULATION // 4)
    shown = truth if decimals is None else truth.round(decimals)
    predicted, largest = shown.argmax(axis=1), shown.max(axis=1)
    options = CalibrationOptions(n_bins=bins)
    missed = 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng(seed)
        drawn = random.integers(0, len(truth), rows)
        label = (random.random((rows, 1)) > truth[drawn].cumsum(axis=1)[:, :-1]).sum(axis=1)
        counts = ClassCounts.from_rows(shown[drawn], label, None)
        fitted = fit_class_histogram(counts, options.histogram_edges, 0.5)
        missed += any(
            error is not None
            and inside.any()
            and np.abs(np.array(rate) - truth[inside].mean(axis=0)).sum() > error
            for index, part in enumerate(fitted.bins)
            for number, (rate, error) in enumerate(zip(part.rate, part.error, strict=True))
            for inside in [(predicted == index) & (bin_of(largest, np.array(part.edges)) == number)]
        )
    assert missed / REPETITIONS <= highest(0.5, REPETITIONS)
