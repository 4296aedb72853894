"""Tests of sums over distinct units against exact fractions, whatever is pooled, and whatever the order."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.estimates.distinct_units import DistinctUnits, rounded_sum


@pytest.mark.parametrize("units", [3, 999, 1000, 3000])
@pytest.mark.parametrize("columns", [1, 2, 4])
@pytest.mark.parametrize("most", [1, 4, 100_000])
def test_units_are_counted_as_often_as_they_occur(units, columns, most):
    random = np.random.default_rng([units, columns, most])
    given_columns = [random.integers(0, most, units) for _ in range(columns)]
    distinct = DistinctUnits.of(*given_columns)
    found = Counter()
    for times, *values in zip(
        np.broadcast_to(distinct.times, len(distinct.columns[0])).tolist(),
        *(part.tolist() for part in distinct.columns),
        strict=True,
    ):
        found[tuple(values)] += times
    assert found == Counter(zip(*(column.tolist() for column in given_columns), strict=True))
    assert distinct.number == units
    assert distinct.is_pooled == (units >= 1000 and most < 100_000)
    assert distinct.count(distinct.columns[0] > 0) == np.count_nonzero(given_columns[0] > 0)


@pytest.mark.parametrize("change", [lambda column: column - 1, lambda column: column * 1.0])
def test_only_numbers_of_rows_are_pooled(change):
    column = np.arange(5000) % 3
    assert DistinctUnits.of(column, column).is_pooled
    assert not DistinctUnits.of(column, change(column)).is_pooled


@given(
    values=st.lists(st.floats(-1e100, 1e100), min_size=1, max_size=6),
    times=st.lists(st.integers(1, 2**26), min_size=6, max_size=6),
    is_pooled=st.booleans(),
)
def test_sums_are_rounded_once(values, times, is_pooled):
    number = np.array(times[: len(values)]) if is_pooled else np.ones(1, dtype=np.int64)
    column = np.array(values)
    units = DistinctUnits(columns=(column,), times=number, is_pooled=is_pooled)
    each = np.broadcast_to(number, len(values)).tolist()
    exact = sum(Fraction(value) * time for value, time in zip(values, each, strict=True))
    assert units.sum(column) == float(exact)
    squares = np.square(column)
    exact = sum(Fraction(value) * time for value, time in zip(squares.tolist(), each, strict=True))
    assert units.squares(column) == float(exact)


def test_whole_numbers_add_up_exactly():
    units = DistinctUnits.of(np.repeat([2**20 + 1, 3], [1500, 700]))
    assert not units.is_pooled
    units = DistinctUnits.of(np.repeat([7, 3], [1500, 700]))
    assert units.is_pooled
    assert units.sum(units.columns[0]) == 7 * 1500 + 3 * 700
    assert units.effective(units.columns[0]) == (7 * 1500 + 3 * 700) ** 2 / (49 * 1500 + 9 * 700)
    assert units.effective(units.columns[0] * 0) == 0.0


@pytest.mark.parametrize("values", [0, 1, 200, 201, 3000])
@pytest.mark.parametrize("spread", [0, 3, 40, 500, 1000])
@pytest.mark.parametrize("cancels", [False, True])
def test_a_sum_is_rounded_once(values, spread, cancels):
    random = np.random.default_rng([values, spread, cancels])
    numbers = random.normal(size=values) * 2.0 ** random.integers(-spread, spread + 1, values)
    numbers[::7] = 0
    if cancels:
        numbers = random.permutation(np.concatenate([numbers, -numbers * (1 + 2.0**-50)]))
    assert rounded_sum(numbers) == float(sum(map(Fraction, numbers.tolist()), Fraction(0)))


@pytest.mark.parametrize("odd", [math.nan, math.inf, 5e-324, 1e308])
def test_a_sum_of_odd_numbers_is_that_of_python(odd):
    numbers = np.append(np.full(300, 0.1), odd)
    np.testing.assert_equal(rounded_sum(numbers), math.fsum(numbers.tolist()))


def test_whole_numbers_of_any_size_are_added_up():
    assert rounded_sum(np.array([2**70] * 300, dtype=object)) == 300 * 2.0**70
