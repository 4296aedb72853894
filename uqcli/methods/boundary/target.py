"""Boundaries under other class priors, given the class weights w(1) and w(0)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from uqcli.choices import ConstraintKind
from uqcli.errors import UsageError
from uqcli.methods.boundary.constraint import Constraint


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

        Precision ``TP w(1) / (TP w(1) + FP w(0)) >= s`` is
        ``TP / (TP + FP) >= s w(0) / (s w(0) + (1-s) w(1))``.
        Recall and false-positive rate concern one class each and do not change.

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
        if constraint.kind in (ConstraintKind.RECALL, ConstraintKind.MAX_FPR):
            return constraint
        if constraint.kind is not ConstraintKind.PRECISION:
            raise UsageError(f"--shift with {constraint.kind}", expected="--precision, --recall or --max-fpr")
        (precision,) = constraint.numbers
        bound = precision * negative / (precision * negative + (1 - precision) * positive)
        return replace(constraint, numbers=(bound,))
