"""Tests of the binomial test by score ranges, against p-values score by score."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from uqcli.estimates.calibration_tests import _LEVEL_FACTOR, binomial_rejected, p_values

ALPHAS = st.one_of(st.sampled_from([0.05, 0.01, 0.5, 1.0, 0.999, 1e-9, 1e-150, 1e-250]), st.floats(1e-6, 1))
MANY = st.integers(0, 9).flatmap(lambda digits: st.integers(1, 2 * 10**digits))
BINS = st.lists(st.tuples(MANY, st.floats(0, 1), st.integers(1, 3000)), min_size=1, max_size=4)


def scores_of(random, positives, rows, size):
    """Draw scores of a bin: anywhere, around its rate, or densely where a decision may change."""
    rate = positives / rows
    standard_error = np.sqrt(max(rate * (1 - rate), 1 / rows) / rows)
    kind = random.integers(4)
    if kind == 0:
        return random.random(size)
    centre = (
        rate if kind == 1 else rate + standard_error * random.choice([-2.6, -1.96, -1.6, 0, 1.6, 1.96, 2.6])
    )
    near = random.normal(centre, standard_error * 10.0 ** random.uniform(-6, 1), size)
    ends = [0, 1, rate, np.nextafter(rate, 0), np.nextafter(rate, 1)]
    return np.concatenate([near, ends, np.repeat(near[:3], 2)])


@settings(max_examples=150, deadline=None)
@given(BINS, ALPHAS, st.integers(0, 2**32))
@example(bins=[(1, 1.0, 1016)], alpha=1 - 2**-53, seed=0)
def test_decisions_are_those_of_the_p_values(bins, alpha, seed):
    random = np.random.default_rng(seed)
    rows = np.array([n for n, _, _ in bins])
    positives = np.array([round(share * n) for n, share, _ in bins])
    scores = [scores_of(random, k, n, m) for k, n, (_, _, m) in zip(positives, rows, bins, strict=True)]
    start = np.cumsum([0, *map(len, scores)])
    score = np.sort(np.clip(np.concatenate(scores), 0, 1))
    decisions = binomial_rejected(score, start, positives, rows, alpha)
    bin_index = np.repeat(np.arange(len(rows)), np.diff(start))
    expected = p_values(score, positives[bin_index], rows[bin_index]) <= alpha * _LEVEL_FACTOR
    assert decisions.of_scores().tolist() == expected.tolist()
    assert (np.diff(decisions.start) > 0).all()
    assert (np.diff(decisions.rejected.astype(int)) != 0).all()


@pytest.mark.parametrize("rows", [1, 30, 1000])
@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 1.0])
def test_scores_next_to_every_change_are_decided_correctly(rows, share):
    k = round(share * rows)
    coarse = np.linspace(0, 1, 2001)
    n, positives = np.array([rows]), np.array([k])
    one_bin = np.array([0, len(coarse)])
    changes = coarse[1:][np.diff(binomial_rejected(coarse, one_bin, positives, n, 0.05).of_scores())]
    around = [np.linspace(change - 1 / 2000, change, 4000) for change in changes]
    score = np.sort(np.concatenate([coarse, *around]))
    decisions = binomial_rejected(score, np.array([0, len(score)]), positives, n, 0.05).of_scores()
    expected = p_values(score, np.full(len(score), k), np.full(len(score), rows)) <= 0.05 * _LEVEL_FACTOR
    assert decisions.tolist() == expected.tolist()


@pytest.mark.parametrize("rows", [10**7, 10**9, 3 * 10**9])
@pytest.mark.parametrize("z", [-2.5, -0.1, 0.1, 2.5])
def test_tails_of_many_rows_are_those_of_the_normal_distribution(rows, z):
    """Regression: the continued fraction ended too early near the mean and failed beyond 32 bits."""
    k = rows * 3 // 10
    score = np.array([(k + z * np.sqrt(rows * 0.21)) / rows])
    p = p_values(score, np.array([k]), np.array([rows]))
    assert p[0] == pytest.approx(2 * stats.norm.sf(abs(z)), rel=5e-3)
