"""Inputs that can be read only once: standard input, FIFOs, files of web servers."""

from __future__ import annotations

import gzip
import math
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final, cast

from uqcli.choices import FileFormat
from uqcli.engines.inputs import InputFile
from uqcli.engines.local.read.failures import reading
from uqcli.files import stdin_bytes
from uqcli.running.interruption import temporary_path
from uqcli.stores.content import Content

_PARQUET_START: Final = b"PAR1"
_HEAD: Final = 1 << 20


class _Copies:
    """Streams on disk, each made when it is first asked for."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._paths: dict[Content | None, Path] = {}

    def of(self, file: InputFile) -> Path:
        """The copy of a stream."""
        if file.content not in self._paths:
            with bytes_of(file) as stream:
                self._paths[file.content] = copied(stream, self._stack)
        return self._paths[file.content]


_copies: ContextVar[_Copies | None] = ContextVar("copies", default=None)


@contextmanager
def streams_kept() -> Iterator[None]:
    """Let every stream be read as often as it is asked for: from a copy that goes when the block ends."""
    with ExitStack() as stack:
        token = _copies.set(_Copies(stack))
        try:
            yield
        finally:
            _copies.reset(token)


def open_stream(file: InputFile, stack: ExitStack) -> tuple[InputFile, BinaryIO]:
    """Open an input that can be read only once; what it begins with tells Parquet where nothing else does.

    Parameters
    ----------
    stack
        Closes it.

    Returns
    -------
    The input, with the format it turned out to have, and its bytes.
    """
    with reading(file):
        copies = _copies.get()
        opened = bytes_of(file) if copies is None else copies.of(file).open("rb")
        stream = stack.enter_context(opened)
        if file.told:
            return file, stream
        start = _start_of(stream)
        found = FileFormat.PARQUET if start == _PARQUET_START else file.format
        return replace(file, format=found), cast(BinaryIO, _Rejoined(start, stream))


def _start_of(stream: BinaryIO) -> bytes:
    """The first bytes, however few a pipe gives at a time."""
    start = b""
    while len(start) < len(_PARQUET_START) and (more := stream.read(len(_PARQUET_START) - len(start))):
        start += more
    return start


class _Rejoined:
    """A stream with the bytes that were taken off its start."""

    def __init__(self, start: bytes, stream: BinaryIO) -> None:
        self._start = start
        self._stream = stream

    def read(self, size: int) -> bytes:
        """Some bytes; none at the end."""
        if not self._start:
            return self._stream.read(size)
        given, self._start = self._start[:size], self._start[size:]
        return given


def copied(stream: BinaryIO, stack: ExitStack) -> Path:
    """A stream's content in a temporary file."""
    path = stack.enter_context(temporary_path(None, "uqcli-input"))
    with path.open("wb") as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)
    return path


def size_of(file: InputFile) -> float:
    """Bytes of its text; infinite where only reading it tells."""
    size = None if file.content is None or file.compression is not None else file.content.size()
    return math.inf if size is None else max(1, size)


def lines_expected(file: InputFile) -> int | None:
    """About how many lines a text has, by its first ones; None where its size does not tell."""
    size = size_of(file)
    if math.isinf(size):
        return None
    with reading(file), bytes_of(file) as stream:
        head = stream.read(_HEAD)
    return int(size * (head.count(b"\n") + 1) / max(len(head), 1))


@contextmanager
def bytes_of(file: InputFile) -> Iterator[BinaryIO]:
    """The input's bytes, decompressed."""
    if file.content is None:
        yield stdin_bytes()
        return
    with file.content.opened() as stream:
        if file.compression == "gzip":
            with gzip.GzipFile(fileobj=stream, mode="rb") as unpacked:
                yield cast(BinaryIO, unpacked)
        elif file.compression == "zstd":
            import pyarrow as pa

            with pa.CompressedInputStream(stream, "zstd") as inflated:
                yield cast(BinaryIO, inflated)
        else:
            yield stream
