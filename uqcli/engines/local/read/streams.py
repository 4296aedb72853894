"""Bytes of inputs, also of those that can be read only once: standard input, FIFOs, web files."""

from __future__ import annotations

import gzip
import hashlib
import math
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final, cast

from uqcli.base.choices import FileFormat
from uqcli.base.errors import DataError
from uqcli.base.operating_system import has_bytes
from uqcli.base.running.concurrency import is_abandoned
from uqcli.base.running.interruption import Temporary
from uqcli.engines.inputs import InputFile, InputFrame, Origin
from uqcli.engines.local.read.failures import copying, reading
from uqcli.stores.content import Content, UnboundedStream

_PARQUET_START: Final = b"PAR1"
_PIECE_BYTES: Final = 1 << 20
_SILENCE_SECONDS: Final = 0.2
"""Seconds of silence after which the bytes received so far are processed."""
_POLL_SECONDS: Final = 0.1
"""Seconds between checks whether the consumer of a silent stream has closed."""


class _Arriving:
    """A pipe or a terminal: reads block for the first bytes, but only briefly for more.

    Bad rows are thus reported while the producer is still working on the next ones.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._ended = False

    def read(self, size: int) -> bytes:
        """Read at most ``size`` bytes; none at the end."""
        pieces: list[bytes] = []
        left = size
        while left and not self._ended and self._has_more(_SILENCE_SECONDS if pieces else math.inf):
            piece = os.read(self._descriptor, left)
            self._ended = not piece
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)

    def _has_more(self, timeout: float) -> bool:
        waited = 0.0
        while not is_abandoned():
            if has_bytes(self._descriptor, _POLL_SECONDS):
                return True
            waited += _POLL_SECONDS
            if waited >= timeout:
                return False
        return False


def _arriving(stream: BinaryIO) -> BinaryIO:
    """Deliver bytes as they arrive, if the stream has a file descriptor."""
    try:
        return cast(BinaryIO, _Arriving(stream.fileno()))
    except (AttributeError, OSError):
        return stream


class _Spool:
    """A stream with a copy on disk of what was read."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self.path = path
        self._stream = stream
        self._lock = threading.Lock()

    def read_at(self, copy: BinaryIO, size: int) -> bytes:
        """Read on from the copy's position; at its end, extend the copy from the stream."""
        with self._lock:
            if old := copy.read(size):
                return old
            new = self._stream.read(size)
            with copying(self.path):
                copy.write(new)
                copy.flush()
            return new


class _SpoolReader:
    """A reader of a spooled stream from its beginning."""

    def __init__(self, spool: _Spool, copy: BinaryIO) -> None:
        self._spool = spool
        self._copy = copy

    def read(self, size: int) -> bytes:
        """Read at most ``size`` bytes; none at the end."""
        return self._spool.read_at(self._copy, size)


class _Copies:
    """Spools of streams that may be read more than once."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._spools: dict[Content | None, _Spool] = {}

    def open(self, file: InputFile, stack: ExitStack) -> BinaryIO:
        """Open a reader from the beginning of a stream."""
        if file.content not in self._spools:
            stream = self._stack.enter_context(bytes_of(file))
            path = _room_for_a_copy(self._stack)
            self._spools[file.content] = _Spool(stream, path)
        spool = self._spools[file.content]
        copy = stack.enter_context(spool.path.open("rb+"))
        return cast(BinaryIO, _SpoolReader(spool, copy))


_copies: ContextVar[_Copies | None] = ContextVar("copies", default=None)


@contextmanager
def reusable_streams() -> Iterator[None]:
    """Allow repeated reads of streams, from copies that are deleted when the outermost block ends."""
    if are_streams_reusable():  # the stream itself may have been read by now
        yield
        return
    with ExitStack() as stack:
        token = _copies.set(_Copies(stack))
        try:
            yield
        finally:
            _copies.reset(token)


def are_streams_reusable() -> bool:
    """Whether streams may be read repeatedly (see reusable_streams)."""
    return _copies.get() is not None


def open_stream(file: InputFile, stack: ExitStack) -> tuple[InputFile, BinaryIO]:
    """Open an input that can be read once, with its format, since its first bytes may reveal Parquet."""
    with reading(file):
        copies = _copies.get()
        stream = stack.enter_context(bytes_of(file)) if copies is None else copies.open(file, stack)
        if file.stated:
            return file, stream
        start = filled(stream, len(_PARQUET_START))
        file_format = FileFormat.PARQUET if start == _PARQUET_START else file.format
        return replace(file, format=file_format), cast(BinaryIO, _Rejoined(start, stream))


def filled(stream: BinaryIO, size: int) -> bytes:
    """Read exactly ``size`` bytes, fewer only at the end."""
    text = b""
    while len(text) < size and (more := stream.read(size - len(text))):
        text += more
    return text


class _Rejoined:
    """A stream with its first bytes put back."""

    def __init__(self, start: bytes, stream: BinaryIO) -> None:
        self._start = start
        self._stream = stream

    def read(self, size: int) -> bytes:
        """Read some bytes; none at the end."""
        if not self._start:
            return self._stream.read(size)
        piece, self._start = self._start[:size], self._start[size:]
        return piece


def _room_for_a_copy(stack: ExitStack) -> Path:
    with copying(None):
        temporary = Temporary(Path(tempfile.gettempdir()), "uqcli-input")
    stack.callback(temporary.remove)
    return Path(temporary.path)


def copied(stream: BinaryIO, stack: ExitStack) -> Path:
    """Copy a stream to a temporary file."""
    path = _room_for_a_copy(stack)
    with path.open("wb") as copy:
        while piece := stream.read(_PIECE_BYTES):
            with copying(path):
                copy.write(piece)
        with copying(path):
            copy.flush()
    return path


def size_of(file: InputFile) -> float:
    """Return the size of the text in bytes; infinite if unknown before reading."""
    size = None if file.compression else file.content.size()
    return math.inf if size is None else max(1, size)


def lines_expected(file: InputFile) -> int | None:
    """Estimate the number of lines from the first ones; None if the size is unknown."""
    size = size_of(file)
    if math.isinf(size):
        return None
    with reading(file), bytes_of(file) as stream:
        head = stream.read(_PIECE_BYTES)
    line_ends = max(head.count(b"\n"), head.count(b"\r"))  # a text file may end its lines in either
    return int(size * (line_ends + 1) / max(len(head), 1))


@contextmanager
def bytes_of(file: InputFile) -> Iterator[BinaryIO]:
    """Open the decompressed bytes of an input."""
    with file.content.opened() as stream:
        if file.compression == "gzip":
            with gzip.GzipFile(fileobj=stream, mode="rb") as unpacked:
                yield cast(BinaryIO, unpacked)
        elif file.compression == "zstd":
            import pyarrow as pa

            with pa.CompressedInputStream(stream, "zstd") as inflated:
                yield cast(BinaryIO, inflated)
        else:
            _require_end(file, stream)
            yield stream if file.regular else _arriving(stream)


def _require_end(file: InputFile, stream: BinaryIO) -> None:
    """Refuse text from a server that does not say where it ends: other formats show it themselves."""
    if isinstance(stream, UnboundedStream) and file.format.is_text:
        if not file.stated and stream.peek(len(_PARQUET_START)).startswith(_PARQUET_START):
            return
        raise DataError(
            f"cannot read {file.display_name}: the server does not say how long it is",
            expected="a length or chunks, without which rows that are cut off are not missed",
            remedy="download it, or let the server send it as .gz or Parquet",
        )


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
            while piece := stream.read(_PIECE_BYTES):
                hasher.update(piece)
    return hasher.hexdigest()
