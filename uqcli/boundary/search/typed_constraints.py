"""Constraints as typed on a command line or saved in a rule file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from uqcli.base.errors import UsageError, listed_words, words
from uqcli.base.exact_numbers import decimal
from uqcli.base.wording import listed
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.constraint_kinds import COMBINED, RULES, ConstraintKind
from uqcli.boundary.search.utility import utility


def parse_constraint(kind: ConstraintKind, text: str) -> Constraint:
    """Parse a constraint as exact fractions of the typed decimals.

    Examples
    --------
    >>> parse_constraint(ConstraintKind.PRECISION, "0.7").numbers
    (Fraction(7, 10),)
    """
    return RULES[kind].read(text)


def constraints_from(**options: str | None) -> tuple[Constraint, ...]:
    """Parse the given constraint, or one for each bound if bounds are separated by commas; none twice."""
    set_options = {name: value for name, value in options.items() if value is not None}
    lists = [
        (name, text) for name, text in set_options.items() if "," in text and name not in {"gain", "cost"}
    ]
    if not lists:
        return (constraint_from(**options),)
    name, text = lists[0]
    if re.fullmatch(r"0?,\d+", text):
        raise UsageError(
            words("{} '{}'", name, text),
            expected="a decimal point: commas separate several bounds",
            remedy=f"did you mean {text.replace(',', '.')}?",
        )
    if len(set_options) > 1:
        raise UsageError(
            words("{} '{}' beside other bounds", name, text),
            expected="one value",
            remedy="run the command for each",
        )
    values = [item.strip() for item in text.split(",")]
    constraints = tuple(constraint_from(**{name: value}) for value in values)
    if len({constraint.numbers for constraint in constraints}) < len(constraints):
        raise UsageError(words("{} '{}' names a bound twice", name, text), expected="different bounds")
    return constraints


def constraint_from(**options: str | None) -> Constraint:
    """Parse the given constraint; gain and cost together are a single constraint.

    The options are ``gain``, ``cost``, and the kinds of constraints with underscores. None, or several, are a
    UsageError.
    """
    given = {name: value for name, value in options.items() if value is not None}
    gain, cost = given.pop("gain", None), given.pop("cost", None)
    has_worth = (gain or cost) is not None
    kinds = {ConstraintKind(name.replace("_", "-")): value for name, value in given.items()}
    if not kinds and not has_worth:
        *others, last = (rule.options for rule in RULES.values())
        names = words("{}, or {}", words(", ".join(["{}"] * len(others)), *others), last)
        raise UsageError(
            "no constraint given",
            expected=words("one of {}", names),
            remedy=words("for example --precision 0.7"),
        )
    if len(kinds) + has_worth > 1 and (has_worth or not set(kinds) <= set(COMBINED)):
        both = [RULES[kind].options for kind in kinds]
        both += [RULES[ConstraintKind.UTILITY].options] if has_worth else []
        together = listed_words(RULES[kind].options for kind in COMBINED)
        raise UsageError(
            words(" and ".join(["{}"] * len(both)) + " cannot be combined", *both),
            expected=words("one bound, or several of {}", together),
            remedy="leave one out",
        )
    if kinds:
        return bounds_together(kinds)
    if gain is None or cost is None:
        raise UsageError(words("only one of --gain and --cost is given"), remedy="add the other")
    return utility(gain, cost)


def bounds_together(typed: Mapping[ConstraintKind, str]) -> Constraint:
    """Parse bounds that must all be met, by their kinds; the order in which they are given does not matter.

    Some kinds cannot be combined, which is a UsageError.
    """
    if len(typed) > 1 and not set(typed) <= set(COMBINED):
        raise UsageError(f"bounds {' and '.join(typed)} together", expected=listed(COMBINED, "or"))
    first, *others = (
        parse_constraint(kind, typed[kind]) for kind in dict.fromkeys((*COMBINED, *typed)) if kind in typed
    )
    return replace(first, also=tuple(others))


def with_margin(constraint: Constraint, standard_errors: str | None) -> Constraint:
    """Add a margin in standard errors to a precision; None adds none."""
    if standard_errors is None:
        return constraint
    if not constraint.takes_margin:
        raise UsageError(words("--margin with {}", constraint.options), expected=words("--precision"))
    return replace(constraint, margin=decimal("margin", standard_errors))
