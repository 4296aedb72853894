"""Tests of the estimate of repeated rows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from uqcli.engines.repeated_rows import RepeatedPairs


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=900), st.integers(1, 5)
)
def test_repeated_rows_are_counted_whatever_the_batches(rows, batches):
    score, uncertainty = np.array(rows, dtype=np.float64).T / 40
    pairs = RepeatedPairs()
    for part in np.array_split(np.arange(len(rows)), batches):
        pairs.add(pairs.sample(score[part], uncertainty[part]))
    pairs.settle()
    counted = {pair: rows.count(pair) for pair in rows}
    assert sorted(pairs.rows.tolist()) == sorted(counted.values())
    most = 2 * sum(times for times in counted.values() if times > 1) > len(rows)
    assert bool(pairs.caution()) == (most and len(counted) > 200)


def test_a_sample_of_many_pairs_keeps_all_their_rows_in_any_order():
    random = np.random.default_rng(0)
    score, uncertainty = random.random((2, 60_000))
    order = random.permutation(np.repeat(np.arange(60_000), random.integers(1, 3, 60_000)))
    samples = []
    for rows in (order, np.sort(order)):
        pairs = RepeatedPairs()
        for part in np.array_split(rows, 9):
            pairs.add(pairs.sample(score[part].astype(np.float32).astype(np.float64), uncertainty[part]))
        pairs.settle()
        samples.append((pairs.key.tolist(), pairs.rows.tolist()))
    assert samples[0] == samples[1]
    assert len(samples[0][0]) == 4096
    share = np.array(samples[0][1])
    assert abs((share == 2).mean() - 0.5) < 0.04
