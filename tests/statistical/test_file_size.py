"""Simulations of the TCE and of the band of true probabilities in files of all sizes."""

import numpy as np
import pytest
from scipy.special import expit, logit

from tests.statistical.levels import keep, repetitions
from uqcli.base.choices import BinSizing
from uqcli.base.counts import pool
from uqcli.tce.band import calibration_band
from uqcli.tce.measure import measure
from uqcli.tce.options import MeasureOptions

REPETITIONS = repetitions(10)
LARGE = 1_000_000 if REPETITIONS > 10 else 200_000
SIZES = (1000, 2000, 10_000, 100_000, LARGE)


def two_gaussians(random, size):
    """Draw the probability of the second class, of which there is one row in a hundred."""
    value = random.normal(size=size) + 2 * (random.random(size) < 0.01)
    return expit(2 * value - 2 + logit(0.01))


SCORES = {
    "beta(1, 5)": lambda random, size: random.beta(1, 5, size),
    "uniform": lambda random, size: random.random(size),
    "beta(0.5, 30)": lambda random, size: random.beta(0.5, 30, size),
    "beta(0.3, 300)": lambda random, size: random.beta(0.3, 300, size),
    "beta(1, 3) of two decimals": lambda random, size: random.beta(1, 3, size).round(2),
    "logistic, two Gaussians": two_gaussians,
}


def runs_of(size):
    """Return how often files of a size are drawn: large ones vary less, and take seconds."""
    return max(3, min(2 * REPETITIONS, 10_000_000 // size)) if REPETITIONS > 10 else 3


def mean_tce(scores, size, *, factor=1.0, bin_sizes=BinSizing.AUTO):
    """Return the mean TCE of files whose probabilities are the scores, printed larger by a factor."""
    found, options = [], MeasureOptions(bin_sizes=bin_sizes)
    for seed in range(runs_of(size)):
        random = np.random.default_rng([seed, size])
        rate = SCORES[scores](random, size)
        shown = np.minimum(factor * rate, 1.0)
        found.append(measure(pool(shown, random.random(size) < rate), options).metrics["tce"])
    return np.mean(found)


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("size", SIZES)
def test_the_tce_of_true_probabilities_stays_low(size, scores):
    found = mean_tce(scores, size)
    assert found < 25
    keep(f"tce/mean/{scores}/{size} rows", found, runs_of(size))


@pytest.mark.parametrize("scores", SCORES)
def test_large_files_show_wrong_scores_and_with_bins_of_the_paper_also_true_ones(scores):
    wrong, paper = mean_tce(scores, LARGE, factor=1.3), mean_tce(scores, LARGE, bin_sizes=BinSizing.PAPER)
    assert wrong > paper > 5
    keep(f"tce/mean/{scores}/x 1.3", wrong, runs_of(LARGE))
    keep(f"tce/mean/{scores}/paper's bins", paper, runs_of(LARGE))


@pytest.mark.parametrize("size", [500, 5000, 50_000, LARGE])
def test_more_rows_make_the_band_of_true_probabilities_narrower(size):
    bands = []
    for seed in range(runs_of(size)):
        random = np.random.default_rng([seed, size])
        score = random.beta(1, 3, size)
        band = calibration_band(pool(score, random.random(size) < score), 0.95)
        bands.append((band.within, band.within_runs, band.detectable))
    found = np.array(bands, dtype=float)
    assert np.nanmean(found[:, 0]) < 8 / size**0.5 + 0.1
    for name, mean in zip(("within", "within_runs", "detectable"), np.nanmean(found, axis=0), strict=True):
        keep(f"tce/{name}/{size} rows", mean, runs_of(size))
