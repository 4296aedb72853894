"""Simulations of prediction sets: groups that mean nothing, and calibration rows of a few customers."""

from fractions import Fraction

import numpy as np
import pytest

import uqcli
from tests.statistical.clustered import cluster_of_rows, labels, uniforms
from tests.statistical.levels import highest, repetitions
from uqcli.watch.promises import promises_of

REPETITIONS = repetitions(100)
LEVEL = 0.05


@pytest.mark.parametrize(("calibration", "tested"), [(100, 3000), (1000, 10_000)])
def test_groups_that_mean_nothing_are_seldom_named(calibration, tested):
    """The coverage of one calibration set is often below 90 %, in all groups alike."""
    named = {"by": 0, "audit": 0}
    for seed in range(REPETITIONS):
        random = np.random.default_rng([1, calibration, seed])
        score, new = random.random(calibration), random.random(tested)
        sets = uqcli.conformal_sets(score, random.random(calibration) < score, alpha="0.1", seed=seed)
        label, group = random.random(tested) < new, random.integers(0, 3, tested).astype(str)
        by_group = sets.evaluate(new, label, by=group).groups
        named["by"] += any(one.p_value is not None and one.p_value <= LEVEL for one in by_group)
        segments = sets.evaluate(new, label, audit={"group": group}).segments
        named["audit"] += any(one.p_holm <= LEVEL for one in segments)
    assert max(named.values()) / REPETITIONS <= highest(LEVEL, REPETITIONS), named


def test_a_group_without_coverage_is_found():
    random = np.random.default_rng(2)
    score, new = random.random(1000), random.random(5000)
    sets = uqcli.conformal_sets(score, random.random(1000) < score, alpha="0.1")
    group = random.integers(0, 5, 5000)
    label = np.where(group == 3, random.random(5000) < 1 - new, random.random(5000) < new)
    result = sets.evaluate(new, label, by=group.astype(str))
    assert [one.name for one in result.groups if one.p_value <= LEVEL] == ["3"]


def sets_of_customers(random, customers, size, alpha, correlation):
    cluster = cluster_of_rows(random, customers, size)
    score = 0.5 + 0.5 * uniforms(random, cluster, 0.5)
    label = labels(random, cluster, score, correlation)
    return (
        cluster,
        score,
        label,
        uqcli.conformal_sets(score, label, alpha=alpha, cluster=cluster, method="lac"),
    )


@pytest.mark.parametrize(
    ("customers", "size", "new_customers", "new_size", "alpha"),
    [(30, 30, 300, 2, "0.3"), (15, 100, 200, 3, "0.3"), (30, 30, 30, 30, "0.3")],
)
def test_sets_of_large_customers_are_seldom_blamed_for_small_ones(
    customers, size, new_customers, new_size, alpha
):
    blamed = 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng([3, customers, size, seed])
        *_, sets = sets_of_customers(random, customers, size, alpha, 0.8)
        cluster = cluster_of_rows(random, new_customers, new_size)
        score = 0.5 + 0.5 * uniforms(random, cluster, 0.5)
        result = sets.evaluate(score, labels(random, cluster, score, 0.8), cluster=cluster)
        blamed += result.metrics["promise_broken"] == 1
    assert blamed / REPETITIONS <= highest(LEVEL, REPETITIONS), blamed


@pytest.mark.parametrize(
    ("customers", "size", "alpha", "correlation"), [(100, 200, "0.2", 0.8), (200, 50, "0.1", 0.5)]
)
def test_the_coverage_that_watch_tests_is_seldom_above_the_true_one(customers, size, alpha, correlation):
    """If it is, the lifetime alarm is certain in the end; half of its risk is kept for this."""
    truth = np.random.default_rng(0)
    score = 0.5 + 0.5 * uniforms(truth, np.arange(200_000), 0)
    label, above = labels(truth, np.arange(200_000), score, 0), 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng([4, customers, seed])
        *_, sets = sets_of_customers(random, customers, size, alpha, correlation)
        (promise,) = promises_of(sets.artifact, None, Fraction("0.05"))
        above += sets.evaluate(score, label).metrics["coverage"].value < float(promise.bound)
    assert above / REPETITIONS <= highest(0.025, REPETITIONS), above
