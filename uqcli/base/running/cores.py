"""Number of threads of a run: one number for all pools."""

from __future__ import annotations

import os
from functools import cache
from typing import Final

from uqcli.base.operating_system import processors
from uqcli.base.running.control_groups import group_folders, numbers_in

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
