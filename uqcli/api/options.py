"""Convert Python keywords to options: texts to choices, numbers to exact decimals."""

from __future__ import annotations

import decimal
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final, TypeVar, get_type_hints

from uqcli.base.errors import UsageError

ChoiceT = TypeVar("ChoiceT", bound=StrEnum)
OptionsT = TypeVar("OptionsT")

Decimal = str | int | float | Fraction

_DIGITS: Final = 100
"""Working precision; more digits than an exact number may have."""


def choice(name: str, kind: type[ChoiceT], value: str) -> ChoiceT:
    """Convert a text to a choice."""
    try:
        return kind(value)
    except ValueError:
        raise UsageError(f"{name} '{value}'", expected=f"one of {', '.join(kind)}") from None


def options_of(kind: type[OptionsT], options: Mapping[str, Any]) -> OptionsT:
    """Build options from keywords, converting texts to choices.

    Raises
    ------
    UsageError
        An option or a choice does not exist.
    """
    types = get_type_hints(kind)
    hints = {field.name: types[field.name] for field in fields(kind)}  # type: ignore[arg-type]  # a data class
    for name in options:
        if name not in hints:
            similar_names = get_close_matches(name, hints, n=3) or list(hints)
            raise UsageError(f"unknown option '{name}'", expected=f"one of {', '.join(similar_names)}")
    return kind(
        **{
            name: choice(name, hints[name], value)
            if isinstance(hints[name], type) and issubclass(hints[name], StrEnum)
            else value
            for name, value in options.items()
        }
    )


def decimal_text(name: str, value: Decimal) -> str:
    """Convert a number to decimal text, the form that is parsed exactly and saved.

    Parameters
    ----------
    value
        Text is unchanged; a float is read as it prints, 0.7 as seven tenths.

    Raises
    ------
    UsageError
        A fraction has no finite decimal expansion.

    Examples
    --------
    >>> decimal_text("precision", 0.7), decimal_text("precision", Fraction(1, 8))
    ('0.7', '0.125')
    """
    if not isinstance(value, Fraction):
        return str(value)
    with decimal.localcontext(prec=_DIGITS):
        exact = decimal.Decimal(value.numerator) / decimal.Decimal(value.denominator)
    if Fraction(exact) != value:
        raise UsageError(
            f"{name} {value} is no decimal",
            expected="a fraction of tenths, hundredths and so on",
            remedy="give as many digits as it takes, as text",
        )
    return f"{exact:f}"
