"""Tests of the bin sizes of pava-bc: the rule, and user-given minimum and maximum."""

from math import isqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base.choices import BinSizing
from uqcli.estimates.binning import BinSizes


@given(st.integers(1, 10**9), st.data())
def test_bins_grow_with_the_square_root_of_the_rows_and_with_imbalance(rows, data):
    positives = data.draw(st.integers(0, rows))
    n_min, n_max = BinSizes().bounds_for(rows, positives)
    if positives in (0, rows):
        assert n_min == max(1, rows // 20)
    else:
        assert n_min == max(1, min(rows // 20, isqrt(rows**3 // (positives * (rows - positives)))))
    assert n_max == max(1, min(rows // 5, 4 * n_min))
    paper = BinSizes(sizing=BinSizing.PAPER).bounds_for(rows, positives)
    assert paper == (max(1, rows // 20), max(1, rows // 5))
    assert n_min <= paper[0]


@pytest.mark.parametrize("rows", [1, 40, 1000, 1600])
def test_sizes_up_to_1600_rows_are_those_of_the_paper(rows):
    paper = BinSizes(sizing=BinSizing.PAPER).bounds_for(rows, rows // 2)
    assert BinSizes().bounds_for(rows, rows // 2) == paper


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.sampled_from(BinSizing))
def test_the_default_size_never_contradicts_the_given_one(rows, given_size, sizing):
    from_minimum = BinSizes(n_min=given_size, sizing=sizing).bounds_for(rows, rows // 3)
    assert from_minimum[0] == given_size <= from_minimum[1]
    from_maximum = BinSizes(n_max=given_size, sizing=sizing).bounds_for(rows, rows // 3)
    assert 1 <= from_maximum[0] <= from_maximum[1] == given_size
