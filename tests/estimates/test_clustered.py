"""Tests of errors and resamples of losses and of the AUC over clusters."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import clustered as oracle
from uqcli.estimates.paired import ClusteredPairs

ROWS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 9), st.integers(1, 9), st.booleans(), st.integers(1, 3)),
    max_size=80,
).map(lambda rows: [*rows, (0, 3, 5, True, 1), (1, 2, 4, False, 1), (2, 4, 1, True, 2)])


def pairs_of(rows):
    """Return rows with a probability before and after as arrays."""
    cluster, before, after, positive, weight = map(np.array, zip(*rows, strict=True))
    return before / 10, after / 10, positive, weight, cluster


@given(ROWS)
def test_errors_are_those_of_the_oracle(rows):
    columns = pairs_of(rows)
    estimates = ClusteredPairs.from_scores(*columns).with_errors()
    repeated = [(c, b / 10, a / 10, y) for c, b, a, y, weight in rows for _ in range(weight)]
    for side, probability in (("before", 1), ("after", 2)):
        losses = [(row[0], (row[3] - row[probability]) ** 2) for row in repeated]
        assert (estimates["brier"][side].value, estimates["brier"][side].error) == pytest.approx(
            oracle.mean_with_error(losses)
        )
        auc, error = oracle.auc_with_error([(row[0], row[probability], row[3]) for row in repeated])
        log_odds = estimates["auc"][side]
        if 0 < auc < 1:
            assert log_odds.value == pytest.approx(math.log(auc / (1 - auc)), abs=1e-9)
            assert log_odds.error == pytest.approx(error / (auc * (1 - auc)), abs=1e-9)
    changes = [(c, (y - after) ** 2 - (y - before) ** 2) for c, before, after, y in repeated]
    difference = estimates["brier"]["difference"]
    assert (difference.value, difference.error) == pytest.approx(oracle.mean_with_error(changes), abs=1e-12)


@given(ROWS, st.integers(0, 10))
def test_order_of_rows_and_names_of_clusters_change_nothing(rows, seed):
    before, after, positive, weight, cluster = pairs_of(rows)
    order = np.random.default_rng(seed).permutation(len(rows))
    first = ClusteredPairs.from_scores(before, after, positive, weight, cluster)
    shuffled = (column[order] for column in (before, after, positive, weight, 7 * cluster))
    second = ClusteredPairs.from_scores(*shuffled)
    assert first.with_errors() == second.with_errors()
    draws = [pairs.resampled(np.random.default_rng(seed)) for pairs in (first, second)]
    assert draws[0].with_errors() == draws[1].with_errors()
    assert draws[0].times.sum() == len(draws[0].times) == len(set(cluster.tolist()))


@given(ROWS)
def test_classes_have_the_losses_of_scores(rows):
    before, after, positive, weight, cluster = pairs_of(rows)
    scores = ClusteredPairs.from_scores(before, after, positive, weight, cluster)
    columns = [np.stack([1 - probability, probability], axis=1) for probability in (before, after)]
    classes = ClusteredPairs.from_classes(*columns, positive.astype(np.int64), weight, cluster)
    for name, sides in classes.with_errors().items():
        for side, estimate in sides.items():
            expected = scores.with_errors()[name][side]
            assert (estimate.value, estimate.error) == pytest.approx((expected.value, expected.error))
    assert classes.min_class_rows == scores.min_class_rows
    assert classes.rows_that_differ() == pytest.approx(scores.rows_that_differ())
