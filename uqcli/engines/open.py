"""Create engines by name; functions that need no engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from uqcli.base.choices import EngineName
from uqcli.engines.protocol import Destination, Engine

if TYPE_CHECKING:
    import polars as pl


def _local() -> Engine:
    from uqcli.engines.local.engine import LocalEngine

    return LocalEngine()


def _spark() -> Engine:
    from uqcli.engines.spark.engine import SparkEngine

    return SparkEngine()


ENGINES: Final[Mapping[EngineName, Callable[[], Engine]]] = MappingProxyType(
    {EngineName.POLARS: _local, EngineName.SPARK: _spark}
)


def open_engine(name: EngineName) -> Engine:
    """Create an engine."""
    return ENGINES[name]()


def reusable_streams() -> AbstractContextManager[None]:
    """Allow repeated reads of streams until the block ends."""
    from uqcli.engines.local.read.streams import reusable_streams

    return reusable_streams()


def write_frames(frames: Iterable[pl.DataFrame], empty: pl.DataFrame, output: Destination) -> None:
    """Write frames of the columns of ``empty`` in order; a regular file appears only when all are written.

    The format is CSV unless the output or its name implies another one.

    Raises
    ------
    DataError
        The target cannot be written.
    """
    from uqcli.engines.inputs import format_of, inferred_format
    from uqcli.engines.local.arrow import table_of
    from uqcli.engines.local.write.sinks import CsvForm, open_sink

    delimiter = inferred_format(output.target).delimiter
    form = CsvForm(delimiter=delimiter, line_end=b"\n", header=None, added=0)
    output_format = format_of(output.target, output.file_format)
    with open_sink(output.target, output_format, table_of(empty).schema, form, output.queue) as sink:
        for frame in frames:
            sink.write(table_of(frame))
