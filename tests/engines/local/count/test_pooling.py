"""Tests of pooling batch by batch: the counts of all rows, whatever the batches, widths and weights."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uqcli.engines.local.count import pooling
from uqcli.engines.local.count.pooling import KeyRows
from uqcli.kernels.keys import keys_of

VALUES = st.sampled_from([-1.5, 0.0, 0.1, 0.25, 0.5, 3.0])
ROWS = st.lists(st.tuples(VALUES, st.booleans(), st.integers(1, 3)), max_size=12)
BATCHES = st.lists(st.tuples(ROWS, st.sampled_from([np.float32, np.float64])), min_size=1, max_size=6)


def key_rows(rows, dtype, *, weighted):
    sides = [
        [(value, weight) for value, is_hit, weight in rows if is_hit == label] for label in (False, True)
    ]
    negative, positive = (keys_of(np.array([value for value, _ in side], dtype=dtype)) for side in sides)
    weight = tuple(np.array([weight for _, weight in side], dtype=np.int64) for side in sides)
    return KeyRows(negative=negative, positive=positive, weight=(weight,) if weighted else ())


@given(BATCHES, st.booleans())
@settings(max_examples=200)
def test_batches_are_pooled_as_all_rows_at_once(batches, weighted):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pooling, "ROWS_PER_RANGE", 2)
        pool = pooling._Pool()
        count, positives = Counter(), Counter()
        for rows, dtype in batches:
            pool.waiting.append(key_rows(rows, dtype, weighted=weighted))
            pool.settle()
            for value, is_positive, weight in rows:
                count[float(dtype(value))] += weight if weighted else 1
                positives[float(dtype(value))] += is_positive * (weight if weighted else 1)
        counts = pool.as_values()
    assert counts.value.tolist() == sorted(count)
    assert counts.count.tolist() == [count[value] for value in sorted(count)]
    assert counts.positives.tolist() == [positives[value] for value in sorted(count)]


def test_heavy_weights_do_not_overflow():
    pool = pooling._Pool()
    rows = [(0.5, True, 2**40), (0.25, False, 2**33)]
    for _ in range(3):
        pool.waiting.append(key_rows(rows, np.float32, weighted=True))
        pool.settle()
    counts = pool.as_values()
    assert counts.count.tolist() == [3 * 2**33, 3 * 2**40]
