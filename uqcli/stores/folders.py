"""Folders and what is in them, on this machine and in stores: one small way to ask, for both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from uqcli.stores.content import Content


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Something in a folder.

    Attributes
    ----------
    name
        By which its tree knows it.
    base
        The last part of the name.
    is_folder, is_file
        A device is neither.
    """

    name: str
    base: str
    is_folder: bool
    is_file: bool

    @property
    def is_hidden(self) -> bool:
        """Whether it is left out unless it is named: other programs' notes and unfinished files."""
        return self.base[:1] in (".", "_")


class Tree(Protocol):
    """Folders of one kind."""

    def entry(self, name: str) -> Entry | None:
        """What stands at a place."""

    def inside(self, folder: Entry) -> Sequence[Entry]:
        """What is in a folder, not below, sorted by name."""

    def expect(self, folders: Iterable[Entry]) -> None:
        """Make ready for being asked what is in these."""

    def matches(self, pattern: str) -> Sequence[Entry]:
        """What a pattern with ``*``, ``?``, ``[...]`` and ``**`` matches, sorted by name."""

    def content(self, name: str) -> Content:
        """The bytes at a place; a DataError where there are none."""
