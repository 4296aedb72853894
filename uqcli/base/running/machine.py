"""What a run may use of its machine and container: the cores and threads of all pools."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from uqcli.base.operating_system import processors

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


def numbers_in(*files: Path) -> tuple[int, ...]:
    """Return the whole numbers that files hold; none if one is missing or states no limit."""
    with suppress(OSError, ValueError):
        return tuple(int(text) for file in files for text in file.read_text().split())
    return ()


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
            if quota and quota[0] > 0:
                cores = min(cores, -(-quota[0] // quota[1]))
    return max(1, cores)
