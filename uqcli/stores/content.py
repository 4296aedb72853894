"""Bytes at a place: of a file of this machine, of an object in a store, of an answer from the web."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class Content(Protocol):
    """What can be read at a place."""

    @property
    def name(self) -> str:
        """As messages call it."""

    @property
    def base(self) -> str:
        """The last part of its name, which tells the format."""

    @property
    def folders(self) -> Sequence[str]:
        """The parts of its name before the last."""

    @property
    def regular(self) -> bool:
        """Whether it can be opened more than once."""

    def size(self) -> int | None:
        """In bytes; None where nobody knows."""

    def opened(self) -> AbstractContextManager[BinaryIO]:
        """Open it to be read from its beginning to its end."""


class Seekable(Content, Protocol):
    """What can be read at any place."""

    def mapped(self) -> AbstractContextManager[pa.NativeFile]:
        """Open it to be read here and there."""


@dataclass(frozen=True, kw_only=True)
class LocalFile:
    """A file, a FIFO or a device.

    Attributes
    ----------
    regular
        Whether it can be opened more than once.
    """

    path: Path
    regular: bool

    @classmethod
    def at(cls, path: Path) -> LocalFile:
        """What is there now; an OSError where nothing is."""
        return cls(path=path, regular=stat.S_ISREG(path.stat().st_mode))

    @property
    def name(self) -> str:
        """As messages call it."""
        return str(self.path)

    @property
    def base(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def folders(self) -> tuple[str, ...]:
        """The directories of the path."""
        return self.path.parts[:-1]

    def size(self) -> int | None:
        """In bytes."""
        return self.path.stat().st_size if self.regular else None

    def opened(self) -> BinaryIO:
        """Open it to be read from its beginning to its end."""
        return self.path.open("rb")

    def mapped(self) -> pa.NativeFile:
        """Open it as memory, of which only what is looked at is read."""
        import pyarrow as pa

        return pa.memory_map(str(self.path), "r")
