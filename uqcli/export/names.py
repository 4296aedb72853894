"""Names in a program: unique, never a word of its language, and the same as those of ordinary data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_ORDINARY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class Names:
    """Allocator of the names of a program; they are made of ASCII letters, digits and underscores."""

    def __init__(self, reserved: Iterable[str], fold: Callable[[str], str] = str) -> None:
        """Reserve words that no name may be; names are one if ``fold`` makes them equal."""
        self._fold = fold
        self._reserved = {fold(word) for word in reserved}
        self._counts: dict[str, int] = {}

    def new(self, wanted: str) -> str:
        """Return a name like the wanted one, and take it; a number tells equal ones apart."""
        plain = re.sub(r"[^A-Za-z0-9_]", "_", wanted)
        if not _ORDINARY.fullmatch(plain):
            plain = f"x{plain}"
        if self._fold(plain) in self._reserved:
            plain = f"{plain}_"
        name = plain
        while self._fold(name) in self._counts or self._fold(name) in self._reserved:
            # counted for each name, so that many equal ones take no more steps than different ones
            self._counts[self._fold(plain)] += 1
            name = f"{plain}_{self._counts[self._fold(plain)]}"
        self._counts[self._fold(name)] = 1
        return name

    def new_for_each(self, wanted: Iterable[str]) -> list[str]:
        """Return a name for each wanted one; those that are names already keep their form, if any can."""
        listed = list(wanted)
        order = sorted(range(len(listed)), key=lambda index: not _ORDINARY.fullmatch(listed[index]))
        named = {index: self.new(listed[index]) for index in order}
        return [named[index] for index in range(len(listed))]
