"""Measure what the flagged rows of boundaries are worth, from the gain or cost of each row."""

from __future__ import annotations

from collections.abc import Sequence

from uqcli.artifacts.boundary import BoundaryArtifact
from uqcli.errors import UsageError
from uqcli.methods.boundary.constraint import Constraint


def utility_of(rules: Sequence[BoundaryArtifact], given: Constraint | None) -> Constraint | None:
    """Return the gain and cost by which rules are measured: the given ones, else their own; None without any.

    Raises
    ------
    UsageError
        The rules have different gains or costs, and none are given.
    """
    if given is not None:
        return given
    own = {rule.constraint.value: rule.constraint for rule in rules}
    utilities = [saved.parsed() for saved in own.values() if saved.parsed().is_utility]
    if len(utilities) > 1:
        listed = " and ".join(utility.value for utility in utilities)
        raise UsageError(f"rules with {listed}", expected="the same for all", remedy="give --gain and --cost")
    return utilities[0] if utilities else None
