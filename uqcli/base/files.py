"""Atomic file output: a file appears whole or not at all.

A regular file is written under a temporary name in the same directory and synced. It is then renamed over
the old one (see uqcli.base.running.interruption). FIFOs and devices are written directly.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, BinaryIO, Final, Protocol, Self, TextIO

from uqcli.base.errors import DataError
from uqcli.base.operating_system import is_read_only, sync
from uqcli.base.records import dataclass
from uqcli.base.running.interruption import Temporary

STDIO: Final = "-"
_STDIN_NAMES: Final = frozenset({STDIO, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_STDOUT_NAMES: Final = frozenset({STDIO, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
_WRITE_BACK_SECONDS: Final = 0.5
_closed: set[str] = set()


class InMemory(str):
    """Name of rows or of a rule that a program has in memory; it is that of no file, and equal to no other.

    Attributes
    ----------
    content
        A data frame of polars, the bytes of a rule file, or the stream that an output is written to.
    """

    content: Any

    def __new__(cls, name: str, content: Any) -> Self:
        """Name what a program has."""
        named = super().__new__(cls, name)
        named.content = content
        return named

    def __eq__(self, other: object) -> bool:
        """Whether it is the same object."""
        return self is other

    def __ne__(self, other: object) -> bool:
        """Whether it is another object."""
        return self is not other

    def __hash__(self) -> int:
        """Return a hash of the object, not of the text."""
        return id(self)


def is_stdin(name: str) -> bool:
    """Whether an input is standard input, under any name."""
    return name in _STDIN_NAMES


def is_stdout(name: str) -> bool:
    """Whether an output is standard output, under any name."""
    return name in _STDOUT_NAMES


def stdin_bytes() -> BinaryIO:
    """Return standard input as bytes, unless it is closed."""
    stream: TextIO | None = sys.stdin
    if stream is None:
        raise DataError("standard input is closed", remedy=f"give a file, or redirect from {os.devnull}")
    return stream.buffer


def open_missing_streams() -> None:
    """Open the null device in place of closed standard streams; results to it are refused (see open_output).

    Otherwise a file that we open would get the number of a standard stream, and receive library output.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            null = os.open(os.devnull, os.O_RDONLY if name == "stdin" else os.O_WRONLY)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
            _closed.add(name)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115  stays open
        # whatever the console has; file names may be any bytes
        getattr(sys, name).reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


class PendingOutput(Protocol):
    """Output that is written but not yet in place."""

    def move_into_place(self) -> None:
        """Rename into place; raise DataError if it can no longer be written."""

    def remove(self) -> None:
        """Delete it."""


@dataclass(frozen=True, kw_only=True)
class _Replacement:
    """Synced temporary file in the directory of its target."""

    temporary: Temporary
    path: Path
    target: str
    is_report: bool

    def move_into_place(self) -> None:
        with writing_errors(self.target, is_report=self.is_report):
            self.temporary.move_into_place(self.path, self.target)

    def remove(self) -> None:
        self.temporary.remove()


class AtOnce:
    """Takes regular files and objects that are written, and renames them into place at once."""

    has_reports = False

    def add(self, waiting: PendingOutput) -> None:
        """Rename an output into place."""
        waiting.move_into_place()

    def commit(self) -> None:
        """Do nothing: all outputs are in place."""


AT_ONCE: Final = AtOnce()


class OutputQueue(AtOnce):
    """Regular files and objects that are written but stay hidden until ``commit``.

    Attributes
    ----------
    has_reports
        Whether they are reports, in whose place a failed run writes its error.
    """

    def __init__(self, *, has_reports: bool = False) -> None:
        self.has_reports = has_reports
        self._waiting: list[PendingOutput] = []

    def __enter__(self) -> OutputQueue:
        """Start holding outputs."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was not committed."""
        while self._waiting:
            self._waiting.pop().remove()

    def add(self, waiting: PendingOutput) -> None:
        """Queue an output."""
        self._waiting.append(waiting)

    def commit(self) -> None:
        """Rename all outputs into place."""
        while self._waiting:
            self._waiting.pop(0).move_into_place()


def check_writable(target: str) -> None:
    """Refuse an unwritable target before any work is done."""
    if target == STDIO:
        return
    try:
        _check_target(target)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"cannot write '{target}': {reason}", remedy="choose another place") from error


