"""Split JSON lines into blocks of complete records, one object per line.

Column values are read as the texts that CSV would have. Quoted numbers, Booleans and nulls therefore mean the
same in both formats. Records that are written again keep their text.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from functools import cached_property
from typing import Any, BinaryIO, Final, NoReturn

import numpy as np
import polars as pl
import pyarrow as pa

from uqcli.base.counts import Ints
from uqcli.base.defaults import CSV_BLOCK_BYTES, ROWS_PER_BATCH
from uqcli.base.errors import DataError, words
from uqcli.base.records import dataclass
from uqcli.base.wording import printable
from uqcli.engines.inputs import InputFile, require_text
from uqcli.engines.local.arrow import frame_of, table_of
from uqcli.engines.local.read.batch import (
    Batch,
    keys_beside,
    require_equal_keys,
    rows_with_keys,
    schema_with_keys,
    with_keys,
)
from uqcli.engines.local.read.csv_text import BOM, MAX_RECORD_BYTES, require_utf8
from uqcli.engines.local.read.failures import reading
from uqcli.engines.local.read.streams import bytes_of, filled, lines_expected, size_of
from uqcli.engines.request import ReadOptions

_FEW_KEYS: Final = 20
"""Keys up to which the text is searched for each, which takes less time than to parse it."""

_ESCAPED_KEY: Final = re.compile(rb'\\[^"\n\\]*"[ \t\r]*:')
"""Possible key spelled with escapes."""

_LONE_SURROGATE: Final = re.compile(
    rb"\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F][\da-fA-F]{2}"
)
"""Lone surrogate, which polars would turn into a NUL."""

_BLANK: Final = b" \t\r"
_MAX_CHARACTERS: Final = 40
"""Maximum characters of a line in a message."""

_NEWLINE, _OPEN, _CLOSE = 10, ord("{"), ord("}")


@dataclass(frozen=True, kw_only=True)
class JsonBlock:
    """A block of complete records: text of one object per line, without blank lines or surrounding blanks.

    ``first_row`` is the 0-based position of its first record in the file.
    """

    name: str
    text: bytes
    first_row: int
    null_values: tuple[str, ...] = ()

    short = None
    """Always None: missing keys are null, so that no record is short."""

    @cached_property
    def _ends(self) -> Ints:
        """Position of each record's newline."""
        return np.flatnonzero(np.frombuffer(self.text, dtype=np.uint8) == _NEWLINE)

    @property
    def rows(self) -> int:
        """Number of records."""
        return len(self._ends)

    def values(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return the columns as text; null texts become null. Each line must be a single JSON object."""
        frame = self._parsed({name: pl.String() for name in columns})
        self._require_single(frame)
        if not self.null_values:
            return frame
        return frame.with_columns(
            pl.when(~pl.all().is_in(list(self.null_values))).then(pl.all())  # null stays null
        )

    def beginning(self, records: int) -> pl.DataFrame:
        """Return all keys of the first records, with inferred types."""
        last = int(self._ends[min(records, self.rows) - 1])
        try:
            frame = pl.read_ndjson(io.BytesIO(self.text[: last + 1]), infer_schema_length=records)
        except pl.exceptions.PolarsError as error:
            self._require_objects()
            raise self._other_form(str(error).split("\n", maxsplit=1)[0]) from error
        return frame.with_columns(pl.col(pl.Int128, pl.UInt128).cast(pl.String))

    def table(self, schema: pa.Schema) -> pa.Table:
        """Return all columns of a schema, typed; values of other types and further keys are refused."""
        types = dict(frame_of(schema.empty_table()).schema)
        late = [
            name
            for name, kind in self.beginning(self.rows).schema.items()
            if name not in types or not _holds(types[name], kind)
        ]
        try:
            frame = pl.read_ndjson(io.BytesIO(self.text), schema=types)
        except pl.exceptions.PolarsError as error:
            raise self._other_form(str(error).split("\n", maxsplit=1)[0]) from error
        if late:
            raise self._other_form(f"key '{late[0]}' is new, or its type has changed")
        if half := _LONE_SURROGATE.search(self.text):
            index = self.text.count(b"\n", 0, half.start())
            row = self.first_row + index + 1
            raise DataError(
                f"data row {row} of '{self.name}' has half a surrogate pair ({half[0].decode()})",
                expected="complete surrogate pairs",
                remedy="write .jsonl, which keeps records as they are",
            )
        return table_of(frame)

    def keys(self, records: int) -> tuple[str, ...]:
        """Return the keys of the first records, in order of appearance; each line must be one JSON object."""
        keys: dict[str, None] = {}
        try:
            for line in self.text.split(b"\n", records)[:records]:
                keys |= dict.fromkeys(json.loads(line) if line else ())
        except (ValueError, RecursionError) as error:
            self._explain(str(error))
        return tuple(keys)

    def may_have(self, keys: Sequence[str]) -> bool:
        """Whether a record may have one of these keys, judging by the raw text."""
        return _may_have(self.text, keys)

    def _require_single(self, frame: pl.DataFrame) -> None:
        """Refuse duplicate keys among these columns, since programs differ in which one they use."""
        key_spellings = [_encoded_key(key) for key in frame.columns]
        is_wide = len(key_spellings) > _FEW_KEYS  # to count each would read the text as often
        suspects = [
            spelling
            for spelling, column in zip([] if is_wide else key_spellings, frame, strict=False)
            if self.text.count(spelling) > len(column) - column.null_count()
        ]
        if not is_wide and not suspects and not _ESCAPED_KEY.search(self.text):
            return
        items: list[tuple[str, Any]] = []

        def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            items[:] = pairs  # the outermost object is last
            return {}

        for row, line in enumerate(self.text.split(b"\n")[:-1], start=self.first_row + 1):
            is_suspect = is_wide or any(line.count(suspect) > 1 for suspect in suspects)
            if not is_suspect and not _ESCAPED_KEY.search(line):
                continue
            with suppress(ValueError):  # invalid JSON is reported where it is read
                json.loads(line, object_pairs_hook=keep)
            if len(dict(items)) == len(items):
                continue
            times = Counter(name for name, _ in items)
            key = next((key for key in frame.columns if times[key] > 1), None)
            if key is not None:
                raise DataError(
                    f"data row {row} of '{self.name}' has the key '{key}' twice", expected="each key once"
                )

    def require_without(self, keys: Sequence[str]) -> None:
        """Refuse records that have one of these keys."""
        lines = self.text.split(b"\n")[:-1] if self.may_have(keys) else []
        for row, line in enumerate(lines, start=self.first_row + 1):
            for key in set(keys).intersection(json.loads(line) if _may_have(line, keys) else ()):
                raise DataError(
                    f"data row {row} of '{self.name}' has a key '{key}', which is added",
                    expected="no such key, or one in the first thousand records",
                    remedy=words("give --prefix P for another name"),
                )

    def _other_form(self, problem: str) -> DataError:
        return DataError(
            f"records of '{self.name}' after data row {self.first_row} differ from the first ones: {problem}",
            expected="the keys and types of the first thousand records",
            remedy="write .jsonl, which keeps records as they are",
        )

    def _parsed(self, types: dict[str, Any]) -> pl.DataFrame:
        if self.rows == 0:
            return pl.DataFrame(schema=types)
        try:
            frame = pl.read_ndjson(io.BytesIO(self.text), schema=types or {"": pl.String()})
        except pl.exceptions.PolarsError as error:
            self._explain(str(error).split("\n", maxsplit=1)[0])
        if frame.height != self.rows:
            self._explain(f"{frame.height} values on {self.rows} lines")
        return frame[list(types)]  # indexed by name, since select would read names as patterns

    def _explain(self, reason: str) -> NoReturn:
        """Raise an error that names the invalid line."""
        self._require_objects()
        raise self._no_json_lines(reason)

    def _require_objects(self) -> None:
        for row, line in enumerate(self.text.splitlines(), start=self.first_row + 1):
            try:
                json.loads(line, parse_constant=_no_number)
            except (ValueError, RecursionError) as error:
                raise self._no_json_lines(f"data row {row}: {error}") from error

    def _no_json_lines(self, reason: str) -> DataError:
        return DataError(
            f"'{self.name}' is not JSON Lines: {reason}",
            expected="one JSON object per line",
            remedy="write null for NaN and one object per line; check that the file was written completely",
        )


def _may_have(text: bytes, keys: Sequence[str]) -> bool:
    return _ESCAPED_KEY.search(text) is not None or any(_encoded_key(key) in text for key in keys)


def _encoded_key(key: str) -> bytes:
    return json.dumps(key, ensure_ascii=False).encode()


def _holds(expected: pl.DataType, actual: pl.DataType) -> bool:
    """Whether a nested type can represent values of another; numbers and texts are left to polars."""
    if isinstance(actual, pl.Struct):
        fields = (
            {field.name: field.dtype for field in expected.fields} if isinstance(expected, pl.Struct) else {}
        )
        return all(
            field.name in fields and _holds(_as_instance(fields[field.name]), _as_instance(field.dtype))
            for field in actual.fields
        )
    if isinstance(actual, pl.List):
        return isinstance(expected, pl.List) and _holds(
            _as_instance(expected.inner), _as_instance(actual.inner)
        )
    return isinstance(actual, pl.Null) or not isinstance(expected, pl.Null | pl.Struct | pl.List)


def _as_instance(kind: Any) -> pl.DataType:
    dtype: pl.DataType = kind() if isinstance(kind, type) else kind
    return dtype


def _widened(kind: Any, later: Any) -> pl.DataType:
    """Return the type of decimal numbers in place of integers, also of nested ones, if later ones have it."""
    first, second = _as_instance(kind), _as_instance(later)
    if isinstance(first, pl.Struct) and isinstance(second, pl.Struct):
        types = {field.name: field.dtype for field in second.fields}
        return pl.Struct(
            {field.name: _widened(field.dtype, types.get(field.name, field.dtype)) for field in first.fields}
        )
    if isinstance(first, pl.List) and isinstance(second, pl.List):
        return pl.List(_widened(first.inner, second.inner))
    return second if first.is_integer() and second.is_float() else first


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def read_json_blocks(
    stream: BinaryIO, rest: bytes, name: str, null_values: tuple[str, ...]
) -> Iterator[JsonBlock]:
    """Read blocks of complete records, one object a line, in UTF-8."""
    row = 0
    for text in _complete_lines(stream, rest, name):
        block = JsonBlock(name=name, text=_trimmed(text, name, row), first_row=row, null_values=null_values)
        row += block.rows
        if block.rows:
            yield block


def _complete_lines(stream: BinaryIO, rest: bytes, name: str) -> Iterator[bytes]:
    """Yield text that ends at a newline."""
    text, carry, begun = rest, b"", False
    while text or (text := stream.read(CSV_BLOCK_BYTES)):
        carry, text = carry + text, b""
        if not begun and len(carry) >= len(BOM):
            carry, begun = carry.removeprefix(BOM), True
        cut = carry.rfind(b"\n") + 1
        if cut:
            yield carry[:cut]
            carry = carry[cut:]
        elif len(carry) > MAX_RECORD_BYTES:
            raise DataError(
                f"'{name}' has a line of more than {MAX_RECORD_BYTES >> 20} MiB",
                expected="one JSON object per line",
            )
    if carry.strip():
        yield carry + b"\n"


def _trimmed(text: bytes, name: str, row: int) -> bytes:
    """Strip blank lines and surrounding blanks; check that each line is in braces."""
    require_utf8(text, name, f"the text after data row {row}")
    if _has_only_objects(text):
        return text
    lines = [line.strip(_BLANK) for line in text.split(b"\n")]
    text = b"".join(line + b"\n" for line in lines if line)
    if not _has_only_objects(text):
        if row == 0:
            _require_an_object(text, name)
        JsonBlock(name=name, text=text, first_row=row)._explain("a line is no object")
    return text


def _require_an_object(text: bytes, name: str) -> None:
    """Refuse a first line that shows another format."""
    lines = text.split(b"\n", maxsplit=2)
    first = lines[0]
    if first.startswith(b"["):
        is_row = first.endswith(b"]") and len(lines) > 1 and lines[1].startswith(b"[")
        raise DataError(
            f"'{name}' is {'lines of JSON arrays' if is_row else 'a JSON array'}",
            expected="one JSON object per line",
            remedy="write each row as an object with the names of its columns"
            if is_row
            else "convert it with jq -c '.[]'",
        )
    line = printable(first.decode(), _MAX_CHARACTERS)
    if not first.startswith(b"{") and line[:1].isalnum():
        raise DataError(
            f"the first line of '{name}' is '{line}', not a JSON object",
            expected="one JSON object per line",
            remedy=words("give --format csv, or name it .csv, if it is CSV"),
        )


def _has_only_objects(text: bytes) -> bool:
    """Whether every line begins and ends with a brace."""
    buffer = np.frombuffer(text, dtype=np.uint8)
    newlines = np.flatnonzero(buffer == _NEWLINE)
    if len(newlines) == 0:
        return len(text) == 0
    starts = np.concatenate([[0], newlines[:-1] + 1])
    filled = bool((newlines - starts >= 2).all())
    return filled and bool((buffer[starts] == _OPEN).all() and (buffer[newlines - 1] == _CLOSE).all())


_HEAD_RECORDS: Final = 1000
"""Number of first records whose keys define the columns."""

_HEAD_BYTES: Final = 1 << 20
_MAX_HEAD_BYTES: Final = 16 << 20


class JsonSource:
    """A file of JSON lines, or a stream that can be read once."""

    def __init__(self, file: InputFile, options: ReadOptions, stream: BinaryIO | None = None) -> None:
        self.origin = file
        self._options = options
        self._stream = stream
        self._rest = b""
        self.share = 0.0

    @property
    def columns(self) -> tuple[str, ...]:
        """Keys of the first thousand records in order of appearance, then the partition columns."""
        return (*self._names, *self.keys)

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """Keys and types of the first thousand records, null without a value; partition columns come last."""
        return schema_with_keys(table_of(self._beginning).schema, self.keys)

    @cached_property
    def keys(self) -> dict[str, str | None]:
        """Partition columns."""
        return keys_beside(self.origin, self._names)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        with reading(self.origin):
            return self._first.keys(_HEAD_RECORDS)

    @cached_property
    def _beginning(self) -> pl.DataFrame:
        with reading(self.origin):
            return self._first.beginning(_HEAD_RECORDS).clear()

    @cached_property
    def _schema(self) -> pa.Schema:
        """Keys and types of the records; a key without a value yet is text."""
        return table_of(self._beginning.with_columns(pl.col(pl.Null).cast(pl.String))).schema

    def widen(self) -> None:
        """Let integers of the first records have decimals, if later ones do; not in a stream, read once."""
        if self._stream is not None:
            return
        frame = self._beginning
        for block in self.blocks():
            later = block.beginning(block.rows).schema
            wider = {
                name: _widened(kind, later[name]) if name in later else kind
                for name, kind in frame.schema.items()
            }
            frame = pl.DataFrame(schema=wider)
        self._beginning = frame

    @property
    def _first(self) -> JsonBlock:
        if self.is_empty:
            raise DataError(f"{self.origin.display_name} is empty", expected="one JSON object per line")
        return next(read_json_blocks(io.BytesIO(self._head), b"", self.origin.name, ()))

    @property
    def is_empty(self) -> bool:
        """Whether there are no records."""
        return not self._head.removeprefix(BOM).strip()

    @cached_property
    def _head(self) -> bytes:
        """First complete lines; those of a stream are kept for the reading that follows."""
        with reading(self.origin):
            if self._stream is None:
                with bytes_of(self.origin) as stream:
                    text = _beginning(stream)
            else:
                text = self._rest = _beginning(self._stream)
        require_text(text, self.origin.name)
        return text[: text.rfind(b"\n") + 1] or text

    def rows_expected(self) -> int | None:
        """Estimate the number of rows from the length of the first lines."""
        return None if self._stream is not None else lines_expected(self.origin)

    def batches(
        self, columns: Sequence[str], start: int = 0, max_rows: int = ROWS_PER_BATCH
    ) -> Iterator[Batch]:
        """Iterate over selected columns as text, from row ``start`` on."""
        del max_rows  # text blocks have a fixed size
        for block in self.blocks():
            if block.first_row + block.rows > start:
                yield self.batch(block, columns).after(start)

    def batch(self, block: JsonBlock, columns: Sequence[str]) -> Batch:
        """Return the selected columns of a block, as text."""
        file_columns = [name for name in dict.fromkeys(columns) if name not in self.keys]
        twice = [name for name in self.origin.keys if name not in self.keys]
        values = block.values(list(dict.fromkeys([*file_columns, *twice])))
        require_equal_keys(self.origin, values)
        frame = with_keys(values, block.rows, self.keys, columns)
        return Batch(frame=frame, short=None, first_row=block.first_row, origin=self.origin)

    def with_keys(self, added: pl.DataFrame) -> pl.DataFrame:
        """Put the partition columns before the added columns."""
        return with_keys(added, added.height, self.keys, [*self.keys, *added.columns])

    def table(self, block: JsonBlock) -> pa.Table:
        """Return all columns of a block, typed like the first records; see JsonBlock.table."""
        return rows_with_keys(block.table(self._schema), self.keys)

    def blocks(self) -> Iterator[JsonBlock]:
        """Iterate over records as text."""
        _ = self._head  # reads the beginning of a stream first
        name, nulls = self.origin.name, self._options.null_values
        opened = bytes_of(self.origin) if self._stream is None else nullcontext(self._stream)
        size, done = size_of(self.origin), 0
        with reading(self.origin), opened as stream:
            for block in read_json_blocks(stream, self._rest, name, nulls):
                done += len(block.text)
                self.share = min(1.0, done / size)
                yield block


def _beginning(stream: BinaryIO) -> bytes:
    """Read enough lines to find the columns, or a number of bytes with at least one line."""
    text = b""
    while more := filled(stream, _HEAD_BYTES):
        text += more
        line_count = text.count(b"\n")
        if line_count >= _HEAD_RECORDS or (line_count and len(text) >= _MAX_HEAD_BYTES):
            break
    return text
