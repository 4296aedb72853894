"""Convert Python numbers to exact decimals."""

from __future__ import annotations

import decimal
from fractions import Fraction
from typing import Final

from uqcli.base.errors import UsageError

Decimal = str | int | float | Fraction

_DIGITS: Final = 100
"""Working precision; more digits than an exact number may have."""


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
