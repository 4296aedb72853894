"""Tests of folds of whole clusters."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base.draws import Purpose, generator, text_keys
from uqcli.base.rows import Rows
from uqcli.calibrate.folds import deal_rows, units_of


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 3)), min_size=5, max_size=60), st.integers(0, 99))
def test_every_cluster_is_in_one_fold_by_its_text(rows, seed):
    names = [f"customer {index}" for index, _ in rows] + [f"other {index}" for index in range(5)]
    weight = np.array([times for _, times in rows] + [1] * 5)
    score = np.arange(len(names), dtype=np.float64)
    pooled = Rows(
        numbers={"score": score},
        positive=score % 2 == 0,
        weight=weight,
        groups={"customer": text_keys(names)},
    )
    clusters = sorted(set(names))
    assert units_of(pooled, "customer") == len(clusters)
    dealt = deal_rows(pooled, 5, generator(seed, Purpose.SPLIT, 1), "customer")
    assert (dealt.sum(axis=0) == weight).all()
    folds = {
        name: {int(np.argmax(dealt[:, index])) for index in np.flatnonzero(np.array(names) == name)}
        for name in clusters
    }
    assert all(len(fold) == 1 for fold in folds.values())
    sizes = np.bincount([min(fold) for fold in folds.values()], minlength=5)
    assert sizes.max() - sizes.min() <= 1
    order = np.random.default_rng(seed).permutation(len(names))
    again = deal_rows(pooled.select(order), 5, generator(seed, Purpose.SPLIT, 1), "customer")
    assert (again == dealt[:, order]).all()
