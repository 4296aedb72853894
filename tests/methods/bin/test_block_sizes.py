"""Sizes of the bins of pava-bc: the rule, and what may be given of it."""

from math import isqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.choices import BinSizing
from uqcli.methods.bin.block_sizes import BlockSizes


@given(st.integers(1, 10**9), st.data())
def test_bins_grow_with_the_square_root_of_the_rows_and_with_rarity(rows, data):
    positives = data.draw(st.integers(0, rows))
    n_min, n_max = BlockSizes().bounds_for(rows, positives)
    if positives in (0, rows):
        assert n_min == max(1, rows // 20)
    else:
        assert n_min == max(1, min(rows // 20, isqrt(rows**3 // (positives * (rows - positives)))))
    assert n_max == max(1, min(rows // 5, 4 * n_min))
    paper = BlockSizes(sizing=BinSizing.PAPER).bounds_for(rows, positives)
    assert paper == (max(1, rows // 20), max(1, rows // 5))
    assert n_min <= paper[0]


@pytest.mark.parametrize("rows", [1, 40, 1000, 1600])
def test_up_to_1600_rows_they_are_the_papers(rows):
    paper = BlockSizes(sizing=BinSizing.PAPER).bounds_for(rows, rows // 2)
    assert BlockSizes().bounds_for(rows, rows // 2) == paper


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.sampled_from(BinSizing))
def test_what_is_not_given_never_contradicts_what_is(rows, given_size, sizing):
    least = BlockSizes(n_min=given_size, sizing=sizing).bounds_for(rows, rows // 3)
    assert least[0] == given_size <= least[1]
    most = BlockSizes(n_max=given_size, sizing=sizing).bounds_for(rows, rows // 3)
    assert 1 <= most[0] <= most[1] == given_size
