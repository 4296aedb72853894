"""Independent readings: what a table holds by the csv module or Arrow, and what an artifact says."""

import csv
import io
import json
import math
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from uqcli.artifacts.codec import decode, encode


def rows_of(path: Path) -> int | None:
    """How many rows a table has by another reader; None where that one cannot read it."""
    content = path.read_bytes()
    try:
        if path.suffix == ".parquet":
            return int(pq.read_table(io.BytesIO(content)).num_rows)
        if path.suffix == ".arrow":
            opened = pa.ipc.open_file if content[:6] == b"ARROW1" else pa.ipc.open_stream
            return int(opened(io.BytesIO(content)).read_all().num_rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError):
        return None
    return _records(content, "\t" if path.suffix == ".tsv" else ",")


def _records(content: bytes, delimiter: str) -> int | None:
    """Records after the header by the csv module; empty lines are none.

    The module also ends a record at a bare carriage return, which is text to us as to RFC 4180.
    """
    try:
        text = re.sub(r"\r(?!\n)", " ", content.decode("utf-8-sig"))
        records = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row
        ]
    except (UnicodeDecodeError, csv.Error):
        return None
    return len(records) - 1


def same_meaning(content: bytes) -> bool:
    """Whether an accepted artifact is understood as it is written: the keys we know are equal."""
    again = json.loads(encode(decode(content, "fuzz")))
    again.pop("digest", None)  # of what was understood: an edited artifact's own says otherwise
    return _agrees(json.loads(content), again)


def _agrees(read: object, again: object) -> bool:
    if isinstance(again, dict) and isinstance(read, dict):
        return all(name not in read or _agrees(read[name], value) for name, value in again.items())
    if isinstance(again, list) and isinstance(read, list):
        return len(read) == len(again) and all(map(_agrees, read, again))
    if isinstance(again, float) and isinstance(read, int | float) and not isinstance(read, bool):
        return math.isclose(float(read), again, rel_tol=0, abs_tol=0)
    return type(read) is type(again) and read == again
