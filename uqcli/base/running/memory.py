"""The memory of a run: one budget that every reader asks.

``kept_bytes`` steers how much a run holds at once, and refuses nothing. ``allowed_bytes`` is what rows may
take before the run is refused. Both are what a run takes beside its program (``PROGRAM_BYTES``).
"""

from __future__ import annotations

import math
import mmap
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from uqcli.base.defaults import KEPT_BYTES, ROWS_PER_BATCH, ROWS_PER_PART
from uqcli.base.errors import DataError, UsageError, Words, words
from uqcli.base.operating_system import limits
from uqcli.base.running.machine import group_folders, numbers_in, threads

PROGRAM_BYTES: Final = 250_000_000
"""Memory that libraries and read buffers take beside the rows."""

LIBRARIES_MAPPED: Final = 700_000_000
"""Addresses that the libraries map, most of which never take memory; measured with all of them loaded."""

MAPPED_PER_THREAD: Final = 64_000_000
"""Addresses that the C library reserves for each thread."""

_MEMINFO: Final = Path("/proc/meminfo")
_STATM: Final = Path("/proc/self/statm")

_GROUP_FILES: Final = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Files with the limit and the use of a control group, and the key of its file cache; versions 2 and 1."""

_KEPT_SHARE: Final = 4
"""One part in so many of the available memory is what a run aims at, since it is not alone on the machine."""

_WORKING_BYTES: Final = 500_000_000
"""Memory that sorting and counting take beside cached rows, if the budget has twice as much."""

_FEW_THREADS, _LARGE_PART_BYTES = 4, 100 << 20
"""Threads that hardly wait for each other, and what a large part takes beside what a thread takes anyway."""

_BYTES_PER_ROW: Final = 64
"""Bytes of eight numbers: rows that are wider are counted in smaller parts."""

_LEAST_BYTES: Final = 1 << 20
"""Bytes of a batch below which its own cost would exceed that of its rows."""

_BATCHES_KEPT: Final = 4
"""Batches of each thread that are waiting, counted or finished."""

_SCARCE_SHARE: Final = 8
"""One part in so many of a small budget holds batches; the rest is for rows that are cached or sorted."""

_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,9})?) ?([KMGT]?)(i?)B?", re.ASCII | re.IGNORECASE)

_typed: list[int] = []
_aims: list[int] = []
"""What a run of the command line aims at, measured once, which reads a dozen files."""

_notes: dict[str, None] = {}


def limit_kept(size: str | None) -> str | None:
    """Set the limit of a run, such as ``2GB``; None for none but those of the control group and the shell.

    A new run has no notes.
    """
    _notes.clear()
    _typed.clear()
    _aims.clear()
    if size is not None:
        match = _SIZE.fullmatch(size.strip())
        if match is None:
            raise UsageError(words("--memory '{}'", size), expected="a size such as 500MB, 2GB or 1.5GiB")
        number, unit, binary = match.groups()
        power = " KMGT".index(unit.upper() or " ")
        _typed.append(int(float(number) * (1024 if binary else 1000) ** power))
    _aims.append(_aim())
    return size


def limit_bytes() -> float:
    """Return what ``--memory``, control group or ``ulimit -v`` leaves beside the program, or infinity."""
    return max(0, min(_group_limit() - PROGRAM_BYTES, _shell_limit() - least_addresses(), *_typed))


def allowed_bytes(taken: int = 0) -> float:
    """Return what rows may take in all, of which they have ``taken`` some, before a run is refused.

    It is the limit, or less if the machine has less available; infinite if both are unknown.
    """
    available = available_bytes() + taken - max(0, PROGRAM_BYTES - resident_bytes())
    return max(0, min(limit_bytes(), available))


def kept_bytes() -> int:
    """Return the memory that a run aims at: ``--memory``, else a share, each within the limit."""
    return _aims[0] if _aims else _aim()


def _aim() -> int:
    limit = limit_bytes()
    if _typed:
        return int(limit)
    available = available_bytes()
    return int(min(available // _KEPT_SHARE if available < math.inf else KEPT_BYTES, limit))


def is_scarce() -> bool:
    """Whether a run aims at so little, or is held to so little, that it returns freed memory at once."""
    return kept_bytes() < KEPT_BYTES * (1 if limit_bytes() == math.inf else 2)


def cached_bytes() -> int:
    """Return the memory for rows that the next pass needs again; the rest is for sorting and counting."""
    kept = kept_bytes()
    return max(kept // 2, kept - _WORKING_BYTES)


def rows_at_once(most: int, bytes_per_row: int) -> int:
    """Return the rows that are sorted or collected at once: as many as half of a small budget holds."""
    kept = kept_bytes()
    return most if kept >= KEPT_BYTES else min(most, max(ROWS_PER_BATCH, kept // 2 // bytes_per_row))


def rows_per_part() -> int:
    """Return the rows that a thread counts at once: more for many threads, if memory is left for that.

    Python's lock, for which threads wait, is held about as long for a large part as for a small one.
    """
    workers, kept = threads(), kept_bytes()
    if kept < KEPT_BYTES:
        rows = kept // (_SCARCE_SHARE * _BATCHES_KEPT * workers * _BYTES_PER_ROW)
        return max(ROWS_PER_BATCH // 2, min(ROWS_PER_PART, rows))
    is_large = workers > _FEW_THREADS and kept >= KEPT_BYTES + workers * _LARGE_PART_BYTES
    return ROWS_PER_PART * (2 if is_large else 1)


def bytes_per_batch() -> int:
    """Return the bytes of rows that a thread has in memory at once, a few times over while it counts them."""
    kept = kept_bytes()
    share = kept // (_BATCHES_KEPT * threads() * (_SCARCE_SHARE if kept < KEPT_BYTES else 1))
    return max(_LEAST_BYTES, min(rows_per_part() * _BYTES_PER_ROW, share))


def require_allowed(
    needed: int, found: str, remedy: Words, *, at_least: bool = False, taken: int = 0
) -> None:
    """Refuse what needs more memory than rows may take, naming the ``--memory`` with which it would fit."""
    allowed = allowed_bytes(taken)
    if needed <= allowed:
        return
    about = "at least" if at_least else "about"
    raise DataError(
        f"{found} {about} {gigabytes(needed)} of memory, and {gigabytes(int(allowed))} are allowed",
        expected=f"{larger_limits(needed)} and as much free memory, or fewer rows",
        remedy=remedy,
    )


def larger_limits(needed: int) -> str:
    """Return which limits to raise for rows that need so much: those that allow less, or ``--memory``."""
    raised = list[str]()
    if _shell_limit() - least_addresses() < needed:
        raised.append(f"ulimit -v {-(-(needed + least_addresses()) >> 10)} or more")
    if _group_limit() - PROGRAM_BYTES < needed:
        raised.append(f"a container of {gigabytes(needed + PROGRAM_BYTES)} or more")
    if not raised or min(_typed, default=needed) < needed:
        raised.append(f"--memory {gigabytes(needed).replace(' ', '')} or more")
    return ", ".join(raised)


def gigabytes(size: int) -> str:
    """Return a size of memory with two digits, rounded up so that it is enough.

    >>> gigabytes(1_210_000_000), gigabytes(640_000)
    ('1.3 GB', '0.00064 GB')
    """
    unit = 10 ** max(0, len(str(size)) - 2)
    return f"{-(-size // unit) * unit / 1e9:.2g} GB"


def note_read_again(rows: int, limit: int) -> None:
    """Note that rows are read in each pass, since the limit holds no more, for ``--verbose``."""
    _notes[
        f"{limit / 1e6:,.0f} MB of memory do not hold all rows: {rows:,} of them are read again in each "
        "pass. Give --memory SIZE for another limit."
    ] = None


def memory_notes() -> list[str]:
    """Return the notes on memory of this run."""
    return list(_notes)


def resident_bytes() -> int:
    """Return the memory that the process has now; 0 if unknown."""
    return _of_process(1)


def mapped_bytes() -> int:
    """Return the addresses that the process has mapped; 0 if unknown."""
    return _of_process(0)


def available_bytes() -> float:
    """Return the least that machine, control group and ``ulimit -v`` leave now; infinite if unknown."""
    return min(_machine_bytes(), _container_bytes(), _shell_limit() - mapped_bytes())


def _of_process(index: int) -> int:
    with suppress(OSError, ValueError):
        return int(_STATM.read_text().split()[index]) * mmap.PAGESIZE
    return 0


def _machine_bytes() -> float:
    with suppress(OSError, ValueError):  # Linux; to import psutil takes 0.02 s
        for line in _MEMINFO.read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) << 10
    with suppress(OSError):  # Linux without /proc
        import psutil

        return int(psutil.virtual_memory().available)
    return math.inf


def _container_bytes() -> float:
    """Return the least memory that control groups leave, from the own group upwards; file cache is free."""
    free = []
    for folder in group_folders("memory"):
        for limit, used, file_cache in _GROUP_FILES:
            sizes = numbers_in(folder / limit, folder / used)
            if sizes:
                with suppress(OSError, ValueError):
                    statistics = (folder / "memory.stat").read_text().split()
                    cached = dict(zip(statistics[::2], statistics[1::2], strict=False)).get(file_cache, 0)
                    free.append(sizes[0] - sizes[1] + int(cached))
    return min(free, default=math.inf)


_UNLIMITED: Final = 1 << 62
"""Limits from here on are those of a control group of version 1 that has none."""


def _group_limit() -> float:
    """Return the least limit of the control groups, from the own group upwards; infinite without."""
    found = [
        sizes[0]
        for folder in group_folders("memory")
        for name, _, _ in _GROUP_FILES
        if (sizes := numbers_in(folder / name)) and sizes[0] < _UNLIMITED
    ]
    return min(found, default=math.inf)


def _shell_limit() -> float:
    with suppress(OSError, ValueError):
        return limits("AS")[0]
    return math.inf


def least_addresses() -> int:
    """Return the addresses that a run maps without rows: at its start, for each thread and for libraries."""
    return mapped_at_start + threads() * MAPPED_PER_THREAD + LIBRARIES_MAPPED


mapped_at_start: Final = mapped_bytes()
