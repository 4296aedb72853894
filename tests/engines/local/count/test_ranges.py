"""Ranges of keys: each key is in one of them, and they are narrow where the keys are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.engines.local.count.cached import ColumnFacts, _Store
from uqcli.engines.local.count.keys import keys_of
from uqcli.engines.local.count.part import Part
from uqcli.engines.local.count.ranges import Ranges

WIDTHS = {np.float32: 32, np.float64: 64}


@given(
    st.sampled_from(sorted(WIDTHS, key=str)).flatmap(
        lambda kind: st.lists(
            st.floats(allow_nan=False, allow_infinity=False, width=WIDTHS[kind]), min_size=1
        ).map(lambda values: np.array(values, dtype=kind) + kind(0))  # no negative zeros
    ),
    st.integers(2, 300),
)
def test_numbers_are_those_of_the_starts(values, most):
    keys = keys_of(values)
    facts = ColumnFacts()
    facts.note(keys)
    ranges = Ranges.over(facts, most)
    assert 1 <= ranges.size <= most
    starts = ranges.starts
    assert len(starts) == ranges.size
    assert (starts[1:] >= starts[:-1]).all()
    beyond = keys_of(np.array([np.inf], dtype=values.dtype))[0]
    near = np.concatenate([keys, starts, starts[1:] - 1, [beyond - 1]], dtype=keys.dtype)
    near = np.unique(near[(near >= keys.min()) & (near < beyond)])
    np.testing.assert_array_equal(ranges.numbers(near), np.searchsorted(starts, near, side="right") - 1)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_ranges_hold_about_equally_many_rows(scale):
    values = (np.random.default_rng(0).normal(5, 1, 200_000) * scale).astype(np.float32)
    facts = ColumnFacts()
    for part in np.split(values, 200):
        facts.note(keys_of(part))
    ranges = Ranges.over(facts, 1 << 12)
    held = np.bincount(ranges.numbers(keys_of(values)), minlength=ranges.size)
    assert ranges.size > 1 << 11
    assert np.sort(held)[-100:].max() < 10 * len(values) / ranges.size


def test_a_column_that_is_let_go_leaves_its_memory():
    """Columns of one part share no piece of memory, so that the uncertainty can be freed alone."""
    keys = keys_of(np.arange(4.0))
    part = Part(keys={"score": keys, "uncertainty": keys}, cuts=np.array([0, 2, 4]), weight=None)
    store = _Store()
    first, second = store.part(part), store.part(part)
    bases = {role: {id(each.keys[role].base) for each in (first, second)} for role in part.keys}
    assert all(len(each) == 1 for each in bases.values())
    assert bases["score"] != bases["uncertainty"]
