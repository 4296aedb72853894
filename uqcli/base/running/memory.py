"""Memory available to a run: of the machine, its container and its shell."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path
from typing import Final

_MEMINFO: Final = Path("/proc/meminfo")
_CGROUP: Final = Path("/sys/fs/cgroup")
_STATM: Final = Path("/proc/self/statm")


def available_bytes() -> int | None:
    """Return the smallest amount that machine, control group and ``ulimit -v`` leave; None if unknown."""
    limits = [limit for limit in (_machine_bytes(), _container_bytes(), _shell_bytes()) if limit is not None]
    return min(limits) if limits else None


def _machine_bytes() -> int | None:
    with suppress(OSError, ValueError):
        for line in _MEMINFO.read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) << 10
    return None


def _container_bytes() -> int | None:
    """Return the free memory of the container (cgroup versions 2 and 1), file cache not counted as used."""
    for limit, used, cache in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
    ):
        with suppress(OSError, ValueError):
            limit_bytes, used_bytes = (int((_CGROUP / name).read_text()) for name in (limit, used))
            statistics = (_CGROUP / limit).with_name("memory.stat").read_text().split()
            cache_bytes = int(dict(zip(statistics[::2], statistics[1::2], strict=False)).get(cache, 0))
            return limit_bytes - used_bytes + cache_bytes
    return None


def _shell_bytes() -> int | None:
    with suppress(OSError, ValueError):
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            return limit - int(_STATM.read_text().split()[0]) * resource.getpagesize()
    return None
