"""Drop metadata of columnar files that is not valid text.

Formats allow any bytes in metadata, but polars panics on invalid UTF-8. We do not use it, so it is dropped
and the rows are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def with_text_only(schema: pa.Schema) -> pa.Schema:
    """Return the schema without metadata that is not text; the same object if all is text."""
    import pyarrow as pa

    if _is_text(schema.metadata) and all(_is_text(field.metadata) for field in schema):
        return schema
    fields = [field if _is_text(field.metadata) else field.remove_metadata() for field in schema]
    return pa.schema(fields, metadata=schema.metadata if _is_text(schema.metadata) else None)


def _is_text(metadata: Mapping[bytes, bytes] | None) -> bool:
    try:
        for entry in (metadata or {}).items():
            b"".join(entry).decode()
    except UnicodeDecodeError:
        return False
    return True
