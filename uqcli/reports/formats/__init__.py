"""One module per format of report files, named after its member.

A module loads fast, since a signal may end the run, and write its reports, before a command has begun.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Final

from uqcli.base.choices import ReportFormat
from uqcli.base.errors import UsageError, words
from uqcli.reports.format import Format

FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {form: import_module(f"{__name__}.{form.name.lower()}").FORMAT for form in ReportFormat}
)
"""Formats by the ending of a file name, in lower case."""


def format_of(name: str) -> Format:
    """Return the format of a report file by the ending of its name."""
    report_format = FORMATS.get(Path(name).suffix.lower())
    if report_format is None:
        raise UsageError(
            words("--report '{}' has no known ending", name), expected="one of " + ", ".join(FORMATS)
        )
    return report_format
