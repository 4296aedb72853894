"""Environment variables of a run, set before libraries read them, and its threads, open files and memory."""

from __future__ import annotations

import ctypes
import gc
import os
import warnings
from typing import Final

from uqcli.base.errors import DataError
from uqcli.base.operating_system import IS_WINDOWS, limits, raise_limit
from uqcli.base.running import cores

_NARROWEST, _WIDEST = 20, 10_000
"""Columns of a terminal; other numbers are ignored."""

_AVX512: Final = "X86_V4 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
"""Names in old and new numpy of the CPU instructions that round exponentials differently."""

_COLOUR_VARIABLES: Final = ("FORCE_COLOR", "PY_COLORS", "TTY_COMPATIBLE")


def round_alike() -> None:
    """Make numpy, if loaded later, round alike on all x86-64 CPUs."""
    disabled = os.environ.get("NPY_DISABLE_CPU_FEATURES", "")
    if not disabled.endswith(_AVX512):
        os.environ["NPY_DISABLE_CPU_FEATURES"] = f"{disabled} {_AVX512}".strip()
    # numpy warns of unknown names
    warnings.filterwarnings("ignore", "During parsing environment variable", ImportWarning)


def set_environment() -> None:
    """Make results equal on all x86-64 CPUs, let ``NO_COLOR`` win, and draw figures only to files."""
    round_alike()
    if os.environ.get("NO_COLOR"):
        for name in _COLOUR_VARIABLES:
            os.environ.pop(name, None)
    columns = os.environ.get("COLUMNS", "")
    if not (columns.isdecimal() and _NARROWEST <= int(columns[:9]) <= _WIDEST):
        os.environ.pop("COLUMNS", None)
    if not os.environ.get("POLARS_MAX_THREADS", "1").strip(" 0"):
        del os.environ["POLARS_MAX_THREADS"]  # polars cannot use 0 threads
    os.environ["MPLBACKEND"] = "agg"  # a notebook's backend may not be installed


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
    """Refuse a limit of open files or of memory at which libraries would panic or crash."""
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
