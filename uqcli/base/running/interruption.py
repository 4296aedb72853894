"""Cleanup when a signal ends the run: temporary files, outputs being renamed, other work.

Temporary files are registered so that a signal can remove them (see uqcli.cli.process), and locked
while their process lives. The next run that writes the same file removes those of a killed run: they are
unlocked, on any host that shares the directory. Other work registers its own cleanup.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from uqcli.base.operating_system import IS_WINDOWS, NO_LINK, change, has_lock, release, sync

_READABLE_BYTES: Final = 100
"""Bytes of an output's name in the names of its temporary files; a name may have 255 bytes."""

changing: Final = threading.RLock()
"""Held while a temporary file is created or renamed into place, and by the thread that ends the process."""

_ATTEMPTS: Final = 20
"""Attempts to remove a folder."""

_temporaries: set[str] = set()
_folders: set[str] = set()
_replaced: list[str] = []
_replacing_now: set[str] = set()
_works: list[Callable[[], None]] = []


def remove_temporaries() -> None:
    """Remove all temporary files and folders of this process; safe to call from another thread."""
    for name in tuple(_temporaries):
        release(name)
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108  os.unlink takes no locks a dying process could hold
        _temporaries.discard(name)
    for folder in tuple(_folders):
        _remove_folder(folder)


@contextmanager
def registered(path: str) -> Iterator[None]:
    """Register a temporary file for a block that renames it, without a lock; afterwards it is gone."""
    _temporaries.add(path)
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108
        _temporaries.discard(path)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a registered folder for temporary files, which is removed with the files in it."""
    import tempfile  # few runs need it

    with changing:  # no new folder after the thread that ends the process has removed them all
        folder = tempfile.mkdtemp(prefix="uqcli-")
        _folders.add(folder)
    try:
        yield Path(folder)
    finally:
        _remove_folder(folder)


def _remove_folder(folder: str) -> None:
    """Remove a folder; a thread may put a last file into it meanwhile."""
    for _ in range(_ATTEMPTS):
        with suppress(OSError):
            for name in os.listdir(folder):  # noqa: PTH208  as above
                os.unlink(os.path.join(folder, name))  # noqa: PTH108, PTH118
            os.rmdir(folder)  # noqa: PTH106
            break
    _folders.discard(folder)


def replaced_files() -> tuple[str, ...]:
    """Return the regular files and objects that this process has written, by their given names."""
    return tuple(_replaced)


def pending_files() -> tuple[str, ...]:
    """Return the objects whose replacement may or may not have happened yet."""
    return tuple(_replacing_now)


@contextmanager
def replacing(target: str) -> Iterator[None]:
    """Mark an object as being replaced by its store; ``changing`` is held."""
    _replacing_now.add(target)
    try:
        yield
        _replaced.append(target)
    finally:
        _replacing_now.discard(target)


class Temporary:
    """A registered temporary file in its target's directory, locked while its process lives.

    Leftovers of files with the same name are removed.
    """

    def __init__(self, directory: Path, name: str) -> None:
        prefix = _prefix(name)
        _remove_leftovers(directory, prefix)
        while not self._created(os.path.join(directory, f"{prefix}{secrets.token_hex(6)}.tmp")):  # noqa: PTH118
            pass

    def _created(self, path: str) -> bool:
        """Create and lock the file; return False if another run removed it as a leftover in between."""
        self.path = path
        with changing:  # no new file after the thread that ends the process has removed them all
            _temporaries.add(path)  # registered before it exists, so that a signal always finds it
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            except OSError:
                _temporaries.discard(path)
                raise
        self._lock: int | None = descriptor
        with suppress(OSError):  # a file system without locks, or locked by the other run
            has_lock(descriptor)
        if os.fstat(descriptor).st_nlink:
            return True
        self.remove()
        return False

    def open(self) -> BinaryIO:
        """Open it for writing; the lock outlives the stream."""
        assert self._lock is not None  # only before remove()
        return os.fdopen(os.dup(self._lock), "wb")

    def move_into_place(self, path: Path, target: str) -> None:
        """Rename it into place; the thread that ends the process knows whether this has happened."""
        try:
            if not IS_WINDOWS:  # where the folder gives the permissions, and a read-only file stays for ever
                os.chmod(self.path, _mode_of(path))  # noqa: PTH101  names may be any bytes
            with changing:
                self.rename(path)
                _replaced.append(target)
        finally:
            self.remove()
        _sync_directory(path.parent)

    def rename(self, path: Path) -> None:
        """Rename it, complete and without notice, as a file that is not among the run's results."""
        if IS_WINDOWS:  # where no open file can be renamed
            self._release()
        with changing:
            change(os.replace, self.path, path)
            _temporaries.discard(self.path)

    def remove(self) -> None:
        """Unlink it unless it was renamed, and release the lock."""
        if IS_WINDOWS:
            self._release()
        if self.path in _temporaries:
            with suppress(OSError):
                change(os.unlink, self.path)
            _temporaries.discard(self.path)
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _prefix(name: str) -> str:
    """Return the prefix of the temporary names of a file: part of its name, and a digest of the whole."""
    encoded = os.fsencode(name)
    # in the encoding of the file system, which may have no other characters
    readable = encoded[:_READABLE_BYTES].decode(sys.getfilesystemencoding(), "ignore")
    return f".{readable}.{hashlib.sha256(encoded).hexdigest()[:8]}."


def _remove_leftovers(directory: Path, prefix: str) -> None:
    """Remove temporary files of dead processes: those that nobody locks."""
    with suppress(OSError):
        for name in os.listdir(directory):  # noqa: PTH208
            if name.startswith(prefix) and name.endswith(".tmp"):
                _remove_unlocked(os.path.join(directory, name))  # noqa: PTH118


def _remove_unlocked(path: str) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | NO_LINK)
        try:
            is_left = has_lock(descriptor)
            if is_left and not IS_WINDOWS:
                os.unlink(path)  # noqa: PTH108
        finally:
            os.close(descriptor)
        if is_left and IS_WINDOWS:
            os.unlink(path)  # noqa: PTH108


def _mode_of(path: Path) -> int:
    """Return the permission bits of the file to be replaced, else those that open() would give."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_directory(directory: Path) -> None:
    """Sync the directory, so that the rename survives a power failure if the file system supports it."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            sync(descriptor)
        finally:
            os.close(descriptor)


def register_cleanup(work: Callable[[], None]) -> None:
    """Register work to do when a signal ends the run; it must be quick."""
    _works.append(work)


def run_cleanup() -> None:
    """Do the registered work; safe to call from another thread."""
    for work in tuple(_works):
        work()
