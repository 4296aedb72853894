"""Readable content: of a local file, an object in a store, or a web response."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Protocol

from uqcli.base.files import stdin_bytes
from uqcli.base.records import dataclass
from uqcli.stores.failures import changed
from uqcli.stores.view import current_view

if TYPE_CHECKING:
    import pyarrow as pa


class UnboundedStream(io.BufferedReader):
    """A stream that may be cut without notice: nothing but its content can show where it ends."""


class Content(Protocol):
    """Content that can be read."""

    @property
    def name(self) -> str:
        """Name for messages."""

    @property
    def basename(self) -> str:
        """Last part of the name, which implies the format."""

    @property
    def folders(self) -> Sequence[str]:
        """Parts of the name before the last."""

    @property
    def regular(self) -> bool:
        """Whether it can be opened more than once."""

    def identity(self) -> Hashable | None:
        """Return what is the same for all its names; None if they may be of different content."""

    def size(self) -> int | None:
        """Return the size in bytes; None if unknown."""

    def opened(self) -> AbstractContextManager[BinaryIO]:
        """Open it for sequential reading."""


class Seekable(Content, Protocol):
    """Content with random access."""

    def mapped(self) -> AbstractContextManager[pa.NativeFile]:
        """Open it for random access."""


@dataclass(frozen=True, kw_only=True)
class StandardInput:
    """Standard input, of which nothing is known before it is read."""

    name: str
    regular: ClassVar[bool] = False
    folders: ClassVar[tuple[str, ...]] = ()

    @property
    def basename(self) -> str:
        """Name for messages, which implies no format."""
        return self.name

    def identity(self) -> None:
        """Return None: it has no name."""

    def size(self) -> None:
        """Return None: it may go on for ever."""

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Yield its bytes."""
        yield stdin_bytes()


@dataclass(frozen=True, kw_only=True)
class LocalFile:
    """A file, a FIFO or a device.

    A regular file has the same inode, size and time whenever the run opens it, and when it has read it.
    """

    path: Path
    regular: bool

    @classmethod
    def from_path(cls, path: Path) -> LocalFile:
        """Wrap an existing file; raise OSError if there is none."""
        return cls(path=path, regular=stat.S_ISREG(path.stat().st_mode))

    @property
    def name(self) -> str:
        """Name for messages."""
        return str(self.path)

    @property
    def basename(self) -> str:
        """File name."""
        return self.path.name

    @property
    def folders(self) -> tuple[str, ...]:
        """Directories of the path."""
        return self.path.parts[:-1]

    def identity(self) -> Hashable | None:
        """Return the device and inode of a file; None for FIFOs and devices."""
        return inode_of(self.path) if self.regular else None

    def size(self) -> int | None:
        """Return the size in bytes."""
        return self.path.stat().st_size if self.regular else None

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Open it for sequential reading.

        Raises
        ------
        OSError
            It cannot be opened.
        DataError
            It is not the file that the run has read before, or changes before the block ends.
        """
        with self.path.open("rb") as stream:
            if not self.regular:
                yield stream
                return
            own = os.dup(stream.fileno())  # a reader may close the file
            try:
                with _unchanged(self.name, own):
                    yield stream
            finally:
                os.close(own)

    @contextmanager
    def held(self) -> Iterator[Path]:
        """Hold it open for a reader that opens its path by itself, and must open the same file."""
        with self.path.open("rb") as stream, _unchanged(self.name, stream.fileno()):
            yield self.path
            if _version(self.path.stat()) != _version(os.fstat(stream.fileno())):
                raise changed(self.name)

    @contextmanager
    def mapped(self) -> Iterator[pa.NativeFile]:
        """Memory-map it, so that only the accessed parts are read."""
        import pyarrow as pa

        with self.held(), pa.memory_map(str(self.path), "r") as mapped:
            yield mapped


@contextmanager
def _unchanged(name: str, descriptor: int) -> Iterator[None]:
    """Require an open file to be the one that the run opened before, and not to change in the block."""
    version = _version(os.fstat(descriptor))
    if current_view().versions.setdefault(name, version) != version:
        raise changed(name)
    try:
        yield
    except Exception as error:
        if _version(os.fstat(descriptor)) != version:  # which may be the cause
            raise changed(name) from error
        raise
    if _version(os.fstat(descriptor)) != version:
        raise changed(name)


def inode_of(path: Path) -> Hashable:
    """Return the device and inode to which a path leads."""
    status = path.stat()
    return status.st_dev, status.st_ino


def _version(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
