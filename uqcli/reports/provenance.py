"""Provenance of a page: command line, version, input files, rule files read and written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from uqcli.base.defaults import VERSION
from uqcli.base.files import is_stdin, is_stdout
from uqcli.base.records import dataclass
from uqcli.base.running.progress import rows_by_input
from uqcli.base.wording import count, rows_of
from uqcli.reports.document import Table

_MAX_NAMED: Final = 4
"""Most input files that a page lists one by one."""

_MAX_BYTES: Final = 2**30
"""Largest file that is read only for its digest; this takes about a second."""


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Command line, inputs and rule files of a run.

    Attributes
    ----------
    line
        Command line, without options that do not change results.
    configured
        Options from the environment and configuration files, as command-line options.
    files
        Input files, in the order they were read.
    digests
        SHA-256 of rule files, by file name.
    rules
        Digest that each rule file read or written states, by file name.
    inputs
        SHA-256 of input files that were hashed, by file name.
    unwritten
        Why a fitted rule is in no file; empty if it is in one, or if none was fitted.
    rows_to
        File of the rows; empty if there is none.
    """

    command: str
    line: str = ""
    configured: str = ""
    files: tuple[str, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    unwritten: str = ""
    rows_to: str = ""

    def table(self, payload: Mapping[str, Any]) -> Table:
        """Build the table at the end of a page; ``payload``, the JSON form, has the number of rows."""
        lines = [("command", self.line), ("version", f"uqcli {VERSION}")]
        if self.configured:
            lines.insert(1, ("configured", self.configured))
        lines += [("input", line) for line in self._inputs()]
        rows = _rows_of(payload)
        if self.files and rows is not None and not rows_by_input():  # a cluster counts all rows together
            lines.append(("rows of INPUT", count(rows)))
        digest_notes = {name: f", which states digest {digest}" for name, digest in self.rules.items()}
        lines += [
            ("rule file", f"{name}, SHA-256 {digest}{digest_notes.get(name, '')}")
            for name, digest in self.digests.items()
        ]
        lines += [("rule file", self.unwritten)] if self.unwritten else []
        lines += [("rows written to", self.rows_to)] if self.rows_to else []
        return Table(title="Made from", header=("", ""), rows=lines, left=2, text_last=True)

    def _inputs(self) -> list[str]:
        """List the files with their rows, if read by this process; many files in one line."""
        names = ["standard input" if is_stdin(name) else name for name in self.files]
        rows = rows_by_input()
        row_counts = [rows.get(name) for name in names]
        if len(names) <= _MAX_NAMED:
            lines = [
                f"{name}{_row_suffix(rows_of_file)}"
                for name, rows_of_file in zip(names, row_counts, strict=True)
            ]
            digests = [self.inputs.get(name) for name in self.files]
            return [
                line if digest is None else f"{line}, SHA-256 {digest}"
                for line, digest in zip(lines, digests, strict=True)
            ]
        total = None if None in row_counts else sum(rows_of_file or 0 for rows_of_file in row_counts)
        return [f"{count(len(names))} files, the first {names[0]}, the last {names[-1]}{_row_suffix(total)}"]


def stated_digest(content: bytes) -> str | None:
    """Return the digest that a rule file states; None if there is none."""
    with suppress(ValueError, RecursionError):
        saved = json.loads(content)
        digest = saved.get("digest") if isinstance(saved, dict) else None
        return digest if isinstance(digest, str) else None
    return None


def stated_digests(names: Iterable[str]) -> dict[str, str]:
    """Return the digests that rule files state, by file name; only regular files can be read twice."""
    rules: dict[str, str] = {}
    for name in names:
        with suppress(OSError, ValueError):
            if not is_stdin(name) and Path(name).is_file():
                digest = stated_digest(Path(name).read_bytes())
                rules |= {} if digest is None else {name: digest}
    return rules


def digests_of(names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of regular files of moderate size by file name; unreadable ones fail when read."""
    digests = {}
    for name in names:
        with suppress(OSError, ValueError):
            if not is_stdin(name) and Path(name).is_file() and Path(name).stat().st_size <= _MAX_BYTES:
                with Path(name).open("rb") as stream:
                    digests[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return digests


def digests_of_inputs(names: tuple[str, ...]) -> dict[str, str]:
    """Return the SHA-256 of the input files, if a page lists them one by one."""
    return digests_of(names) if len(names) <= _MAX_NAMED else {}


def output_name(name: str) -> str:
    """Return the name of an output for people."""
    return "standard output" if is_stdout(name) else name


def _row_suffix(rows: int | None) -> str:
    return "" if rows is None else f": {rows_of(rows)}"


def _rows_of(payload: Mapping[str, Any]) -> int | None:
    """Return the number of input rows; several results have the same inputs."""
    source = payload.get("source")
    if source is None:
        return _rows_of(payload["results"][0]) if payload.get("results") else None
    rows = source.get("rows")
    return rows if isinstance(rows, int) else None
