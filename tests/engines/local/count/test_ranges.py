"""Tests of key ranges: each key is in exactly one, and ranges are narrow where keys are dense."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.engines.local.count.cached import _Store
from uqcli.engines.local.count.keys import ColumnSummary
from uqcli.engines.local.count.part import Part
from uqcli.engines.local.count.ranges import Ranges
from uqcli.kernels.keys import keys_of

WIDTHS = {np.float32: 32, np.float64: 64}


@given(
    st.sampled_from(sorted(WIDTHS, key=str)).flatmap(
        lambda kind: st.lists(
            st.floats(allow_nan=False, allow_infinity=False, width=WIDTHS[kind]), min_size=1
        ).map(lambda values: np.array(values, dtype=kind) + kind(0))  # no negative zeros
    ),
    st.integers(2, 300),
)
def test_range_numbers_follow_from_the_starts(values, max_ranges):
    keys = keys_of(values)
    column = ColumnSummary()
    column.add(ColumnSummary.of(keys))
    ranges = Ranges.over(column, max_ranges)
    assert 1 <= ranges.size <= max_ranges
    starts = ranges.starts
    assert len(starts) == ranges.size
    assert (starts[1:] >= starts[:-1]).all()
    beyond = keys_of(np.array([np.inf], dtype=values.dtype))[0]
    probes = np.concatenate([keys, starts, starts[1:] - 1, [beyond - 1]], dtype=keys.dtype)
    probes = np.unique(probes[(probes >= keys.min()) & (probes < beyond)])
    np.testing.assert_array_equal(
        ranges.indices_of(probes), np.searchsorted(starts, probes, side="right") - 1
    )


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_ranges_contain_about_equally_many_rows(scale):
    values = (np.random.default_rng(0).normal(5, 1, 200_000) * scale).astype(np.float32)
    column = ColumnSummary()
    for part in np.split(values, 200):
        column.add(ColumnSummary.of(keys_of(part)))
    ranges = Ranges.over(column, 1 << 12)
    rows_per_range = np.bincount(ranges.indices_of(keys_of(values)), minlength=ranges.size)
    assert ranges.size > 1 << 11
    assert np.sort(rows_per_range)[-100:].max() < 10 * len(values) / ranges.size


def test_columns_of_a_part_share_no_memory():
    """Each column has a memory block of its own, so that the uncertainty can be freed alone."""
    keys = keys_of(np.arange(4.0))
    part = Part(keys={"score": keys, "uncertainty": keys}, cuts=np.array([0, 2, 4]))
    store = _Store()
    first, second = store.part(part), store.part(part)
    bases = {role: {id(stored.keys[role].base) for stored in (first, second)} for role in part.keys}
    assert all(len(ids) == 1 for ids in bases.values())
    assert bases["score"] != bases["uncertainty"]
