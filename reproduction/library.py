"""The program's public library: the same work without a process, for what is asked for too often for one."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import polars as pl

import uqcli

LEVELS: Final = MappingProxyType({"tau": 3.0, "nu": 1.0, "gammas": (0.002, 0.004, 0.01, 0.02, 0.05)})
"""A posterior network on 40 to 1,000 rows of evidence, one negative of three in training."""


def draw(path: Path, kind: str, rows: int, seed: int, **model: Any) -> None:
    """Write the rows that ``uqcli simulate`` draws.

    Parameters
    ----------
    **model
        Its options, by the names of the library.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(uqcli.simulate(kind, rows, seed=seed, **model)).write_parquet(path)


def calibration_metrics(path: Path, settings: dict[str, Any]) -> dict[str, float]:
    """The metrics that ``uqcli tce`` prints of the rows of a file.

    Parameters
    ----------
    settings
        Its options, by the names of the library.
    """
    rows = pl.read_parquet(path)
    found = uqcli.calibration_error(rows["score"], rows["label"], **settings)
    return {name: value for name, value in found.metrics.items() if isinstance(value, float)}
