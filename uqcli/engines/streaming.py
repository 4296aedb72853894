"""Streaming files through a model: columns added, order and everything else kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl
import pyarrow as pa

from uqcli.choices import FileFormat, OnInvalid
from uqcli.counts import Bools
from uqcli.engines.checks import CheckedRows, RowChecker
from uqcli.engines.csv_text import CsvBlock
from uqcli.engines.inputs import facts_of_name
from uqcli.engines.layout import Layout, plan_layout
from uqcli.engines.protocol import ApplyFacts, ApplyRequest
from uqcli.engines.sinks import CsvSink, Sink, open_sink
from uqcli.engines.sources import Batch, CsvSource, Source
from uqcli.files import STDIO


def stream_through(sources: Sequence[Source], request: ApplyRequest) -> ApplyFacts:
    """Read block by block, decide, write; memory does not grow with the input.

    Raises
    ------
    DataError
        An input is unusable or inputs differ; a regular output file is then left as it was.
    UsageError
        The added column exists already.
    """
    output_format = _output_format(request)
    layout = plan_layout(sources, request, output_format)
    facts = ApplyFacts(rows=0, selected=0, dropped=0, undecided=0)
    delimiter = _output_delimiter(sources, request)
    with open_sink(request.output, output_format, layout.schema, delimiter) as sink:
        for source in sources:
            checker = RowChecker(
                roles=request.data.roles, positive_value=None, on_invalid=request.data.on_invalid
            )
            row = 0
            for block in source.blocks():
                part = _decided(source, block, row, checker, request)
                row += len(part.rows.valid)
                _write(sink, source, block, part, layout)
                facts = _add(facts, part)
    return facts


@dataclass(frozen=True, kw_only=True)
class _Decided:
    """Checked rows of a block and their decisions.

    Attributes
    ----------
    added
        The column to add; null where a row has no decision.
    kept : bool, shape (rows,), or None
        Rows to write; None for all.
    """

    rows: CheckedRows
    added: pl.DataFrame
    kept: Bools | None


def _decided(
    source: Source, block: CsvBlock | pa.RecordBatch, row: int, checker: RowChecker, request: ApplyRequest
) -> _Decided:
    rows = checker.check(_needed(source, block, row, request))
    if request.data.on_invalid is OnInvalid.ERROR:
        checker.finish()
    decision = pl.Series(request.column, request.decide(rows))
    if rows.valid.all():
        return _Decided(rows=rows, added=decision.to_frame(), kept=None)
    decision = decision.set(pl.Series(~rows.valid), None)
    kept = rows.valid if request.data.on_invalid is OnInvalid.DROP else None
    return _Decided(rows=rows, added=decision.to_frame(), kept=kept)


def _needed(source: Source, block: CsvBlock | pa.RecordBatch, row: int, request: ApplyRequest) -> Batch:
    """The columns the model reads, of one block."""
    columns = list(dict.fromkeys(request.data.roles.named().values()))
    if isinstance(block, CsvBlock):
        short = block.fields < len(block.dialect.columns)
        return Batch(
            frame=block.frame(columns),
            short=short if short.any() else None,
            first_row=block.first_row,
            file=source.file,
        )
    frame = cast(pl.DataFrame, pl.from_arrow(block.select(columns)))
    return Batch(frame=frame, short=None, first_row=row, file=source.file)


def _write(
    sink: Sink, source: Source, block: CsvBlock | pa.RecordBatch, part: _Decided, layout: Layout
) -> None:
    if (
        isinstance(sink, CsvSink)
        and isinstance(block, CsvBlock)
        and block.dialect.delimiter == sink.delimiter
        and layout.copies_text(source.columns)
    ):
        sink.write_records(block, part.added, part.kept)
        return
    table = layout.table(block, part.rows, part.added)
    sink.write(table if part.kept is None else table.filter(pa.array(part.kept)))


def _add(facts: ApplyFacts, part: _Decided) -> ApplyFacts:
    invalid = int(np.count_nonzero(~part.rows.valid))
    written = len(part.rows.valid) if part.kept is None else int(np.count_nonzero(part.kept))
    dropped = len(part.rows.valid) - written
    return ApplyFacts(
        rows=facts.rows + written,
        selected=facts.selected + int(part.added.to_series().sum() or 0),
        dropped=facts.dropped + dropped,
        undecided=facts.undecided + invalid - dropped,
    )


def _output_format(request: ApplyRequest) -> FileFormat:
    if request.output_format is not None:
        return request.output_format
    return facts_of_name(request.output).format or FileFormat.CSV


def _output_delimiter(sources: Sequence[Source], request: ApplyRequest) -> str:
    """Tab for .tsv, comma for .csv from .tsv, otherwise what the first CSV input has."""
    named = facts_of_name(request.output)
    if request.output != STDIO and named.delimiter == "\t":
        return "\t"
    for source in sources:
        if isinstance(source, CsvSource):
            delimiter = source.dialect.delimiter
            return named.delimiter if delimiter == "\t" and named.format is FileFormat.CSV else delimiter
    return ","
