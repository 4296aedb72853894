"""Tests of the segments of an audit, against sets of rows."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import audit as oracle
from uqcli.audit.segments import divisions, values_of
from uqcli.base.counts import Feature

TEXTS = st.sampled_from(["a", "b", "c", None])
FEW = st.sampled_from([1.0, 2.5, 7.0, None])
MANY = st.integers(0, 30).map(float) | st.none()


@st.composite
def tables(draw):
    rows = draw(st.integers(40, 200))
    kinds = draw(st.lists(st.sampled_from([TEXTS, FEW, MANY]), min_size=1, max_size=3))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    columns = {}
    for number, kind in enumerate(kinds):
        pool = draw(st.lists(kind, min_size=1, max_size=40))
        columns[f"c{number}"] = [pool[index] for index in random.integers(0, len(pool), rows)]
    if draw(st.booleans()):
        columns["copy"] = columns["c0"]
    return columns


def feature_of(values):
    if any(isinstance(value, str) for value in values):
        levels = tuple(sorted({value for value in values if value is not None}))
        index = [-1.0 if value is None else float(levels.index(value)) for value in values]
        return Feature(levels=levels, value=np.array(index))
    return Feature(levels=None, value=np.array([np.nan if value is None else value for value in values]))


@settings(max_examples=200, deadline=None)
@given(tables(), st.integers(1, 3))
def test_segments_are_sets_of_rows_counted_once(columns, weight):
    """Weights are rows, so that 50 may be 25 rows of weight 2."""
    repeated = {name: [value for value in values for _ in range(weight)] for name, values in columns.items()}
    weights = np.full(len(columns["c0"]), weight, dtype=np.int64)
    values = [values_of(feature_of(column), weights)[1] for column in columns.values()]
    result = []
    for division in divisions(values, weights):
        for segment, rows in enumerate(division.rows.tolist()):
            members = np.flatnonzero(division.segment == segment)
            assert weights[members].sum() == rows
            result.append(frozenset(members.tolist()))
    expected = [frozenset(row // weight for row in members) for members in oracle.segments(repeated).values()]
    assert len(result) == len(expected)
    assert set(result) == set(expected)
