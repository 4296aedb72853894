"""What the program's process takes of the machine: threads, files, and memory, freed or not."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from typing import Final

from uqcli.errors import DataError

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MOST_ARENAS = -1, -3, -8
"""Parameters of glibc's ``mallopt``."""

_LEAST_FILES, _LEAST_MEMORY = 32, 1_000_000 << 10
"""What libraries need before the first row: open files, and bytes of address space."""

_KEPT: Final = 1 << 30
_LARGEST: Final = 32 << 20


def keep_freed_memory() -> None:
    """Let freed memory be used again instead of given back, where the C library can be told so.

    Rows pass through the same few arrays, part by part. The system clears each page that is freed and taken
    again, which costs a fifth to a half of the time of counting large files.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # other C libraries have none
        for name, value in ((_TRIM_THRESHOLD, _KEPT), (_MMAP_THRESHOLD, _LARGEST), (_MOST_ARENAS, 1)):
            mallopt(name, value)


def require_room() -> None:
    """Check the limits of the process, which libraries answer with panics and crashes.

    Raises
    ------
    DataError
        Too few files may be open, or too little memory be used.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _is_below(soft, _LEAST_FILES):
        if _is_below(hard, _LEAST_FILES):
            raise DataError(
                f"the limit of open files is {soft}",
                expected=f"at least {_LEAST_FILES}",
                remedy=f"raise it with ulimit -n {8 * _LEAST_FILES}",
            )
        resource.setrlimit(resource.RLIMIT_NOFILE, (_LEAST_FILES, hard))
    memory, _ = resource.getrlimit(resource.RLIMIT_AS)
    if _is_below(memory, _LEAST_MEMORY):
        raise DataError(
            f"the memory limit is {memory >> 20} MiB",
            expected=f"at least {_LEAST_MEMORY >> 20} MiB",
            remedy="raise it with ulimit -v 1000000 or more",
        )


def _is_below(limit: int, least: int) -> bool:
    return limit != resource.RLIM_INFINITY and limit < least


def limit_threads(threads: int | None) -> int | None:
    """Set the number of threads, before a library that uses threads is loaded; None for one a core.

    A callback of ``--threads``, which is parsed before a command loads what it needs.

    Matrices are factored by one thread: with more, sums run in another order.
    """
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if threads is not None:
        for name in ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
            os.environ[name] = str(threads)
    return threads
