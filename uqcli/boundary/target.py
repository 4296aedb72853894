"""Constraints under other class priors, given the class weights w(1) and w(0)."""

from __future__ import annotations

from fractions import Fraction

from uqcli.base.errors import UsageError
from uqcli.boundary.search.constraint import RULES, Constraint, listed
from uqcli.shift.target import BinaryWeights


def in_source(weights: BinaryWeights, constraint: Constraint) -> Constraint:
    """Convert a constraint on the target data to one on the source data, in exact fractions.

    Raises
    ------
    UsageError
        The constraint is max-selected or a utility, or the weight of a class is 0.
    """
    positive, negative = Fraction(weights.positive), Fraction(weights.negative)
    if not positive > 0 or not negative > 0:
        raise UsageError(
            "a class has weight 0 in the new data", expected="a positive weight for both classes"
        )
    if constraint.rule.in_target is None:
        options = listed(rule.options for rule in RULES.values() if rule.in_target is not None)
        raise UsageError(f"--shift with {constraint.kind}", expected=options)
    return constraint.rule.in_target(constraint, positive, negative)
