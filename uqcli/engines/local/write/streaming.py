"""Apply a rule to files: add columns, keep row order and all other content."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial, reduce
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Final, cast

import numpy as np
import polars as pl
import pyarrow as pa

from uqcli.base.choices import FileFormat, OnInvalid
from uqcli.base.counts import Bools
from uqcli.base.files import STDIO
from uqcli.base.rows import Rows
from uqcli.base.running.concurrency import Threads, ahead
from uqcli.base.running.memory import is_scarce
from uqcli.base.running.messages import report_progress, rows_read
from uqcli.engines.inputs import format_of, inferred_format
from uqcli.engines.local.arrow import arrow_of, frame_of
from uqcli.engines.local.check.rows import RowChecker
from uqcli.engines.local.check.values import number_kinds
from uqcli.engines.local.read.batch import Batch
from uqcli.engines.local.read.columnar import ParquetSource
from uqcli.engines.local.read.csv_source import CsvSource, batch_of
from uqcli.engines.local.read.csv_text import CsvBlock
from uqcli.engines.local.read.failures import reading, writing
from uqcli.engines.local.read.json_lines import JsonBlock, JsonSource
from uqcli.engines.local.read.open import Block, OpenedInput, in_turn, report_reading
from uqcli.engines.local.write.layout import VIEW_REPLACEMENTS, Layout, plan_layout
from uqcli.engines.local.write.sinks import CsvSink, JsonSink, Sink, open_sink
from uqcli.engines.probabilities import outside
from uqcli.engines.protocol import AddedColumns, StreamRequest, StreamSummary
from uqcli.engines.request import Roles
from uqcli.stores.limits import parallel_objects
from uqcli.stores.output import can_queue, open_output


def stream_through(sources: Sequence[OpenedInput], request: StreamRequest) -> StreamSummary:
    """Read, decide and write block by block, in constant memory; an error leaves a regular file as it was."""
    output, data = request.output, request.data
    output_format = format_of(output.target, output.output_format)
    layout = plan_layout(sources, request, output_format)
    summary = StreamSummary(rows=0, selected=0, dropped=0, undecided=0)
    csv = _csv_sink(sources, output.target, data.read.decimal, layout)
    with open_sink(output.target, output_format, layout.schema, csv, output.queue) as sink:
        first_row = 0
        for input_index, source in enumerate(in_turn(sources)):
            checker = RowChecker(roles=data.roles, on_invalid=data.on_invalid, first_row=first_row)
            row = 0
            for block in ahead(source.blocks()):
                with reading(source.origin):
                    rows = checker.check(_needed(source, block, row, data.roles)).with_positions()
                added, kept, counts = computed_rows(rows, checker, request)
                row += len(rows)
                with writing(source.origin, output_format):
                    _write(sink, source, block, (rows, added, kept), layout, overwrite=output.overwrite)
                summary = added_up(summary, counts)
                report_reading(sources, input_index, first_row + row)
            summary = added_up(summary, _known_at_the_end(checker))
            rows_read(source.origin.name, row)
            first_row += row
    return summary


def computed_rows(
    rows: Rows, checker: RowChecker, request: StreamRequest
) -> tuple[pl.DataFrame, Bools | None, StreamSummary]:
    """Compute the columns that the rule adds to checked rows, null in unusable rows if there may be any.

    Also returned are the rows to write, None for all, and the counts of the rows, but not those of unknown
    categories, which the checker knows.
    """
    on_invalid, columns, only = request.data.on_invalid, request.added, request.only
    if on_invalid is OnInvalid.ERROR:
        checker.finish()
    computed = columns.compute(rows)
    added = pl.DataFrame({name: _column(name, computed[name], rows, columns) for name in columns.types})
    kept, dropped, invalid = None, 0, 0
    if rows.valid is not None:
        invalid = int(np.count_nonzero(~rows.valid))
        valid, names = pl.lit(pl.Series(rows.valid)), added.columns
        added = added.select(pl.when(valid).then(pl.nth(k)).alias(name) for k, name in enumerate(names))
        if on_invalid is OnInvalid.DROP:
            kept, dropped = rows.valid, invalid
    if only is not None:
        kept = added[only].cast(pl.Boolean).fill_null(value=False).to_numpy()
    summary = StreamSummary(
        rows=len(rows) - dropped,
        selected=_count_true(added, only),
        dropped=dropped,
        undecided=invalid - dropped,
        texts=_count_texts(added),
        outside=_outside(rows, checker.roles, request.ranges),
    )
    return added, kept, summary


def _outside(rows: Rows, roles: Roles, ranges: Mapping[str, tuple[float, float]]) -> int:
    """Count the usable rows with a number outside its range."""
    if not ranges:
        return 0
    is_outside = outside(rows, roles, ranges)
    return int(np.count_nonzero(is_outside if rows.valid is None else is_outside & rows.valid))


def _column(name: str, values: np.ndarray, rows: Rows, added: AddedColumns) -> pl.Series | np.ndarray:
    """Return a computed column in the form of its type; values in unusable rows are undefined."""
    kind = added.types[name]
    if kind == "text":
        texts = pl.Series([*added.texts[name], None], dtype=pl.String)
        return texts.gather(rows.filled(values, -1))  # -1 is the last, null
    if kind != "labels":
        return values
    _, label_index = np.nonzero(values)
    texts = arrow_of(pl.Series(added.labels, dtype=pl.String)).take(arrow_of(label_index))
    offsets = np.concatenate([[0], np.cumsum(values.sum(axis=1))])
    return cast(pl.Series, pl.from_arrow(pa.LargeListArray.from_arrays(arrow_of(offsets), texts)))


def _needed(source: OpenedInput, block: Block, row: int, roles: Roles) -> Batch:
    """Return the columns of a block that the rule reads."""
    columns = roles.columns()
    if isinstance(block, CsvBlock):
        return batch_of(block, block.values(columns, number_kinds(roles, None)), source.origin)
    if isinstance(block, JsonBlock):
        return cast(JsonSource, source).batch(block, columns)
    return Batch(frame=frame_of(block.select(columns)), short=None, first_row=row, origin=source.origin)


def _write(
    sink: Sink,
    source: OpenedInput,
    block: Block,
    computed: tuple[Rows, pl.DataFrame, Bools | None],
    layout: Layout,
    *,
    overwrite: bool,
) -> None:
    """Write a block, given its rows, the columns to add, and the rows to write, None for all."""
    rows, added, kept = computed
    if (
        isinstance(sink, CsvSink)
        and isinstance(block, CsvBlock)
        and block.dialect.delimiter == sink.delimiter
    ):
        sink.write_block(block, added, kept)
        return
    if isinstance(sink, JsonSink) and isinstance(block, JsonBlock):
        added = cast(JsonSource, source).with_keys(added)
        sink.write_block(block, added, kept, overwrite=overwrite)
        return
    table = layout.table(source, block, rows, added)
    sink.write(table if kept is None else _kept_rows(table, kept))


def _kept_rows(table: pa.Table, kept: Bools) -> pa.Table:
    """Filter the rows of a table; string views are filtered as plain strings."""
    mask = arrow_of(kept)
    columns = []
    for column in table.columns:
        plain = VIEW_REPLACEMENTS.get(column.type)
        without_views = column if plain is None else column.cast(plain)
        chosen = without_views.filter(mask)
        columns.append(chosen if plain is None else chosen.cast(column.type))
    return pa.Table.from_arrays(columns, schema=table.schema)


def added_up(summary: StreamSummary, more: StreamSummary) -> StreamSummary:
    """Add the counts of further rows."""
    numbers = ("rows", "selected", "dropped", "undecided", "outside", "unknown")
    return StreamSummary(
        **{name: getattr(summary, name) + getattr(more, name) for name in numbers},
        texts=Counter(summary.texts) + Counter(more.texts),
        reasons=Counter(summary.reasons) + Counter(more.reasons),
    )


def _known_at_the_end(checker: RowChecker) -> StreamSummary:
    """Return the counts of rows that only their checker knows."""
    reasons = checker.left_out.reasons
    return StreamSummary(rows=0, selected=0, dropped=0, undecided=0, unknown=checker.unknown, reasons=reasons)


def _count_true(added: pl.DataFrame, only: str | None) -> int:
    """Count the true values; of numbers that select the rows to write, those that are not 0."""
    columns = [column for column in added if column.dtype == pl.Boolean or column.name == only]
    return sum(int(column.cast(pl.Boolean).sum()) for column in columns)


def _count_texts(added: pl.DataFrame) -> Counter[str]:
    """Count the added texts; those of unusable rows are null."""
    texts: Counter[str] = Counter()
    for column in added:
        if column.dtype == pl.String:
            texts.update(dict(column.alias("").drop_nulls().value_counts().iter_rows()))
    return texts


def _csv_sink(
    sources: Sequence[OpenedInput], target: str, decimal: str, layout: Layout
) -> Callable[[BinaryIO, Sequence[str]], CsvSink]:
    """Write CSV like the first CSV input, but with tabs for .tsv, and commas for .csv made from tabs."""
    inferred = inferred_format(target)
    first = next((source.dialect for source in sources if isinstance(source, CsvSource)), None)
    delimiter = first.delimiter if first else ","
    if target != STDIO and inferred.format is FileFormat.CSV and "\t" in (delimiter, inferred.delimiter):
        delimiter = inferred.delimiter
    line_end = first.line_end if first else b"\n"
    extends = first is not None and (*first.columns, *layout.added) == tuple(layout.schema.names)
    header = first.header if first and extends and delimiter == first.delimiter else None
    return partial(
        CsvSink,
        delimiter=delimiter,
        line_end=line_end,
        header=header,
        added=len(layout.added),
        decimal=decimal,
    )


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
    """Apply a rule to Parquet files of one schema whose columns come back as they were.

    Objects of a store are copied to this machine first, since polars would hold them in memory, and no
    output may depend on where its input is. Nothing is written, and None returned, for other files and
    columns, and after any error. Whatever stands in the way is left to ``stream_through``, which knows how to
    name it.
    """
    files = [source for source in sources if isinstance(source, ParquetSource)]
    target, output_format = request.output.target, request.output.output_format
    if len(files) < len(sources) or format_of(target, output_format) is not FileFormat.PARQUET:
        return None
    if not all(file.is_for_polars for file in files):
        return None
    schema = plan_layout(sources, request, FileFormat.PARQUET).schema
    same = all(file.arrow_schema.equals(files[0].arrow_schema) for file in files)
    is_large = sum(file.rows_expected() or 0 for file in files) >= MIN_ROWS
    if not (is_large and same and can_queue(target) and all(map(_comes_back, schema))):
        return None
    with ExitStack() as copies:
        with Threads(parallel_objects()) as pool:
            files = list(pool.map(lambda file: file.copied(copies), files))
        if any(file.has_long_texts for file in files):
            return None
        return _streamed(files, schema, request)


def _streamed(
    files: Sequence[ParquetSource], schema: pa.Schema, request: StreamRequest
) -> StreamSummary | None:
    """Apply a rule to local files; None after any error."""
    decided = _Decided(files, request)
    try:
        with ExitStack() as held, open_output(request.output.target, request.output.queue) as stream:
            for file in files:
                held.enter_context(file.held())
                with reading(file.origin):
                    file.verify()
            metadata = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
            metadata["ARROW:schema"] = base64.b64encode(schema.serialize()).decode()
            with pl.Config(streaming_chunk_size=_batch_rows(files)):
                decided.rows([file.path for file in files]).sink_parquet(
                    stream, compression="zstd", row_group_size=_ROWS_PER_GROUP, metadata=metadata
                )
    except (Exception, pl.exceptions.PanicException):
        return None
    for file, rows in zip(files, decided.sizes, strict=True):
        rows_read(file.origin.name, rows)
    return decided.summary()


class _Decided:
    """Rows with the columns that a rule adds, and their counts; polars asks for batches in any order."""

    def __init__(self, files: Sequence[ParquetSource], request: StreamRequest) -> None:
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
            self._parts.append((first_row, added_up(counts, _known_at_the_end(checker))))
            self._done += len(rest)
            report_progress("reading", self._done, "rows", self._done / max(1, sum(self.sizes)))
        rows = rest.with_columns(added)
        return rows if kept is None else rows.filter(pl.Series(kept))

    def summary(self) -> StreamSummary:
        """Add up the counts of all batches, in order."""
        parts = [part for _, part in sorted(self._parts, key=lambda part: part[0])]
        return reduce(added_up, parts, StreamSummary(rows=0, selected=0, dropped=0, undecided=0))


def _batch_rows(files: Sequence[ParquetSource]) -> int:
    """Return the number of rows that polars reads at once: fewer if they are wide, or memory is limited."""
    row_bytes = max((file.row_bytes for file in files), default=0.0)
    if is_scarce():
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
