"""Tests of the estimate of rows that several inputs share."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base.rows import Rows
from uqcli.engines.repeated_rows import SharedRows


def summary_of(parts):
    """Summarise parts of (input, keys, labels)."""
    shared = SharedRows(columns=("id",), inputs=3)
    for source, key, label in parts:
        rows = Rows(numbers={"score": np.zeros(len(key))}, positive=label)
        shared.add(source, rows, key.astype(np.uint64))
    return shared


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.booleans()), min_size=1, max_size=120),
    st.integers(1, 5),
)
def test_shared_rows_are_counted_whatever_the_batches(rows, batches):
    parts = []
    for part in np.array_split(np.array(rows, dtype=np.int64), batches):
        for source in range(3):
            own = part[part[:, 0] == source]
            parts.append((source, own[:, 1], own[:, 2] == 1))
    shared = summary_of(parts)
    labels = {key: [(source, label) for source, k, label in rows if k == key] for _, key, _ in rows}
    once = [
        {label for _, label in found}
        for found in labels.values()
        if len({source for source, _ in found}) == len(found) > 1
    ]
    expected = len(once) >= 10 and 2 * len(once) >= len(labels)
    expected = expected and all(len(found) == 1 for found in once) and len(set().union(*once)) > 1
    assert bool(shared.caution()) == expected


def test_a_sample_of_many_rows_does_not_depend_on_their_order():
    random = np.random.default_rng(0)
    key = random.integers(0, 2**63, 30_000)
    label = random.random(30_000) < 0.3
    samples = []
    for order in (np.arange(30_000), random.permutation(30_000)):
        pieces = np.array_split(order, 7)
        shared = summary_of([(source, key[piece], label[piece]) for source in (0, 2) for piece in pieces])
        assert shared.caution()
        samples.append([column.tolist() for column in (shared.key, shared.source, shared.label, shared.rows)])
    assert samples[0] == samples[1]
    assert len(set(samples[0][0])) == 4096
