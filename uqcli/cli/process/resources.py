"""What the program's process takes of the machine: threads, and memory that was freed."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Final

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MOST_ARENAS = -1, -3, -8
"""Parameters of glibc's ``mallopt``."""

_KEPT: Final = 1 << 30
_LARGEST: Final = 32 << 20


def keep_freed_memory() -> None:
    """Let freed memory be used again instead of given back, where the C library can be told so.

    Rows go through the same few arrays part by part. Given back and asked for again every time, each page
    would be cleared anew: a fifth to a half of the time of counting large files.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # other C libraries have none
        for name, value in ((_TRIM_THRESHOLD, _KEPT), (_MMAP_THRESHOLD, _LARGEST), (_MOST_ARENAS, 1)):
            mallopt(name, value)


def limit_threads(threads: int | None) -> None:
    """Set the number of threads, before a library that uses threads is loaded; None for one a core.

    Matrices are factored by one thread: with more, sums run in another order.
    """
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if threads is not None:
        for name in ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
            os.environ[name] = str(threads)
