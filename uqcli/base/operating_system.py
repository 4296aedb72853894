"""What differs between Linux, macOS and Windows; no other module asks on which of them it runs.

Windows has no ``fcntl``, few signals and no limits of a process. A file that is open there can be neither
replaced nor removed, and neither owner nor mode of a file say who may write it.
"""

from __future__ import annotations

import math
import os
import re
import select
import shlex
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final


def _module(name: str) -> Any:
    """Import a module that not every system has; None if this one has not."""
    with suppress(ImportError):
        return import_module(name)
    return None


_fcntl, _msvcrt, _resource, _winapi = map(_module, ("fcntl", "msvcrt", "resource", "_winapi"))

IS_WINDOWS: Final = _fcntl is None

IGNORES_CASE: Final = IS_WINDOWS or sys.platform == "darwin"
"""Whether names of files that differ in case only usually name one file."""

NO_LINK: Final[int] = getattr(os, "O_NOFOLLOW", 0)
NO_WAIT: Final[int] = getattr(os, "O_NONBLOCK", 0)
"""Flags of ``os.open``."""

_LOCKED_BYTE: Final = 1 << 40
"""Position of the byte that is locked on Windows: beyond any content, which nobody else could read."""

_DESCRIPTORS: Final = 512  # the C library of Windows opens no more files
_POLL_SECONDS, _PATIENCE_SECONDS = 0.01, 1.0
_PLAIN_WORD: Final = re.compile(r"[\w@%+=:,./\\-]+", re.ASCII)


def has_lock(descriptor: int) -> bool:
    """Lock an open file until its descriptor closes; return False if another run has locked it.

    A file system without locks raises OSError.
    """
    if not IS_WINDOWS:
        try:
            _fcntl.flock(descriptor, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    try:
        _msvcrt.locking(descriptor, _msvcrt.LK_NBLCK, 1)
    except PermissionError:
        return False
    finally:
        os.lseek(descriptor, position, os.SEEK_SET)
    return True


def change(work: Callable[..., None], *paths: str | Path) -> None:
    """Replace or remove files, with patience, since on Windows a scanner or a library may have one open."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return work(*paths)
        except PermissionError:
            if not IS_WINDOWS or time.monotonic() > deadline:
                raise
        time.sleep(_POLL_SECONDS)


def release(path: str) -> None:
    """Close what the process, which is about to end, has open of a file, so that Windows can remove it."""
    for descriptor in range(3, _DESCRIPTORS if IS_WINDOWS else 0):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):  # noqa: PTH116  takes no locks
                os.close(descriptor)


def is_read_only(path: Path) -> bool:
    """Whether the file system of a path takes no writes; False on Windows, which does not say."""
    return hasattr(os, "statvfs") and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def sync(descriptor: int) -> None:
    """Sync a file; on macOS also the memory of its disk, which a power failure would clear."""
    if hasattr(_fcntl, "F_FULLFSYNC"):
        with suppress(OSError):  # a file system that cannot
            _fcntl.fcntl(descriptor, _fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def existing_signals(outcomes: Mapping[str, str]) -> dict[signal.Signals, str]:
    """Return the signals of these names that exist here, with their outcomes."""
    return {getattr(signal, name): text for name, text in outcomes.items() if hasattr(signal, name)}


def mask_signals(signals: Iterable[int], *, block: bool) -> None:
    """Block or unblock signals; Windows cannot."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK if block else signal.SIG_UNBLOCK, signals)


def never_wait(descriptor: int) -> None:
    """Let writes to a full pipe fail; Windows can from Python 3.12 on."""
    if hasattr(os, "set_blocking"):
        os.set_blocking(descriptor, False)


def has_bytes(descriptor: int, seconds: float) -> bool:
    """Whether a pipe or a terminal has bytes, or has ended, within some seconds."""
    if not IS_WINDOWS:
        readiness = select.poll()
        readiness.register(descriptor, select.POLLIN)
        return bool(readiness.poll(seconds * 1000))
    deadline = time.monotonic() + seconds
    with suppress(OSError):  # the pipe has ended, or it is a console, of which nothing is known
        while not _winapi.PeekNamedPipe(_msvcrt.get_osfhandle(descriptor), 0)[0]:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
    return True


def takes_at_once(descriptor: int, size: int) -> bool:
    """Whether a stream takes so many bytes without waiting; on Windows only a file is known to."""
    if IS_WINDOWS:
        return stat.S_ISREG(os.fstat(descriptor).st_mode)
    _, writable, _ = select.select([], [descriptor], [], 0)
    return bool(writable) and size <= select.PIPE_BUF


def limits(name: str) -> tuple[float, float]:
    """Return the soft and the hard limit of ``NOFILE``, ``NPROC`` or ``AS``; infinity where there is none."""
    if _resource is None:
        return math.inf, math.inf
    soft, hard = (
        math.inf if value == _resource.RLIM_INFINITY else value
        for value in _resource.getrlimit(getattr(_resource, f"RLIMIT_{name}"))
    )
    return soft, hard


def raise_limit(name: str, soft: int) -> None:
    """Set a soft limit that is too low; the hard one stays."""
    number = getattr(_resource, f"RLIMIT_{name}")
    _resource.setrlimit(number, (soft, _resource.getrlimit(number)[1]))


def processors() -> int:
    """Return the number of processors that the process may use, where this is known, else of all."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def user_id() -> int | None:
    """Return the user's number; None on Windows."""
    return None if IS_WINDOWS else os.geteuid()


def user_caches() -> Path:
    """Return the folder of the user's caches; a relative path if the environment does not name it."""
    if IS_WINDOWS:
        return Path(os.environ.get("LOCALAPPDATA", ""))
    return Path(os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", ""), ".cache"))


def quote(word: str) -> str:
    """Quote a word for the shell; those of Windows have double quotes in common."""
    if not IS_WINDOWS:
        return shlex.quote(word)
    if _PLAIN_WORD.fullmatch(word):
        return word
    escaped = re.sub(r'(?<!\\)(\\*)("|$)', lambda run: 2 * run[1] + run[2].replace('"', '\\"'), word)
    return f'"{escaped}"'


def join(words: Iterable[str]) -> str:
    """Write words as a command line."""
    return " ".join(map(quote, words))


def split(line: str) -> list[str]:
    """Return the words of a command line that ``join`` wrote."""
    if not IS_WINDOWS:
        return shlex.split(line)
    words = re.findall(r'"((?:\\.|[^"\\])*)"|(\S+)', line)
    return [
        plain or re.sub(r'(?<!\\)(\\+)("|$)', lambda run: run[1][: len(run[1]) // 2] + run[2], quoted)
        for quoted, plain in words
    ]
