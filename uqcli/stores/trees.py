"""Local folders, and the tree of a name."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path

from uqcli.base.errors import DataError
from uqcli.stores.address import KNOWN_LOCATIONS, is_foreign, is_stored, is_web
from uqcli.stores.content import LocalFile
from uqcli.stores.folders import Entry, Tree


class LocalTree:
    """The local file system."""

    def entry(self, name: str) -> Entry | None:
        """Find the file or folder of a path."""
        path = Path(name)
        return _local(path) if path.exists() else None

    def inside(self, folder: Entry) -> list[Entry]:
        """List a folder, sorted by name."""
        return [_local(path) for path in sorted(Path(folder.name).iterdir())]

    def above(self, entry: Entry) -> Entry | None:
        """Return the folder of an entry; None above the root."""
        path = Path(entry.name).absolute()
        folder = path.parent
        known = Entry(name=str(folder), basename=folder.name, is_folder=True, is_file=False)
        return None if folder == path else known

    def prefetch(self, folders: Iterable[Entry]) -> None:
        """Do nothing: listing is fast."""

    def matches(self, pattern: str) -> list[Entry]:
        """Expand a pattern, sorted by name."""
        return [_local(Path(match)) for match in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207

    def content(self, name: str) -> LocalFile:
        """Find the file of a path."""
        path = Path(name)
        try:
            return LocalFile.from_path(path)
        except OSError as error:
            foreign = is_foreign(name)
            raise DataError(
                f"cannot read '{name if foreign else path}': {error.strerror}",
                expected=KNOWN_LOCATIONS if foreign else "an existing file",
                remedy="check the path",
            ) from error


def _local(path: Path) -> Entry:
    leads_nowhere = path.is_symlink() and not path.exists()  # fails on reading
    is_file = path.is_file() or leads_nowhere
    basename = path.name or path.absolute().name  # of "."
    return Entry(name=str(path), basename=basename, is_folder=path.is_dir(), is_file=is_file)


def tree_of(name: str) -> Tree:
    """Select the tree of a name."""
    if is_web(name):
        from uqcli.stores.web import WebTree

        return WebTree()
    if is_stored(name):
        from uqcli.stores.bucket import StoreTree

        return StoreTree(name)
    return LocalTree()
