"""Boundaries under other class priors, given the class weights w(1) and w(0)."""

from __future__ import annotations

from fractions import Fraction

from uqcli.errors import UsageError
from uqcli.methods.boundary.constraint import RULES, Constraint, listed
from uqcli.records import dataclass


@dataclass(frozen=True, kw_only=True)
class BinaryWeights:
    """Class weights of target data for two classes: w = q/p.

    Attributes
    ----------
    refuted
        Why nothing about the target data can be stated with them; empty if nothing is against it.
    """

    positive: float
    negative: float
    refuted: str = ""

    def precision(self, source_precision: float | None) -> float | None:
        """Convert the precision of a selection in the source data to that in the target data.

        None if there is none, or if the weights are refuted.
        """
        if source_precision is None or self.refuted:
            return None
        hits, misses = self.positive * source_precision, self.negative * (1 - source_precision)
        return hits / (hits + misses) if hits + misses else None

    def in_source(self, constraint: Constraint) -> Constraint:
        """Convert a constraint on the target data to one on the source data, in exact fractions.

        Raises
        ------
        UsageError
            The constraint is max-selected or a utility, or the weight of a class is 0.
        """
        positive, negative = Fraction(self.positive), Fraction(self.negative)
        if not positive > 0 or not negative > 0:
            raise UsageError(
                "a class has weight 0 in the new data", expected="a positive weight for both classes"
            )
        if constraint.rule.in_target is None:
            options = listed(rule.options for rule in RULES.values() if rule.in_target is not None)
            raise UsageError(f"--shift with {constraint.kind}", expected=options)
        return constraint.rule.in_target(constraint, positive, negative)
