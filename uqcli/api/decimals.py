"""Decimals as people write them in Python."""

from __future__ import annotations

from fractions import Fraction

from uqcli.errors import UsageError

Decimal = str | int | float | Fraction


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
    digits, rest = 0, value.denominator
    while rest % 10 == 0 or rest % 2 == 0 or rest % 5 == 0:
        rest //= 10 if rest % 10 == 0 else 2 if rest % 2 == 0 else 5
        digits += 1
    if rest > 1:
        raise UsageError(
            f"{name} {value} is no decimal",
            expected="a fraction of tenths, hundredths and so on",
            remedy="give as many digits as it takes, as text",
        )
    scaled = str(abs(value.numerator) * 10**digits // value.denominator).rjust(digits + 1, "0")
    whole = scaled[: len(scaled) - digits]
    return f"{'-' if value < 0 else ''}{whole}" + (f".{scaled[-digits:]}" if digits else "")
