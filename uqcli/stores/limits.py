"""Timeouts, retries and request sizes for stores."""

from __future__ import annotations

from typing import Final

from uqcli.base.running.memory import kept_bytes

CONNECT_SECONDS: float = 10.0
"""Connection timeout."""

REQUEST_SECONDS: float = 30.0
"""Timeout without a byte of a response."""

ANSWER_SECONDS: float = 3600.0
"""Seconds that a web server may let us wait for its answer and the bytes of it, all together."""

MAX_REDIRECTIONS: int = 5
"""Addresses to which web servers may lead before the answer."""

ATTEMPTS: int = 3
"""Attempts of a request with a transient failure, including the first."""

MAX_PUT_BYTES: int = 4 << 20
"""Maximum bytes of a single S3 PUT; pyarrow would use a slightly larger limit."""

MAX_COPIED_BYTES: int = 5 << 30
"""Maximum bytes that S3 copies in one request, hence the maximum size of an output object."""

THROTTLED_SECONDS: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Waits before a request that the store has throttled is sent again."""

MAX_PARALLEL: Final = 16
"""Parallel requests to a store."""

SMALL_BYTES: int = 1 << 20
"""Bytes of an object up to which it is fetched whole, and once, since each request takes its time."""

STATE_ATTEMPTS: Final = 6
"""Times that a run counts on a state that other runs replace meanwhile, including the first."""

_SMALL_SHARE: Final = 4
"""One part in so many of the memory for rows holds small objects."""

FIRST_BYTES: Final = 1 << 18
"""Bytes of the first request for a text file: headers are short."""

MAX_BYTES: Final = 1 << 23
"""Bytes of later requests, and of an uploaded part."""

GROUP_BYTES: Final = 1 << 25
"""Bytes of Parquet columns per request; at least one row group."""


def small_bytes() -> int:
    """Return the memory that holds small objects."""
    return kept_bytes() // _SMALL_SHARE


def parallel_objects() -> int:
    """Return how many small objects are fetched at the same time."""
    return max(1, min(MAX_PARALLEL, kept_bytes() // SMALL_BYTES))
