"""Read a data frame in memory, with the checks of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

import polars as pl

from uqcli.base.defaults import ROWS_PER_BATCH
from uqcli.base.errors import DataError
from uqcli.engines.inputs import InputFrame
from uqcli.engines.local.arrow import table_of
from uqcli.engines.local.read.failures import reading
from uqcli.engines.local.read.source import Batch

if TYPE_CHECKING:
    import pyarrow as pa

_NOT_IN_ARROW: Final = (pl.Object, pl.Int128, pl.UInt128)
"""Types that Arrow lacks and that therefore never occur in files."""


class FrameSource:
    """A data frame, read like a Parquet file of the same columns; batches are views."""

    def __init__(self, origin: InputFrame) -> None:
        self.origin = origin
        self._frame = origin.frame
        self.share = 1.0  # in memory, so reading needs no progress

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(self._frame.columns)

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """Column names and types."""
        return self._arrow(self._frame.clear()).schema

    def rows_expected(self) -> int:
        """Return the number of rows."""
        return self._frame.height

    def batches(
        self, columns: Sequence[str], start: int = 0, max_rows: int = ROWS_PER_BATCH
    ) -> Iterator[Batch]:
        """Iterate over batches of the selected columns, from row ``start`` on.

        Raises
        ------
        DataError
            A column has an unsupported type.
        """
        frame = self._frame[list(dict.fromkeys(columns))]
        self._require_types(frame)
        for row in range(start, frame.height, max_rows):
            yield Batch(frame=frame[row : row + max_rows], short=None, first_row=row, origin=self.origin)

    def blocks(self) -> Iterator[pa.RecordBatch]:
        """Iterate over record batches of all columns."""
        for row in range(0, self._frame.height, ROWS_PER_BATCH):
            yield from self._arrow(self._frame[row : row + ROWS_PER_BATCH]).combine_chunks().to_batches()

    def _arrow(self, frame: pl.DataFrame) -> pa.Table:
        self._require_types(frame)
        with reading(self.origin):
            return table_of(frame)

    def _require_types(self, frame: pl.DataFrame) -> None:
        for name, kind in frame.schema.items():
            if kind in _NOT_IN_ARROW:
                raise DataError(
                    f"column '{name}' of {self.origin.display_name} holds {kind}",
                    expected="numbers of at most 64 bits, strings, booleans or times",
                    remedy="cast it to one of these",
                )
