"""Read CSV, selected columns as text or whole records verbatim, by the delimiter of the first line."""

from __future__ import annotations

import csv
import fnmatch
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import BinaryIO, Final

import polars as pl

from uqcli.base.defaults import DECIMAL, ROWS_PER_BATCH
from uqcli.base.errors import DataError, words
from uqcli.base.exact_numbers import is_number
from uqcli.base.running.messages import remark
from uqcli.base.wording import printable
from uqcli.engines.inputs import InputFile, Origin
from uqcli.engines.local.read.batch import (
    Batch,
    block_with_keys,
    dialect_with_keys,
    keys_beside,
    require_equal_keys,
    with_keys,
)
from uqcli.engines.local.read.csv_text import (
    CsvBlock,
    CsvDialect,
    CsvHeader,
    CsvText,
    NumberKind,
    read_header,
    read_texts,
)
from uqcli.engines.local.read.failures import reading
from uqcli.engines.local.read.streams import bytes_of, lines_expected, size_of
from uqcli.engines.request import ReadOptions

_DELIMITER_NAMES: Final = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}

_MAX_LINES: Final = 50
"""Lines in which the column names are looked for."""

_MAX_BYTES: Final = 1 << 16
_MAX_CHARACTERS: Final = 40
"""Maximum characters of a line in a message."""


def recognised(header: str, delimiter: str, needed: Sequence[str]) -> str | None:
    """Return another delimiter that yields all needed columns; None if the given one yields any.

    If no column is needed, or none is found, it is the one that makes the most columns of a header without
    the given one.

    Examples
    --------
    >>> recognised("score;label", ",", ["score", "label"]), recognised("score,a;b", ",", ["score"])
    (';', None)
    >>> recognised("p;y", ",", []), recognised("p;q,y", ",", []), recognised("p;y", ",", ["score"])
    (';', None, ';')
    """
    if needed and columns_found(header, delimiter, needed):
        return None
    fitting = (
        candidate
        for candidate in _DELIMITER_NAMES
        if needed and candidate != delimiter and columns_found(header, candidate, needed) == len(needed)
    )
    most = max(_DELIMITER_NAMES, key=header.count)
    return next(fitting, most if most in header and delimiter not in header else None)


def delimiter_name(delimiter: str) -> str:
    """Return the name of a delimiter."""
    return _DELIMITER_NAMES[delimiter]


def columns_found(header: str, delimiter: str, needed: Sequence[str]) -> int:
    """Count the needed columns, or patterns, in a header that is split at a delimiter."""
    try:
        columns = next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return 0
    other_delimiters = set(_DELIMITER_NAMES) - {delimiter}
    plausible = [name for name in columns if name in needed or not set(name) & other_delimiters]
    return sum(
        any(
            name in (pattern, pattern.removeprefix("-")) or fnmatch.fnmatchcase(name, pattern)  # -COL: turned
            for name in plausible
        )
        for pattern in needed
    )


def require_names(
    header: str, following: bytes, name: str, needed: Sequence[str], delimiter: str, *, typed: bool
) -> None:
    """Refuse a first line that holds none of the needed columns or patterns, if it shows why.

    It may be of another format, a title, values, or separated in another way. ``following`` are the bytes
    after it; the delimiter may have been typed.
    """
    if not needed or columns_found(header, delimiter, needed):
        return
    line = printable(header, _MAX_CHARACTERS)
    wanted = "a line of column names"
    if header.startswith("<"):
        raise DataError(
            f"'{name}' is XML or HTML: it begins with '{line}'",
            expected=wanted,
            remedy="check how it was made, and export the rows as CSV",
        )
    if header.startswith(("{", "[{")):
        is_record = header.startswith("{")
        raise DataError(
            f"'{name}' is JSON: it begins with '{line}'",
            expected=wanted,
            remedy=words("give --format jsonl")
            if is_record
            else "convert it with jq -c '.[]', and name it .jsonl",
        )
    if typed and (other := recognised(header, delimiter, needed)):
        raise DataError(
            words("--delimiter does not separate the columns of '{}', which begins with '{}'", name, line),
            expected=f"the {delimiter_name(other)} between them",
            remedy=words("leave out --delimiter"),
        )
    if not typed and delimiter not in header and columns_found(header, " ", needed):
        raise DataError(
            f"blanks separate the columns of '{name}', which begins with '{line}'",
            expected="commas, semicolons, tabs or vertical bars",
            remedy=words("give --delimiter ' '"),
        )
    if above := _lines_above(following, needed):
        raise DataError(
            f"the first line of '{name}' is '{line}', and the column names come {above} further down",
            expected="column names in the first line",
            remedy="remove the lines above them",
        )
    if _are_values(header, delimiter):
        raise DataError(
            f"the first line of '{name}' has values, not column names: '{line}'",
            expected=wanted,
            remedy="add one, such as score,uncertainty,label",
        )


def _lines_above(following: bytes, needed: Sequence[str]) -> str:
    """Say how many lines after the first one the column names come; nothing if they do not."""
    lines = following[:_MAX_BYTES].decode("utf-8", "replace").splitlines()[:_MAX_LINES]
    for number, line in enumerate(lines, start=1):
        if any(columns_found(line, separator, needed) for separator in ",;\t|"):
            return "1 line" if number == 1 else f"{number} lines"
    return ""


