"""Text from data, shown as it is: what would act on a terminal or a page is written out instead.

Column and group names may hold anything: escapes that move the cursor, line ends, marks that turn the
writing direction. Letters, accents, joined emoji and scripts written from right to left stay.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ACTING: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Controls, formats, halves of surrogate pairs, line and paragraph separators."""

_JOINERS: Final = "\u200c\u200d"
"""Formats that belong to the spelling of Persian and Indic words and of emoji."""


def visible(text: str) -> str:
    r"""Text in which nothing acts: each such character becomes its escape.

    Examples
    --------
    >>> visible("\x1b[31mred\n"), visible("naïve [/eu] 🎉")
    ('\\x1b[31mred\\n', 'naïve [/eu] 🎉')
    """
    if text.isprintable():
        return text
    return "".join(_escaped(each) if acts(each) else each for each in text)


def discreet(text: str) -> str:
    """Text without what addresses in it keep to themselves: users, passwords, signed queries, tokens.

    Examples
    --------
    >>> discreet("cannot read 'https://me:secret@host/a.csv?sign=1'; sc://host:1/;token=2")
    "cannot read 'https://host/a.csv'; sc://host:1/"
    >>> discreet("'https:/me:secret@host/a.csv', 'me:secret@host:/a.csv'")
    "'https:/host/a.csv', 'host:/a.csv'"
    """
    if ":/" not in text:
        return text
    for pattern in _SECRETS:
        text = pattern.sub(r"\1", text)
    return text


_SECRETS: Final = (
    re.compile(r"([a-z][a-z0-9+.-]*:/+)[^/\s'\"]*@", re.IGNORECASE),  # with a slash too few, too
    re.compile(r"()[^/\s'\"@:]+:[^/\s'\"@]*@(?=[\w.-]+:/)"),  # as scp has it
    re.compile(
        r"([a-z][a-z0-9+.-]*://)[^/\s'\"]*:[^/\s'\"]*[^/\s'\"\d][^\s'\"]*@", re.IGNORECASE
    ),  # a slash in it
    re.compile(r"(https?://[^\s'\"?#]*)[?#][^\s'\"]*", re.IGNORECASE),
    re.compile(r"(sc://[^\s'\";]*);[^\s'\"]*", re.IGNORECASE),
    re.compile(r"()[?#;][^\s'\"?#;]*=[^\s'\"]*"),
)


def acts(character: str) -> bool:
    """Whether a character does something beside being seen."""
    if character in _JOINERS:
        return False
    number = ord(character)
    no_character = number & 0xFFFE == 0xFFFE or 0xFDD0 <= number <= 0xFDEF
    return no_character or unicodedata.category(character) in _ACTING


def _escaped(character: str) -> str:
    number = ord(character)
    if number <= 0xFF:
        return repr(character)[1:-1] if number < 0x80 else f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
