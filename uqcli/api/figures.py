"""Figures of reports, for results that have one."""

from __future__ import annotations

from uqcli.base.errors import UsageError
from uqcli.reports.document import Report
from uqcli.reports.figures import rendered
from uqcli.stores.output import write_bytes


def save_figure(report: Report | None, path: str) -> None:
    """Write the figure of a report; an old file stays until the new one is complete.

    Parameters
    ----------
    report
        None if a loaded rule has none.
    path
        File with the suffix .png, .svg or .pdf.

    Raises
    ------
    UsageError, DataError, MissingExtraError
        There is no figure, the path is not writable, or matplotlib is not installed.
    """
    if report is None:
        raise UsageError("a loaded rule has no figure", expected="the figure of its fit or of evaluate()")
    write_bytes(str(path), rendered(report, str(path)))
