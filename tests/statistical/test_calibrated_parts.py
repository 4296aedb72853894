"""Simulations of the tests of all groups and classes: calibrated scores seldom fail, and errors are found."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from tests.statistical.levels import keep, repetitions
from uqcli.base.counts import pool
from uqcli.tce import clusters as of_clusters
from uqcli.tce.clusters import ClusteredScores
from uqcli.tce.part_tests import LEVEL, adjusted_p_values, calibration_p_values

RUNS = repetitions(60)
LAWS = {
    "few positives": lambda random, size: random.beta(1, 5, size),
    "uniform": lambda random, size: random.random(size),
    "rare positives": lambda random, size: random.beta(0.3, 30, size),
    "sure": lambda random, size: random.beta(0.2, 0.2, size),
    "logit-normal": lambda random, size: expit(random.normal(-1, 1.5, size)),
    "two decimals": lambda random, size: random.beta(1, 3, size).round(2),
    "one decimal": lambda random, size: random.beta(2, 3, size).round(1),
    "nearly alike": lambda random, size: 0.1 + 0.02 * random.random(size),
    "all alike": lambda random, size: np.full(size, 0.2),
}


def least_p_values(random, law, groups, rows, bend=None):
    """Return the adjusted p-values of groups, of which the first may be bent, and of all rows."""
    scores = [LAWS[law](random, rows) for _ in range(groups)]
    truths = [score if bend is None or index else bend(score) for index, score in enumerate(scores)]
    labels = [random.random(rows) < truth for truth in truths]
    parts = {index: pool(*pair) for index, pair in enumerate(zip(scores, labels, strict=True))}
    if groups > 1:
        parts[groups] = pool(np.concatenate(scores), np.concatenate(labels))
    seed = int(random.integers(2**31))
    return adjusted_p_values(calibration_p_values(parts, {index: (index,) for index in parts}, seed))


def is_above(rejected, runs, level=0.06):
    return stats.binomtest(rejected, runs, level, alternative="greater").pvalue < 0.003


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("groups", "rows"), [(1, 300), (1, 5000), (10, 400), (40, 100)])
def test_calibrated_groups_are_seldom_called_not_calibrated(groups, rows, law):
    random = np.random.default_rng([21, groups, rows])
    called = sum(min(least_p_values(random, law, groups, rows).values()) <= LEVEL for _ in range(RUNS))
    assert not is_above(called, RUNS), called / RUNS


@pytest.mark.parametrize("classes", [2, 3, 20])
@pytest.mark.parametrize("rows", [300, 2000])
def test_calibrated_classes_are_seldom_called_not_calibrated(rows, classes):
    random, called = np.random.default_rng([22, classes, rows]), 0
    for _ in range(RUNS):
        odds = np.exp(1.5 * random.normal(size=(rows, classes)))
        probability = odds / odds.sum(axis=1, keepdims=True)
        drawn = (probability.cumsum(axis=1) < random.random((rows, 1))).sum(axis=1)
        parts = {index: pool(probability[:, index], drawn == index) for index in range(classes)}
        tests = calibration_p_values(parts, {index: (index,) for index in parts}, int(random.integers(2**31)))
        called += min(adjusted_p_values(tests).values()) <= LEVEL
    assert not is_above(called, RUNS), called / RUNS


def shifted(score):
    return expit(logit(score) + 0.5)


def flatter(score):
    return expit(0.6 * logit(score) + 0.4 * logit(1 / 6))


@pytest.mark.parametrize(("bend", "power"), [(shifted, 0.6), (flatter, 0.08)])
def test_a_bad_group_of_ten_is_found(bend, power):
    random = np.random.default_rng(23)
    found = sum(least_p_values(random, "few positives", 10, 400, bend)[0] <= LEVEL for _ in range(RUNS))
    assert found >= power * RUNS
    keep(f"tce/not calibrated/one group of ten {bend.__name__}", found / RUNS, RUNS)


@pytest.mark.parametrize(("clusters", "size"), [(150, 4), (600, 5)])
def test_calibrated_scores_of_clusters_are_seldom_called_not_calibrated(clusters, size):
    """Labels of a cluster share a common cause; by rows most of such files are rejected."""
    random, called, by_rows = np.random.default_rng([24, clusters]), 0, 0
    for _ in range(RUNS):
        cluster = np.repeat(np.arange(clusters), size)
        score = np.repeat(random.beta(2, 4, clusters), size)
        common = random.random(len(cluster)) < 0.7
        uniform = np.where(common, np.repeat(random.random(clusters), size), random.random(len(cluster)))
        label = uniform < score
        rows = ClusteredScores(cluster=cluster, score=score, positive=label, source=None)
        seed = int(random.integers(2**31))
        called += of_clusters.tested_clusters(rows, rows.drawn(seed), (0,), seed).p_value <= LEVEL
        by_rows += calibration_p_values({0: pool(score, label)}, {0: (0,)}, seed)[0].p_value <= LEVEL
    assert not is_above(called, RUNS), called / RUNS
    assert by_rows > 0.15 * RUNS
