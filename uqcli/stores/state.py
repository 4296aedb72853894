"""State file, read and atomically replaced by one run at a time."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from uqcli.base.errors import DataError, UsageError
from uqcli.base.files import followed, is_stdin, is_stdout
from uqcli.base.operating_system import IS_WINDOWS, NO_WAIT, has_lock
from uqcli.base.running.interruption import register_cleanup
from uqcli.stores.address import is_address, is_foreign

LOCK_TIMEOUT_SECONDS: Final = 60.0
"""Seconds to wait for another run's lock."""

_POLL_SECONDS: Final = 0.05


@contextmanager
def locked(name: str) -> Iterator[bytes]:
    """Lock a file until the block ends, and yield its content; empty if it did not exist.

    Write to its name to replace it, at once or at commit (see ``open_output``).

    The lock is on the file itself, so that no lock file is left behind. Windows cannot replace a locked file:
    there it is on a file beside it, which is removed afterwards. If the file is replaced or removed during
    the wait for the lock, the run locks the new file.

    Raises
    ------
    UsageError
        The name is an address, a stream or a device; only a local file can be locked.
    DataError
        It cannot be read or written, or another run holds the lock.
    """
    if is_address(name) or is_foreign(name) or is_stdin(name) or is_stdout(name):
        raise UsageError(f"a state file at '{name}'", expected="a local file, which can be locked")
    try:
        path = f"{followed(name)}{'.lock' if IS_WINDOWS else ''}"
        descriptor, is_new = _locked(path, name)
        content = _content(descriptor, name)
    except OSError as error:
        raise DataError(
            f"cannot write the state file '{name}': {error.strerror or error}",
            remedy="choose another place for the state file",
        ) from error
    remove = partial(_remove_lock_file, path, descriptor)
    if not IS_WINDOWS:
        remove = partial(_remove_empty, path, _identity(os.fstat(descriptor)))
    if is_new or IS_WINDOWS:
        register_cleanup(remove)
    try:
        yield content
    finally:
        if is_new or IS_WINDOWS:
            remove()
        if not IS_WINDOWS:
            os.close(descriptor)


def _content(descriptor: int, name: str) -> bytes:
    """Read the locked file, or on Windows the file beside the lock, which may be missing."""
    if not IS_WINDOWS:
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            return stream.read()
    with suppress(FileNotFoundError):
        return Path(name).read_bytes()
    return b""


def _remove_lock_file(path: str, descriptor: int) -> None:
    """Unlock and remove the lock file, unless another run waits for it."""
    with suppress(OSError):
        os.close(descriptor)
        os.unlink(path)  # noqa: PTH108  names may be any bytes


def _remove_empty(path: str, locked_file: tuple[int, int]) -> None:
    """Remove the new file if nothing was written, and it is still the one that was locked."""
    with suppress(OSError):
        status = os.stat(path)  # noqa: PTH116
        if _identity(status) == locked_file and not status.st_size:
            os.unlink(path)  # noqa: PTH108  names may be any bytes


def _locked(path: str, name: str) -> tuple[int, bool]:
    """Open and lock the file; return the descriptor and whether the file is new."""
    deadline = time.monotonic() + LOCK_TIMEOUT_SECONDS
    while True:
        descriptor, is_new = _opened(path)
        try:
            _wait_for_lock(descriptor, name, deadline)
            if _is_there(descriptor, path):
                return descriptor, is_new
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _opened(path: str) -> tuple[int, bool]:
    """Open the file, and create it if it does not exist; return whether this run created it."""
    flags = os.O_RDWR | NO_WAIT
    while True:
        try:
            return os.open(path, flags), False
        except FileNotFoundError:
            with suppress(FileExistsError):  # another run was faster
                return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666), True


def _wait_for_lock(descriptor: int, name: str, deadline: float) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise UsageError(f"'{name}' is not a regular file", expected="a local file")
    while not has_lock(descriptor):
        if time.monotonic() > deadline:
            raise DataError(
                f"'{name}' is in use by another run",
                expected=f"that run to end within {LOCK_TIMEOUT_SECONDS:.0f} s",
                remedy="try again",
            )
        time.sleep(_POLL_SECONDS)


def _is_there(descriptor: int, path: str) -> bool:
    """Whether the path still names the locked file."""
    try:
        path_status = os.stat(path)  # noqa: PTH116
    except OSError:
        return False
    return _identity(os.fstat(descriptor)) == _identity(path_status)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
