"""Simulations of the band of the calibration curve: it covers, and proves what it says it would."""

import numpy as np
import pytest
from scipy import stats

from tests.statistical.levels import lowest, repetitions
from uqcli.base.counts import pool
from uqcli.estimates.proportion import POWER
from uqcli.tce.band import calibration_band

REPETITIONS = repetitions(200)

SCORES = {
    "uniform": lambda random, size: random.random(size),
    "beta(1, 3)": lambda random, size: random.beta(1, 3, size),
    "extremes": lambda random, size: random.beta(0.2, 0.2, size),
    "rare": lambda random, size: random.beta(1, 300, size),
    "twenty values": lambda random, size: random.integers(0, 21, size) / 20,
    "zeros": lambda random, size: np.where(random.random(size) < 0.5, 0.0, random.random(size)),
}
CURVES = {
    "calibrated": lambda score: score,
    "too high": lambda score: score**1.5,
    "overconfident": lambda score: 1 / (1 + np.exp(-0.5 * np.log((score + 1e-12) / (1 - score + 1e-12)))),
    "a step": lambda score: np.where(score < 0.4, 0.1 * score, 0.5 + 0.2 * score),
    "flat": lambda score: np.full(len(score), 0.07),
}


def sample(scores, curve, size, seed):
    random = np.random.default_rng([seed, size])
    score = SCORES[scores](random, size) + 0.0
    rate = CURVES[curve](score)
    return pool(score, random.random(size) < rate), rate[np.argsort(score, kind="stable")]


@pytest.mark.parametrize("size", [500, 5000])
@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("scores", SCORES)
def test_the_band_covers_the_curve(scores, curve, size):
    runs = max(20, REPETITIONS // 2)
    missed = dict.fromkeys(("band", "within", "proved", "runs"), 0)
    for seed in range(runs):
        counts, _ = sample(scores, curve, size, seed)
        band = calibration_band(counts, 0.95)
        truth = CURVES[curve]
        off = np.abs(truth(counts.value) - counts.value)
        means = np.cumsum(counts.count * (truth(counts.value) - counts.value))
        ends = np.flatnonzero(np.isin(counts.value, band.last))
        runs_off = largest_mean(means[ends], np.cumsum(counts.count)[ends])
        missed["band"] += (band.low > truth(band.last)).any() or (band.high < truth(band.first)).any()
        missed["within"] += (
            band.within is not None and np.average(off <= band.within, weights=counts.count) < 0.95
        )
        missed["proved"] += band.within_low > off.max()
        missed["runs"] += runs_off > band.within_runs
    for number in missed.values():
        assert 1 - number / runs >= lowest(0.95, runs), missed


def largest_mean(total, rows):
    """Return the largest mean deviation over runs of cells with a twentieth of the rows."""
    total, rows = np.append(0.0, total), np.append(0, rows)
    first, last = np.triu_indices(len(rows), 1)
    size = rows[last] - rows[first]
    return np.abs((total[last] - total[first]) / size)[size * 20 >= rows[-1]].max()


@pytest.mark.parametrize("size", [500, 5000, 50_000])
@pytest.mark.parametrize("scores", ["uniform", "beta(1, 3)", "twenty values"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_detectable_deviation_is_proved(sign, scores, size):
    runs, proved = max(20, REPETITIONS // 8), 0
    for seed in range(runs):
        random = np.random.default_rng([seed, size])
        score = SCORES[scores](random, size) + 0.0
        detectable = calibration_band(pool(score, random.random(size) < score), 0.95).detectable
        label = random.random(size) < score + sign * detectable
        proved += calibration_band(pool(score, label), 0.95).within_low > 0
    assert stats.binomtest(proved, runs, POWER, alternative="less").pvalue > 1e-3, proved / runs
