"""The bootstrap: keyed weights of the right law, intervals that cover a known truth."""

import numpy as np
import pytest
from scipy import stats

from uqcli.counts import SortedRows, pool
from uqcli.methods.metrics.bootstrap import basic_interval, resampled_weights
from uqcli.methods.metrics.calibration_error import brier


@pytest.mark.parametrize("weight", [1, 3, 400])
def test_a_row_of_weight_w_is_drawn_poisson_w_times(weight):
    rows = 40_000
    weights = None if weight == 1 else np.full(rows, weight)
    drawn = resampled_weights(np.arange(rows), weights, seed=1, replicate=0)
    assert drawn.mean() == pytest.approx(weight, abs=5 * np.sqrt(weight / rows))
    assert drawn.var() == pytest.approx(weight, rel=0.05)
    below = np.mean(drawn <= weight)
    assert below == pytest.approx(stats.poisson.cdf(weight, weight), abs=0.02)


def test_draws_are_keyed_by_position():
    everything = resampled_weights(np.arange(200_000), None, seed=9, replicate=4)
    some = np.array([0, 5, 65_535, 65_536, 199_999])
    assert resampled_weights(some, None, seed=9, replicate=4).tolist() == everything[some].tolist()
    assert (resampled_weights(np.arange(200_000), None, seed=9, replicate=5) != everything).any()
    weight = np.arange(200_000) % 3
    assert (resampled_weights(np.arange(200_000), weight, 9, 4)[weight == 0] == 0).all()


def test_intervals_of_the_brier_score_cover_its_expectation():
    """Labels drawn from the scores: the expected Brier score is mean of p(1-p)."""
    covered, runs = 0, 200
    for run in range(runs):
        random = np.random.default_rng(run)
        score = random.random(300)
        label = random.random(300) < score
        ordered = SortedRows.of(score, label)
        replicates = [
            brier(ordered.counts(resampled_weights(np.arange(300), None, run, each))) for each in range(100)
        ]
        low, high = basic_interval(brier(pool(score, label)), replicates, 0.9)
        covered += low <= 1 / 6 <= high
    assert stats.binomtest(covered, runs, 0.9).pvalue > 0.001
