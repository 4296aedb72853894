"""Numbers of exported programs: what is written, and what counts as the same."""

import re
from fractions import Fraction

import polars as pl
import pytest

from uqcli.export.check import _differ
from uqcli.export.sql import SqlDialect, _Quoting
from uqcli.rules.expressions import (
    Column,
    Comparison,
    Constant,
    Formula,
    Let,
    Name,
    Output,
    Steps,
    compared_numbers,
)

NUMBERS = re.compile(r"[\d.]+(?:e[+-]?\d+)?")


def written(value):
    return _Quoting(SqlDialect.SQLITE).literal(value)


@pytest.mark.parametrize("value", [0.1, 0.000123456789012345, 123456789012345.0, 1.5e300, 5e-324])
def test_sqlite_reads_up_to_15_digits_as_they_are(value):
    assert NUMBERS.fullmatch(written(value))
    assert float(written(value)) == value


@pytest.mark.parametrize(
    "value", [0.1 + 0.2, 0.1234567890123456, 1.2345678901234567e25, 2.0**60, 2.0**60 + 2.0**8, 1e-300 / 3]
)
def test_more_digits_are_an_exact_product_of_numbers_that_sqlite_reads(value):
    text = written(value)
    numbers = NUMBERS.findall(text)
    assert len(numbers) > 1
    assert all(len(number.removesuffix("e0")) <= 16 for number in numbers)
    product = NUMBERS.sub(r"Fraction('\g<0>')", text)
    assert eval(product, {"Fraction": Fraction}) == Fraction(value)


BOUND = 2.0**-40


@pytest.mark.parametrize(
    ("expected", "actual", "differ"),
    [
        (1.0, 1 + BOUND, False),
        (1.0, 1 + 2 * BOUND, True),
        (-1.0, -1 - BOUND, False),
        (0.0, 1e-300, False),
        (0.0, 3e-300, True),
        (0.5, float("nan"), True),
        (0.0, None, True),
        (None, 0.0, True),
        (None, None, False),
    ],
)
def test_probabilities_within_the_bound_are_the_same(expected, actual, differ):
    output = Output(name="p", value=Constant(0.0), kind="double")
    columns = (pl.Series([number], dtype=pl.Float64) for number in (expected, actual))
    assert _differ(output, *columns, BOUND).tolist() == [differ]


def test_numbers_are_those_that_a_column_is_compared_with_also_under_a_name():
    score, other = Column(name="score", kind="number"), Column(name="other", kind="number")
    steps = Steps(score, (0.25, 0.5), (Constant(0.0), Constant(1.0), Constant(2.0)))
    named = Let("n", other, Comparison(">=", Name("n"), Constant(0.75)))
    formula = Formula(
        inputs=(score, other),
        required=(),
        outputs=(
            Output(name="a", kind="double", value=steps),
            Output(name="b", kind="boolean", value=named),
            Output(name="c", kind="boolean", value=Comparison("<", other, Constant(float("inf")))),
        ),
    )
    assert compared_numbers(formula) == {"score": [0.25, 0.5, 0.75], "other": [0.75]}
