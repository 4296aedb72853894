"""Writing what a job made: artifact, report, gates, in this order and all or nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import replace

from uqcli.cli.options import ReportOptions
from uqcli.errors import GateError, UqcliError, UsageError
from uqcli.files import STDIO, check_writable, write_bytes
from uqcli.reports.document import Metrics, Report


def check_outputs(
    options: ReportOptions,
    output: str | None,
    *,
    artifact: str | None = None,
    metrics: Metrics | None = None,
    plot: str | None = None,
    has_figures: bool = False,
    inputs: Iterable[str] = (),
) -> None:
    """Refuse impossible outputs before any work is done.

    Parameters
    ----------
    output
        Where rows or the artifact go.
    artifact
        A saved model that is read and must not be overwritten.
    metrics
        What gates may ask for, where that is known beforehand.
    plot
        Where the report's figure goes.
    has_figures
        Whether pages of the report show figures.
    inputs
        Files that are read and must not be overwritten.

    Raises
    ------
    UsageError
        Two things for one place, an unknown kind of report, an unreadable gate.
    DataError
        A place that cannot be written.
    MissingExtraError
        A figure is asked for and cannot be drawn.
    """
    from uqcli.jobs.gates import failed_gates, parse_gate
    from uqcli.reports.figures import check_plot_name, require_drawing
    from uqcli.reports.render import check_report_name

    outputs = [place for place in (output, options.report, plot) if place is not None]
    read = {os.path.realpath(place) for place in (artifact, *inputs) if place not in (None, "", STDIO)}
    places = [os.path.realpath(place) for place in outputs if place != STDIO]
    if len(set(places)) < len(places) or read & set(places):
        raise UsageError(
            "two of the inputs, the artifact, the output, the report and the plot are one file",
            expected="different files",
        )
    if output == STDIO and options.json:
        raise UsageError("-o - and --json both want standard output", remedy="give -o FILE")
    if options.report is not None:
        page = check_report_name(options.report) != ".json"
        if page and has_figures:
            require_drawing()
    if plot is not None:
        check_plot_name(plot)
        require_drawing()
    for place in outputs:
        check_writable(place)
    gates = [parse_gate(gate) for gate in options.fail_if or []]
    if metrics is not None:
        failed_gates(gates, {"": metrics})


def report_of_filter(options: ReportOptions, output: str | None) -> ReportOptions:
    """A command that writes rows to a pipe says nothing of itself."""
    return replace(options, quiet=True) if output is None else options


def deliver(
    report: Report,
    options: ReportOptions,
    *,
    output: str | None = None,
    artifact: bytes | None = None,
    plot: str | None = None,
    failure: UqcliError | None = None,
) -> None:
    """Write the artifact and the report, then fail if the job or a gate says so.

    Parameters
    ----------
    output
        Where the artifact goes; None for nowhere.
    artifact
        Its bytes; None if there is none to write.
    plot
        Where the report's figure goes; None for nowhere.
    failure
        What to raise once the report is written.

    Raises
    ------
    GateError
        A gate holds.
    """
    from uqcli.jobs.gates import failed_gates, parse_gate
    from uqcli.reports.render import to_file_format

    gates = [parse_gate(text) for text in options.fail_if or []]
    failed = failed_gates(gates, report.gated)
    files: list[tuple[str, bytes]] = []
    if options.report is not None:
        page = to_file_format(report, options.report)
        files.append((options.report, page.encode("utf-8", "backslashreplace")))
    if plot is not None:
        files.append((plot, _plotted(report, plot)))
    if output is not None and artifact is not None:
        files.append((output, artifact))
    for name, content in files:  # all are made before any is written
        write_bytes(name, content)
    try:
        show(report, options, to_stderr=output == STDIO)
    except BrokenPipeError:
        if failure is None and not failed:  # nobody reads the report; the exit code still counts
            raise
    if failure is not None:
        raise failure
    if failed:
        raise GateError(failed)


def _plotted(report: Report, plot: str) -> bytes:
    from uqcli.reports.figures import check_plot_name, render

    figures = report.document().figures
    if not figures:
        raise UsageError("--plot: this report has no figure", expected="none for such artifacts")
    return render(figures[0], check_plot_name(plot))


def show(report: Report, options: ReportOptions, *, to_stderr: bool = False) -> None:
    """Print the report as JSON or as tables."""
    from uqcli.reports.render import to_json, to_terminal

    stream = sys.stderr if to_stderr else sys.stdout
    if options.json:
        stream.write(to_json(report))
    elif not options.quiet:
        to_terminal(report.document(), stream)