def _are_values(header: str, delimiter: str) -> bool:
    """Whether most fields are numbers."""
    fields = next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter), [])
    return len(fields) > 1 and 2 * sum(map(is_number, fields)) > len(fields)


class CsvSource:
    """A CSV file, or a stream that can be read once."""

    def __init__(self, file: InputFile, options: ReadOptions, stream: BinaryIO | None = None) -> None:
        self.origin = file
        self._options = options
        self._stream = stream
        self._rest = b""
        self._delimiter = file.delimiter
        self.share = 0.0
        self._kinds: Mapping[str, NumberKind] = {}
        self._text_columns: set[str] = set()

    @cached_property
    def dialect(self) -> CsvDialect:
        """Dialect with the partition columns."""
        return dialect_with_keys(self._dialect, self._keys) if self._keys else self._dialect

    @cached_property
    def _keys(self) -> dict[str, str | None]:
        return keys_beside(self.origin, self._dialect.columns)

    @cached_property
    def _dialect(self) -> CsvDialect:
        with reading(self.origin):
            if self._stream is None:
                with bytes_of(self.origin) as stream:
                    header = self._header(stream)
            else:
                header = self._header(self._stream)
                self._rest = header.remainder
        if self._delimiter not in (self.origin.delimiter, header.stated_delimiter):
            separators = delimiter_name(self._delimiter)
            remark(f"{self.origin.display_name} is read with {separators} between its fields.")
        return CsvDialect(
            name=self.origin.name,
            columns=header.columns,
            delimiter=self._delimiter,
            header=header.text,
            line_end=header.line_end,
            ends_in_returns=header.ends_in_returns,
            decimal=self._options.decimal,
            null_values=self._options.null_values,
        )

    def _header(self, stream: BinaryIO) -> CsvHeader:
        header = self._split(read_header(stream, self.origin.name, self._delimiter))
        require_names(
            header.text.decode(),
            header.remainder,
            self.origin.name,
            self._options.required_columns,
            self._delimiter,
            typed=bool(self._options.delimiter),
        )
        return header

    def _split(self, header: CsvHeader) -> CsvHeader:
        """Split the header at the delimiter that it states, or that separates its columns."""
        if self._options.delimiter:
            return header
        if header.stated_delimiter:
            self._delimiter = header.stated_delimiter
            return header.split_at(self._delimiter, self.origin.name)
        detected = recognised(header.text.decode(), self._delimiter, self._options.required_columns)
        if detected is not None:
            self._delimiter = detected
            return header.split_at(detected, self.origin.name)
        return header

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""
        return self.dialect.columns

    def rows_expected(self) -> int | None:
        """Estimate the number of rows from the length of the first lines."""
        return None if self._stream is not None else lines_expected(self.origin)

    def batches(
        self, columns: Sequence[str], start: int = 0, max_rows: int = ROWS_PER_BATCH
    ) -> Iterator[Batch]:
        """Iterate over selected columns as text, from row ``start`` on."""
        del max_rows  # text blocks have a fixed size
        for load in self.loads(columns, start):
            yield from load()

    def loads(
        self, columns: Sequence[str], start: int, kinds: Mapping[str, NumberKind] | None = None
    ) -> Iterator[Callable[[], Iterator[Batch]]]:
        """Yield functions that parse a block, as ``batches`` does; columns that hold numbers become such."""
        if kinds and self._options.decimal == DECIMAL:
            self._kinds = {name: kind for name, kind in kinds.items() if name not in self._keys}
        for records in self._texts():
            if records.first_row + records.rows > start:
                yield partial(self._batch, records, columns, start)

    def _batch(self, records: CsvText, columns: Sequence[str], start: int) -> Iterator[Batch]:
        file_columns = [name for name in columns if name not in self._keys]
        with reading(self.origin):
            block = records.block()
            kinds = {name: kind for name, kind in self._kinds.items() if name not in self._text_columns}
            frame = block.values(file_columns, kinds)
            self._text_columns.update(name for name in kinds if frame.get_column(name).dtype == pl.String)
            require_equal_keys(self.origin, frame)
            yield batch_of(block, with_keys(frame, block.rows, self._keys, columns), self.origin).after(start)

    def blocks(self) -> Iterator[CsvBlock]:
        """Iterate over records as text."""
        twice = [name for name in self.origin.keys if name not in self._keys]
        for records in self._texts():
            with reading(self.origin):
                block = records.block()
            if twice:
                require_equal_keys(self.origin, block.values(twice))
            yield block_with_keys(block, self.dialect, self._keys) if self._keys else block

    def _texts(self) -> Iterator[CsvText]:
        size, done = size_of(self.origin), 0
        with reading(self.origin), self._records() as texts:
            for records in texts:
                done += len(records.text)
                self.share = min(1.0, done / size)
                yield records

    @contextmanager
    def _records(self) -> Iterator[Iterator[CsvText]]:
        if self._stream is not None:
            yield read_texts(self._stream, self._rest, self._dialect)
            return
        with bytes_of(self.origin) as stream:
            yield read_texts(stream, self._header(stream).remainder, self._dialect)


def batch_of(block: CsvBlock, frame: pl.DataFrame, origin: Origin) -> Batch:
    """Return columns of a block as a batch."""
    return Batch(
        frame=frame,
        short=block.short,
        first_row=block.first_row,
        origin=origin,
        cut=block.cut,
        decimal=block.dialect.decimal,
        footer=block.footer,
    )
