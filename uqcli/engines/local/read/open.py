"""Open inputs with the reader of their format and location, and read them in pieces in any thread.

Fits request a few columns as polars frames. ``apply`` requests blocks that can be written again verbatim:
text for CSV and JSON lines, Arrow record batches otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, TypeVar, cast

import pyarrow as pa

from uqcli.base.choices import FileFormat
from uqcli.base.defaults import ROWS_PER_BATCH
from uqcli.base.running.concurrency import Threads, ahead
from uqcli.base.running.messages import report_progress
from uqcli.engines.inputs import InputFile, InputFrame, Origin
from uqcli.engines.local.read.batch import Batch
from uqcli.engines.local.read.columnar import ArrowSource, ColumnarSource, FrameSource, ParquetSource
from uqcli.engines.local.read.csv_source import CsvSource
from uqcli.engines.local.read.csv_text import CsvBlock, NumberKind
from uqcli.engines.local.read.failures import reading
from uqcli.engines.local.read.json_lines import JsonBlock, JsonSource
from uqcli.engines.local.read.streams import copied, open_stream, size_of
from uqcli.engines.request import ReadOptions
from uqcli.stores.content import LocalFile, Seekable
from uqcli.stores.limits import parallel_objects

if TYPE_CHECKING:
    from uqcli.stores.bucket import StoredObject

_TEXTS: Final[Mapping[FileFormat, type[CsvSource | JsonSource]]] = MappingProxyType(
    {FileFormat.CSV: CsvSource, FileFormat.JSONL: JsonSource}
)

_COLUMNAR: Final[Mapping[FileFormat, type[ArrowSource | ParquetSource]]] = MappingProxyType(
    {FileFormat.ARROW: ArrowSource, FileFormat.PARQUET: ParquetSource}
)

Block: TypeAlias = CsvBlock | JsonBlock | pa.RecordBatch
"""Rows in the form of their input."""

Load: TypeAlias = Callable[[], Iterator[Batch]]
"""Loads consecutive batches of an input."""

S = TypeVar("S", bound="OpenedInput")

_FEW_BYTES: Final = 1 << 18
"""Size up to which a file is read sooner than a thread has begun, as each of many files."""


def report_reading(sources: Sequence[OpenedInput], input_index: int, rows: int) -> None:
    """Report the progress of reading, within the input at a given index."""
    report_progress("reading", rows, "rows", (input_index + sources[input_index].share) / len(sources))


class OpenedInput(Protocol):
    """An opened input."""

    @property
    def origin(self) -> Origin:
        """The input."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""

    @property
    def share(self) -> float:
        """Approximate fraction that the last pass has read, from 0 to 1."""

    def rows_expected(self) -> int | None:
        """Estimate the number of rows; None if unknown before reading."""

    def batches(
        self, columns: Sequence[str], start: int = 0, max_rows: int = ROWS_PER_BATCH
    ) -> Iterator[Batch]:
        """Iterate over columns from row ``start`` on, in batches of about ``max_rows`` if possible."""

    def blocks(self) -> Iterator[Block]:
        """Iterate over all columns, in the form of the input."""


@contextmanager
def open_sources(origins: Sequence[Origin], options: ReadOptions) -> Iterator[tuple[OpenedInput, ...]]:
    """Open inputs for one pass; spooled copies are deleted when the block ends."""
    with ExitStack() as stack:
        sources = tuple(_open(origin, options, stack) for origin in origins)
        _read_beginnings(sources)
        yield tuple(source for source in sources if len(sources) == 1 or not _is_empty(source)) or sources


def _read_beginnings(sources: Sequence[OpenedInput]) -> None:
    """Read the beginning of all objects in parallel, since each request has latency."""
    objects = [(source, stored) for source in sources if (stored := _object_of(source)) is not None]

    def begin(pair: tuple[OpenedInput, StoredObject]) -> None:
        source, stored = pair
        stored.fetch()  # in parallel, while Python 3.11 computes the property one by one
        _ = source.columns

    if len(objects) > 1:
        with Threads(parallel_objects()) as pool:
            list(pool.map(begin, objects))


def in_turn(sources: Sequence[S]) -> Iterator[S]:
    """Iterate over opened inputs, while the small objects among the next ones are fetched in parallel."""
    waiting: deque[tuple[S, Future[bytes | None] | None]] = deque()
    count = parallel_objects()
    with Threads(count) as pool:  # without objects it starts no thread
        for source in sources:
            stored = _object_of(source)
            is_fetched = stored is not None and stored.is_small()
            waiting.append((source, pool.submit(stored.fetch) if stored and is_fetched else None))
            if len(waiting) > count:
                yield _fetched(*waiting.popleft())
        while waiting:
            yield _fetched(*waiting.popleft())


def _object_of(source: OpenedInput) -> StoredObject | None:
    """Return the object of a store that an input is; None for others."""
    origin = source.origin
    is_object = isinstance(origin, InputFile) and origin.regular and origin.is_remote
    return cast("StoredObject", cast(InputFile, origin).content) if is_object else None


def _fetched(source: S, fetching: Future[bytes | None] | None) -> S:
    if fetching is not None:
        fetching.result()
    return source


def _is_empty(source: OpenedInput) -> bool:
    """Whether a file whose columns are those of its rows has none: it lacks no column and joins no type."""
    return isinstance(source, JsonSource | ColumnarSource) and source.is_empty


def _open(file: Origin, options: ReadOptions, stack: ExitStack) -> OpenedInput:
    if isinstance(file, InputFrame):
        return FrameSource(file)
    if file.regular:
        text = _TEXTS.get(file.format)
        if text is not None:
            return text(file, options)
        return _COLUMNAR[file.format](file, cast(Seekable, file.content), options.text_columns)
    opened, stream = open_stream(file, stack)
    text = _TEXTS.get(opened.format)
    if text is not None:
        return text(opened, options, stream)
    with reading(opened):
        content = LocalFile.from_path(copied(stream, stack))
        return _COLUMNAR[opened.format](opened, content, options.text_columns)


def loads_of(
    source: OpenedInput, columns: Sequence[str], start: int, max_rows: int, kinds: Mapping[str, NumberKind]
) -> Iterator[Load]:
    """Yield functions that load the selected columns from row ``start`` on, in order.

    The thread that calls the function reads the row groups of local Parquet, or parses a block of CSV. Other
    inputs have one reader, in a thread of its own. Columns of CSV are numbers of given types if they can be.
    """
    if isinstance(source, CsvSource):
        loads = source.loads(columns, start, kinds)
        yield from loads if size_of(source.origin) <= _FEW_BYTES else ahead(loads)
    elif isinstance(source, ParquetSource) and source.has_groups_for_threads(columns):
        yield from source.loads(columns, start, max_rows)
    else:
        for batch in ahead(source.batches(columns, start, max_rows)):
            yield partial(iter, (batch,))
