"""What a run may use of its machine, container and shell: threads of all pools, and memory of rows."""

from __future__ import annotations

import math
import mmap
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from uqcli.base.defaults import KEPT_BYTES, ROWS_PER_PART
from uqcli.base.errors import UsageError
from uqcli.base.operating_system import limits, processors

_ROOT, _MEMBERSHIP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def group_folders(controller: str) -> Iterator[Path]:
    """Yield the folders of a controller, from the own group upwards; of both versions of control groups.

    In a container, the path of the own group may be that of the host. Its folders are then missing here, and
    the mounted root is that of the container.
    """
    with suppress(OSError, ValueError):
        for line in _MEMBERSHIP.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers or controller in controllers.split(","):
                root = _ROOT / controller if controllers else _ROOT
                own = root / path.strip("/")
                yield from (own, *own.parents[: len(own.parts) - len(root.parts)])


def numbers_in(*files: Path) -> tuple[int, ...] | None:
    """Return the whole numbers that files hold; None if one is missing or states no limit."""
    with suppress(OSError, ValueError):
        return tuple(int(text) for file in files for text in file.read_text().split())
    return None


POOL_VARIABLES: Final = (
    "POLARS_MAX_THREADS",
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "ARROW_IO_THREADS",
)
"""Variables by which libraries size their pools when they are loaded; pyarrow reads two of them."""


def threads() -> int:
    """Return the number of threads of each pool: of polars if that is set, else the usable cores."""
    stated = os.environ.get(POOL_VARIABLES[0], "")
    return int(stated) if stated.isdecimal() and int(stated) else usable_cores()


@cache  # asked for each short array of a call from Python
def usable_cores() -> int:
    """Return the number of cores that the affinity mask and the quotas of control groups allow at first."""
    cores = processors()
    for folder in group_folders("cpu"):
        for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
            quota = numbers_in(*(folder / name for name in names))
            if quota is not None and quota[0] > 0:
                cores = min(cores, -(-quota[0] // quota[1]))
    return max(1, cores)


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

_BYTES_PER_ROW: Final = 64
"""Bytes of eight numbers: rows that are wider are counted in smaller parts."""

_LEAST_BYTES: Final = 1 << 20
"""Bytes of a batch below which its own cost would exceed that of its rows."""

_BATCHES_KEPT: Final = 4
"""Batches of each thread that are waiting, counted or finished."""

_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,9})?) ?([KMGT]?)(i?)B?", re.ASCII | re.IGNORECASE)

_limit: list[int] = []
_notes: dict[str, None] = {}


def limit_kept(size: str | None) -> str | None:
    """Set the memory that holds rows, such as ``2GB``; None for a share of what is available.

    A callback of ``--memory``. A new run has no notes.
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


def bytes_for_clusters(taken: int) -> int | None:
    """Return the memory for sums by cluster: what was set for rows, else what is free or ``taken``."""
    if _limit:
        return _limit[0]
    free = available_bytes()
    return None if free is None else taken + free


def rows_per_part() -> int:
    """Return the rows that a thread counts at once: more for many threads, if memory is left for that.

    Python's lock, for which threads wait, is held about as long for a large part as for a small one.
    """
    workers = threads()
    is_large = workers > _FEW_THREADS and kept_bytes() >= KEPT_BYTES + workers * _LARGE_PART_BYTES
    return ROWS_PER_PART * (2 if is_large else 1)


def bytes_per_batch() -> int:
    """Return the bytes of rows that a thread has in memory at once, a few times over while it counts them."""
    return max(
        _LEAST_BYTES, min(rows_per_part() * _BYTES_PER_ROW, kept_bytes() // (_BATCHES_KEPT * threads()))
    )


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
        for limit, used, file_cache in _GROUP_FILES:
            sizes = numbers_in(folder / limit, folder / used)
            if sizes is not None:
                with suppress(OSError, ValueError):
                    statistics = (folder / "memory.stat").read_text().split()
                    cached = dict(zip(statistics[::2], statistics[1::2], strict=False)).get(file_cache, 0)
                    free.append(sizes[0] - sizes[1] + int(cached))
    return min(free, default=None)


def _shell_bytes() -> int | None:
    with suppress(OSError, ValueError):
        limit, _ = limits("AS")
        if limit < math.inf:
            return int(limit) - int(_STATM.read_text().split()[0]) * mmap.PAGESIZE
    return None
