"""Apply a rule to Parquet with polars' own reader and writer, in all threads."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from threading import Lock
from typing import Any, Final

import polars as pl
import pyarrow as pa

from uqcli.base.choices import FileFormat
from uqcli.base.defaults import KEPT_BYTES
from uqcli.base.running.memory import kept_bytes
from uqcli.base.running.progress import report_progress, rows_read
from uqcli.engines.inputs import format_of
from uqcli.engines.local.arrow import frame_of
from uqcli.engines.local.check.rows import RowChecker
from uqcli.engines.local.read.columnar import ColumnarSource
from uqcli.engines.local.read.source import Batch, OpenedInput
from uqcli.engines.local.write.layout import plan_layout
from uqcli.engines.local.write.streaming import added_up, computed_rows
from uqcli.engines.protocol import StreamRequest, StreamSummary
from uqcli.stores.output import can_queue, open_output

_PLACE: Final = "\0place"
"""Column of the rows' positions; no other has this name."""

_ROWS_PER_GROUP: Final = 1_000_000
MIN_ROWS: Final = 1 << 17
"""Rows from which the start of polars' threads is worth its time."""

_MIN_BATCH, _MAX_BATCH, _BYTES_PER_BATCH = 100_000, 500_000, 1 << 25
"""Rows and bytes of a batch of polars: each batch holds Python's lock, for which other threads wait."""

_ADDED: Final = {
    "bool": pl.Boolean(),
    "int64": pl.Int64(),
    "float64": pl.Float64(),
    "labels": pl.List(pl.String()),
    "text": pl.String(),
}
_PLAIN: Final = frozenset([pa.time64("ns"), *map(pa.duration, ("ms", "us", "ns"))])
_PLAIN_KINDS: Final = (
    *(pa.types.is_boolean, pa.types.is_integer, pa.types.is_float32, pa.types.is_float64, pa.types.is_null),
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary),
    *(pa.types.is_large_binary, pa.types.is_date32, pa.types.is_timestamp),
)
_NESTED: Final = (
    *(pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_struct),
)
_MAX_DIGITS: Final = 38
_OTHER_METADATA: Final = (b"ARROW:", b"PARQUET:")
"""Metadata of extension types and of numbered columns, whose stored form would change."""


def stream_parquet(sources: Sequence[OpenedInput], request: StreamRequest) -> StreamSummary | None:
    """Apply a rule to local Parquet files of one schema whose columns come back as they were.

    Whatever stands in the way is left to ``stream_through``, which knows how to name it.

    Returns
    -------
    StreamSummary or None
        None if nothing was written: for other files and columns, and after any error.
    """
    files = [source for source in sources if isinstance(source, ColumnarSource)]
    paths = [path for file in files if (path := file.path) is not None]
    target, output_format = request.output.target, request.output.file_format
    if len(paths) < len(sources) or format_of(target, output_format) is not FileFormat.PARQUET:
        return None
    schema = plan_layout(sources, request, FileFormat.PARQUET).schema
    same = all(file.arrow_schema.equals(files[0].arrow_schema) for file in files)
    decided = _Decided(files, request)
    is_large = sum(decided.sizes) >= MIN_ROWS
    if not (is_large and same and can_queue(target) and all(map(_comes_back, schema))):
        return None
    try:
        with open_output(target, request.output.queue) as stream:
            metadata = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
            metadata["ARROW:schema"] = base64.b64encode(schema.serialize()).decode()
            with pl.Config(streaming_chunk_size=_batch_rows(files)):
                decided.rows(paths).sink_parquet(
                    stream, compression="zstd", row_group_size=_ROWS_PER_GROUP, metadata=metadata
                )
    except (Exception, pl.exceptions.PanicException):
        return None
    for file, rows in zip(files, decided.sizes, strict=True):
        rows_read(file.origin.name, rows)
    return decided.summary()


class _Decided:
    """Rows with the columns that a rule adds, and their counts; polars asks for batches in any order."""

    def __init__(self, files: Sequence[ColumnarSource], request: StreamRequest) -> None:
        self._files, self._request = files, request
        self._parts: list[tuple[int, StreamSummary]] = []
        self._done, self._lock = 0, Lock()
        self.sizes = [file.rows_expected() or 0 for file in files]

    def rows(self, paths: Sequence[Path]) -> pl.LazyFrame:
        """Return the rows to write."""
        frame = pl.scan_parquet(list(paths), glob=False, hive_partitioning=False, row_index_name=_PLACE)
        types = {name: kind for name, kind in frame.collect_schema().items() if name != _PLACE}
        if types != dict(frame_of(pa.Table.from_batches([], self._files[0].arrow_schema)).schema):
            raise TypeError("polars reads a column as another type")
        added = {name: _ADDED[kind] for name, kind in self._request.added.types.items()}
        return frame.map_batches(
            self._batch,
            schema={**types, **added},
            streamable=True,
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
        )

    def _batch(self, frame: pl.DataFrame) -> pl.DataFrame:
        request, data, place = self._request, self._request.data, frame.get_column(_PLACE)
        first_row = int(place[0]) if len(place) else 0
        rest = frame.drop(_PLACE)
        checker = RowChecker(roles=data.roles, on_invalid=data.on_invalid, first_row=first_row)
        needed = pl.DataFrame([rest.get_column(name) for name in data.roles.columns()])
        batch = Batch(frame=needed, short=None, first_row=first_row, origin=self._files[0].origin)
        added, kept, counts = computed_rows(checker.check(batch).with_positions(), checker, request)
        with self._lock:
            self._parts.append((first_row, replace(counts, unknown=checker.unknown)))
            self._done += len(rest)
            report_progress("reading", self._done, "rows", self._done / max(1, sum(self.sizes)))
        rows = rest.with_columns(added)
        return rows if kept is None else rows.filter(pl.Series(kept))

    def summary(self) -> StreamSummary:
        """Add up the counts of all batches, in order."""
        parts = [part for _, part in sorted(self._parts, key=lambda part: part[0])]
        return reduce(added_up, parts, StreamSummary(rows=0, selected=0, dropped=0, undecided=0))


def _batch_rows(files: Sequence[ColumnarSource]) -> int:
    """Return the number of rows that polars reads at once: fewer if they are wide, or memory is limited."""
    row_bytes = max((file.row_bytes for file in files), default=0.0)
    if kept_bytes() < KEPT_BYTES:
        return _MIN_BATCH
    return max(_MIN_BATCH, min(_MAX_BATCH, int(_BYTES_PER_BATCH / max(1.0, row_bytes))))


def _comes_back(field: pa.Field) -> bool:
    """Whether polars reads and writes a column so that it comes back as it was."""
    kind: Any = field.type
    is_known = field.nullable and not any(key.startswith(_OTHER_METADATA) for key in field.metadata or {})
    if pa.types.is_map(kind):
        return is_known and all(map(_comes_back, (kind.key_field.with_nullable(True), kind.item_field)))
    if any(is_kind(kind) for is_kind in _NESTED):
        return is_known and all(_comes_back(kind.field(index)) for index in range(kind.num_fields))
    if pa.types.is_dictionary(kind):
        return is_known and kind.value_type in (pa.string(), pa.large_string())
    if pa.types.is_decimal(kind):
        return is_known and bool(kind.precision <= _MAX_DIGITS)
    return is_known and (kind in _PLAIN or any(is_kind(kind) for is_kind in _PLAIN_KINDS))
