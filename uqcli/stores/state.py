"""State file, read and atomically replaced by one run at a time; in a store, by one run of several."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, TypeVar

from uqcli.base.errors import ArtifactError, DataError, UsageError
from uqcli.base.files import followed, is_stdin, is_stdout
from uqcli.base.operating_system import IS_WINDOWS, NO_LINK, NO_WAIT, has_lock
from uqcli.base.running.interruption import register_cleanup
from uqcli.base.running.messages import unsaid
from uqcli.stores import limits
from uqcli.stores.address import is_foreign, is_stored, is_web

T = TypeVar("T")

LOCK_TIMEOUT_SECONDS: Final = 60.0
"""Seconds to wait for another run's lock."""

_POLL_SECONDS: Final = 0.05


def updated(name: str, work: Callable[[bytes], T]) -> T:
    """Call a function with the content of a state, empty for none; it may replace what the name stands for.

    A local file is locked meanwhile. An object of a store, which cannot be locked, is replaced only if it is
    still the one that was read. Otherwise another run was faster, and the function is called again.

    Raises
    ------
    UsageError, DataError, ArtifactError
        See ``locked``; also, other runs were faster each time.
    """
    if not is_stored(name):
        with locked(name) as content:
            return work(content)
    from uqcli.stores.conditional import ReplacedError, held

    for left in reversed(range(limits.STATE_ATTEMPTS)):
        try:
            with unsaid(ReplacedError), held(name) as content:
                return work(_of_a_watch(content, name))
        except ReplacedError:
            if not left:
                raise
    raise AssertionError


@contextmanager
def locked(name: str) -> Iterator[bytes]:
    """Lock a file until the block ends, and yield its content; empty if it did not exist.

    Write to its name to replace it, at once or at commit (see ``open_output``).

    The lock is on the file itself, so that no lock file is left behind. It is on a file beside it, which is
    removed afterwards, if the file does not exist yet, since it must appear whole, and on Windows, where a
    locked file cannot be replaced. If the file appears, is replaced or is removed during the wait for the
    lock, the run starts again.

    Raises
    ------
    UsageError
        The name is an address, a stream or a device; only a local file can be locked.
    DataError
        It cannot be read or written, or another run holds the lock.
    ArtifactError
        It is empty, as uqcli writes none.
    """
    if is_web(name) or is_foreign(name) or is_stdin(name) or is_stdout(name):
        raise UsageError(
            f"a state file at '{name}'",
            expected="a local file, which can be locked, or s3://, gs:// or az://",
        )
    try:
        path = followed(name)
        descriptor, locked_path = _locked(path, name)
        is_beside = locked_path != path
        content = _content(path if is_beside else descriptor)
    except OSError as error:
        raise DataError(
            f"cannot open the state file '{name}': {error.strerror or error}",
            remedy="choose another place for the state file",
        ) from error
    release = partial(_release, descriptor, locked_path if is_beside else None)
    if is_beside:
        register_cleanup(release)
    try:
        yield _of_a_watch(content, name)
    finally:
        release()


def _of_a_watch(content: bytes | None, name: str) -> bytes:
    """Return the content of a state, empty for none; an empty state was cut, as uqcli writes none."""
    if content == b"":
        raise ArtifactError(
            f"the state file '{name}' is empty",
            expected="a state that uqcli watch wrote",
            remedy="restore it, or remove it to begin anew",
        )
    return content or b""


def _content(file: int | str) -> bytes | None:
    """Read the file by its locked descriptor, or by its name; None if it does not exist."""
    with suppress(FileNotFoundError), open(os.dup(file) if isinstance(file, int) else file, "rb") as stream:  # noqa: PTH123
        return stream.read()
    return None


def _release(descriptor: int, lock_file: str | None) -> None:
    """Unlock, and remove the file that was locked in place of the state, unless another run waits for it."""
    if lock_file is not None and not IS_WINDOWS:  # while it is locked, so that it is ours
        with suppress(OSError):
            os.unlink(lock_file)  # noqa: PTH108  names may be any bytes
    with suppress(OSError):
        os.close(descriptor)
        if lock_file is not None and IS_WINDOWS:
            os.unlink(lock_file)  # noqa: PTH108


def _locked(path: str, name: str) -> tuple[int, str]:
    """Open and lock the file, or one beside it; return the descriptor and the path of what is locked."""
    deadline = time.monotonic() + LOCK_TIMEOUT_SECONDS
    while True:
        descriptor, locked_path = _opened(path)
        try:
            _wait_for_lock(descriptor, name, deadline)
            has_appeared = locked_path != path and not IS_WINDOWS and os.path.lexists(path)
            if _is_there(descriptor, locked_path) and not has_appeared:
                return descriptor, locked_path
        except BaseException:
            os.close(descriptor)
            raise
        _release(descriptor, locked_path if has_appeared else None)


def _opened(path: str) -> tuple[int, str]:
    """Open the file, or create one beside it if it does not exist, or must not be locked."""
    if not IS_WINDOWS:
        with suppress(FileNotFoundError):
            return os.open(path, os.O_RDWR | NO_WAIT), path
    folder, name = os.path.split(path)
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
    beside = os.path.join(folder, f".uqcli-{digest}.lock")  # noqa: PTH118  no file of anybody's
    return os.open(beside, os.O_RDWR | os.O_CREAT | NO_LINK | NO_WAIT, 0o666), beside


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
