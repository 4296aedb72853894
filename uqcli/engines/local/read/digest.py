"""Digest of the inputs' content, independent of how it is read."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack

from uqcli.engines.inputs import InputFrame, Origin
from uqcli.engines.local.read.failures import reading
from uqcli.engines.local.read.streams import bytes_of, open_stream

_CHUNK_BYTES = 1 << 20


def digest_of(origins: tuple[Origin, ...]) -> str:
    """Compute the SHA-256 of the inputs' bytes in order, as hexadecimal digits.

    Compressed text counts decompressed, so that a pipe and a file of the same rows are equal. Streams must be
    kept (see ``reusable_streams``). A data frame counts as its Arrow stream.
    """
    hasher = hashlib.sha256()
    for origin in origins:
        if isinstance(origin, InputFrame):
            hasher.update(origin.frame.write_ipc_stream(None).getbuffer())
            continue
        with ExitStack() as stack, reading(origin):
            stream = (
                stack.enter_context(bytes_of(origin)) if origin.regular else open_stream(origin, stack)[1]
            )
            while piece := stream.read(_CHUNK_BYTES):
                hasher.update(piece)
    return hasher.hexdigest()
