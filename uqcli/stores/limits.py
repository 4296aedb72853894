"""How long and how often a store is asked, and how much at a time."""

from __future__ import annotations

from typing import Final

CONNECT_SECONDS: float = 10.0
"""Until a connection stands."""

REQUEST_SECONDS: float = 30.0
"""Without a byte of an answer."""

ATTEMPTS: int = 3
"""How often a request that failed by chance is made, the first included."""

MOST_PUT: int = 4 << 20
"""Bytes that S3 is given in one request; pyarrow would do so with some more."""

MOST_COPIED: int = 5 << 30
"""Bytes that S3 copies in one request, and thus of an object that is written."""

AT_ONCE: Final = 8
"""Requests that wait side by side for a store's answers."""

FIRST_BYTES: Final = 1 << 18
"""Bytes of the first request for a text: headers are short."""

MOST_BYTES: Final = 1 << 23
"""Bytes of the later ones, and of a part of what is written."""

GROUP_BYTES: Final = 1 << 25
"""Bytes of Parquet columns that are asked for at once: at least a row group."""
