"""Read an input in pieces, each of which any thread can load."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

from uqcli.base.running.concurrency import ahead
from uqcli.engines.local.read.columnar import ColumnarSource
from uqcli.engines.local.read.csv_source import CsvSource
from uqcli.engines.local.read.csv_text import NumberKind
from uqcli.engines.local.read.source import Batch, OpenedInput
from uqcli.engines.local.read.streams import size_of

Load: TypeAlias = Callable[[], Iterator[Batch]]
"""Loads consecutive batches of an input."""

_FEW_BYTES: Final = 1 << 18
"""Size up to which a file is read sooner than a thread has begun, as each of many files."""


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
    elif isinstance(source, ColumnarSource) and source.has_groups_for_threads:
        yield from source.loads(columns, start, max_rows)
    else:
        for batch in ahead(source.batches(columns, start, max_rows)):
            yield partial(iter, (batch,))
