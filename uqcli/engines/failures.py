"""Turning the errors of the reading libraries into our own, with the file's name."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from uqcli.choices import FileFormat
from uqcli.errors import DataError

if TYPE_CHECKING:
    from uqcli.engines.inputs import InputFile


@contextmanager
def reading(file: InputFile) -> Iterator[None]:
    """Raise what goes wrong inside as a DataError that names the file.

    Raises
    ------
    DataError
        The file is truncated, of another format, or cannot be read.
    """
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError, EOFError, ValueError, zlib.error) as error:
        if isinstance(error, BrokenPipeError):
            raise
        reason = str(error).strip().split("\n", maxsplit=1)[0] or type(error).__name__
        raise DataError(
            f"cannot read '{file.name}' as {file.format}: {reason}",
            expected=f"a complete {file.format} file",
            remedy=_remedy(file),
        ) from error


@contextmanager
def writing(file: InputFile, output_format: FileFormat) -> Iterator[None]:
    """Raise what a format cannot hold as a DataError that names the rows' file.

    Raises
    ------
    DataError
        A column's type has no place in the output format.
    """
    import polars as pl
    import pyarrow as pa

    try:
        yield
    except (pl.exceptions.PolarsError, pa.ArrowException, pl.exceptions.PanicException) as error:
        reason = str(error).strip().split("\n", maxsplit=1)[0]
        raise DataError(
            f"rows of '{file.name}' cannot be written as {output_format}: {reason}",
            expected="column types that the format has",
            remedy="choose another --output-format",
        ) from error


def _remedy(file: InputFile) -> str:
    with suppress(OSError):  # it may be gone by now
        if file.regular and file.path is not None and file.path.stat().st_size == 0:
            return "the file is empty: check what wrote it"
    return "check that it was written to its end"
