"""The exception hierarchy: one class and one exit code for each way a run can fail.

::

    UqcliError                1   internal error; not raised itself.
    ├── UsageError            2   invalid usage or configuration.
    ├── DataError             3   unusable file or data.
    ├── InfeasibleError       4   no result meets the constraint.
    ├── ArtifactError         5   unusable rule file.
    ├── GateError             6   a check of --fail-if failed.
    ├── MissingExtraError     7   an optional part is not installed.
    └── ClosedPipeError       0   the reader closed our output: no error.

A signal of ``TERMINATION_SIGNALS`` ends the run with 128 plus its number. Code below the command line
raises; only ``uqcli.__main__`` and ``uqcli.cli.process`` exit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Final

from uqcli.base.operating_system import existing_signals
from uqcli.base.wording import in_one_line

_OPTION: Final = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*)")
_NO_KEYWORD: Final = re.compile(r" with --on-invalid drop|; if [^;]* add it with --null-value")
"""Remedies that Python's functions do not take."""


def as_keywords(message: str) -> str:
    """Name the options of a message as Python does.

    Examples
    --------
    >>> as_keywords("--uncertainty-bins 3; leave them out with --on-invalid drop")
    'uncertainty_bins 3; leave them out'
    """
    return _OPTION.sub(lambda match: match[1].replace("-", "_"), _NO_KEYWORD.sub("", message))


class UqcliError(Exception):
    """A run that cannot continue; as a text it names keywords, and its ``message`` names options.

    Parameters
    ----------
    found
        What was found, with the name of the file, column or option.
    expected
        What was expected instead.
    remedy
        What the user can do.

    Examples
    --------
    >>> str(DataError("file a.csv is empty", expected="a header and rows", remedy="check the export"))
    'file a.csv is empty; expected a header and rows; check the export'
    """

    exit_code = 1
    report: Any = None
    """What was found nevertheless, as Python's functions return it; None if nothing was."""

    def __init__(self, found: str, *, expected: str = "", remedy: str = "") -> None:
        self.found, self.expected, self.remedy = map(in_one_line, (found, expected, remedy))
        super().__init__(self._line())

    def _line(self) -> str:
        parts = (self.found, f"expected {self.expected}" if self.expected else "", self.remedy)
        return "; ".join(part for part in parts if part)

    def reword(self, found: str, remedy: str) -> None:
        """Say in other words what was found and what the user can do."""
        self.found, self.remedy = map(in_one_line, (found, remedy))
        self.args = (self._line(),)

    def add_remedy(self, text: str) -> None:
        """Say more about what the user can do."""
        self.remedy = "; ".join(part for part in (self.remedy, in_one_line(text)) if part)
        self.args = (self._line(),)

    @property
    def message(self) -> str:
        """The message of the command line, in one line."""
        return str(self.args[0])

    def __str__(self) -> str:
        return as_keywords(self.message)


class UsageError(UqcliError):
    """Invalid usage or configuration."""

    exit_code = 2


class DataError(UqcliError):
    """Unusable file or data."""

    exit_code = 3


class InfeasibleError(UqcliError):
    """No result meets the constraint; the report gives the nearest one."""

    exit_code = 4


class ArtifactError(UqcliError):
    """A rule file is invalid, of the wrong kind, or of a newer format."""

    exit_code = 5


class GateError(UqcliError):
    """Checks of ``--fail-if`` failed or have an undefined metric; one line each."""

    exit_code = 6

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("; ".join(messages))
        self.args = ("\n".join(map(in_one_line, messages)),)


class MissingExtraError(UqcliError):
    """An optional part is not installed."""

    exit_code = 7


class ClosedPipeError(UqcliError):
    """The reader closed our output (``| head``)."""

    exit_code = 0


TERMINATION_SIGNALS: Final = MappingProxyType(
    existing_signals(
        {
            "SIGHUP": "hung up",
            "SIGINT": "interrupted",
            "SIGBREAK": "interrupted",
            "SIGUSR1": "ended by a user signal",
            "SIGUSR2": "ended by a user signal",
            "SIGALRM": "ended by an alarm",
            "SIGTERM": "terminated",
            "SIGXCPU": "out of CPU time",
        }
    )
)
"""Signals that end a run after cleanup, with the last line it prints."""
