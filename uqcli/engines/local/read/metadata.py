"""Notes that a columnar file carries beside its rows, as far as they are text.

Formats allow any bytes in them; polars ends in a panic over those that are no UTF-8. They mean nothing to us,
so they are left out, and the rows are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def with_text_only(schema: pa.Schema) -> pa.Schema:
    """The schema without notes of the file or of a column that are no text; itself where all are."""
    import pyarrow as pa

    if _is_text(schema.metadata) and all(_is_text(field.metadata) for field in schema):
        return schema
    fields = [field if _is_text(field.metadata) else field.remove_metadata() for field in schema]
    return pa.schema(fields, metadata=schema.metadata if _is_text(schema.metadata) else None)


def _is_text(notes: Mapping[bytes, bytes] | None) -> bool:
    try:
        for each in (notes or {}).items():
            b"".join(each).decode()
    except UnicodeDecodeError:
        return False
    return True
