"""Memory available to a run, of the machine, its container and its shell, and how much of it holds rows."""

from __future__ import annotations

import math
import mmap
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from uqcli.base.defaults import KEPT_BYTES, ROWS_PER_PART
from uqcli.base.errors import UsageError
from uqcli.base.operating_system import limits
from uqcli.base.running.cores import group_folders, numbers_in, threads

_MEMINFO: Final = Path("/proc/meminfo")
_STATM: Final = Path("/proc/self/statm")

_GROUP_FILES: Final = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Files with the limit and the use of a control group, and the key of its file cache; versions 2 and 1."""

_KEPT_SHARE: Final = 4
"""One part in so many of the available memory holds rows."""

_FEW_THREADS, _LARGE_PART_BYTES = 4, 100 << 20
"""Threads that hardly wait for each other, and what a large part takes beside what a thread takes anyway."""

_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,9})?) ?([KMGT]?)(i?)B?", re.ASCII | re.IGNORECASE)

_limit: list[int] = []
_notes: dict[str, None] = {}


def limit_kept(size: str | None) -> str | None:
    """Set the memory that holds rows, such as ``2GB``; None for a share of what is available.

    A callback of ``--memory``. A new run has no notes.

    Raises
    ------
    UsageError
        It is no size.
    """
    _notes.clear()
    _limit.clear()
    if size is not None:
        match = _SIZE.fullmatch(size.strip())
        if match is None:
            raise UsageError(f"--memory '{size}'", expected="a size such as 500MB, 2GB or 1.5GiB")
        number, unit, binary = match.groups()
        power = " KMGT".index(unit.upper() or " ")
        _limit.append(int(float(number) * (1024 if binary else 1000) ** power))
    return size


def kept_bytes() -> int:
    """Return the memory that holds rows: what was set, else a share of what is available, at least 832 MB."""
    return _limit[0] if _limit else max(KEPT_BYTES, (available_bytes() or 0) // _KEPT_SHARE)


def rows_per_part() -> int:
    """Return the rows that a thread counts at once: more for many threads, if memory is left for that.

    Python's lock, for which threads wait, is held about as long for a large part as for a small one.
    """
    workers = threads()
    is_large = workers > _FEW_THREADS and kept_bytes() >= KEPT_BYTES + workers * _LARGE_PART_BYTES
    return ROWS_PER_PART * (2 if is_large else 1)


def note_read_again(rows: int, limit: int) -> None:
    """Note that rows are read in each pass, since the limit holds no more, for ``--verbose``."""
    _notes[
        f"{limit / 1e6:,.0f} MB of memory do not hold all rows: {rows:,} of them are read again in each "
        "pass. Give --memory SIZE for another limit."
    ] = None


def memory_notes() -> list[str]:
    """Return the notes on memory of this run."""
    return list(_notes)


def available_bytes() -> int | None:
    """Return the smallest amount that machine, control group and ``ulimit -v`` leave; None if unknown."""
    free = [limit for limit in (_machine_bytes(), _container_bytes(), _shell_bytes()) if limit is not None]
    return min(free) if free else None


def _machine_bytes() -> int | None:
    with suppress(OSError, ValueError):  # Linux; to import psutil takes 0.02 s
        for line in _MEMINFO.read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) << 10
    with suppress(OSError):  # Linux without /proc
        import psutil

        return int(psutil.virtual_memory().available)
    return None


def _container_bytes() -> int | None:
    """Return the least memory that control groups leave, from the own group upwards; file cache is free."""
    free = []
    for folder in group_folders("memory"):
        for limit, used, cache in _GROUP_FILES:
            sizes = numbers_in(folder / limit, folder / used)
            if sizes is not None:
                with suppress(OSError, ValueError):
                    statistics = (folder / "memory.stat").read_text().split()
                    cached = dict(zip(statistics[::2], statistics[1::2], strict=False)).get(cache, 0)
                    free.append(sizes[0] - sizes[1] + int(cached))
    return min(free, default=None)


def _shell_bytes() -> int | None:
    with suppress(OSError, ValueError):
        limit, _ = limits("AS")
        if limit < math.inf:
            return int(limit) - int(_STATM.read_text().split()[0]) * mmap.PAGESIZE
    return None
