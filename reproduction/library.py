"""Calls of the Python API, where thousands of processes would take too long."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import polars as pl

import uqcli
from uqcli.api.columns import Column

POSTERIOR: Final = MappingProxyType({"tau": 3.0, "nu": 1.0, "gammas": (0.002, 0.004, 0.01, 0.02, 0.05)})
"""Parameters of a posterior network: 40 to 1,000 rows of evidence, 1 of 3 negatives in training."""


def draw(path: Path, kind: str, rows: int, seed: int, **model: Any) -> None:
    """Write the rows that ``uqcli simulate`` draws.

    Parameters
    ----------
    **model
        Options of the command, by their names in Python.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(uqcli.simulate(kind, rows, seed=seed, **model)).write_parquet(path)


def calibration_metrics(path: Path, settings: dict[str, Any]) -> dict[str, float]:
    """Compute the metrics that ``uqcli tce`` prints for a file.

    Parameters
    ----------
    settings
        Options of the command, by their names in Python.
    """
    rows = pl.read_parquet(path)
    return metrics_of(rows["score"], rows["label"], settings)


def metrics_of(score: Column, label: Column, settings: dict[str, Any]) -> dict[str, float]:
    """Compute the same for arrays."""
    report = uqcli.calibration_error(score, label, **settings)
    return {name: value for name, value in report.metrics.items() if isinstance(value, float)}
