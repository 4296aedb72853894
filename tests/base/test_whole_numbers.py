"""Property tests of sums and products of whole numbers: equal to Python's integers at any size."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base import whole_numbers
from uqcli.base.amounts import units
from uqcli.estimates.value import Moments

NEAR = st.sampled_from([0, 2**31, 2**53, 2**62, 2**63 - 1]).flatmap(
    lambda power: st.integers(max(0, power - 3), min(2**63 - 1, power + 3))
)
ANY = st.one_of(NEAR, st.integers(0, 2**63 - 1))
SIGNED = st.builds(lambda number, sign: number * sign, ANY, st.sampled_from([1, -1]))


def array(numbers):
    return np.array(numbers, dtype=np.int64)


@given(st.lists(SIGNED, max_size=20), SIGNED)
def test_products_and_totals_are_those_of_integers(numbers, factor):
    assert whole_numbers.total(array(numbers)) == sum(numbers)
    assert whole_numbers.product(array(numbers), factor).tolist() == [number * factor for number in numbers]
    assert whole_numbers.product(array(numbers), array(numbers)).tolist() == [x * x for x in numbers]
    assert whole_numbers.largest(array(numbers)) == max(map(abs, numbers), default=0)


@given(st.lists(st.tuples(ANY, ANY), max_size=20))
def test_sums_of_products_are_those_of_integers(pairs):
    one, other = (array([pair[place] for pair in pairs]) for place in (0, 1))
    for factors in ((one,), (one, other), (one, one, other), (one, one, one, other)):
        lists = [values.tolist() for values in factors]
        assert whole_numbers.sum_of_products(*factors) == sum(map(math.prod, zip(*lists, strict=True)))


def test_sums_of_products_are_exact_over_several_blocks():
    ones = np.full((1 << 20) + 3, 2**42 - 1)
    assert whole_numbers.sum_of_products(ones, ones, ones) == len(ones) * (2**42 - 1) ** 3


@given(st.lists(st.tuples(SIGNED, st.integers(0, 3 * 10**9)), max_size=20))
def test_moments_are_those_of_repeated_rows(rows):
    amount, weight = (array([row[place] for row in rows]) for place in (0, 1))
    assert Moments.of(amount, weight) == Moments(
        rows=sum(times for number, times in rows if number),
        total=sum(number * times for number, times in rows),
        squares=sum(number**2 * times for number, times in rows),
        largest=max((abs(number) for number, times in rows if times), default=0),
    )


def test_amounts_of_the_largest_size_are_exact():
    assert units(np.array([2.0**53 / 10_000])).tolist() == [2**53]
