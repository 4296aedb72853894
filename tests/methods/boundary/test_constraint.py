"""Tests of constraints: parsing, wording and objective."""

from fractions import Fraction

import pytest

from uqcli.choices import ConstraintKind
from uqcli.confusion import Confusion
from uqcli.errors import UsageError
from uqcli.methods.boundary.constraint import parse_constraint, utility

PRECISION, RECALL, UTILITY = ConstraintKind.PRECISION, ConstraintKind.RECALL, ConstraintKind.UTILITY
MAX_SELECTED, MAX_FPR = ConstraintKind.MAX_SELECTED, ConstraintKind.MAX_FPR


@pytest.mark.parametrize(
    ("kind", "text", "amounts", "target"),
    [
        (PRECISION, "0.7", (Fraction(7, 10),), "precision >= 0.7"),
        (RECALL, "1", (Fraction(1),), "recall >= 1"),
        (MAX_SELECTED, "30", (Fraction(30),), "at most 30 flagged"),
        (MAX_SELECTED, "2.5%", (Fraction(1, 40),), "at most 2.5% flagged"),
        (MAX_FPR, "0", (Fraction(0),), "false-positive rate <= 0"),
        (
            UTILITY,
            "gain=2.5,cost=1",
            (Fraction(5, 2), Fraction(1)),
            "highest utility (gain=2.5,cost=1)",
        ),
    ],
)
def test_a_constraint_is_exact_and_states_its_target(kind, text, amounts, target):
    constraint = parse_constraint(kind, text)
    assert (constraint.kind, constraint.value, constraint.numbers) == (kind, text, amounts)
    assert constraint.text() == target
    assert constraint.relative == text.endswith("%")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (PRECISION, "0"),
        (PRECISION, "1.1"),
        (RECALL, "0"),
        (MAX_FPR, "2"),
        (MAX_SELECTED, "2.5"),
        (MAX_SELECTED, "101%"),
        (UTILITY, "gain=1"),
        (UTILITY, "gain=0.0000000001,cost=1"),
    ],
)
def test_values_out_of_range_are_refused(kind, text):
    with pytest.raises(UsageError):
        parse_constraint(kind, text)


def test_the_objective_depends_on_the_constraint():
    fit = Confusion(selected=4, true_positives=3, rows=9, positives=5)
    assert parse_constraint(PRECISION, "0.5").objective(fit) == 3
    assert parse_constraint(RECALL, "0.5").objective(fit) == Fraction(3, 4)
    assert utility("2", "0.5").objective(fit) == Fraction(11, 2)
