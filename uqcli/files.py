"""Writing files so that they appear whole or not at all.

A regular file is written beside its place under a temporary name, synchronised, and renamed over the
old one. FIFOs and devices are written directly. Temporaries are registered so that a signal can
remove them (see uqcli.cli.process.signals), and locked while their process lives: what a killed run left
behind is told apart by its lock, on any host that shares the directory, and removed by the next run
that writes the same file.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from uqcli.errors import DataError

STDIO: Final = "-"
_STDIN_NAMES: Final = frozenset({STDIO, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_STDOUT_NAMES: Final = frozenset({STDIO, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
_READABLE_BYTES: Final = 100
"""How much of an output's name its temporaries show; names may have 255 bytes."""

changing: Final = threading.RLock()
"""Held while a temporary is made or takes its place, and by whoever ends the process."""

_temporaries: set[str] = set()
_replaced: list[str] = []
_closed: set[str] = set()


def is_stdin(name: str) -> bool:
    """Whether an input is standard input, under whatever name."""
    return name in _STDIN_NAMES


def is_stdout(name: str) -> bool:
    """Whether an output is standard output, under whatever name."""
    return name in _STDOUT_NAMES


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


def open_missing_streams() -> None:
    """Give what our caller closed a place: reports vanish there, results are refused (open_output).

    No file of ours may get the number of a standard stream: others would write into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDONLY if name == "stdin" else os.O_WRONLY)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            _closed.add(name)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115  stays open
        getattr(sys, name).reconfigure(errors="backslashreplace")  # names may be any bytes


def remove_temporaries() -> None:
    """Unlink every temporary file of this process; safe to call from another thread."""
    for name in tuple(_temporaries):
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108  os.unlink takes no locks a dying process could hold
        _temporaries.discard(name)


def replaced_files() -> tuple[str, ...]:
    """The regular files that this process has written, as they were named."""
    return tuple(_replaced)


class Temporary:
    """A registered file beside the place that it is for, locked while its process lives.

    Parameters
    ----------
    directory
        Where it is made.
    name
        What it stands for; leftovers of the same name are removed.
    """

    def __init__(self, directory: Path, name: str) -> None:
        prefix = _prefix(name)
        _remove_leftovers(directory, prefix)
        while not self._made(os.path.join(directory, f"{prefix}{secrets.token_hex(6)}.tmp")):  # noqa: PTH118
            pass

    def _made(self, path: str) -> bool:
        """Create and lock the file; False if another run took it for a leftover in between."""
        self.path = path
        with changing:  # none is made any more once whoever ends the process has removed them
            _temporaries.add(path)  # before it is there: it must be known when a signal comes
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except OSError:
                _temporaries.discard(path)
                raise
        self._lock: int | None = descriptor
        with suppress(OSError):  # a file system without locks, or the other run's lock
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            return True
        self.remove()
        return False

    def open(self) -> BinaryIO:
        """Open it for writing; the lock outlives the stream."""
        assert self._lock is not None  # not removed yet
        return os.fdopen(os.dup(self._lock), "wb")

    def take_place(self, path: Path, target: str) -> None:
        """Rename it; whoever ends the process knows whether that came before."""
        try:
            os.chmod(self.path, _mode_of(path))  # noqa: PTH101  names may be any bytes
            with changing:
                os.replace(self.path, path)  # noqa: PTH105
                _temporaries.discard(self.path)
                _replaced.append(target)
        finally:
            self.remove()
        _sync_directory(path.parent)

    def remove(self) -> None:
        """Unlink it where it has not taken its place, and let go of the lock."""
        if self.path in _temporaries:
            with suppress(OSError):
                os.unlink(self.path)  # noqa: PTH108
            _temporaries.discard(self.path)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class Held:
    """Regular files that are written whole and wait for a word before they take their places."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Temporary, Path, str]] = []

    def __enter__(self) -> Held:
        """Wait."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was not committed."""
        while self._waiting:
            self._waiting.pop()[0].remove()

    def add(self, temporary: Temporary, path: Path, target: str) -> None:
        """Let a synchronised file wait."""
        self._waiting.append((temporary, path, target))

    def commit(self) -> None:
        """Let the files take their places.

        Raises
        ------
        DataError
            A place cannot be written any more.
        """
        while self._waiting:
            temporary, path, target = self._waiting.pop(0)
            with _as_data_errors(target):
                temporary.take_place(path, target)


@contextmanager
def temporary_path(directory: Path | None, name: str) -> Iterator[Path]:
    """Yield the path of a registered, locked temporary file; it is gone afterwards.

    Parameters
    ----------
    directory
        None for the system's directory of temporary files.
    name
        What it stands for: leftovers of the same name whose process is dead are removed.
    """
    temporary = Temporary(Path(tempfile.gettempdir()) if directory is None else directory, name)
    try:
        yield Path(temporary.path)
    finally:
        temporary.remove()


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


def check_results_stream(target: str | None) -> None:
    """Refuse results that nobody could receive.

    Raises
    ------
    DataError
        The target is standard output, and it is closed.
    """
    if target == STDIO and "stdout" in _closed:
        raise DataError(
            "standard output is closed", expected="a place for the results", remedy="give -o FILE"
        )


@contextmanager
def open_output(target: str, held: Held | None = None) -> Iterator[BinaryIO]:
    """Open a place for writing bytes; a regular file appears only when the block ends well.

    Parameters
    ----------
    target
        A path, or ``-`` for standard output.
    held
        Where a regular file waits for its commit; None lets it take its place at once.

    Raises
    ------
    DataError
        The place cannot be written (missing directory, permission, full disk).
    """
    if target == STDIO:
        check_results_stream(target)
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with _as_data_errors(target):
        path = _final_path(target)
        if _is_replaceable(path):
            with _replacing(path, target, held) as stream:
                yield stream
        else:
            with path.open("wb") as stream:
                yield stream


def write_bytes(target: str, content: bytes) -> None:
    """Write a whole file at once (see open_output)."""
    with open_output(target) as stream:
        stream.write(content)


@contextmanager
def _as_data_errors(target: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(
            f"cannot write '{target}': {reason}", remedy="nothing was left there; choose another place"
        ) from error


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
def _replacing(path: Path, target: str, held: Held | None) -> Iterator[BinaryIO]:
    temporary = Temporary(path.parent, path.name)
    try:
        with temporary.open() as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException:
        temporary.remove()
        raise
    if held is None:
        temporary.take_place(path, target)
    else:
        held.add(temporary, path, target)


def _prefix(name: str) -> str:
    """What the temporaries of a file begin with: some of its name, and a digest of all of it."""
    whole = os.fsencode(name)
    readable = whole[:_READABLE_BYTES].decode("utf-8", "ignore")
    return f".{readable}.{hashlib.sha256(whole).hexdigest()[:8]}."


def _remove_leftovers(directory: Path, prefix: str) -> None:
    """Remove temporaries whose process is dead: nobody holds their lock."""
    with suppress(OSError):
        for name in os.listdir(directory):  # noqa: PTH208
            if name.startswith(prefix) and name.endswith(".tmp"):
                _remove_unlocked(os.path.join(directory, name))  # noqa: PTH118


def _remove_unlocked(path: str) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)  # noqa: PTH108
        finally:
            os.close(descriptor)


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
