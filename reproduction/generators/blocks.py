"""Blocks of rows with a generator each, so that the first rows do not depend on how many follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from uqcli.base.draws import ROWS_PER_BLOCK, Purpose, generator

Columns = dict[str, npt.NDArray[Any]]
"""Columns by name, each of shape (n,)."""


def blocks(rows: int, seed: int, purpose: Purpose) -> Iterator[tuple[int, np.random.Generator]]:
    """Yield for each block its number of rows and its generator.

    Parameters
    ----------
    rows
        Total number of rows; block b holds rows ``b*ROWS_PER_BLOCK`` to ``(b+1)*ROWS_PER_BLOCK - 1``.
    """
    for block in range(-(-rows // ROWS_PER_BLOCK)):
        yield min(ROWS_PER_BLOCK, rows - block * ROWS_PER_BLOCK), generator(seed, purpose, block)


def draw_blocks(
    draw: Callable[[int, np.random.Generator], Columns], rows: int, seed: int, purpose: Purpose
) -> Columns:
    """Draw all blocks of at least one row, and join their columns."""
    parts = [draw(size, random) for size, random in blocks(rows, seed, purpose)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
