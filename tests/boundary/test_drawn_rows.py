"""Tests of one row of each cluster at every boundary of a sequence."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import certificate as oracle
from uqcli.boundary.drawn_rows import drawn_rows

ROWS = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 5), st.booleans()), min_size=1, max_size=40
).flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(range(len(rows)))))


@given(ROWS)
def test_every_cluster_counts_by_its_selected_row_of_the_lowest_key(drawn):
    rows, keys = drawn
    position, cluster, positive = map(np.array, zip(*rows, strict=True))
    found = drawn_rows(position, 100 - 7 * cluster, np.array(keys, dtype=np.uint64), positive, boundaries=9)
    listed = [(p, c, key, y) for (p, c, y), key in zip(rows, keys, strict=True)]
    assert list(zip(found.true_positives, found.selected, strict=True)) == oracle.drawn_rows(listed, 9)
    assert found.rows.tolist() == [len(set(cluster.tolist()))] * 9
    assert found.positives.tolist() == [len({c for _, c, y in rows if y})] * 9
