"""Readable content: of a local file, an object in a store, or a web response."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from uqcli.base.records import dataclass

if TYPE_CHECKING:
    import pyarrow as pa


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

    def size(self) -> int | None:
        """Return the size in bytes; None if unknown."""

    def opened(self) -> AbstractContextManager[BinaryIO]:
        """Open it for sequential reading."""


class Seekable(Content, Protocol):
    """Content with random access."""

    def mapped(self) -> AbstractContextManager[pa.NativeFile]:
        """Open it for random access."""


@dataclass(frozen=True, kw_only=True)
class LocalFile:
    """A file, a FIFO or a device."""

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

    def size(self) -> int | None:
        """Return the size in bytes."""
        return self.path.stat().st_size if self.regular else None

    def opened(self) -> BinaryIO:
        """Open it for sequential reading."""
        return self.path.open("rb")

    def mapped(self) -> pa.NativeFile:
        """Memory-map it, so that only the accessed parts are read."""
        import pyarrow as pa

        return pa.memory_map(str(self.path), "r")
