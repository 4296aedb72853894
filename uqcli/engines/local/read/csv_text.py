"""Split CSV text into blocks of complete records, byte for byte.

Records end at newlines outside quotes, or at bare carriage returns if the header does. A quote inside an
unquoted field is an error, since it would silently join records. Empty lines are skipped, unless there is
one column only, in which they are null. A record with more fields than the header is an error. One with
fewer is marked, and its missing fields are null. polars parses the fields of whole records. Blocks with short
records or carriage returns inside fields, which polars interprets by context, are split here. The result
never depends on the block size.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import BinaryIO, Final, TypeAlias, cast

import numpy as np
import polars as pl
import pyarrow as pa

from uqcli.base.counts import Bools, Ints
from uqcli.base.defaults import CSV_BLOCK_BYTES, DECIMAL
from uqcli.base.errors import DataError, words
from uqcli.base.records import dataclass
from uqcli.engines.inputs import SIGNATURE_BYTES, require_text
from uqcli.engines.local.arrow import arrow_of

_NEWLINE, _RETURN, _QUOTE = 10, 13, 34
BOM: Final = b"\xef\xbb\xbf"
NumberKind: TypeAlias = "type[pl.Float64 | pl.Int8]"
LABEL_KIND: Final = pl.Int8
"""Type of labels 0 and 1; numbers are of 64 bits."""

MAX_RECORD_BYTES: Final = 32 << 20
"""Longest record; of compressed text a few kilobytes give any length, which is kept until the record ends."""

_MAX_HEADER_BYTES: Final = 4 << 20


@dataclass(frozen=True, kw_only=True)
class CsvDialect:
    """Properties needed to parse a record, and to write one in the same form.

    Attributes
    ----------
    header, line_end
        Header bytes, and the line end to write.
    ends_in_returns
        Whether lines end in bare carriage returns, which are read as newlines.
    null_values
        Texts that are null in numeric and label columns.
    """

    name: str
    columns: tuple[str, ...]
    delimiter: str
    header: bytes
    line_end: bytes
    ends_in_returns: bool = False
    decimal: str = DECIMAL
    null_values: tuple[str, ...] = ()

    @property
    def has_rows_in_blank_lines(self) -> bool:
        """Whether a blank line is a row: one column without a value. Bare returns may add blank lines."""
        return len(self.columns) == 1 and not self.ends_in_returns


_FOOTER: Final = re.compile(
    r"\(?\d+ (?:rows?|Zeilen?|lignes?|filas?)(?: affected| selected| in set.*)?\.?\)?"
)
"""Line that psql, sqlcmd, mysql and sqlplus write after the rows of a result."""

_MAX_FOOTER_BYTES: Final = 60


@dataclass(frozen=True, kw_only=True)
class CsvBlock:
    """A block of complete records.

    Attributes
    ----------
    text
        The records verbatim, with their line ends.
    starts, ends : int64, shape (rows,)
        Start and end of each record's fields in the text; its line end follows.
    fields : int64, shape (rows,)
        Number of fields of each record, at most one per column.
    first_row
        Position of the first record among the file's data rows, 0-based.
    cut
        Whether the last record lacks a line end in the file.
    """

    dialect: CsvDialect
    text: bytes
    starts: Ints
    ends: Ints
    fields: Ints
    first_row: int
    cut: bool = False

    @property
    def footer(self) -> str:
        """Text of the last record if it is none, but a line that programs write after the rows."""
        if self.rows == 0 or self.fields[-1] > 1 or self.ends[-1] - self.starts[-1] > _MAX_FOOTER_BYTES:
            return ""
        text = self.text[self.starts[-1] : self.ends[-1]].decode()
        if text.strip() == "\x1a":
            return "Ctrl-Z"
        return text.strip() if _FOOTER.fullmatch(text.strip()) else ""

    @property
    def rows(self) -> int:
        """Number of records."""
        return len(self.starts)

    @property
    def short(self) -> Bools | None:
        """Mask of records with fewer fields than the header; None if there are none."""
        short: Bools = self.fields < len(self.dialect.columns)
        return short if short.any() else None

    def values(self, columns: Sequence[str], kinds: Mapping[str, NumberKind] | None = None) -> pl.DataFrame:
        """Parse columns as text, or as numbers of given types if all are such; null texts become null."""
        return self._parsed(columns, self.dialect.null_values, kinds or {})

    def texts(self) -> pl.DataFrame:
        """Parse all columns as text; only empty fields are null."""
        return self._parsed(self.dialect.columns, ())

    def raw_fields(self) -> list[pa.LargeBinaryArray]:
        """Return the bytes of every field verbatim, with quotes; missing fields are empty."""
        begins, stops = self._bounds
        return [_slices(self.text, begins[:, k], stops[:, k]) for k in range(begins.shape[1])]

    def line_ends(self) -> pa.LargeBinaryArray:
        """Return the line end of every record."""
        return _slices(self.text, self.ends, np.append(self.starts[1:], len(self.text)))

    def records(self) -> pa.LargeBinaryArray:
        """Return the bytes of every record without its line end."""
        return _slices(self.text, self.starts, self.ends)

    @cached_property
    def _bounds(self) -> tuple[Ints, Ints]:
        """Start and end of every field, shape (rows, columns); missing fields are empty."""
        width = len(self.dialect.columns)
        delimiters = _outside_quotes(self.text, ord(self.dialect.delimiter))
        stops = np.repeat(self.ends[:, None], width, axis=1)
        record = np.repeat(np.arange(self.rows), self.fields - 1)
        first_of_record = np.repeat(np.cumsum(self.fields - 1) - (self.fields - 1), self.fields - 1)
        stops[record, np.arange(len(delimiters)) - first_of_record] = delimiters
        begins = np.concatenate([self.starts[:, None], stops[:, :-1] + 1], axis=1)
        return np.minimum(begins, stops), stops

    def _parsed(
        self, names: Sequence[str], null_values: Sequence[str], kinds: Mapping[str, NumberKind] | None = None
    ) -> pl.DataFrame:
        column_indices = self._indices_of(names)
        has_returns = b"\r" in self.text and self.text.count(b"\r") > self.text.count(b"\r\n")
        needs_splitting = self.short is not None or has_returns
        # polars takes such bytes at the start of a block for a byte order mark
        needs_splitting = needs_splitting or self.text.startswith(BOM)
        frame = None if needs_splitting else self._by_polars(column_indices, null_values, kinds or {})
        columns = self._split_fields(column_indices, null_values) if frame is None else frame.get_columns()
        parsed = dict(zip(sorted(set(column_indices)), columns, strict=True))
        return pl.DataFrame({name: parsed[index] for index, name in zip(column_indices, names, strict=True)})

    def _indices_of(self, names: Sequence[str]) -> list[int]:
        """Return the column indices of names; the first of equal names."""
        columns = self.dialect.columns
        index_by_name = {name: len(columns) - 1 - distance for distance, name in enumerate(reversed(columns))}
        return [index_by_name[name] for name in names]

    def _by_polars(
        self, column_indices: Sequence[int], null_values: Sequence[str], kinds: Mapping[str, NumberKind]
    ) -> pl.DataFrame | None:
        """Parse columns with polars, in file order; None if polars finds another number of records.

        Numbers that are no labels may be such though labels are texts.
        """
        numbers = {name: kind for name, kind in kinds.items() if kind == pl.Float64}
        for typed in dict.fromkeys((tuple(kinds.items()), tuple(numbers.items()), ())):
            kind_of = {f"field_{self._indices_of([name])[0]}": kind for name, kind in typed}
            fields = [f"field_{index}" for index in range(len(self.dialect.columns))]
            with suppress(pl.exceptions.PolarsError):
                frame = pl.read_csv(
                    self.text,
                    has_header=False,
                    separator=self.dialect.delimiter,
                    columns=sorted(set(column_indices)),
                    schema={field: kind_of.get(field, pl.String) for field in fields},
                    null_values=list(null_values) or None,
                    raise_if_empty=False,
                )
                labels = [frame[field] for field, kind in kind_of.items() if kind == LABEL_KIND]
                if frame.height == self.rows and all(label.is_between(0, 1).all() for label in labels):
                    return frame
        return None

    def _split_fields(self, column_indices: Sequence[int], null_values: Sequence[str]) -> list[pl.Series]:
        """Split columns field by field, in file order."""
        begins, stops = self._bounds
        return [
            unquoted(_slices(self.text, begins[:, k], stops[:, k]), null_values)
            for k in sorted(set(column_indices))
        ]


def csv_record(fields: Sequence[str], delimiter: str) -> bytes:
    """Format a record without its line end; fields with delimiters, quotes or line ends are quoted."""
    text, line_end = io.StringIO(newline=""), "\r\n"  # Python quotes line ends only if it writes them
    csv.writer(text, delimiter=delimiter, lineterminator=line_end).writerow(fields)
    return text.getvalue().removesuffix(line_end).encode()


def unquoted(fields: pa.LargeBinaryArray, null_values: Sequence[str]) -> pl.Series:
    """Return the field texts without enclosing quotes; empty unquoted fields are null."""
    raw = cast(pl.Series, pl.from_arrow(fields.cast(pa.large_string())))
    text = raw.str.strip_prefix('"').str.strip_suffix('"').str.replace_all('""', '"', literal=True)
    return text.set((raw == "") | text.is_in(list(null_values)), None)


def _slices(text: bytes, begins: Ints, stops: Ints) -> pa.LargeBinaryArray:
    """Return the slices of a text that are ordered and do not overlap."""
    bounds = np.empty(2 * len(begins), dtype=np.int64)
    bounds[0::2], bounds[1::2] = begins, stops
    if len(begins) == 0:
        return pa.nulls(0, pa.large_binary())
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(text)]
    pieces = pa.LargeBinaryArray.from_buffers(pa.large_binary(), 2 * len(begins) - 1, buffers)
    return pieces.take(arrow_of(np.arange(0, 2 * len(begins) - 1, 2)))


@dataclass(frozen=True, kw_only=True)
class CsvHeader:
    """Header record: its bytes, line end, names, and the bytes read beyond it; see ``CsvDialect``.

    Attributes
    ----------
    stated_delimiter
        Delimiter that a line ``sep=X`` before the header states, as Excel writes it; empty without one.
    """

    text: bytes
    line_end: bytes
    ends_in_returns: bool
    columns: tuple[str, ...]
    remainder: bytes
    stated_delimiter: str = ""

    def split_at(self, delimiter: str, name: str) -> CsvHeader:
        """Split the header at another delimiter."""
        return replace(self, columns=_names(self.text, delimiter, name))


_STATED_DELIMITER: Final = re.compile(rb'"?sep=([^"\r\n])"?', re.IGNORECASE)


def read_header(stream: BinaryIO, name: str, delimiter: str) -> CsvHeader:
    """Read the header record, after any blank lines and a line ``sep=X``.

    Raises
    ------
    DataError
        There is no header, or it is not UTF-8.
    """
    record, rest, ends_in_returns = _first_record(stream, name)
    stated = _STATED_DELIMITER.fullmatch(record.rstrip(b"\r\n"))
    if stated:
        record, rest, ends_in_returns = _first_record(stream, name, rest)
    stated_delimiter = stated[1].decode("latin-1") if stated else ""
    if record.count(b'"') % 2:
        raise _open_quote(record, name)
    text = record.rstrip(b"\r\n")
    if b"\0" in text:
        raise _no_text(name)
    require_utf8(text, name, "the header")
    return CsvHeader(
        text=text,
        line_end=b"\n" if ends_in_returns else record[len(text) :] or b"\n",
        ends_in_returns=ends_in_returns,
        columns=_names(text, delimiter, name),
        remainder=rest,
        stated_delimiter=stated_delimiter,
    )


def _names(header: bytes, delimiter: str, name: str) -> tuple[str, ...]:
    try:
        return tuple(next(csv.reader(io.StringIO(header.decode("utf-8"), newline=""), delimiter=delimiter)))
    except csv.Error as error:
        raise DataError(f"the header of '{name}' cannot be read: {error}", expected="column names") from error


def _first_record(stream: BinaryIO, name: str, begun: bytes = b"") -> tuple[bytes, bytes, bool]:
    """Find the first non-blank record, the bytes read beyond it, and whether it ends in a bare return.

    ``begun`` are bytes of the stream that have been read already.
    """
    text, record, size = b"", b"", 1 << 16
    while len(text) <= _MAX_HEADER_BYTES:
        chunk, begun = begun or stream.read(size), b""
        text += chunk
        if len(text) - len(chunk) < SIGNATURE_BYTES:
            require_text(text, name)
        size = max(size, len(text))
        if chunk and len(text) < len(BOM):
            continue
        record = text.removeprefix(BOM).lstrip(b"\r\n")
        nowhere = len(record) + 1
        newline, carriage_return = (_first_outside_quotes(record, byte) for byte in (_NEWLINE, _RETURN))
        known = len(record) - bool(chunk)  # a newline may follow a carriage return in the next chunk
        if carriage_return < min(newline - 1, known):
            return record[:carriage_return], record[carriage_return + 1 :], True
        if newline < nowhere:
            return record[: newline + 1], record[newline + 1 :], False
        if not chunk:
            break
    if len(text) > _MAX_HEADER_BYTES:
        raise DataError(
            f"'{name}' has no end of line within {_MAX_HEADER_BYTES >> 20} MiB",
            expected="a line of column names",
        )
    if not record.strip():
        raise DataError(f"'{name}' is empty or has no header", expected="a line of column names")
    return record, b"", False


@dataclass(frozen=True, kw_only=True)
class CsvText:
    """Text of complete records, the positions of their newlines, and the arguments of its block."""

    text: bytes
    line_ends: Ints
    first_row: int
    dialect: CsvDialect
    cut: bool

    def block(self) -> CsvBlock:
        """Split the text into records.

        Raises
        ------
        DataError
            A record has too many fields, a quote is inside a field, or the text is not UTF-8.
        """
        text, dialect, first_row = self.text, self.dialect, self.first_row
        require_utf8(text, dialect.name, f"the text after data row {first_row}")
        starts, ends = _bounds_of(text, self.line_ends)
        _require_whole_quotes(text, starts, dialect, first_row)
        blank = ends == starts
        if blank.any() and not dialect.has_rows_in_blank_lines:
            record_bounds = zip(starts[~blank].tolist(), (self.line_ends[~blank] + 1).tolist(), strict=True)
            records = b"".join(text[start:stop] for start, stop in record_bounds)
            return replace(self, text=records, line_ends=_outside_quotes(records, _NEWLINE)).block()
        return CsvBlock(
            dialect=dialect,
            text=text,
            starts=starts,
            ends=ends,
            fields=_count_fields(text, starts, ends, dialect, first_row),
            first_row=first_row,
            cut=self.cut,
        )

    @cached_property
    def rows(self) -> int:
        """Number of records: of lines that are not blank, unless these are rows."""
        if self.dialect.has_rows_in_blank_lines:
            return len(self.line_ends)
        return int(np.count_nonzero(np.diff(_bounds_of(self.text, self.line_ends), axis=0)))


def read_texts(stream: BinaryIO, rest: bytes, dialect: CsvDialect) -> Iterator[CsvText]:
    """Read the text of complete records after the header.

    Raises
    ------
    DataError
        A quote is not closed.
    """
    row = 0
    for text, line_ends, cut in _complete_records(stream, rest, dialect):
        records = CsvText(text=text, line_ends=line_ends, first_row=row, dialect=dialect, cut=cut)
        row += records.rows
        if records.rows:
            yield records


def _complete_records(
    stream: BinaryIO, rest: bytes, dialect: CsvDialect
) -> Iterator[tuple[bytes, Ints, bool]]:
    """Yield text of complete records, the positions of their newlines, and whether the last was added."""
    text, carry = rest, b""
    while text or (text := stream.read(CSV_BLOCK_BYTES)):
        text = carry + text
        if dialect.ends_in_returns:
            text = _with_newlines(text)
        record_ends = _outside_quotes(text, _NEWLINE)
        cut = int(record_ends[-1]) + 1 if len(record_ends) else 0
        carry = text[cut:]
        if len(carry) > MAX_RECORD_BYTES:
            raise _open_quote(carry, dialect.name)
        if cut:
            yield text[:cut], record_ends, False
        text = b""
    if carry.count(b'"') % 2:
        raise _open_quote(carry, dialect.name)
    if carry:
        text = carry if carry.endswith(b"\n") else carry + dialect.line_end
        yield text, _outside_quotes(text, _NEWLINE), text is not carry


def _open_quote(text: bytes, name: str) -> DataError:
    if b"\0" in text:
        return _no_text(name)
    if b'"' not in text:
        return DataError(
            f"'{name}' has a record of more than {MAX_RECORD_BYTES >> 20} MiB", expected="rows in lines"
        )
    begin = text[:60].decode("utf-8", "replace").splitlines()[0]
    return DataError(
        f"a quote is not closed in '{name}', in or after the record that begins {begin!r}",
        expected="quotes around whole fields, doubled inside",
        remedy="fix the quoting there, or check that the file was written completely",
    )


def _no_text(name: str) -> DataError:
    return DataError(
        f"'{name}' contains NUL bytes",
        expected="text in UTF-8",
        remedy="convert UTF-16 (iconv -f utf-16 -t utf-8), or check that the file was written completely",
    )


def _with_newlines(text: bytes) -> bytes:
    """Turn carriage returns outside quotes to newlines; a newline behind one then ends a blank line."""
    buffer = np.frombuffer(bytearray(text), dtype=np.uint8)
    buffer[_outside_quotes(text, _RETURN)] = _NEWLINE
    return buffer.tobytes()


def _outside_quotes(text: bytes, byte: int) -> Ints:
    """Find the positions of a byte outside quotes (after an even number of them)."""
    buffer = np.frombuffer(text, dtype=np.uint8)
    positions = np.flatnonzero(buffer == byte)
    if b'"' not in text:
        return positions
    quotes = np.flatnonzero(buffer == _QUOTE)
    outside: Ints = positions[np.searchsorted(quotes, positions) % 2 == 0]
    return outside


def _first_outside_quotes(text: bytes, byte: int) -> int:
    """Find the first position of a byte outside quotes; beyond the end if there is none."""
    position = text.find(byte)
    if position >= 0 and b'"' in text[:position]:
        position = int(next(iter(_outside_quotes(text, byte)), -1))
    return position if position >= 0 else len(text) + 1


def _bounds_of(text: bytes, line_ends: Ints) -> tuple[Ints, Ints]:
    """Return the start and the end of each line, without its line end."""
    buffer = np.frombuffer(text, dtype=np.uint8)
    starts = np.concatenate([np.zeros(min(len(line_ends), 1), dtype=np.int64), line_ends[:-1] + 1])
    ends = line_ends - (buffer[np.maximum(line_ends - 1, 0)] == _RETURN)
    return starts, np.maximum(ends, starts)


def _require_whole_quotes(text: bytes, starts: Ints, dialect: CsvDialect, first_row: int) -> None:
    """Refuse quotes that do not enclose a whole field."""
    if b'"' not in text:
        return
    buffer = np.frombuffer(text, dtype=np.uint8)
    quotes = np.flatnonzero(buffer == _QUOTE)
    delimiter = ord(dialect.delimiter)
    opening, closing = quotes[0::2], quotes[1::2]
    last = len(text) - 1
    before, after = buffer[opening - 1], buffer[np.minimum(closing + 1, last)]
    opens = np.isin(before, (delimiter, _NEWLINE, _QUOTE)) | (opening == 0)
    ends_line = (after == _RETURN) & (buffer[np.minimum(closing + 2, last)] == _NEWLINE)
    closes = np.isin(after, (delimiter, _NEWLINE, _QUOTE)) | ends_line
    stray = np.concatenate([opening[~opens], closing[~closes]])
    if len(stray):
        row = first_row + int(np.searchsorted(starts, stray.min(), side="right"))
        raise DataError(
            f"data row {row} of '{dialect.name}' has a quote inside a field",
            expected='quotes around whole fields, doubled inside ("5"" pipe")',
            remedy="fix the quoting there",
        )


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
        index = int(np.argmax(fields > expected))
        remedy = words("quote fields that contain the delimiter, or give --delimiter")
        if first_row + index == 0 and fields[0] == expected + 1:
            remedy = words("name the first column if it holds row names (R: col.names = NA), or {}", remedy)
        raise DataError(
            f"data row {first_row + index + 1} of '{dialect.name}' has {fields[index]} fields",
            expected=f"{expected} as in the header",
            remedy=remedy,
        )
    return fields


def require_utf8(text: bytes, name: str, where: str) -> None:
    """Refuse text that is not UTF-8, naming the place."""
    if text.isascii():
        return
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        encoding = "utf-16" if b"\0" in text else "latin1"
        raise DataError(
            f"'{name}' is not UTF-8 text (byte 0x{text[error.start]:02x} in {where})",
            expected="UTF-8",
            remedy=f"convert it, for example with iconv -f {encoding} -t utf-8",
        ) from error
