"""Writing what a job made: artifact, report, gates, in this order and all or nothing."""

from __future__ import annotations

import sys

from uqcli.cli.options import ReportOptions
from uqcli.errors import GateError, UqcliError, UsageError
from uqcli.files import STDIO, check_writable, write_bytes
from uqcli.reports.document import Report


def check_outputs(options: ReportOptions, output: str | None) -> None:
    """Refuse impossible outputs before any work is done.

    Raises
    ------
    UsageError
        Two things for standard output, an unknown kind of report, an unreadable gate.
    DataError
        A place that cannot be written.
    """
    from uqcli.jobs.gates import parse_gate
    from uqcli.reports.render import check_report_name

    if output == STDIO and options.json:
        raise UsageError("-o - and --json both want standard output", remedy="give -o FILE")
    if options.report is not None:
        check_report_name(options.report)
    for place in (output, options.report):
        if place is not None:
            check_writable(place)
    for gate in options.fail_if or []:
        parse_gate(gate)


def deliver(
    report: Report,
    options: ReportOptions,
    *,
    output: str | None = None,
    artifact: bytes | None = None,
    failure: UqcliError | None = None,
) -> None:
    """Write the artifact and the report, then fail if the job or a gate says so.

    Parameters
    ----------
    output
        Where the artifact goes; None for nowhere.
    artifact
        Its bytes; None if there is none to write.
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
    if output is not None and artifact is not None:
        write_bytes(output, artifact)
    if options.report is not None:
        write_bytes(options.report, to_file_format(report, options.report).encode())
    show(report, options, to_stderr=output == STDIO)
    if failure is not None:
        raise failure
    if failed:
        raise GateError(failed)


def show(report: Report, options: ReportOptions, *, to_stderr: bool = False) -> None:
    """Print the report as JSON or as tables."""
    from uqcli.reports.render import to_json, to_terminal

    stream = sys.stderr if to_stderr else sys.stdout
    if options.json:
        stream.write(to_json(report))
    elif not options.quiet:
        to_terminal(report.document(), stream)
