"""Write generated rows."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
import pyarrow as pa

from uqcli.engines.inputs import format_of, inferred_format
from uqcli.engines.local.write.sinks import CsvForm, open_sink
from uqcli.engines.protocol import Destination


def write_frames(frames: Iterable[pl.DataFrame], empty: pl.DataFrame, output: Destination) -> None:
    """Write frames in order; a regular file appears only when all are written.

    Parameters
    ----------
    empty
        A frame with the same columns and no rows.
    output
        CSV unless it or its name implies another format.

    Raises
    ------
    DataError
        The target cannot be written.
    """
    inferred = inferred_format(output.target)
    schema = _table(empty).schema
    form = CsvForm(delimiter=inferred.delimiter, line_end=b"\n", header=None, added=0)
    output_format = format_of(output.target, output.file_format)
    with open_sink(output.target, output_format, schema, form, output.queue) as sink:
        for frame in frames:
            sink.write(_table(frame))


def _table(frame: pl.DataFrame) -> pa.Table:
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())
