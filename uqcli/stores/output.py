"""Write and read whole files or objects by name or address."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from uqcli.base import files
from uqcli.base.errors import DataError
from uqcli.base.files import AT_ONCE, AtOnce, InMemory, filled, writing_errors
from uqcli.base.running.interruption import Temporary
from uqcli.stores.address import KNOWN_LOCATIONS, Address, is_address, is_foreign, is_web


def check_writable(target: str) -> None:
    """Refuse an unwritable target before any work is done (see uqcli.base.files).

    Raises
    ------
    DataError
        The target is not writable, if this is known before the run.
    """
    if isinstance(target, InMemory):
        return
    if is_foreign(target) and (target.endswith("/") or not Path(target).parent.is_dir()):
        raise DataError(f"cannot write '{target}': no such place", expected=KNOWN_LOCATIONS)
    if not is_address(target):
        files.check_writable(target)
        return
    address = _writable(target)
    from uqcli.stores.upload import check_store

    check_store(address, target)


def _writable(target: str) -> Address:
    if is_web(target):
        raise DataError(
            f"cannot write '{target}': uqcli only reads from web servers",
            expected="a file, s3://, gs:// or az://",
        )
    return Address.parse(target)


@contextmanager
def open_output(target: str, queue: AtOnce = AT_ONCE) -> Iterator[BinaryIO]:
    """Open a path, ``-`` or an address for writing bytes (see uqcli.base.files).

    A file or an object appears only if the block succeeds; with a queue, at its ``commit``.

    Raises
    ------
    DataError
        The target cannot be written.
    """
    if isinstance(target, InMemory):
        yield target.content
        return
    if not is_address(target):
        with files.open_output(target, queue) as stream:
            yield stream
        return
    address = _writable(target)
    from uqcli.stores.conditional import is_held, open_held
    from uqcli.stores.upload import Upload

    if is_held(target):
        with open_held(queue) as memory:
            yield memory
        return
    directory = Path(tempfile.gettempdir())
    with writing_errors(target, f"in '{directory}'", is_report=queue.has_reports):
        temporary = Temporary(directory, f"uqcli-{address.basename}")
        with filled(temporary) as stream:
            yield stream
    queue.add(Upload(temporary=temporary, address=address, target=target))


def can_queue(target: str) -> bool:
    """Whether the output can be held back until ``commit``: a file or an object, no stream or device."""
    return is_address(target) or (not isinstance(target, InMemory) and files.can_queue(target))


def write_bytes(target: str, content: bytes) -> None:
    """Write a whole file or object at once (see open_output)."""
    with open_output(target) as stream:
        stream.write(content)


def read_bytes(name: str, at_most: int = -1) -> bytes:
    """Read a file or object, whole or at most so many bytes of it.

    Raises
    ------
    OSError
        The file cannot be read.
    DataError
        The address cannot be read.
    """
    if isinstance(name, InMemory):
        content: bytes = name.content
        return content if at_most < 0 else content[:at_most]
    if not is_address(name):
        with Path(name).open("rb") as file:
            return file.read(at_most)
    from uqcli.stores.trees import tree_of

    with tree_of(name).content(name).opened() as stream:
        return stream.read(at_most)
