"""Reports of a failed run: replace the requested reports by the error, so that no old report stays.

The report names come from the command line, the environment and the configuration, as far as these could be
parsed. A report never overwrites a rule file, or a file that another argument names.
"""

from __future__ import annotations

import glob
import os
import stat
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from uqcli.base.choices import ReportFormat
from uqcli.base.errors import UqcliError
from uqcli.base.files import followed
from uqcli.base.operating_system import takes_at_once
from uqcli.base.records import dataclass
from uqcli.base.running.interruption import registered
from uqcli.reports.format import Failure, Format, FormatOfSamples
from uqcli.reports.formats import FORMATS
from uqcli.stores.trees import expanded

_HEADER_BYTES: Final = 200
"""First bytes of a file, which tell a rule file by its format version, and a report from rows."""


_MOST_SAMPLES: Final = 64 << 20
"""Bytes of an old report that is kept while a run goes on."""


@dataclass
class _Run:
    """Requested reports of a run, whether they are written, and other words that may name a file."""

    command: str = ""
    reports: tuple[str, ...] = ()
    json: bool = False
    possible_names: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    written: bool = False


_run = _Run()


def find_reports(arguments: Sequence[str]) -> None:
    """Find the reports that a command line requests, before it is parsed."""
    global _run  # noqa: PLW0603
    command = next((argument for argument in arguments if not argument.startswith("-")), "")
    variable = os.environ.get(f"UQCLI_{command}_REPORT".upper().replace("-", "_"))
    reports = [] if variable is None else [variable]
    possible_names, json, remaining = [], False, iter(arguments)
    for token in remaining:
        name, _, value = token.partition("=")
        if token == "--report":
            reports.append(next(remaining, ""))
        elif name == "--report":
            reports.append(value)
        elif token == "--json":
            json = True
        else:
            possible_names += [token, value]
    _run = _Run(command=command, reports=tuple(reports), json=json, possible_names=tuple(possible_names))


def record_options(command: str, typed: Mapping[str, Any], configured: Mapping[str, Any]) -> None:
    """Record the options of a parsed command line; typed options override configured ones."""
    options = {**configured, **typed}
    requested = options.get("report") or []
    reports = [requested] if isinstance(requested, str) else list(requested)
    _run.command = command
    _run.reports = tuple(dict.fromkeys([*reports, *(() if "report" in options else _run.reports)]))
    _run.json = str(options.get("json", "")).strip().lower() in ("1", "true", "t", "yes", "y", "on")
    if str(options.get("output", "")) == "-":  # standard output has the results
        _run.json = False
    _run.possible_names += tuple(
        text for name, value in options.items() if name != "report" for text in texts_of(value)
    )


def texts_of(value: Any) -> list[str]:
    """Return the value of an option, or the values of a repeated one, as texts."""
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]


def skip_json_error() -> None:
    """Do not print the error as JSON: the report itself goes to standard output."""
    _run.json = False


def record_labels(labels: tuple[tuple[str, str], ...]) -> None:
    """Record the labels of all samples of this run."""
    _run.labels = labels


def mark_started() -> None:
    """Let the reports that know of a run in progress say so."""
    failure = Failure(command=_run.command, exit_code=0, found="")
    _write(failure, stores=False, of_run_in_progress=True)


def mark_written() -> None:
    """Record that the reports of this run are written."""
    _run.written = True


def write_failure(error: UqcliError) -> bool:
    """Write the error to the requested reports, and return False if they are already written."""
    if _run.written or error.exit_code == 0:
        return False
    failure = Failure.from_error(_run.command, error)
    _write(failure, stores=True)
    if _run.json:
        with suppress(OSError, ValueError):
            sys.stdout.write(FORMATS[ReportFormat.JSON].failed(failure))
            sys.stdout.flush()
    return True


def write_signal_failure(exit_code: int, found: str) -> None:
    """Write the reports of a run that a signal or its memory ends; safe to call from another thread."""
    failure = Failure(command=_run.command, exit_code=exit_code, found=found)
    with suppress(Exception):
        if _run.reports:
            _write(failure, stores=False)
        if _run.json and not _run.written:
            text = FORMATS[ReportFormat.JSON].failed(failure).encode("utf-8", "backslashreplace")
            if takes_at_once(1, len(text)):  # never wait for a reader
                os.write(1, text)