def _check_target(target: str) -> None:
    if Path(target).is_dir():
        raise DataError(f"output '{target}' is a directory", expected="a file name")
    path = _final_path(target)
    if not path.parent.is_dir():
        raise DataError(
            f"cannot write '{target}': no directory '{path.parent}'", remedy="create the directory first"
        )
    written = path.parent if _is_replaceable(path) else path
    if not os.access(written, os.W_OK):
        reason = "the file system is read-only" if is_read_only(written) else "permission denied"
        raise DataError(f"cannot write '{target}': {reason}", remedy="choose another place with -o")


def check_results_stream(target: str | None, remedy: str = "give -o FILE") -> None:
    """Refuse to write results to a closed standard output."""
    if target == STDIO and "stdout" in _closed:
        raise DataError("standard output is closed", expected="a place for the results", remedy=remedy)


@contextmanager
def open_output(target: str, queue: AtOnce = AT_ONCE) -> Iterator[BinaryIO]:
    """Open a path, or ``-``, for writing bytes; a regular file appears only if the block succeeds.

    It waits in a queue for ``commit``, if there is one, and else is renamed into place at once.
    """
    if target == STDIO:
        check_results_stream(target)
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with writing_errors(target, is_report=queue.has_reports):
        path = _final_path(target)
        if _is_replaceable(path):
            with _replacing(path, target, queue) as stream:
                yield stream
        else:
            with path.open("wb") as stream:
                yield stream


def can_queue(target: str) -> bool:
    """Whether a target is free or a regular file, hence replaced whole."""
    try:
        return target != STDIO and _is_replaceable(Path(target))
    except (OSError, ValueError):
        return False


_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def writing_errors(target: str, where: str = "", *, is_report: bool = False) -> Iterator[None]:
    """Convert OSError to a DataError that names the output and, if given, where it is written temporarily."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = " ".join(filter(None, (error.strerror or str(error), where)))
        stood = os.path.isfile(target)  # noqa: PTH113  an old file, such as a state, which is replaced whole
        left = "the file there is as it was" if stood else "nothing was left there"
        if is_report:
            left = "the file there, if any, gives this error or is as it was"
        first = "free some space, or " if error.errno in _FULL else ""
        remedy = f"{left}; {first}choose another place"
        raise DataError(f"cannot write '{target}': {reason}", remedy=remedy) from error


def followed(name: str) -> str:
    """Return the path that a name leads to, as far as the system follows its links.

    To resolve links by ourselves would lead where the system refuses to, such as through a stranger's link in
    ``/tmp``. A path that the system refuses, or that is changed meanwhile, is an OSError.
    """
    path = os.path.realpath(name)
    try:
        status = os.stat(name)  # noqa: PTH116  names may be any bytes
    except FileNotFoundError:
        return path
    if not os.path.samestat(status, os.stat(path)):  # noqa: PTH116
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return path


def _final_path(target: str) -> Path:
    """Resolve symlinks, so that the link stays and its target is replaced.

    A FIFO or device keeps the given name: the target of ``/dev/stdout`` has none.
    """
    path = Path(target)
    return Path(followed(target)) if _is_replaceable(path) else path


def _is_replaceable(path: Path) -> bool:
    """Whether the target is free or a regular file; anything else is written directly.

    ``/dev/stdout`` may be a regular file if the shell redirects it, but it is a stream to us.
    """
    if str(path).startswith(("/dev/std", "/dev/fd/", "/proc/")):
        return False
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


@contextmanager
def _replacing(path: Path, target: str, queue: AtOnce) -> Iterator[BinaryIO]:
    temporary = Temporary(path.parent, path.name)
    with filled(temporary) as stream:
        with _written_back(stream.fileno()):
            yield stream
            stream.flush()
        sync(stream.fileno())
    is_report = queue.has_reports
    queue.add(_Replacement(temporary=temporary, path=path, target=target, is_report=is_report))


@contextmanager
def _written_back(descriptor: int) -> Iterator[None]:
    """Let Linux write a large file to the disk while it grows, so that the last sync waits for little."""
    ended, failed = Event(), list[OSError]()

    def write_back() -> None:
        try:
            while not ended.wait(_WRITE_BACK_SECONDS):
                os.fdatasync(descriptor)
        except OSError as error:  # which the system tells once, so the last sync would not
            failed.append(error)

    thread = Thread(target=write_back, daemon=True)
    if hasattr(os, "fdatasync"):
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if thread.ident is not None:
            thread.join()
    if failed:
        raise failed[0]


@contextmanager
def filled(temporary: Temporary) -> Iterator[BinaryIO]:
    """Write a temporary file; remove it if the block fails."""
    try:
        with temporary.open() as stream:
            yield stream
    except BaseException:
        temporary.remove()
        raise
