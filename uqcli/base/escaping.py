"""Escape text from the data that would act on a terminal or a page.

Column and group names may contain anything: cursor escapes, line ends, bidirectional controls. Letters,
accents, joined emoji and right-to-left scripts stay.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ACTING_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Controls, formats, surrogates, line and paragraph separators."""

_JOINERS: Final = "\u200c\u200d"
"""Format characters needed to spell Persian and Indic words and emoji."""


def visible(text: str) -> str:
    r"""Replace each acting character by its escape.

    Examples
    --------
    >>> visible("\x1b[31mred\n"), visible("naïve [/eu] 🎉")
    ('\\x1b[31mred\\n', 'naïve [/eu] 🎉')
    """
    if text.isprintable():
        return text
    return "".join(_escaped(character) if is_acting(character) else character for character in text)


def without_secrets(text: str) -> str:
    """Remove users, passwords, signed queries and tokens from addresses in a text.

    Examples
    --------
    >>> without_secrets("cannot read 'https://me:secret@host/a.csv?sign=1'; sc://host:1/;token=2")
    "cannot read 'https://host/a.csv'; sc://host:1/"
    >>> without_secrets("'https:/me:secret@host/a.csv', 'me:secret@host:/a.csv'")
    "'https:/host/a.csv', 'host:/a.csv'"
    """
    if ":/" not in text:
        return text
    for pattern in _SECRETS:
        text = pattern.sub(r"\1", text)
    return text


_SECRETS: Final = (
    re.compile(r"([a-z][a-z0-9+.-]*:/+)[^/\s'\"]*@", re.IGNORECASE),  # also with a slash missing
    re.compile(r"()[^/\s'\"@:]+:[^/\s'\"@]*@(?=[\w.-]+:/)"),  # scp syntax
    # a slash in the secret
    re.compile(r"([a-z][a-z0-9+.-]*://)[^/\s'\"]*:[^/\s'\"]*[^/\s'\"\d][^\s'\"]*@", re.IGNORECASE),
    re.compile(r"(https?://[^\s'\"?#]*)[?#][^\s'\"]*", re.IGNORECASE),
    re.compile(r"(sc://[^\s'\";]*);[^\s'\"]*", re.IGNORECASE),
    re.compile(r"()[?#;][^\s'\"?#;]*=[^\s'\"]*"),
)


def is_acting(character: str) -> bool:
    """Whether a character has an effect other than being displayed."""
    if character in _JOINERS:
        return False
    code_point = ord(character)
    no_character = code_point & 0xFFFE == 0xFFFE or 0xFDD0 <= code_point <= 0xFDEF
    return no_character or unicodedata.category(character) in _ACTING_CATEGORIES


def _escaped(character: str) -> str:
    code_point = ord(character)
    if code_point <= 0xFF:
        return repr(character)[1:-1] if code_point < 0x80 else f"\\x{code_point:02x}"
    return f"\\u{code_point:04x}" if code_point <= 0xFFFF else f"\\U{code_point:08x}"


def printable(text: str, max_length: int = 60) -> str:
    r"""Escape and shorten a name from the data, so that it breaks no line or figure.

    Examples
    --------
    >>> printable("two\nlines"), printable("x" * 9, max_length=6)
    ('two\\nlines', 'xxx...')
    """
    escaped = visible(text)
    return escaped if len(escaped) <= max_length else f"{escaped[: max_length - 3]}..."
