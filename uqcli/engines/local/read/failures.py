"""Convert errors of the reading libraries to DataErrors with the file's name."""

from __future__ import annotations

import errno
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from uqcli.base.choices import FileFormat
from uqcli.base.errors import DataError, Words, words
from uqcli.engines.inputs import SIGNATURE_BYTES, InputFile, InputFrame, binary_content_of
from uqcli.stores.failures import store_failure

if TYPE_CHECKING:
    from uqcli.engines.inputs import Origin


@contextmanager
def reading(origin: Origin) -> Iterator[None]:
    """Convert errors of reading libraries to a DataError that names the input.

    The input is truncated, of another format or unreadable, or memory is short. Wrap only reading: an error
    in a rule's computation is not the file's fault.
    """
    import polars as pl
    import pyarrow as pa

    exceptions = pl.exceptions
    try:
        yield
    except (
        *(exceptions.PolarsError, exceptions.PanicException, pa.ArrowException),
        *(OSError, EOFError, UnicodeError, zlib.error),
    ) as error:
        if isinstance(error, BrokenPipeError):
            raise
        if isinstance(origin, InputFile) and origin.is_remote:
            failure = store_failure(origin.name, error)
            if failure is not None:
                raise failure from error
        reason = str(error).strip().split("\n", maxsplit=1)[0].rstrip(".") or type(error).__name__
        if "magic bytes not found" in reason:
            reason = "its end is missing, or it is not a Parquet file"
        description, expected = _description(origin)
        if _lacks_memory(error):
            raise DataError(
                f"not enough memory to read {description}: {reason}",
                expected="memory for a few thousand rows",
                remedy="check that the file is complete, or allow more memory (ulimit -v)",
            ) from error
        if any(phrase in reason for phrase in ("encrypted metadata", "FileDecryption", "decryption")):
            expected, remedy = "a file that is not encrypted", "decrypt it first"
        elif isinstance(error, pa.ArrowNotImplementedError):
            expected, remedy = "numbers of at most 64 bits, strings, booleans or times", "cast to these"
        elif other := _other_content(origin):
            expected, remedy = other
        else:
            remedy = _remedy(origin)
        raise DataError(f"cannot read {description}: {reason}", expected=expected, remedy=remedy) from error


@contextmanager
def copying(path: Path | None) -> Iterator[None]:
    """Report a full disk during the copy of a stream as such, not as an error of the stream."""
    try:
        yield
    except OSError as error:
        destination = "a temporary file" if path is None else f"'{path.parent}'"
        raise DataError(
            f"cannot copy the input to {destination}: {error.strerror}",
            expected="enough space for the whole input",
            remedy="set TMPDIR to a directory with enough space, or give a file instead of a stream",
        ) from error


@contextmanager
def writing(origin: Origin, output_format: FileFormat) -> Iterator[None]:
    """Convert errors of writing a format that lacks a column's type to a DataError that names the input."""
    import polars as pl
    import pyarrow as pa

    try:
        yield
    except (pl.exceptions.PolarsError, pa.ArrowException, pl.exceptions.PanicException) as error:
        reason = str(error).strip().split("\n", maxsplit=1)[0]
        raise DataError(
            f"cannot write rows of {origin.display_name} as {output_format}: {reason}",
            expected="column types that the format supports",
            remedy=words("choose another --output-format"),
        ) from error


def _lacks_memory(error: BaseException) -> bool:
    """Whether memory is short, which also shows as threads that cannot be started and files not mapped."""
    wanting = any(phrase in str(error) for phrase in ("launch worker thread", "Cannot allocate memory"))
    return isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM or wanting


def _description(origin: Origin) -> tuple[str, Words]:
    """Describe the input, and what was expected of it."""
    if isinstance(origin, InputFrame):
        return origin.display_name, "numbers, texts, truth values or times"
    return f"{origin.display_name} as {origin.format}", f"a complete {origin.format} file"


def _other_content(origin: Origin) -> tuple[Words, str] | None:
    """Return what was expected and a remedy if the content is of another format than its name says."""
    if isinstance(origin, InputFrame) or not origin.regular:
        return None
    head = b""
    with suppress(OSError, DataError), origin.content.opened() as stream:
        head = stream.read(SIGNATURE_BYTES)
    named = origin.compression or str(origin.format).capitalize()
    kind, remedy = binary_content_of(head) or (None, "name it after its content, such as .csv")
    if not head or kind == named or (kind is None and not origin.compression and not _is_text(head)):
        return None
    named_so = (
        "{} content, as its name says" if origin.compression else "{} content, as its name or --format says"
    )
    return words(named_so, named), remedy


def _is_text(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a text."""
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        text = "" if error.start < len(head) - 3 else head[: error.start].decode()
    return bool(text) and all(character.isprintable() or character in "\t\r\n\ufeff" for character in text)


def _remedy(origin: Origin) -> str:
    if isinstance(origin, InputFrame):
        return "cast its columns to types that Parquet supports"
    with suppress(OSError, DataError):  # it may be deleted by now
        if origin.regular and origin.content.size() == 0:
            return "the file is empty: check what wrote it"
    return "check that it was written completely"
