"""Checks on inputs and outputs: no file is both, and no file is written twice."""

from __future__ import annotations

import os
import stat
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress

from uqcli.base.errors import UqcliError, UsageError
from uqcli.base.files import STDIO, is_stdin
from uqcli.base.operating_system import IGNORES_CASE
from uqcli.base.records import dataclass
from uqcli.cli.config import configuration_files
from uqcli.cli.inputs import read_options
from uqcli.cli.options import InputOptions, RunOptions
from uqcli.stores.address import is_address


@dataclass(frozen=True, kw_only=True)
class Reads:
    """Inputs of a command.

    Attributes
    ----------
    tables
        Files, globs and directories of rows.
    labels
        File of labels, if they are not in the tables.
    """

    tables: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    reading: InputOptions | None = None
    labels: str | None = None

    @classmethod
    def from_options(
        cls,
        *tables: object,
        rules: Iterable[object] = (),
        reading: InputOptions | None = None,
        labels: str | None = None,
    ) -> Reads:
        """Collect the names among the values of options and arguments; None for those not set."""
        return cls(
            tables=tuple(name for names in tables if isinstance(names, list | tuple) for name in names),
            rules=tuple(name for name in rules if isinstance(name, str)),
            reading=reading,
            labels=labels,
        )

    def files(self) -> tuple[str, ...]:
        """Resolve the files of all tables; a name that cannot be resolved stays, and fails when it is read.

        Raises
        ------
        DataError
            An address cannot be read.
        """
        from uqcli.engines.inputs import resolve_inputs
        from uqcli.engines.request import ReadOptions

        options = ReadOptions() if self.reading is None else read_options(self.reading)
        files: list[str] = []
        for name in self.tables:
            try:
                files += [file.name for file in resolve_inputs([name], options)]
            except UqcliError:
                if is_address(name):  # reading it again would wait again
                    raise
                files.append(name)
        return tuple(files)


def check_conflicts(reads: Reads, files: Iterable[str], outputs: Iterable[str], running: RunOptions) -> None:
    """Refuse to read standard input twice, to overwrite an input, and to write one file twice.

    Redirected standard input and output count as their files.
    """
    if sum(map(is_stdin, (*reads.tables, *reads.rules))) > 1:
        raise UsageError(
            "standard input is named twice", expected="at most one -", remedy="save it to a file first"
        )
    streams = filter(is_stdin, reads.tables)
    others = (*reads.rules, *filter(None, [reads.labels]), *_configuration(running), *streams)
    read = {_identity(name): name for name in (*files, *others)}
    read.pop(None, None)
    _refuse_output_as_input(read)
    written: dict[Hashable, str] = {}
    for name in outputs:
        if not name:
            raise UsageError(
                "an output is an empty string", expected="a file name", remedy="check the shell variable"
            )
        if name != STDIO and is_stdin(name):
            raise UsageError(f"'{name}' is standard input", expected="a file to write")
        identity = _identity_of_stream(1) if name == STDIO else _identity(name)
        if identity in read:
            raise UsageError(
                f"'{name}' would overwrite the input '{read[identity]}'", expected="another file"
            )
        if identity in written:
            raise UsageError(
                f"'{written[identity]}' and '{name}' are the same file", expected="different files"
            )
        if identity is not None:
            written[identity] = name


def refuse_shared_files(
    inputs: Iterable[str] | None, others: object, option: str, reading: InputOptions
) -> None:
    """Refuse files among the inputs that an option names too: measured there, all would look too good."""
    if not others:
        return
    read = {_identity(name) for name in Reads.from_options(inputs, reading=reading).files()} - {None}
    for name in Reads.from_options(others, reading=reading).files():
        if _identity(name) in read:
            raise UsageError(
                f"'{name}' is INPUT and {option}",
                expected="other rows there",
                remedy=f"name another file, or leave out {option}",
            )


def _refuse_output_as_input(read: Mapping[Hashable, str]) -> None:
    """Refuse a standard output that the shell redirects to an input."""
    stdout = _identity_of_stream(1)
    if stdout is not None and stdout in read:
        raise UsageError(
            f"standard output goes to '{read[stdout]}', which is also an input", expected="another file"
        )


def _configuration(running: RunOptions) -> list[str]:
    return [running.config] if running.config is not None else list(map(str, configuration_files()))


def _identity(name: str) -> Hashable | None:
    """Return a file's inode, path or address, equal for all its names; None for character devices."""
    if is_stdin(name):
        return _identity_of_stream(0)
    if is_address(name):
        return name.removesuffix("/")
    try:
        status = os.stat(name)  # noqa: PTH116  a name may be no valid path
    except (OSError, ValueError):
        return _path(name)
    return None if stat.S_ISCHR(status.st_mode) else (status.st_dev, status.st_ino)


def _path(name: str) -> str:
    """Return the path of a file that does not exist yet; names that differ in case only may be one file."""
    with suppress(ValueError):
        name = os.path.realpath(name)
    return name.casefold() if IGNORES_CASE else name


def _identity_of_stream(descriptor: int) -> Hashable | None:
    """Return the inode of the regular file behind a standard stream; None for other streams."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
