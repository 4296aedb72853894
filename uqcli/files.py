"""Writing files so that they appear whole or not at all.

A regular file is written beside its place under a temporary name, synchronised, and renamed over the
old one. FIFOs and devices are written directly. Temporaries are registered so that a signal can
remove them (see uqcli.cli.signals).
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from uqcli.errors import DataError

STDIO: Final = "-"

_temporaries: set[str] = set()


def stdin_bytes() -> BinaryIO:
    """Standard input as bytes.

    Raises
    ------
    DataError
        It is closed.
    """
    stream: TextIO | None = sys.stdin
    if stream is None:
        raise DataError("standard input is closed", remedy="give a file, or redirect from /dev/null")
    return stream.buffer


def remove_temporaries() -> None:
    """Unlink every temporary file of this process; safe to call from another thread."""
    for name in tuple(_temporaries):
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108  os.unlink takes no locks a dying process could hold
        _temporaries.discard(name)


@contextmanager
def temporary_path(directory: Path | None, *, prefix: str = ".uqcli-", suffix: str = "") -> Iterator[Path]:
    """Yield the path of a registered temporary file; it is gone afterwards unless renamed."""
    descriptor, name = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=directory)
    _temporaries.add(name)
    os.close(descriptor)
    try:
        yield Path(name)
    finally:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        _temporaries.discard(name)


def check_writable(target: str) -> None:
    """Refuse a place that cannot be written before any work is done.

    Raises
    ------
    DataError
        The directory is missing or not writable, or the target is a directory.
    """
    if target == STDIO:
        return
    try:
        _check_place(target)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"cannot write '{target}': {reason}", remedy="choose another place") from error


def _check_place(target: str) -> None:
    if Path(target).is_dir():
        raise DataError(f"output '{target}' is a directory", expected="a file name")
    path = _final_path(target)
    if not path.parent.is_dir():
        raise DataError(
            f"cannot write '{target}': no directory '{path.parent}'", remedy="create the directory first"
        )
    place = path.parent if _is_replaceable(path) else path
    if not os.access(place, os.W_OK):
        raise DataError(f"cannot write '{target}': permission denied", remedy="choose another place with -o")


@contextmanager
def open_output(target: str) -> Iterator[BinaryIO]:
    """Open a place for writing bytes; a regular file appears only when the block ends well.

    Parameters
    ----------
    target
        A path, or ``-`` for standard output.

    Raises
    ------
    DataError
        The place cannot be written (missing directory, permission, full disk).
    """
    if target == STDIO:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        path = _final_path(target)
        if _is_replaceable(path):
            with _replacing(path) as stream:
                yield stream
        else:
            with path.open("wb") as stream:
                yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(
            f"cannot write '{target}': {reason}", remedy="nothing was left there; choose another place"
        ) from error


def write_bytes(target: str, content: bytes) -> None:
    """Write a whole file at once (see open_output)."""
    with open_output(target) as stream:
        stream.write(content)


def _final_path(target: str) -> Path:
    """Follow symlinks, so that the link stays and its target is replaced.

    A FIFO or device is opened by the name given: what ``/dev/stdout`` resolves to has no name.
    """
    path = Path(target)
    return Path(os.path.realpath(target)) if _is_replaceable(path) else path


def _is_replaceable(path: Path) -> bool:
    """Whether the place is free or a regular file; anything else is written directly.

    ``/dev/stdout`` may be a regular file when the shell redirects it; it is still a stream to us.
    """
    if str(path).startswith(("/dev/std", "/dev/fd/", "/proc/")):
        return False
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    with temporary_path(path.parent, prefix=f".{path.name[:100]}.", suffix=".tmp") as temporary:
        with temporary.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(_mode_of(path))
        temporary.replace(path)
    _sync_directory(path.parent)


def _mode_of(path: Path) -> int:
    """Permission bits of the file being replaced, else what open() would give."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_directory(directory: Path) -> None:
    """Make the rename survive a power cut where the file system can."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
