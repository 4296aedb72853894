"""Folders of this machine, and which tree a name belongs to."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path

from uqcli.errors import DataError
from uqcli.stores.address import KNOWN_PLACES, is_foreign, is_stored, is_web
from uqcli.stores.content import LocalFile
from uqcli.stores.folders import Entry, Tree
from uqcli.stores.web import WebFile


class LocalTree:
    """Files of this machine."""

    def entry(self, name: str) -> Entry | None:
        """What stands at a place."""
        path = Path(name)
        return _local(path) if path.exists() else None

    def inside(self, folder: Entry) -> list[Entry]:
        """What is in a folder, sorted by name."""
        return [_local(path) for path in sorted(Path(folder.name).iterdir())]

    def expect(self, folders: Iterable[Entry]) -> None:
        """Nothing: they are near."""

    def matches(self, pattern: str) -> list[Entry]:
        """What a pattern matches, sorted by name."""
        return [_local(Path(match)) for match in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207

    def content(self, name: str) -> LocalFile:
        """The bytes at a place."""
        path = Path(name)
        try:
            return LocalFile.at(path)
        except OSError as error:
            foreign = is_foreign(name)
            raise DataError(
                f"cannot read '{name if foreign else path}': {error.strerror}",
                expected=KNOWN_PLACES if foreign else "an existing file",
                remedy="check the path",
            ) from error


def _local(path: Path) -> Entry:
    leads_nowhere = path.is_symlink() and not path.exists()  # said when it is read, not left out
    is_file = path.is_file() or leads_nowhere
    return Entry(name=str(path), base=path.name, is_folder=path.is_dir(), is_file=is_file)


class WebTree:
    """Files of web servers: each is named, none is looked for."""

    def entry(self, name: str) -> Entry | None:
        """Taken to be there until it is asked for."""
        return Entry(name=name, base=WebFile(url=name).base, is_folder=False, is_file=True)

    def inside(self, folder: Entry) -> list[Entry]:
        """Nothing that could be listed."""
        del folder
        return []

    def expect(self, folders: Iterable[Entry]) -> None:
        """Nothing."""

    def matches(self, pattern: str) -> list[Entry]:
        """Nothing: signs of patterns are part of an address."""
        del pattern
        return []

    def content(self, name: str) -> WebFile:
        """The bytes at a place."""
        return WebFile(url=name)


def tree_of(name: str) -> Tree:
    """Where a name belongs to."""
    if is_web(name):
        return WebTree()
    if is_stored(name):
        from uqcli.stores.bucket import StoreTree

        return StoreTree(name)
    return LocalTree()
