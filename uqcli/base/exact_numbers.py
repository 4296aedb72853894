"""Exact parsing of typed numbers, with their size checked first.

Python expands ``1e-99999999`` to a fraction of a hundred million digits and ignores signals meanwhile. Every
exact number of every command is therefore parsed here.
"""

from __future__ import annotations

import operator
import re
from decimal import Context, Decimal
from fractions import Fraction
from typing import Final

from uqcli.base.defaults import MAX_BINS
from uqcli.base.errors import UsageError, words

MAX_DIGITS: Final = 30
"""Maximum digits before and after the point, each; exponents have at most two."""

_DECIMAL: Final = re.compile(
    rf"\+?(\d{{1,{MAX_DIGITS}}}(\.\d{{0,{MAX_DIGITS}}})?|\.\d{{1,{MAX_DIGITS}}})([eE][+-]?\d{{1,2}})?",
    re.ASCII,
)
_EXACT: Final = Context(prec=4 * MAX_DIGITS + 100)
_PERCENT: Final = re.compile(r"(\d{1,3}(?:\.\d{1,9})?) ?%?", re.ASCII)
_LEAST_PERCENT: Final = 2
"""A number above 1 but below this is rather a mistake than a percentage."""

_WITH_COMMA: Final = re.compile(r"0?,\d{1,30}", re.ASCII)
_LONG_DECIMAL: Final = re.compile(r"\+?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def decimal(
    name: str,
    text: str,
    *,
    above: int | None = None,
    below: int | None = None,
    at_most: int | None = None,
    unit: str = "",
) -> Fraction:
    """Parse a decimal of at least 0 as an exact fraction, within bounds and of not too many digits.

    Its messages begin with ``name``; ``unit`` is what was typed after the number.

    Examples
    --------
    >>> decimal("alpha", "0.10", above=0, below=1)
    Fraction(1, 10)
    """
    value = Fraction(text) if _DECIMAL.fullmatch(text) else None
    stated = (("above", operator.gt, above), ("below", operator.lt, below), ("at most", operator.le, at_most))
    relations = [(words, holds, bound) for words, holds, bound in stated if bound is not None]
    if value is not None and all(holds(value, bound) for _, holds, bound in relations):
        return value
    bounds = [] if above is not None else ["of at least 0"]
    bounds += [f"{words} {bound}{unit}" for words, _, bound in relations]
    digits = ""
    share = _share_meant(text, most=Fraction(1) if at_most == 1 else Fraction(1, 2))
    remedy = f"did you mean {share}?" if share and 1 in (at_most, below) else ""
    if value is None and _LONG_DECIMAL.fullmatch(text):
        digits = f", of at most {MAX_DIGITS} digits on each side and two in its exponent"
    raise UsageError(
        words("{} is '{}{}'", name, _shortened(text), unit),
        expected=f"a decimal number {' and '.join(bounds)}{digits}",
        remedy=remedy,
    )


def share_text(text: str) -> str:
    """Write a percentage as a decimal; other texts stay as they are.

    Examples
    --------
    >>> share_text("80%"), share_text("2.5 %"), share_text("0.8")
    ('0.8', '0.025', '0.8')
    """
    percent = text.strip().removesuffix("%").rstrip()
    if percent == text.strip() or not _DECIMAL.fullmatch(percent):
        return text
    share = Decimal(percent).scaleb(-2, _EXACT)
    return f"{share.normalize(_EXACT):f}"


def percent_text(text: str) -> str:
    """Write a decimal as a percentage, with all its digits; other texts stay as they are.

    Examples
    --------
    >>> percent_text("0.7"), percent_text("0.6845"), percent_text("80%"), percent_text("5:1")
    ('70 %', '68.45 %', '80 %', '5:1')
    """
    share = share_text(text)
    if not _DECIMAL.fullmatch(share.strip()):
        return text
    return f"{Decimal(share.strip()).scaleb(2, _EXACT).normalize(_EXACT):f} %"


def is_number(text: str) -> bool:
    """Whether a text is meant as a number, valid or not.

    Examples
    --------
    >>> is_number("-1e3"), is_number("cost")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def _share_meant(text: str, *, most: Fraction) -> str:
    """Return the share that a percentage or a number with a decimal comma means; empty if it means none.

    It is at most ``most``: a risk of 90 may as well be a confidence.
    """
    if _WITH_COMMA.fullmatch(text):
        return text.replace(",", ".")
    percent = _PERCENT.fullmatch(text)
    if percent is None or (float(percent[1]) < _LEAST_PERCENT and not text.endswith("%")):
        return ""
    share = Fraction(percent[1]) / 100
    return f"{float(share):g}" if 0 < share <= most else ""


def _shortened(text: str) -> str:
    return text if len(text) <= 2 * MAX_DIGITS else f"{text[:MAX_DIGITS]}..."


def size(name: str, text: str) -> int:
    """Parse a number of bins, or of rows per bin: a whole number from 1 to ``MAX_BINS``."""
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS):
        raise UsageError(
            words("{} is '{}'", name, _shortened(text)), expected=f"a whole number from 1 to {MAX_BINS:,}"
        )
    return check_size(name, int(text))


def check_size(name: str, value: int, maximum: int = MAX_BINS) -> int:
    """Refuse a number of bins, or of rows per bin, beyond what a table can have."""
    if not 1 <= value <= maximum:
        raise UsageError(words("{} is {:,}", name, value), expected=f"a whole number from 1 to {maximum:,}")
    return value
