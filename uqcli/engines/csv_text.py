"""CSV as text: complete records, block by block, without touching a byte of them.

Records end at newlines outside quotes; a quote counts wherever it stands, as in polars' own reader,
which then parses the fields. Lines without any character are skipped. A record with more fields than
the header is an error; one with fewer is marked, because polars would fill it with nulls silently.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

import numpy as np
import polars as pl

from uqcli.counts import Ints
from uqcli.defaults import CSV_BLOCK_BYTES
from uqcli.errors import DataError

_NEWLINE, _RETURN, _QUOTE = 10, 13, 34
_BOM: Final = b"\xef\xbb\xbf"
_LONGEST_RECORD: Final = 256 << 20


@dataclass(frozen=True, kw_only=True)
class CsvDialect:
    """What is needed to read a record: the file's name for messages, its columns and delimiter."""

    name: str
    columns: tuple[str, ...]
    delimiter: str
    null_values: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CsvBlock:
    """Complete records.

    Attributes
    ----------
    text
        The records as they stand in the file, each with its line end.
    starts, ends : int64, shape (rows,)
        Where each record's fields begin and end in the text; its line end follows.
    fields : int64, shape (rows,)
        How many fields each record has, at most one for each column.
    first_row
        Position of the first record among the data rows of the file, from 0.
    """

    dialect: CsvDialect
    text: bytes
    starts: Ints
    ends: Ints
    fields: Ints
    first_row: int

    @property
    def rows(self) -> int:
        """Number of records."""
        return len(self.starts)

    def frame(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Parse columns (all by default) as text.

        Raises
        ------
        DataError
            The text is not well-formed CSV.
        """
        dialect = self.dialect
        names = dialect.columns if columns is None else columns
        at = [dialect.columns.index(name) for name in names]
        try:
            frame = pl.read_csv(
                self.text,
                has_header=False,
                separator=dialect.delimiter,
                columns=at,
                schema={f"field_{number}": pl.String for number in range(len(dialect.columns))},
                null_values=list(dialect.null_values) or None,
                raise_if_empty=False,
            )
        except pl.exceptions.PolarsError as error:
            raise self._malformed() from error
        if frame.height != self.rows:
            raise self._malformed()
        return frame.select(
            pl.col(f"field_{number}").alias(name) for number, name in zip(at, names, strict=True)
        )

    def _malformed(self) -> DataError:
        first = self.first_row + 1
        return DataError(
            f"'{self.dialect.name}' is not well-formed CSV in data rows {first} to {first + self.rows - 1}",
            expected='quotes around whole fields only, doubled inside ("5"" pipe")',
            remedy="fix the quoting there",
        )


def read_header(stream: BinaryIO, name: str, delimiter: str) -> tuple[tuple[str, ...], bytes]:
    """Read the header record.

    Returns
    -------
    columns, rest
        The column names, and the bytes read after the header.

    Raises
    ------
    DataError
        There is no header, or it is not UTF-8.
    """
    text = b""
    while True:
        chunk = stream.read(1 << 16)
        text += chunk
        ends = _record_ends(text)
        if len(ends) or not chunk:
            break
        _limit(text, name)
    end = int(ends[0]) + 1 if len(ends) else len(text)
    header, rest = text[:end].removeprefix(_BOM), text[end:]
    if not header.strip():
        raise DataError(f"'{name}' is empty or has no header", expected="a line of column names")
    _require_utf8(header, name, "the header")
    line = header.decode("utf-8")
    columns = next(csv.reader(io.StringIO(line, newline=""), delimiter=delimiter))
    return tuple(columns), rest


def read_blocks(stream: BinaryIO, rest: bytes, dialect: CsvDialect) -> Iterator[CsvBlock]:
    """Read complete records after the header.

    Raises
    ------
    DataError
        A record has too many fields, a quote is not closed, or the text is not UTF-8.
    """
    row = 0
    for text, line_ends in _complete_records(stream, rest, dialect.name):
        block = _block(text, line_ends, row, dialect)
        row += block.rows
        if block.rows:
            yield block


def _complete_records(stream: BinaryIO, rest: bytes, name: str) -> Iterator[tuple[bytes, Ints]]:
    """Text that ends at the end of a record, and where its records' newlines are."""
    carry = rest
    while chunk := stream.read(CSV_BLOCK_BYTES):
        text = carry + chunk
        ends = _record_ends(text)
        cut = int(ends[-1]) + 1 if len(ends) else 0
        carry = text[cut:]
        _limit(carry, name)
        if cut:
            yield text[:cut], ends
    if carry.count(b'"') % 2:
        raise DataError(f"'{name}' ends inside quotes", remedy="check that it was written to its end")
    if carry:
        text = carry if carry.endswith(b"\n") else carry + b"\n"
        yield text, _record_ends(text)


def _limit(text: bytes, name: str) -> None:
    if len(text) > _LONGEST_RECORD:
        raise DataError(
            f"'{name}' has no end of record within {_LONGEST_RECORD >> 20} MiB",
            expected="closed quotes and lines that end in a newline",
        )


def _record_ends(text: bytes) -> Ints:
    """Positions of the newlines outside quotes."""
    return _outside_quotes(text, _NEWLINE)


def _outside_quotes(text: bytes, byte: int) -> Ints:
    """Positions of a byte with an even number of quotes before it."""
    buffer = np.frombuffer(text, dtype=np.uint8)
    positions = np.flatnonzero(buffer == byte)
    if b'"' not in text:
        return positions
    quotes = np.flatnonzero(buffer == _QUOTE)
    outside: Ints = positions[np.searchsorted(quotes, positions) % 2 == 0]
    return outside


def _block(text: bytes, line_ends: Ints, first_row: int, dialect: CsvDialect) -> CsvBlock:
    _require_utf8(text, dialect.name, f"the text after data row {first_row}")
    buffer = np.frombuffer(text, dtype=np.uint8)
    starts = np.concatenate([np.zeros(min(len(line_ends), 1), dtype=np.int64), line_ends[:-1] + 1])
    ends = line_ends - (buffer[np.maximum(line_ends - 1, 0)] == _RETURN)
    ends = np.maximum(ends, starts)
    blank = ends == starts
    if blank.any():
        lines = zip(starts[~blank].tolist(), (line_ends[~blank] + 1).tolist(), strict=True)
        kept = b"".join(text[start:end] for start, end in lines)
        return _block(kept, _record_ends(kept), first_row, dialect)
    fields = _count_fields(text, starts, ends, dialect, first_row)
    return CsvBlock(dialect=dialect, text=text, starts=starts, ends=ends, fields=fields, first_row=first_row)


def _count_fields(text: bytes, starts: Ints, ends: Ints, dialect: CsvDialect, first_row: int) -> Ints:
    expected = len(dialect.columns)
    delimiters = _outside_quotes(text, ord(dialect.delimiter))
    if expected > 1 and len(delimiters) == len(starts) * (expected - 1):
        table = delimiters.reshape(len(starts), expected - 1)
        if (table[:, 0] >= starts).all() and (table[:, -1] < ends).all():
            return np.full(len(starts), expected, dtype=np.int64)
    bounds = np.searchsorted(delimiters, np.append(starts, len(text)))
    fields = np.diff(bounds) + 1
    if (fields > expected).any():
        at = int(np.argmax(fields > expected))
        raise DataError(
            f"data row {first_row + at + 1} of '{dialect.name}' has {fields[at]} fields",
            expected=f"{expected} as in the header",
            remedy="quote fields that hold the delimiter, or give --delimiter",
        )
    return fields


def _require_utf8(text: bytes, name: str, where: str) -> None:
    if text.isascii():
        return
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"'{name}' is not UTF-8 text (byte 0x{text[error.start]:02x} in {where})",
            expected="UTF-8",
            remedy="convert it, for example with iconv -f latin1 -t utf-8",
        ) from error
