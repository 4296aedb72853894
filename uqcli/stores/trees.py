"""Local folders, and the tree of a name."""

from __future__ import annotations

import glob
import os
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import Final

from uqcli.base.errors import DataError
from uqcli.base.running.concurrency import Threads
from uqcli.stores.address import KNOWN_LOCATIONS, is_foreign, is_stored, is_web
from uqcli.stores.content import LocalFile, inode_of
from uqcli.stores.folders import Descent, Tree
from uqcli.stores.limits import MAX_PARALLEL
from uqcli.stores.view import Entry


class LocalTree:
    """The local file system."""

    def entry(self, name: str) -> Entry | None:
        """Find the file or folder of a path."""
        path = Path(name)
        return _local(path) if path.exists() else None

    def identity(self, folder: Entry) -> Hashable:
        """Return the device and inode of a folder."""
        return inode_of(Path(folder.name))

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
        return [_local(Path(match)) for match in sorted(set(expanded(pattern)))]

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


_ANY_FOLDERS: Final = "**"


def expanded(pattern: str) -> Iterator[str]:
    """Expand a pattern of local files, in which ``**`` stands for any folders, also without one.

    A link to a folder above is not followed, unlike in ``glob``, which would find its files forty times.
    """
    parts = _without_repeats(pattern.replace(os.sep, "/").split("/"))
    if _ANY_FOLDERS not in parts:
        yield from glob.glob(pattern)  # noqa: PTH207
        return
    place = parts.index(_ANY_FOLDERS)
    before, after = "/".join([*parts[:place], ""]), "/".join(parts[place + 1 :])
    for start in glob.glob(before) if before else [""]:  # noqa: PTH207
        for folder in _folders(Descent(LocalTree()), _local(Path(start))):
            prefix = "" if folder.name == "." and not before else f"{folder.name}/"
            yield from expanded(f"{glob.escape(prefix)}{after or '*'}")


def _without_repeats(parts: list[str]) -> list[str]:
    """Write several ``**`` after each other as one, which means the same."""
    return [
        part for before, part in zip(["", *parts], parts, strict=False) if not before == part == _ANY_FOLDERS
    ]


def _folders(descent: Descent, folder: Entry) -> Iterator[Entry]:
    """Yield a folder and those below it, without hidden ones."""
    if folder.is_folder:
        yield folder
        with descent.into(folder) as inside:
            for entry in inside:
                if entry.is_folder and not entry.basename.startswith("."):
                    yield from _folders(descent, entry)


def _local(path: Path) -> Entry:
    leads_nowhere = path.is_symlink() and not path.exists()  # fails on reading
    is_file = path.is_file() or leads_nowhere
    basename = path.name or path.absolute().name  # of "."
    return Entry(name=str(path), basename=basename, is_folder=path.is_dir(), is_file=is_file)


def look_up(names: Iterable[str]) -> None:
    """Ask stores for the entries of names in parallel, for those who ask for them one by one."""
    stored = [name for name in names if is_stored(name)]
    if len(stored) > 1:
        with Threads(MAX_PARALLEL) as pool:
            list(pool.map(lambda name: tree_of(name).entry(name), stored))


def tree_of(name: str) -> Tree:
    """Select the tree of a name."""
    if is_web(name):
        from uqcli.stores.web import WebTree

        return WebTree()
    if is_stored(name):
        from uqcli.stores.bucket import StoreTree

        return StoreTree(name)
    return LocalTree()