def _write(failure: Failure, *, stores: bool, of_run_in_progress: bool = False) -> None:
    """Replace each report by the error, or change those that can say that a run goes on."""
    other_files = _other_files(_run.possible_names)
    for name in dict.fromkeys(_run.reports):
        report_format = FORMATS.get(os.path.splitext(name)[1].lower())  # noqa: PTH122  names may be any bytes
        of_samples = isinstance(report_format, FormatOfSamples)
        if report_format is None or (of_run_in_progress and not of_samples):
            continue
        text = report_format.failed(replace(failure, report=name, labels=_run.labels))
        content = text.encode("utf-8", "backslashreplace")
        with suppress(OSError, ValueError, UqcliError):
            if "://" in name:
                if stores and name.rstrip("/") not in _run.possible_names:
                    from uqcli.stores.output import write_bytes

                    if not report_format.begins or report_format.begins_as(_head_of_object(name)):
                        write_bytes(name, content)
            elif not other_files & _identities(name) and _is_report(name, report_format):
                if of_run_in_progress and isinstance(report_format, FormatOfSamples):
                    content = _started(name, content, report_format)
                _replace(followed(name), content)


def _started(name: str, content: bytes, report_format: FormatOfSamples) -> bytes:
    """Return what a report says while a run goes on; ``content`` is what it says of a failed one."""
    try:
        with open(name, "rb") as stream:  # noqa: PTH123
            old = stream.read(_MOST_SAMPLES + 1)
    except FileNotFoundError:
        return content
    if len(old) > _MOST_SAMPLES:
        return content
    return report_format.started(old.decode("utf-8", "surrogateescape"), content.decode()).encode(
        "utf-8", "surrogateescape"
    )


def _other_files(possible_names: Iterable[str]) -> set[Hashable]:
    """Return the identities of all files that other arguments may name."""
    names = set(possible_names)
    for name_or_pattern in possible_names:
        if glob.has_magic(name_or_pattern):
            with suppress(OSError, ValueError):
                names.update(expanded(name_or_pattern))
    identities = {identity for name in names if name for identity in _identities(name)}
    for stream in (0, 1):  # the shell may redirect an input
        with suppress(OSError):
            status = os.fstat(stream)
            identities |= {(status.st_dev, status.st_ino)} if stat.S_ISREG(status.st_mode) else set()
    return identities


def _identities(name: str) -> set[Hashable]:
    """Return the path and the inode of a file, equal for all its names."""
    identities: set[Hashable] = set()
    with suppress(OSError, ValueError):
        identities.add(os.path.realpath(name))
        status = os.stat(name)  # noqa: PTH116
        identities.add((status.st_dev, status.st_ino))
    return identities


def _is_report(name: str, report_format: Format) -> bool:
    """Whether a file can be an old report: it is no rule file, and no rows, as a folder of inputs has.

    A FIFO or a device has no old report, and to open one may wait for ever. What the system refuses to open
    is an OSError: nothing is written there.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(name).st_mode):  # noqa: PTH116
            return False
        with open(name, "rb") as stream:  # noqa: PTH123
            head = stream.read(_HEADER_BYTES)
        return b'"format_version"' not in head and report_format.begins_as(head)
    return True


def _head_of_object(name: str) -> bytes:
    """Read the first bytes of an object of a store; none if there is no such object."""
    from uqcli.stores.trees import tree_of

    with suppress(OSError, UqcliError), tree_of(name).content(name).opened() as stream:
        return stream.read(_HEADER_BYTES)
    return b""


def _replace(path: str, content: bytes) -> None:
    """Write a file atomically, else remove or overwrite the old one; takes no locks."""
    old: os.stat_result | None = None
    with suppress(FileNotFoundError):
        old = os.stat(path)  # noqa: PTH116
    if old is not None and not stat.S_ISREG(old.st_mode):
        return  # a device or a FIFO has no old report
    target = Path(path)
    temporary = os.path.join(target.parent, f".{target.name[:100]}.{os.urandom(6).hex()}.tmp")  # noqa: PTH118
    try:
        with registered(temporary):
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
            if old is not None:
                os.chmod(temporary, stat.S_IMODE(old.st_mode))  # noqa: PTH101
            os.replace(temporary, path)  # noqa: PTH105
    except OSError:
        if old is not None and old.st_nlink == 1 and len(content) <= old.st_size:
            with suppress(OSError), target.open("r+b") as stream:  # a full disk has these bytes
                stream.write(content)
                stream.truncate()
                return
        with suppress(FileNotFoundError):
            try:
                os.unlink(path)  # noqa: PTH108
            except OSError:  # the directory is read-only, the file may be writable
                if old is not None and old.st_nlink == 1:
                    target.write_bytes(content)
