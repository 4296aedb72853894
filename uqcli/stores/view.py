"""Entries of folders, and a consistent view of files and stores during a run.

Folders of stores are listed once, and what is read again must have the same version. Nothing is cached
outside a run: a Python session may write an object and read it back.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import field
from threading import Lock

from uqcli.base.records import dataclass


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


@dataclass
class View:
    """Listings by folder, entries, versions and small objects by address; versions also by path."""

    listings: dict[str, tuple[Entry, ...]] = field(default_factory=dict)
    entries: dict[str, Entry | None] = field(default_factory=dict)
    versions: dict[str, Hashable] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    content_bytes: int = 0
    lock: Lock = field(default_factory=Lock)

    def keep(self, name: str, content: bytes, most_bytes: int) -> None:
        """Keep an object for those who read it again; the oldest ones are forgotten first."""
        with self.lock:
            self.content_bytes += len(content) - len(self.contents.pop(name, b""))
            self.contents[name] = content
            while self.content_bytes > most_bytes and len(self.contents) > 1:
                self.content_bytes -= len(self.contents.pop(next(iter(self.contents))))


_views: list[View] = []  # not a context variable, since all threads of the run share it


def current_view() -> View:
    """Return the view of the current run; an empty one outside a run."""
    return _views[-1] if _views else View()


@contextmanager
def one_view() -> Iterator[None]:
    """Use a single view of the stores within the block."""
    _views.append(View())
    try:
        yield
    finally:
        _views.pop()
