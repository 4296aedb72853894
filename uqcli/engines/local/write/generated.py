"""Writing rows that were made here instead of read."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
import pyarrow as pa

from uqcli.choices import FileFormat
from uqcli.engines.inputs import facts_of_name, format_of
from uqcli.engines.local.write.sinks import CsvForm, open_sink
from uqcli.files import Held


def write_frames(
    frames: Iterable[pl.DataFrame],
    empty: pl.DataFrame,
    output: str,
    output_format: FileFormat | None,
    held: Held | None = None,
) -> None:
    """Write frames one after the other; a regular file appears only when all are written.

    Parameters
    ----------
    empty
        A frame of the same columns without rows.
    output_format
        None means what the output's name says, CSV by default.
    held
        Where a regular file waits for its commit.

    Raises
    ------
    DataError
        The place cannot be written.
    """
    named = facts_of_name(output)
    schema = _table(empty).schema
    form = CsvForm(delimiter=named.delimiter, line_end=b"\n", header=None, added=0)
    with open_sink(output, format_of(output, output_format), schema, form, held) as sink:
        for frame in frames:
            sink.write(_table(frame))


def _table(frame: pl.DataFrame) -> pa.Table:
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())
