"""What formats of report files share: what a format is, what a run says, escaping, the frame of a page."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from uqcli.base.errors import UqcliError
from uqcli.base.records import dataclass
from uqcli.base.wording import visible

if TYPE_CHECKING:
    from uqcli.reports.checks import Check
    from uqcli.reports.document import Report


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Error of a run of a command as it was typed, with the parts of its line; empty if missing.

    ``report`` is the file that says it, and ``labels`` are those of its samples, if it has samples.
    """

    command: str
    exit_code: int
    found: str
    expected: str = ""
    remedy: str = ""
    report: str = ""
    labels: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_error(cls, command: str, error: UqcliError) -> Failure:
        """Describe an error of a command."""
        return cls(
            command=command,
            exit_code=error.exit_code,
            found=error.found,
            expected=error.expected,
            remedy=error.remedy,
        )

    def __str__(self) -> str:
        """Format the error line."""
        parts = (self.found, f"expected {self.expected}" if self.expected else "", self.remedy)
        return "; ".join(filter(None, parts))

    @property
    def title(self) -> str:
        """Title of a page that shows only the error."""
        return visible(f"uqcli {self.command} failed")

    def payload(self) -> dict[str, Any]:
        """Return the error as a JSON report has it."""
        return {
            "exit": self.exit_code,
            "found": self.found,
            "expected": self.expected or None,
            "remedy": self.remedy or None,
        }


def escaped(text: str) -> str:
    """Escape markup, and characters that XML does not allow, such as control characters."""
    return html.escape(visible(text))


_NO_SCRIPTS: Final = "default-src 'none'; style-src 'unsafe-inline'"


_NOWHERE: Final = "base-uri 'none'; form-action 'none'"
"""Directives that ``default-src`` does not include."""


def html_page(title: str, style: str, content: str, *, script: str = "", policy: str = _NO_SCRIPTS) -> str:
    """Build an HTML page that loads nothing; its content security policy must allow the script."""
    scripts = f"<script>{script}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}; {_NOWHERE}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n{content}{scripts}</body>\n</html>\n"
    )


MAX_NAMED: Final = 4
"""Most input files that a page lists one by one."""


@dataclass(frozen=True, kw_only=True)
class RunFiles:
    """Inputs of a run, in the order they were read, and what it wrote but reports.

    ``digests`` are the SHA-256 of rule files, ``rules`` the digests that these state, and ``hashed`` the
    SHA-256 of input files that were hashed, by file name. ``unwritten`` says why a fitted rule is in no file;
    ``rows_to`` is the file of the rows, if there is one. ``state`` is the name of the state among the rules.
    """

    inputs: tuple[str, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    hashed: Mapping[str, str] = field(default_factory=dict)
    unwritten: str = ""
    rows_to: str = ""
    state: str = ""


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """Command line, files, checks and error of a run, for the files of its report.

    The line has no options that do not change results; ``configured`` are those from the environment and
    configuration files, written as options. ``failures`` has the error of a failed run. ``heading`` is a
    title of pages that the user chose, and ``step`` the next step, as on a terminal. ``report`` is the file
    that is written, ``labels`` are those of all its samples, and ``plot`` is the path of the figure file, as
    seen from the report. What does not apply is empty.
    """

    command: str
    line: str = ""
    configured: str = ""
    files: RunFiles = RunFiles()
    checks: Sequence[Check] = ()
    failures: Sequence[Failure] = ()
    heading: str = ""
    step: str = ""
    report: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    plot: str = ""


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format of report files.

    ``failed`` renders the error of a run without a report. A signal may call it at any time, so it imports
    nothing. A page is for people, with a title, figures and provenance.
    Formats state the SHA-256 of inputs and rule files only if they need digests, and the digests that rule
    files state only if they need rules. ``begins`` are the first bytes of every report, if the ending is also
    that of rows: a failed run replaces no other file.
    """

    render: Callable[[Report, RunContext], str]
    failed: Callable[[Failure], str]
    is_page: bool = False
    needs_digests: bool = False
    needs_rules: bool = False
    begins: bytes = b""

    def begins_as(self, head: bytes) -> bool:
        """Whether a file that begins with some bytes is empty or can be a report of this format."""
        return not head or head.startswith(self.begins)


@dataclass(frozen=True, kw_only=True)
class FormatOfSamples(Format):
    """A format whose file says that a run goes on.

    ``started`` takes an old report, and what ``failed`` renders, and returns what the file says meanwhile.
    """

    started: Callable[[str, str], str]
