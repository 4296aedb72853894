"""Targets of a backtest: one constraint, with each margin."""

from __future__ import annotations

from collections.abc import Mapping

from uqcli.base.errors import Opt, UsageError, words
from uqcli.base.exact_numbers import decimal
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.typed_constraints import constraint_from, with_margin


def targets_from(typed: Mapping[str, str | None], margins: str) -> tuple[Constraint, ...]:
    """Parse the constraint as typed, and return it with each of the margins, which are different numbers.

    Several constraints, or bounds, are a UsageError.
    """
    if not any(typed.values()):
        raise UsageError(
            words("no target"),
            expected=words("--precision, --recall, --max-fpr, --max-selected, --gain with --cost, or --top"),
            remedy=words("for example --precision 0.7"),
        )
    for option, text in typed.items():
        if text is not None and "," in text:
            raise UsageError(words("{} '{}'", Opt(option), text), expected="one value")
    constraint = constraint_from(**typed)
    if constraint.also:
        raise UsageError("several bounds together", expected="one target", remedy="leave the others out")
    listed = [text.strip() for text in margins.split(",")]
    numbers = [decimal("margin", text, above=None) for text in listed]
    if len(set(numbers)) < len(numbers):
        raise UsageError(words("--margin '{}'", margins), expected="different numbers")
    if numbers == [0]:
        return (constraint,)
    return tuple(
        constraint if number == 0 else with_margin(constraint, text)
        for number, text in zip(numbers, listed, strict=True)
    )
