"""Calls of the Python API, where thousands of processes would take too long."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import polars as pl

import uqcli
from reproduction.generators.blocks import Columns
from reproduction.generators.posterior import PosteriorModel
from uqcli.jobs.tables import Column

POSTERIOR: Final = PosteriorModel(tau=3.0, nu=1.0, gammas=(0.002, 0.004, 0.01, 0.02, 0.05))
"""A posterior network: 40 to 1,000 rows of evidence, 1 of 3 negatives in training."""


def write(path: Path, columns: Columns) -> None:
    """Write drawn columns as a file of rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(columns).write_parquet(path)


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
