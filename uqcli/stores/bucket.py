"""Read objects of a store, and list its folders: key prefixes up to a slash, several in parallel."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from fnmatch import translate
from glob import has_magic
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.base.running.concurrency import Threads
from uqcli.stores import limits
from uqcli.stores.address import Address
from uqcli.stores.failures import no_object, patiently, replaced, store_errors
from uqcli.stores.filesystem import filesystem_of
from uqcli.stores.view import Entry, current_view

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.fs as pf


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

    def identity(self) -> Hashable:
        """Return the address."""
        return self.name

    def size(self) -> int | None:
        """Return the size in bytes."""
        size = self._known_size()
        return self._asked_size() if size is None else size

    def is_small(self) -> bool:
        """Whether it is known to be fetched whole."""
        size = self._known_size()
        return size is not None and size <= limits.SMALL_BYTES

    def fetch(self) -> bytes | None:
        """Return the whole content of a small object, and keep it for those who read it next; else None."""
        view = current_view()
        if (known := view.contents.get(self.name)) is not None:
            return known
        with self._handle() as handle:
            version = self._same_version(handle)
            if version.size > limits.SMALL_BYTES:
                return None
            content = _Ranges(handle, self.name).readall()
        if not _is_digest(version, content):
            self._require(version)
        view.keep(self.name, content, limits.small_bytes())
        return content

    @contextmanager
    def mapped(self) -> Iterator[pa.NativeFile]:
        """Open it for random access: a small object in memory, while each read of a large one is a request.

        Raises
        ------
        DataError
            It cannot be opened, or was replaced before the block ended successfully.
        """
        import pyarrow as pa

        is_large = (self._known_size() or 0) > limits.SMALL_BYTES
        if not is_large and (content := self.fetch()) is not None:
            yield pa.BufferReader(content)
            return
        with self._handle() as handle:
            version = self._same_version(handle)
            yield handle
        self._require(version)

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Open it for sequential reading (see mapped)."""
        with self.mapped() as handle, io.BufferedReader(_Ranges(handle, self.name)) as stream:
            yield cast(BinaryIO, stream)

    def _same_version(self, handle: pa.NativeFile) -> _Version:
        """Return the version of an opened object, which must be the one that the run opened before."""
        version = _version(handle)
        if current_view().versions.setdefault(self.name, version) != version:
            raise replaced(self.name)
        return version

    def _require(self, version: _Version) -> None:
        """Require that nobody has replaced the object since it was opened."""
        with self._handle() as handle:
            if _version(handle) != version:
                raise replaced(self.name)

    def _known_size(self) -> int | None:
        version = current_view().versions.get(self.name)
        return version.size if isinstance(version, _Version) else None

    def _asked_size(self) -> int:
        with self._handle() as handle:
            return int(handle.size())

    @contextmanager
    def _handle(self) -> Iterator[pa.NativeFile]:
        with store_errors(self.name):
            store = filesystem_of(self.address)
            handle = patiently(lambda: store.open_input_file(self.address.path))
        with handle:
            yield handle


@dataclass(frozen=True, kw_only=True)
class _Version:
    """Version of an object: its size, and digest and time if the store gives them."""

    size: int
    metadata: tuple[tuple[str, bytes], ...]


def _version(handle: pa.NativeFile) -> _Version:
    return _Version(size=handle.size(), metadata=tuple(sorted((handle.metadata() or {}).items())))


def _is_digest(version: _Version, content: bytes) -> bool:
    """Whether the ETag is the MD5 of what arrived, which shows that it is whole and of this version.

    So it is for objects of S3 that were written in one request and without a key of the bucket's own.
    """
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    return dict(version.metadata).get("ETag", b"").strip(b'"') == digest.encode()


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
            piece = memoryview(patiently(lambda: self._handle.read_at(size, self._next)))
        self._next += size
        self._request_bytes = min(4 * self._request_bytes, limits.MAX_BYTES)
        if len(piece) < size:
            raise DataError(
                f"'{self._name}' ends after {self._next - size + len(piece)} bytes",
                expected=f"{self._size} bytes",
                remedy="check that nobody is writing to it",
            )
        return piece


_EVERY_FOLDER: Final = "**"


