"""Tests that scores are true probabilities: they equal an oracle, and draws have the law of the labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import calibrated_parts as oracle
from uqcli.base.counts import pool
from uqcli.base.draws import Purpose, generator
from uqcli.tce import clusters, part_tests
from uqcli.tce.clusters import ClusteredScores
from uqcli.tce.part_tests import (
    DrawnLabels,
    Statistics,
    brownian_range_p_value,
    calibration_p_values,
    most_draws,
)

DECIMALS, LAWS = st.sampled_from([1, 2, 6]), st.sampled_from(["all", "rare", "ends", "high", "one"])


def drawn_rows(seed, size, decimals, law):
    random = np.random.default_rng(seed)
    score = {
        "all": lambda: random.random(size),
        "rare": lambda: random.beta(0.3, 9, size),
        "ends": lambda: random.beta(0.2, 0.2, size),
        "high": lambda: random.beta(9, 0.4, size),
        "one": lambda: np.full(size, 0.3),
    }[law]()
    score = score.round(decimals)
    return score, random.random(size) < score


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 300), DECIMALS, LAWS, st.booleans())
def test_statistics_and_limit_laws_are_those_of_loops_over_rows(seed, size, decimals, law, wrong):
    score, positive = drawn_rows(seed, size, decimals, law)
    positive = positive ^ (wrong & (np.arange(size) % 5 == 0))
    found, rows = (
        Statistics.of(pool(score, positive)),
        list(zip(score.tolist(), positive.tolist(), strict=True)),
    )
    expected = oracle.statistics(rows)
    assert (found.range, found.score, found.intercept_information) == pytest.approx(
        expected, rel=1e-7, abs=1e-9
    )
    impossible = bool((positive & (score == 0)).any() or (~positive & (score == 1)).any())
    assert found.is_impossible == impossible
    if found.intercept_information >= 0.01:
        assert found.limit_p_values() == pytest.approx(oracle.limit_p_values(rows), rel=1e-6, abs=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(50, 90), DECIMALS, LAWS)
def test_draws_have_the_statistics_of_drawn_labels(seed, size, decimals, law):
    """Labels of each draw are put together again, and measured as a part."""
    score, positive = drawn_rows(seed, size, decimals, law)
    counts = pool(score, positive)
    drawn = DrawnLabels.of(counts, Statistics.of(counts), (1, 7), 3)
    owner, index = drawn._drawn(2, 5)
    scores, ranges = drawn.scores(2, 5), drawn.ranges(2, 5)
    for draw in range(5):
        rarer = np.bincount(index[owner == draw], minlength=len(counts.value))
        positives = np.where(counts.value <= 0.5, rarer, counts.count - rarer)
        assert (positives >= 0).all()
        assert (positives <= counts.count).all()
        labels = np.concatenate([np.arange(n) < k for n, k in zip(counts.count, positives, strict=True)])
        expected = Statistics.of(pool(np.repeat(counts.value, counts.count), labels))
        assert (ranges[draw], scores[draw]) == pytest.approx(
            (expected.range, expected.score), rel=1e-7, abs=1e-9
        )


def test_each_label_is_drawn_with_its_own_chance():
    value = np.array([0.0, 1e-14, 0.003, 0.1, 0.26, 0.5, 0.5000001, 0.8, 0.999, 1.0])
    score = np.repeat(value, 7)
    counts = pool(score, np.zeros(len(score), dtype=bool))
    drawn, draws = DrawnLabels.of(counts, Statistics.of(counts), (0,), 0), 20_000
    owner, index = drawn._drawn(0, draws)
    assert owner.max() < draws
    rarer = np.bincount(index, minlength=10) / (7 * draws)
    chance = np.minimum(value, 1 - value)
    assert rarer == pytest.approx(chance, abs=4 * 0.5 / np.sqrt(7 * draws))
    of_draw = np.bincount(owner[index == 4], minlength=draws)  # binomial: 7 rows of .26
    assert of_draw.var() == pytest.approx(7 * 0.26 * 0.74, rel=0.05)
    assert rarer[[0, 9]].tolist() == [0, 0]


def test_the_range_of_a_brownian_motion_has_exact_tails():
    """The 95 % point is 2.4977 (Feller's table to four digits); the far tail is 8 Phi(-6)."""
    assert brownian_range_p_value(2.4977) == pytest.approx(0.05, abs=2e-5)
    assert brownian_range_p_value(6.0) == pytest.approx(8 * 9.865876450376946e-10, rel=1e-9)
    assert brownian_range_p_value(0.5) == pytest.approx(0.9999999122, abs=1e-9)
    assert brownian_range_p_value(0.3) == pytest.approx(1.0, abs=1e-12)
    assert brownian_range_p_value(60.0) == 0


def test_p_values_of_much_and_of_little_information():
    """I_0 of 400 rows of .5 is 100, and 230 positives differ by 30: Q = 9, whose p-value is .0027."""
    score, positive = np.full(400, 0.5), np.arange(400) < 230
    (test,) = calibration_p_values({0: pool(score, positive)}, {0: (0,)}, 0).values()
    assert not test.is_drawn
    assert test.p_value == pytest.approx(2 * 0.0026997960632601866)  # the range 30 / 10 has 8 Phi(-3) - ...
    less = pool(score[1:], positive[1:])
    assert calibration_p_values({0: less}, {0: (0,)}, 0)[0].is_drawn
    assert most_draws(1) == 999
    assert most_draws(40) == 3200
    impossible = pool(np.append(np.full(99, 0.5), 0.0), np.arange(100) % 2 == 1)
    assert impossible.positives[0] == 1
    assert calibration_p_values({0: impossible}, {0: (0,)}, 0)[0].p_value == 2 / 1000
    assert calibration_p_values({0: pool(score[:49], positive[:49])}, {0: (0,)}, 0) == {}


@given(st.integers(0, 2**32), st.floats(0.002, 0.9), st.sampled_from([999, 1600]))
def test_draws_stop_at_the_tenth_that_reaches_the_value(seed, chance, most):
    """Each draw counts once, whatever the blocks; a test may stop once it is not the smaller one."""
    reaches = np.random.default_rng(seed).random(8192) < chance
    first = [0, 64, 192, 448, 960, 1984]

    def drawn(block, size):
        return reaches[first[block] : first[block] + size].astype(float)

    expected = oracle.besag_clifford(reaches.tolist(), most)
    assert part_tests._sequential(0.5, drawn, most, enough=1.0) == expected
    bounded = part_tests._sequential(0.5, drawn, most, enough=0.05)
    assert min(bounded, 0.05) == min(expected, 0.05)


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("law", ["all", "rare", "ends", "high"])
def test_p_values_are_shares_of_plain_draws(law):
    score, positive = drawn_rows(12, 60, 2, law)
    rows = list(zip(score.tolist(), positive.tolist(), strict=True))
    shares = oracle.drawn_tails(rows, 3000)
    counts = pool(score, positive)
    found = Statistics.of(counts)
    drawn = DrawnLabels.of(counts, found, (0,), 0)
    for value, draws, share in zip(
        (found.range, found.score), (drawn.ranges, drawn.scores), shares, strict=True
    ):
        mean = np.mean(draws(0, 4096) >= value * (1 - 1e-9) - 1e-9)
        assert mean == pytest.approx(share, abs=0.05)


def test_other_parts_and_threads_change_no_draw():
    parts = {index: pool(*drawn_rows(index, 80, 3, "rare")) for index in range(6)}
    keys = {index: (1, index) for index in parts}
    every = calibration_p_values(parts, keys, 4)
    few = calibration_p_values({2: parts[2], 5: parts[5]}, keys, 4)
    assert {index: few[index] for index in (2, 5)} == {index: every[index] for index in (2, 5)}


def clustered_rows(number, size=5, seed=0):
    random = np.random.default_rng([number, seed])
    score = random.beta(2, 4, (number, size)).round(2).clip(0.01, 0.99)
    label = np.where(random.random((number, 1)) < 0.6, random.random((number, 1)), random.random(score.shape))
    cluster = np.repeat(np.arange(number) * 7 + 3, size)
    return ClusteredScores(
        cluster=cluster, score=score.ravel(), positive=(label < score).ravel(), source=None
    )


def test_clusters_are_tested_by_random_signs_of_their_residuals():
    """Each draw turns the residuals of whole clusters round, and is measured row by row."""
    rows = clustered_rows(400)
    counts = rows.counts
    found = Statistics.of(counts)
    signs = clusters._Signs.of(rows, found, (0,), 5)
    random = generator(5, Purpose.CALIBRATED, 0, 1)
    ranges, scores = signs.ranges(1, 4), signs.scores(1, 4)
    order = np.argsort(rows.score, kind="stable")
    _, number = np.unique(rows.cluster, return_inverse=True)
    ends = np.append(np.flatnonzero(np.diff(rows.score[order])), len(order) - 1)
    weight = rows.score * (1 - rows.score)
    odds = np.log(rows.score / (1 - rows.score))
    odds -= (weight * odds).sum() / weight.sum()
    for reach, score in zip(ranges, scores, strict=True):
        sign = 2.0 * random.integers(0, 2, 400) - 1
        turned = (rows.positive - rows.score) * sign[number]
        sums = np.append(0, np.cumsum(turned[order])[ends])
        expected = turned.sum() ** 2 / weight.sum() + (turned * odds).sum() ** 2 / (weight * odds**2).sum()
        assert (reach, score) == pytest.approx((sums.max() - sums.min(), expected))


def test_few_clusters_are_tested_by_one_row_of_each():
    few, many = clustered_rows(120), clustered_rows(400, seed=7)
    drawn = few.drawn(0)
    (expected,) = calibration_p_values({0: drawn}, {0: (0,)}, 0).values()
    assert clusters.tested_clusters(few, drawn, (0,), 0) == expected
    by_row = calibration_p_values({0: many.counts}, {0: (0,)}, 0)[0].p_value
    by_cluster = clusters.tested_clusters(many, many.drawn(0), (0,), 0)
    assert by_cluster.is_drawn
    assert by_row < 0.05 < by_cluster.p_value  # rows of a cluster are alike
    assert clusters.tested_clusters(clustered_rows(40), clustered_rows(40).drawn(0), (0,), 0) is None
