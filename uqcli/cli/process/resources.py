"""Resources of the process: threads, open files and memory."""

from __future__ import annotations

import ctypes
import gc
import os
from typing import Final

from uqcli.base.errors import DataError
from uqcli.base.operating_system import IS_WINDOWS, limits, raise_limit
from uqcli.base.running import cores

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Parameters of glibc's ``mallopt``."""

_MIN_FILES, _MIN_MEMORY = 32, 1_000_000 << 10
"""Open files and bytes of address space that libraries need before the first row."""

_TRIM_BYTES: Final = 1 << 30
_MMAP_BYTES: Final = 32 << 20


def keep_freed_memory() -> None:
    """Make glibc keep freed memory instead of returning it to the system.

    A run allocates the same few arrays for each part of the rows. The system clears each returned page, which
    takes a fifth to a half of the time of counting large files.
    """
    if IS_WINDOWS:
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # other C libraries do not have it
        for name, value in ((_TRIM_THRESHOLD, _TRIM_BYTES), (_MMAP_THRESHOLD, _MMAP_BYTES), (_ARENA_MAX, 1)):
            mallopt(name, value)


def collect_seldom() -> None:
    """Let Python look for cycles seldom; while libraries are loaded it would look fifty times in vain."""
    gc.set_threshold(50_000, 20, 20)


def check_limits() -> None:
    """Check the limits of the process; libraries would panic or crash at them.

    Raises
    ------
    DataError
        The limit of open files or of memory is too low.
    """
    soft, hard = limits("NOFILE")
    if soft < _MIN_FILES:
        if hard < _MIN_FILES:
            raise DataError(
                f"the limit of open files is {soft}",
                expected=f"at least {_MIN_FILES}",
                remedy=f"raise it with ulimit -n {8 * _MIN_FILES}",
            )
        raise_limit("NOFILE", _MIN_FILES)
    memory, _ = limits("AS")
    if memory < _MIN_MEMORY:
        raise DataError(
            f"the memory limit is {int(memory) >> 20} MiB",
            expected=f"at least {_MIN_MEMORY >> 20} MiB",
            remedy="raise it with ulimit -v 1000000 or more",
        )


def limit_threads(threads: int | None) -> int | None:
    """Set the number of threads of all pools before libraries are loaded; None for one per usable core.

    A callback of ``--threads``, since a command loads its libraries only after parsing. OpenBLAS has one
    thread, since more threads change the order of sums.
    """
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    size = str(threads or cores.threads())
    for name in cores.POOL_VARIABLES:
        os.environ[name] = size if threads else os.environ.get(name, size)
    return threads
