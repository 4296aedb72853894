"""Decimals as people write them in Python."""

from __future__ import annotations

import decimal
from fractions import Fraction
from typing import Final

from uqcli.errors import UsageError

Decimal = str | int | float | Fraction

_DIGITS: Final = 100
"""More than an exact number may have."""


def decimal_text(name: str, value: Decimal) -> str:
    """A number as the text of a decimal, which is what is read exactly and saved.

    Parameters
    ----------
    value
        Text stays as it is; a float is read as it prints, 0.7 as seven tenths.

    Raises
    ------
    UsageError
        A fraction that no decimal equals.

    Examples
    --------
    >>> decimal_text("precision", 0.7), decimal_text("precision", Fraction(1, 8))
    ('0.7', '0.125')
    """
    if not isinstance(value, Fraction):
        return str(value)
    with decimal.localcontext(prec=_DIGITS):
        found = decimal.Decimal(value.numerator) / decimal.Decimal(value.denominator)
    if Fraction(found) != value:
        raise UsageError(
            f"{name} {value} is no decimal",
            expected="a fraction of tenths, hundredths and so on",
            remedy="give as many digits as it takes, as text",
        )
    return f"{found:f}"
