"""Timeouts, retries and request sizes for stores."""

from __future__ import annotations

from typing import Final

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

MAX_PARALLEL: Final = 8
"""Parallel requests to a store."""

FIRST_BYTES: Final = 1 << 18
"""Bytes of the first request for a text file: headers are short."""

MAX_BYTES: Final = 1 << 23
"""Bytes of later requests, and of an uploaded part."""

GROUP_BYTES: Final = 1 << 25
"""Bytes of Parquet columns per request; at least one row group."""
