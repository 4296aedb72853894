"""The error of a run, as reports show it."""

from __future__ import annotations

import html
from typing import Any

from uqcli.base.errors import UqcliError
from uqcli.base.escaping import visible
from uqcli.base.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Error of a run of a command as it was typed, with the parts of its line; empty if missing."""

    command: str
    exit_code: int
    found: str
    expected: str = ""
    remedy: str = ""

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
