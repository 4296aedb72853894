"""Independent readers for the fuzzer: tables by the csv module or Arrow, and rule files as JSON."""

import csv
import io
import json
import math
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from uqcli.rules.codec import decode, encode


def rows_of(path: Path) -> int | None:
    """Count the rows of a table with another reader; None if that reader fails."""
    content = path.read_bytes()
    try:
        if path.suffix == ".parquet":
            return int(pq.read_table(io.BytesIO(content)).num_rows)
        if path.suffix == ".arrow":
            open_arrow = pa.ipc.open_file if content[:6] == b"ARROW1" else pa.ipc.open_stream
            return int(open_arrow(io.BytesIO(content)).read_all().num_rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError):
        return None
    return _count_records(content, "\t" if path.suffix == ".tsv" else ",")


def _count_records(content: bytes, delimiter: str) -> int | None:
    """Count the records after the header with the csv module; an empty line is one if there is one column.

    The module also ends a record at a bare carriage return. uqcli does so only if the header ends in one.
    """
    try:
        text = content.decode("utf-8-sig")
        ends_in_returns = re.match(r'[\r\n]*(?:"[^"]*"|[^"\r\n])+\r(?!\n)', text)
        if not ends_in_returns:
            text = re.sub(r"\r(?!\n)", " ", text)
        rows = csv.reader(io.StringIO(text.lstrip("\r\n"), newline=""), delimiter=delimiter, strict=True)
        width = len(next(rows, []))
        return sum(bool(row) or (width == 1 and not ends_in_returns) for row in rows) if width else -1
    except (UnicodeDecodeError, csv.Error):
        return None


def survives_round_trip(content: bytes) -> bool:
    """Return whether decoding and encoding a rule file keeps the values of all known keys."""
    written = json.loads(encode(decode(content, "fuzz")))
    written.pop("digest", None)  # the digest of an edited rule file differs
    return _values_agree(json.loads(content), written)


def _values_agree(read: object, written: object) -> bool:
    if isinstance(written, dict) and isinstance(read, dict):
        return all(name not in read or _values_agree(read[name], value) for name, value in written.items())
    if isinstance(written, list) and isinstance(read, list):
        return len(read) == len(written) and all(map(_values_agree, read, written))
    if isinstance(written, float) and isinstance(read, int | float) and not isinstance(read, bool):
        return math.isclose(float(read), written, rel_tol=0, abs_tol=0)
    return type(read) is type(written) and read == written
