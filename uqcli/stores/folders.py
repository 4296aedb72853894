"""Folders, the same for local files and stores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from uqcli.base.records import dataclass
from uqcli.stores.content import Content


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A file or folder.

    Attributes
    ----------
    is_folder, is_file
        Both are False for a device.
    """

    name: str
    basename: str
    is_folder: bool
    is_file: bool

    @property
    def is_hidden(self) -> bool:
        """Whether it is skipped unless named: other programs' metadata and unfinished files."""
        return self.basename[:1] in (".", "_")


class Tree(Protocol):
    """A file system or store."""

    def entry(self, name: str) -> Entry | None:
        """Find the entry of a name."""

    def inside(self, folder: Entry) -> Sequence[Entry]:
        """List a folder (not recursively), sorted by name."""

    def above(self, entry: Entry) -> Entry | None:
        """Return the folder of an entry; None above a root."""

    def prefetch(self, folders: Iterable[Entry]) -> None:
        """Prefetch the listings of folders."""

    def matches(self, pattern: str) -> Sequence[Entry]:
        """Expand a pattern with ``*``, ``?``, ``[...]`` and ``**``, sorted by name."""

    def content(self, name: str) -> Content:
        """Find the content of a name; raise DataError if there is none."""
