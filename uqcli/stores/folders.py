"""Folders, the same for local files and stores."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from uqcli.base.errors import DataError
from uqcli.base.running.messages import caution
from uqcli.stores.content import Content
from uqcli.stores.view import Entry

MAX_AGAIN: Final = 1_000
"""Times that folders are entered again by other paths, of which a few links make any number."""


class Tree(Protocol):
    """A file system or store."""

    def entry(self, name: str) -> Entry | None:
        """Find the entry of a name."""

    def identity(self, folder: Entry) -> Hashable:
        """Return what is the same for all paths to a folder."""

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


class Descent:
    """The way down from a folder to those below it, in which links may lead up again."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._above: list[Hashable] = []
        self._known: set[Hashable] = set()
        self._again = 0

    @contextmanager
    def into(self, folder: Entry) -> Iterator[Sequence[Entry]]:
        """Enter a folder, and yield what is inside; nothing, with a caution, if it is a folder above."""
        identity = self.tree.identity(folder)
        if identity in self._above:
            caution(
                "same-file", f"'{folder.name}' leads back to a folder above it, whose files are read once."
            )
            yield ()
            return
        self._again += identity in self._known
        if self._again > MAX_AGAIN:
            raise DataError(
                f"more than {MAX_AGAIN:,} further paths lead to folders such as '{folder.name}'",
                expected="folders without links between them",
                remedy="name the folders",
            )
        self._known.add(identity)
        self._above.append(identity)
        try:
            yield self.tree.inside(folder)
        finally:
            self._above.pop()
