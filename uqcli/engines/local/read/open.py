"""Opening inputs, each as what its format and its place ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import cast

from uqcli.choices import FileFormat
from uqcli.engines.inputs import InputFrame, Origin
from uqcli.engines.local.read.columnar import ColumnarSource
from uqcli.engines.local.read.csv_source import CsvSource
from uqcli.engines.local.read.failures import reading
from uqcli.engines.local.read.frame import FrameSource
from uqcli.engines.local.read.source import OpenedInput
from uqcli.engines.local.read.streams import copied, open_stream
from uqcli.engines.request import ReadOptions


@contextmanager
def open_sources(origins: Sequence[Origin], options: ReadOptions) -> Iterator[tuple[OpenedInput, ...]]:
    """Open inputs for one reading; spooled copies go when the block ends."""
    with ExitStack() as stack:
        yield tuple(_open(each, options, stack) for each in origins)


def _open(file: Origin, options: ReadOptions, stack: ExitStack) -> OpenedInput:
    if isinstance(file, InputFrame):
        return FrameSource(file)
    if file.regular and file.format is FileFormat.CSV:
        return CsvSource(file, options)
    if file.regular:
        return ColumnarSource(file, cast(Path, file.path))
    found, stream = open_stream(file, stack)
    if found.format is FileFormat.CSV:
        return CsvSource(found, options, stream)
    with reading(found):
        return ColumnarSource(found, copied(stream, stack))
