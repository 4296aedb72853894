"""Arrays for Arrow, made by polars: pyarrow itself would load pandas first, where that is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa


def arrow_of(values: np.ndarray | pl.Series) -> pa.Array:
    """An array without copy; texts and bytes with offsets of 64 bits."""
    series = values if isinstance(values, pl.Series) else pl.Series(values)
    made: Any = series.to_arrow(compat_level=pl.CompatLevel.oldest())
    return made


def bytes_of(value: bytes) -> pa.Scalar:
    """One value of bytes."""
    return arrow_of(pl.Series([value], dtype=pl.Binary))[0]
