"""Simulations of the test of each group: one that keeps the bound is rejected at most at the level."""

from fractions import Fraction

import numpy as np
import pytest

from tests.statistical.levels import highest, repetitions
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.proportion import BoundedRate
from uqcli.evaluate.groups import BoundedGroup, group_evaluation

REPETITIONS = repetitions(60) * 10
LEVEL = 0.05
ALLOWED = highest(LEVEL, REPETITIONS)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("groups", [3, 10, 50])
@pytest.mark.parametrize("bound", [Fraction(7, 10), Fraction(95, 100), Fraction(2, 100)])
def test_groups_at_their_bound_are_seldom_rejected(groups, bound, upper):
    random, rejected = np.random.default_rng(groups), 0
    for _ in range(REPETITIONS):
        trials = random.integers(1, 600, groups)
        successes = random.binomial(trials, float(bound))
        results = [
            BoundedGroup(
                name=str(number),
                rows=1000,
                metrics={},
                cells=(),
                rate=Estimate(value=None),
                bounded=BoundedRate(successes=int(k), trials=int(n), bound=bound, upper=upper),
            )
            for number, (k, n) in enumerate(zip(successes, trials, strict=True))
        ]
        rejected += bool(group_evaluation("group", results, (), "rate", LEVEL).broken)
    assert rejected / REPETITIONS <= ALLOWED
