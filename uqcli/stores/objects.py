"""Read objects of a store."""

from __future__ import annotations

import io
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.stores import limits
from uqcli.stores.address import Address
from uqcli.stores.failures import replaced, store_errors
from uqcli.stores.filesystem import filesystem_of
from uqcli.stores.view import current_view

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class StoredObject:
    """An object; it can be read repeatedly as long as nobody replaces it."""

    address: Address
    regular: bool = True

    @property
    def name(self) -> str:
        """Name for messages."""
        return str(self.address)

    @property
    def basename(self) -> str:
        """Last part of the key."""
        return self.address.basename

    @property
    def folders(self) -> tuple[str, ...]:
        """Bucket and parts of the key before the last."""
        return self.address.folders

    def size(self) -> int | None:
        """Return the current size in bytes."""
        with self._handle() as handle:
            return int(handle.size())

    @contextmanager
    def mapped(self) -> Iterator[pa.NativeFile]:
        """Open it for random access; each read is a request.

        Raises
        ------
        DataError
            It cannot be opened, or was replaced before the block ended successfully.
        """
        with self._handle() as handle:
            version = _version(handle)
            if current_view().versions.setdefault(self.name, version) != version:
                raise replaced(self.name)
            yield handle
        with self._handle() as stream:
            if _version(stream) != version:
                raise replaced(self.name)

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Open it for sequential reading (see mapped)."""
        with self.mapped() as handle, io.BufferedReader(_Ranges(handle, self.name)) as stream:
            yield cast(BinaryIO, stream)

    @contextmanager
    def _handle(self) -> Iterator[pa.NativeFile]:
        with store_errors(self.name):
            handle = filesystem_of(self.address).open_input_file(self.address.path)
        with handle:
            yield handle


def _version(handle: pa.NativeFile) -> Hashable:
    """Return the version of an object: size, digest, time, if the store gives them."""
    return handle.size(), tuple(sorted((handle.metadata() or {}).items()))


class _Ranges(io.RawIOBase):
    """Sequential stream of an object, fetched in few pieces of growing size."""

    def __init__(self, handle: pa.NativeFile, name: str) -> None:
        self._handle = handle
        self._name = name
        self._size = handle.size()
        self._next = 0
        self._request_bytes = limits.FIRST_BYTES
        self._piece = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read some bytes; none at the end."""
        if not self._piece and self._next < self._size:
            self._piece = self._request()
        piece, self._piece = self._piece[: len(buffer)], self._piece[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)

    def _request(self) -> memoryview:
        size = min(self._request_bytes, self._size - self._next)
        with store_errors(self._name):
            piece = memoryview(self._handle.read_at(size, self._next))
        self._next += size
        self._request_bytes = min(4 * self._request_bytes, limits.MAX_BYTES)
        if len(piece) < size:
            raise DataError(
                f"'{self._name}' ends after {self._next - size + len(piece)} bytes",
                expected=f"{self._size} bytes",
                remedy="check that nobody is writing to it",
            )
        return piece
