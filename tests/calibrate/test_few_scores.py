"""Tests of calibration counts on few scores: against rows that are assigned to bins one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base.counts import ValueCounts, pool
from uqcli.calibrate.few_scores import MAX_SCORES, on_few_scores

ROWS = st.lists(st.tuples(st.integers(0, 40), st.booleans()), min_size=1, max_size=120)


def bins_one_by_one(rows, most):
    """Cut sorted rows at the scores of equal ranks, beside the lowest and the highest score."""
    scores = sorted(score for score, _ in rows)
    distinct = sorted(set(scores))
    if len(distinct) <= most:
        cuts = distinct
    else:
        ranks = [scores[r * len(scores) // (most - 2)] for r in range(1, most - 2)]
        cuts = sorted({distinct[0], distinct[1], distinct[-1], *ranks})
    found = []
    for low, high in zip(cuts, [*cuts[1:], np.inf], strict=True):
        inside = sorted(row for row in rows if low <= row[0] < high)
        found.append((inside[(len(inside) - 1) // 2][0], len(inside), sum(label for _, label in inside)))
    return found


@given(ROWS, st.integers(3, 12))
def test_bins_are_those_of_sorted_rows(rows, most):
    score, label = np.array(rows).T
    few = on_few_scores(pool(score.astype(float), label.astype(bool)), most)
    assert list(zip(few.value, few.count, few.positives, strict=True)) == bins_one_by_one(rows, most)
    assert len(few.value) <= most


@pytest.mark.parametrize("size", [MAX_SCORES, MAX_SCORES + 1, 40_000])
def test_many_scores_become_bins_of_equal_weight(size):
    value = np.arange(size, dtype=float)
    few = on_few_scores(
        ValueCounts(value=value, count=np.ones(size, dtype=int), positives=np.zeros(size, dtype=int))
    )
    assert len(few.value) <= MAX_SCORES
    assert few.count.max() <= -(-size // (MAX_SCORES - 2))
    assert (few.rows, few.value[0], few.value[-1]) == (size, 0, size - 1)
    assert (np.diff(few.value) > 0).all()
