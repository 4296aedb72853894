"""Tests of sums over drawn rows: as Python, as array functions and compiled, with the same bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.kernels.drawn import add_at, line_sums, place, placement_moments, weighted_moments

RUNS = pytest.mark.parametrize("form", ["python", "arrays", "compiled"])
SEEDS = st.integers(0, 2**32 - 1)


@RUNS
@given(seed=SEEDS, rows=st.integers(1, 30), single=st.booleans())
def test_amounts_are_added_at_their_index(form, seed, rows, single):
    random = np.random.default_rng(seed)
    index = random.integers(0, 5, rows, dtype=np.int32)
    amount = random.integers(0, 9, 1 if single and rows > 1 else rows)
    sums = np.zeros(5, dtype=np.int64)
    getattr(add_at, form)(index, amount, sums)
    expected = [0] * 5
    for row, at in enumerate(index.tolist()):
        expected[at] += int(amount[0 if len(amount) < rows else row])
    assert sums.tolist() == expected


@RUNS
@given(rows=st.lists(st.integers(0, 9), min_size=1, max_size=20))
def test_places_are_rows_below_and_above_with_half_of_ties(form, rows):
    count, below, above = np.array(rows), np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    getattr(place, form)(count, 0, below)
    getattr(place, form)(count, sum(rows), above)
    assert below.tolist() == [2 * sum(rows[:value]) + here for value, here in enumerate(rows)]
    assert above.tolist() == (
        [2 * sum(rows[value + 1 :]) + here for value, here in enumerate(rows)]
        if any(rows)
        else below.tolist()
    )


@given(seed=SEEDS, rows=st.sampled_from([1, 7, 4096, 5000]))
def test_moments_are_those_of_rows_with_the_same_bits_in_each_form(seed, rows):
    random = np.random.default_rng(seed)
    times, values = random.integers(0, 4, rows), random.normal(size=(3, rows))
    sums = {form: np.empty((3, 2)) for form in ("python", "arrays", "compiled")}
    for form, filled in sums.items():
        getattr(weighted_moments, form)(times, values, filled)
    np.testing.assert_array_equal(sums["python"], sums["arrays"])
    np.testing.assert_array_equal(sums["python"], sums["compiled"])
    expanded = [np.repeat(value, times) for value in values]
    expected = [[row.sum(), (row * row).sum()] for row in expanded]
    np.testing.assert_allclose(sums["python"], expected, atol=1e-9)


@given(seed=SEEDS, rows=st.integers(1, 40))
def test_moments_of_placements_are_those_of_rows_with_the_same_bits_in_each_form(seed, rows):
    random = np.random.default_rng(seed)
    times = random.integers(0, 4, rows)
    index = random.integers(0, 6, (2, rows), dtype=np.int32)
    places, scale = random.integers(0, 99, (2, 6)), random.random(3)
    sums = {form: np.empty((3, 2)) for form in ("python", "arrays", "compiled")}
    for form, filled in sums.items():
        getattr(placement_moments, form)(times, *index, *places, scale, filled)
    np.testing.assert_array_equal(sums["python"], sums["arrays"])
    np.testing.assert_array_equal(sums["python"], sums["compiled"])
    first, second = (
        np.repeat(of_side[at] * scale[0] - centre, times)
        for of_side, at, centre in zip(places, index, scale[1:], strict=True)
    )
    expected = [[x.sum(), (x * x).sum()] for x in (first, second, second - first)]
    np.testing.assert_allclose(sums["python"], expected, atol=1e-7)


@given(seed=SEEDS, label=st.sampled_from([0, 1]), cut=st.integers(1, 29))
def test_sums_of_a_line_are_its_derivatives_with_the_same_bits_in_each_form(seed, label, cut):
    random = np.random.default_rng(seed)
    x, probability, times = random.normal(size=30), random.random(30), random.integers(0, 5, 30)
    sums = {form: np.zeros(8) for form in ("python", "arrays", "compiled")}
    for form, filled in sums.items():
        for part in (slice(0, cut), slice(cut, 30)):
            getattr(line_sums, form)(x[part], probability[part], times[part], label, filled)
    np.testing.assert_array_equal(sums["python"], sums["arrays"])
    np.testing.assert_array_equal(sums["python"], sums["compiled"])
    expected = np.zeros(8)
    for row in range(30):
        p, residual = probability[row], label - probability[row]
        expected[:2] += times[row] * residual * np.array([1, x[row]])
        expected[2:5] += times[row] * p * (1 - p) * x[row] ** np.arange(3)
        expected[5:] += times[row] * residual**2 * x[row] ** np.arange(3)
    np.testing.assert_allclose(sums["python"], expected, atol=1e-9)
