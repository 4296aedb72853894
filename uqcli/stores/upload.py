"""Atomic object output: readers never see part of an object.

The output is first a local file. S3 gets a complete small file in one request. Any other file is uploaded
under a hidden name in the target's folder. After a complete upload the store copies it to the target,
atomically for readers, and the hidden object is deleted. No multipart upload ever has the final name, since
pyarrow cannot abort one: it completes even a failed upload.

Writing needs space in the directory of temporary files. Above 4 MiB it also needs the right to read, copy and
delete in the folder. S3 copies at most 5 GiB, so larger files are refused. A killed run may leave
the hidden object (``.uqcli-*.tmp``, skipped when folders are read) or an unfinished upload. A life-cycle rule
of the bucket can remove them. After deleting, pyarrow leaves an empty S3 object in place of the folder.
Copies are only as atomic as the store makes them.
"""

from __future__ import annotations

import mimetypes
import secrets
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.base.running.concurrency import Threads
from uqcli.base.running.interruption import Temporary, changing, register_cleanup, replacing
from uqcli.stores import limits
from uqcli.stores.address import Address
from uqcli.stores.failures import is_denied, patiently, store_errors
from uqcli.stores.filesystem import filesystem_of

if TYPE_CHECKING:
    import pyarrow.fs as pf

_DELETE_SECONDS = 1.0
"""Seconds allowed for deletions after a signal."""

_hidden: dict[str, pf.FileSystem] = {}


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A complete local file to be uploaded."""

    temporary: Temporary
    address: Address
    target: str

    def move_into_place(self) -> None:
        """Upload it under its final name.

        Raises
        ------
        DataError
            The store refuses or cannot be reached; an old object stays unchanged.
        """
        try:
            _upload(Path(self.temporary.path), self.address, self.target)
        finally:
            self.remove()

    def remove(self) -> None:
        """Remove the local file."""
        self.temporary.remove()


def check_store(address: Address, target: str) -> None:
    """Refuse an unwritable target before any work is done, if the store reveals it.

    Raises
    ------
    DataError
        It names a folder, the bucket does not exist, or the store cannot be reached.
    """
    import pyarrow.fs as pf

    if address.is_folder:
        raise DataError(f"output '{target}' is a folder", expected="the name of an object")
    with suppress(_DeniedError), store_errors(target, "reach"):
        try:
            store = filesystem_of(address)
            info = patiently(lambda: store.get_file_info(address.bucket))
        except OSError as error:
            if is_denied(error):  # the right to write objects does not include seeing the bucket
                raise _DeniedError from error
            raise
        if info.type == pf.FileType.NotFound:
            raise DataError(
                f"cannot write '{target}': there is no bucket '{address.bucket}'", remedy="create it first"
            )


class _DeniedError(Exception):
    """The store denies access."""


def _upload(path: Path, address: Address, target: str) -> None:
    size = path.stat().st_size
    if address.scheme == "s3" and size > limits.MAX_COPIED_BYTES:
        raise DataError(
            f"cannot write '{target}': it has {size} bytes",
            expected=f"at most {limits.MAX_COPIED_BYTES}",
            remedy="write a local file and upload it, or apply the rule to parts of the rows",
        )
    store = filesystem_of(address)
    if address.scheme == "s3" and size <= limits.MAX_PUT_BYTES:
        # in a thread of its own, so that no signal interrupts between its two calls; this thread takes the
        # lock, since it may hold it already
        with changing, Threads(1) as executor:
            executor.submit(_put, path.read_bytes(), store, address, target).result()
    else:
        _send_and_copy(path, store, address, target)


def _put(content: bytes, store: pf.FileSystem, address: Address, target: str) -> None:
    """Write a small object in one request, which is atomic."""
    kind = _content_type(address.basename)

    def put() -> None:
        sink = store.open_output_stream(address.path, compression=None, metadata=kind)
        sink.write(content)
        sink.close()

    with store_errors(target, "write"), replacing(target):
        patiently(put)


def _send_and_copy(path: Path, store: pf.FileSystem, address: Address, target: str) -> None:
    size = path.stat().st_size
    hidden = address.beside(f".uqcli-{secrets.token_hex(8)}.tmp").path
    _register_hidden(hidden, store)
    try:
        with store_errors(target, "write"):
            patiently(lambda: _send(path, store, hidden, _content_type(address.basename)))
            arrived = patiently(lambda: store.get_file_info(hidden)).size
            if arrived != size:
                raise DataError(
                    f"cannot write '{target}': {arrived} of {size} bytes arrived", remedy="try again later"
                )
            with changing, replacing(target):
                patiently(lambda: store.copy_file(hidden, address.path))
    finally:
        _delete(hidden, store)


def _send(path: Path, store: pf.FileSystem, hidden: str, kind: dict[str, str] | None) -> None:
    with path.open("rb") as source, store.open_output_stream(hidden, compression=None, metadata=kind) as sink:
        while piece := source.read(limits.MAX_BYTES):
            sink.write(piece)


def _content_type(basename: str) -> dict[str, str] | None:
    kind, encoding = mimetypes.guess_type(basename)
    return {"Content-Type": kind} if kind is not None and encoding is None else None


def _register_hidden(hidden: str, store: pf.FileSystem) -> None:
    if not _hidden:
        register_cleanup(_delete_hidden)
    _hidden[hidden] = store


def _delete(hidden: str, store: pf.FileSystem) -> None:
    """Delete a hidden object, if it exists and the store permits it."""
    with suppress(OSError, ValueError):
        store.delete_file(hidden)
    _hidden.pop(hidden, None)


def _delete_hidden() -> None:
    """Delete all hidden objects, with a short timeout: the process is ending."""
    threads = [threading.Thread(target=_delete, args=item, daemon=True) for item in tuple(_hidden.items())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_DELETE_SECONDS)