class StoreTree:
    """The object store of an address; names of entries are full addresses."""

    def __init__(self, name: str) -> None:
        self._store = filesystem_of(Address.parse(name))
        self._files: set[str] = set()

    def entry(self, name: str) -> Entry | None:
        """Find the entry at an address."""
        entries = current_view().entries
        if name not in entries:
            address = Address.parse(name)
            with store_errors(name):
                info = patiently(lambda: self._store.get_file_info(address.path))
            entry = _entry(address, info)
            is_found = _is_there(entry) and (entry.is_folder or not address.is_folder)
            entries[name] = entry if is_found else None
        return entries[name]

    def identity(self, folder: Entry) -> Hashable:
        """Return the address: a store has no links."""
        return folder.name

    def inside(self, folder: Entry) -> tuple[Entry, ...]:
        """List a folder, sorted by name."""
        import pyarrow.fs as pf

        listings = current_view().listings
        if folder.name not in listings:
            address = Address.parse(folder.name)
            selector = pf.FileSelector(address.path, allow_not_found=True)
            with store_errors(folder.name):
                infos = patiently(lambda: self._store.get_file_info(selector))
            entries = (_entry(address.with_path(info.path), info) for info in infos)
            listings[folder.name] = tuple(sorted(entries, key=lambda entry: entry.basename))
        self._files.update(entry.name for entry in listings[folder.name] if entry.is_file)
        return listings[folder.name]

    def above(self, entry: Entry) -> Entry | None:
        """Return the folder of an entry; None above the bucket."""
        address = Address.parse(entry.name)
        return _folder(address.with_path("/".join(address.folders))) if address.folders else None

    def prefetch(self, folders: Iterable[Entry]) -> None:
        """List folders in parallel, since each listing waits for the store."""
        folder_list = list(folders)
        if len(folder_list) > 1:
            with Threads(limits.MAX_PARALLEL) as pool:
                list(pool.map(self.inside, folder_list))

    def matches(self, pattern: str) -> list[Entry]:
        """Expand a pattern, sorted by name; each part is matched with one folder's listing."""
        address = Address.parse(pattern)
        bucket, *parts = address.path.split("/")
        entries = [_folder(address.with_path(bucket))]
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            entries = self._matching(entries, part, last=last)
            if address.is_folder or not last:
                entries = [entry for entry in entries if entry.is_folder]
        if not entries:
            self._require_bucket(pattern)
        return sorted({entry.name: entry for entry in entries}.values(), key=lambda entry: entry.name)

    def content(self, name: str) -> StoredObject:
        """Find the object at an address."""
        address = Address.parse(name)
        listed = name in self._files
        entry = None if listed else self.entry(name)
        if listed or (entry is not None and entry.is_file):
            return StoredObject(address=address)
        self._require_bucket(name)
        raise no_object(name)

    def _require_bucket(self, name: str) -> None:
        address = Address.parse(name)
        if self.entry(f"{address.scheme}://{address.bucket}") is None:
            raise DataError(
                f"cannot read '{name}': there is no bucket '{address.bucket}'", remedy="check its name"
            )

    def _matching(self, folders: list[Entry], part: str, *, last: bool) -> list[Entry]:
        """Expand one part of a pattern in several folders."""
        if part == _EVERY_FOLDER:
            return self._below(folders, files=last)
        if has_magic(part):
            fits = re.compile(translate(part)).match
            return [
                entry
                for entry in self._in_all(folders)
                if fits(entry.basename) and _matches_hidden(entry, part)
            ]
        addresses = [Address.parse(f"{folder.name}/{part}") for folder in folders]
        if not last:
            return [_folder(address) for address in addresses]  # listing them later shows whether they exist
        with Threads(limits.MAX_PARALLEL) as pool:
            return [entry for entry in pool.map(self.entry, map(str, addresses)) if entry is not None]

    def _below(self, folders: list[Entry], *, files: bool) -> list[Entry]:
        """Return the folders, all folders below them, and their files if requested."""
        entries, level = list(folders), folders
        while level:
            inside = [entry for entry in self._in_all(level) if _matches_hidden(entry, _EVERY_FOLDER)]
            level = [entry for entry in inside if entry.is_folder]
            entries += inside if files else level
        return entries

    def _in_all(self, folders: list[Entry]) -> list[Entry]:
        self.prefetch(folders)
        return [entry for folder in folders for entry in self.inside(folder)]


def _is_there(entry: Entry) -> bool:
    return entry.is_file or entry.is_folder


def _matches_hidden(entry: Entry, part: str) -> bool:
    """Whether a pattern matches hidden names: as in a shell, only a leading dot matches a dot."""
    return not entry.basename.startswith(".") or part.startswith(".")


def _entry(address: Address, info: pf.FileInfo) -> Entry:
    import pyarrow.fs as pf

    return Entry(
        name=str(address),
        basename=address.basename,
        is_folder=info.type == pf.FileType.Directory,
        is_file=info.type == pf.FileType.File,
    )


def _folder(address: Address) -> Entry:
    return Entry(name=str(address), basename=address.basename, is_folder=True, is_file=False)
