"""Tests of thresholds that decide alike for 32-bit numbers, their texts and 64-bit numbers."""

import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import single_precision as oracle
from uqcli.base.single_precision import (
    all_lowered,
    highest_alike,
    lowered,
    lowered_fixed,
    lowest_alike,
    near_edges,
    near_thresholds,
    of_texts,
    rounded_down,
    shown,
    unless_between,
)

LARGEST = float(np.finfo(np.float32).max)
SPECIAL = [0.0, 5e-324, -5e-324, 1e-45, -1e-46, LARGEST, -LARGEST, 3.5e38, -3.5e38, -sys.float_info.max]
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0),
    st.integers(0, 1000).map(lambda number: number / 1000),
    st.sampled_from(SPECIAL),
)


@st.composite
def neighbours(draw):
    """Draw numbers that are few 32-bit units apart: of 32 bits, their texts, or any other."""
    start, result = np.float32(draw(st.integers(1, 999)) / 1000), []
    for step in draw(st.lists(st.integers(0, 3), min_size=1, max_size=8)):
        number = start
        for _ in range(step):
            number = np.nextafter(number, np.float32(np.inf))
        share = draw(st.sampled_from([0.0, 0.2, 0.5, 0.8]))
        between = float(number) + share * (float(np.nextafter(number, np.float32(np.inf))) - float(number))
        result.append(draw(st.sampled_from([float(number), float(str(number)), between])))
    return result


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_the_lowest_number_alike_is_that_of_a_search(numbers):
    low, high = lowest_alike(np.array(numbers)), highest_alike(np.array(numbers))
    assert low.tolist() == [oracle.lowest(number) for number in numbers]
    assert high.tolist() == [-oracle.lowest(-number) for number in numbers]


@given(NUMBERS.map(oracle.nearest), NUMBERS.map(oracle.nearest))
def test_a_32_bit_number_and_its_text_reach_the_same_thresholds(number, other):
    """Whether the threshold is another such number, or its text."""
    if not np.isfinite(number) or not np.isfinite(other):
        return
    for threshold in (float(other), float(str(other))):
        low = lowest_alike(np.array([threshold]))[0]
        decisions = {float(number) >= low, float(str(number)) >= low, bool(number >= np.float32(low))}
        assert decisions == {bool(number >= other)}


@given(neighbours(), st.integers(0, 1000).map(lambda number: number / 1000))
def test_edges_are_moved_over_no_other_value(numbers, fixed):
    values = sorted(set(numbers))
    edges = np.array(values)
    expected = [oracle.edge(edge, values) for edge in values]
    assert lowered(edges, edges).tolist() == expected
    assert all_lowered(edges).tolist() == expected
    upwards = unless_between(edges, highest_alike(edges), edges)
    assert upwards.tolist() == [-oracle.edge(-edge, [-value for value in values]) for edge in values]
    for edge in (fixed, *(float(str(oracle.nearest(value))) for value in values)):
        assert lowered_fixed(np.array([edge]), edges).tolist() == [oracle.fixed_edge(edge, values)]


@given(st.one_of(neighbours(), st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8)))
def test_a_shown_threshold_has_few_digits_and_the_same_values_at_or_above_it(numbers):
    values = sorted({number + 0.0 for number in numbers if number == 0 or abs(number) > 1e-9})
    if not values:
        return
    edges = np.array(values)
    thresholds = lowered(edges, edges)
    few = shown(thresholds, edges)
    assert few.tolist() == [oracle.shown(threshold, values) for threshold in thresholds.tolist()]
    for threshold, text in zip(thresholds.tolist(), map(repr, few.tolist()), strict=True):
        assert (edges >= float(text)).tolist() == (edges >= threshold).tolist()


@given(st.lists(NUMBERS, min_size=1, max_size=5))
def test_rounding_down_never_rounds_up(numbers):
    rounded = rounded_down(np.array(numbers))
    assert (rounded <= np.array(numbers)).all()


def test_values_near_edges_and_thresholds_are_those_that_move_them():
    edges = np.array([0.7, 2 / 3])
    assert {*edges.tolist(), *lowest_alike(edges).tolist()} <= set(near_edges(edges).tolist())
    assert {0.666666, *lowest_alike(edges).tolist()} <= set(near_thresholds(edges).tolist())


@given(st.lists(NUMBERS.map(oracle.nearest).filter(np.isfinite), min_size=1, max_size=8), neighbours())
def test_only_the_shortest_texts_of_32_bit_numbers_become_these(numbers, others):
    normal = [number for number in numbers if number == 0 or abs(number) > 1e-30]
    texts = np.array([float(str(number)) for number in normal])
    assert of_texts(texts).tolist() == [float(number) for number in normal]
    for other, result in zip(others, of_texts(np.array(others)).tolist(), strict=True):
        own = oracle.nearest(other)
        assert result == (float(own) if other == float(str(own)) else other)
