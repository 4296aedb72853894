"""Writing what a job made: reports, then results if no gate forbids them, each whole or not at all."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from uqcli.choices import EngineName
from uqcli.cli.failing import printing, told
from uqcli.cli.line import line_of_this_run
from uqcli.cli.options import ReportOptions, RunOptions
from uqcli.cli.places import Reads, check_places
from uqcli.cli.process.progress import hide_progress, show_progress
from uqcli.document import Metrics, Report
from uqcli.errors import GateError, UsageError
from uqcli.files import STDIO, OutputQueue, check_results_stream
from uqcli.reports.failure import Failure
from uqcli.stores.output import check_writable, is_held, open_output, write_bytes

if TYPE_CHECKING:
    from uqcli.artifacts.saved import Saved
    from uqcli.jobs.result import Result
    from uqcli.reports.provenance import Provenance
    from uqcli.reports.render import RunFacts


SEVERAL: Final = "{}"
"""Stands in an output's name for each of several answers."""


def check_outputs(
    options: ReportOptions,
    output: str | tuple[str, ...] | None,
    *,
    reads: Reads,
    running: RunOptions,
    metrics: Metrics | None = None,
    rows: bool = False,
    plot: str | None = None,
    table: str | None = None,
    has_figures: bool = False,
) -> Provenance:
    """Refuse impossible outputs before any work is done.

    Parameters
    ----------
    output
        Where rows or the artifact go, or several artifacts.
    rows
        Whether the output is rows.
    reads
        What is read and must not be overwritten.
    metrics
        What gates may ask for, where that is known beforehand.
    plot
        Where the report's figure goes.
    table
        Where a further table goes.
    has_figures
        Whether pages of the report show figures.

    Returns
    -------
    What the run is asked for and reads, for its pages.

    Raises
    ------
    UsageError
        Two things for one place, an unknown kind of report, an unreadable gate.
    DataError
        A place that cannot be written.
    MissingExtraError
        A figure is asked for and cannot be drawn.
    """
    from uqcli.reports.figures import check_plot_name, require_drawing
    from uqcli.reports.gates import judged_gates, parse_gate
    from uqcli.reports.render import PAGES, check_report_name

    results, reports = output if isinstance(output, tuple) else (output,), options.report or []
    outputs = [place for place in (*results, *reports, plot, table) if place is not None]
    files = reads.files() if running.engine is EngineName.POLARS else reads.tables
    check_places(reads, files, outputs, running)
    if STDIO in results and options.json:
        raise UsageError("-o - and --json both want standard output", remedy="give -o FILE")
    forms = [check_report_name(report) for report in reports]
    has_page = not PAGES.isdisjoint(forms)
    if has_page and has_figures:
        require_drawing()
    if plot is not None:
        check_plot_name(plot)
        require_drawing()
    check_results_stream(STDIO if options.json else results[0])
    for place in outputs:
        if not (rows and place == output and running.engine is EngineName.SPARK):  # the cluster's to say
            check_writable(place)
    gates = [parse_gate(gate) for gate in options.fail_if or []]
    if metrics is not None:
        judged_gates(gates, {"": metrics})
    if not options.quiet:
        show_progress(STDIO if rows and results[0] is None else results[0])
    digests = has_page or ".xml" in forms
    return _provenance(files, reads.models, read=digests, rules=digests or ".prom" in forms)


def _provenance(files: tuple[str, ...], models: tuple[str, ...], *, read: bool, rules: bool) -> Provenance:
    """With digests of data and models where reports speak of them: as they are before the work begins."""
    from uqcli.reports.provenance import Provenance, digests_of, digests_of_inputs, rules_of

    line = line_of_this_run()
    return Provenance(
        command=line.command,
        line=line.typed,
        configured=line.configured,
        files=files,
        digests=digests_of(models) if read else {},
        rules=rules_of(models) if rules else {},
        inputs=digests_of_inputs(files) if read else {},
    )


def deliver(
    result: Result[Report, Saved | None],
    options: ReportOptions,
    *,
    provenance: Provenance,
    output: str | None = None,
    held: OutputQueue | None = None,
    plot: str | None = None,
    table: str | None = None,
) -> None:
    """Write the report, then what is saved, unless the job or a gate says no.

    Parameters
    ----------
    provenance
        What the run was asked for and read.
    output
        Where the artifact or the rows go; None for nowhere.
    held
        Rows that wait to take their place.
    plot
        Where the report's figure goes; None for nowhere.
    table
        Where the job has put a further table; None for nowhere.

    Raises
    ------
    GateError
        A gate holds: no artifact and no file of rows is written, an old one stays.
    """
    from uqcli.artifacts.codec import encode
    from uqcli.reports.gates import judged_gates, parse_gate
    from uqcli.reports.render import RunFacts, to_json, to_terminal

    hide_progress()
    report, failure = result.report, result.failure
    saved = {name: encode(model) for name, model in _to_be_saved(result, output).items()}
    gates = judged_gates([parse_gate(text) for text in options.fail_if or []], report.gated)
    failed = [gate.message for gate in gates if gate.fails]
    stopped = bool(failed) or (failure is not None and not result.saved_though_failed)
    provenance = _with_written(
        provenance, saved, made=bool(result.artifact or result.several), stopped=stopped
    )
    said = None if failure is None else Failure.of(provenance.command, failure)
    reports = _report_files(report, options, RunFacts(provenance=provenance, gates=gates, failure=said), plot)
    _write({} if stopped else saved, reports, rows=None if stopped else held)
    printing()
    written = [] if stopped else [*saved, *([provenance.rows_to] if provenance.rows_to else [])]
    written += [] if stopped or table is None else [table]
    written += [name for name, _ in reports]
    stream = sys.stderr if output == STDIO else sys.stdout
    try:
        if options.json:
            stream.write(to_json(report, said))
        elif not options.quiet:
            document = report.document()
            files = [name for name in written if name != STDIO]
            wrote = f"Wrote {', '.join(files)}." if files else ""
            step = _next_step(document.next, result, provenance, files, stopped=stopped)
            to_terminal(document, stream, end=f"{wrote} {step}".strip(), verbose=options.verbose)
        stream.flush()
    except BrokenPipeError:
        if not stopped:  # nobody reads the report; the exit code still counts
            raise
    told()
    if failure is not None:
        raise failure
    if failed:
        raise GateError(failed)


def _write(
    saved: Mapping[str, bytes], reports: Sequence[tuple[str, bytes]], *, rows: OutputQueue | None
) -> None:
    """Write all files; reports take their places last, and none does before all are whole."""
    with OutputQueue() as models, OutputQueue() as pages:
        direct = [
            [pair for pair in named if not _waits(pair, held)]
            for named, held in ((saved.items(), models), (reports, pages))
        ]
        for waiting, streams in ((rows, []), (models, direct[0]), (pages, direct[1])):
            if waiting is not None:
                waiting.commit()
            for name, content in streams:
                write_bytes(name, content)


def _waits(named: tuple[str, bytes], held: OutputQueue) -> bool:
    """Write a file that can wait for its place, as streams and devices cannot."""
    name, content = named
    if not is_held(name):
        return False
    with open_output(name, held) as stream:
        stream.write(content)
    return True


def deliver_rows(
    result: Result[Report, Saved | None],
    options: ReportOptions,
    *,
    provenance: Provenance,
    output: str | None,
    held: OutputQueue,
) -> None:
    """Do as ``deliver`` does where the output is rows; pages say where they are.

    A command that writes rows to a pipe says nothing of itself.
    """
    spoken = replace(options, quiet=True) if output is None else options
    deliver(result, spoken, provenance=replace(provenance, rows_to=output or ""), output=output, held=held)


def _to_be_saved(result: Result[Report, Saved | None], output: str | None) -> dict[str, Saved]:
    """Artifacts by the names of their files."""
    if output is None:
        return {}
    named = {output.replace(SEVERAL, text): model for text, model in result.several.items()}
    return named if result.artifact is None else {output: result.artifact, **named}


def _with_written(
    provenance: Provenance, saved: Mapping[str, bytes], *, made: bool, stopped: bool
) -> Provenance:
    """With the models and rows that will be written, or why what was made is not."""
    from uqcli.reports.provenance import digest_of, rule_of, written_as

    if stopped and (made or provenance.rows_to):
        return replace(provenance, rows_to="", unwritten="none was written: the run failed")
    if made and not saved:
        return replace(provenance, unwritten="none was written: --output was not given")
    written = {} if stopped else {written_as(name): digest_of(content) for name, content in saved.items()}
    rules = {written_as(name): rule_of(content) or "" for name, content in saved.items() if not stopped}
    return replace(provenance, digests={**provenance.digests, **written}, rules={**provenance.rules, **rules})


def _report_files(
    report: Report, options: ReportOptions, facts: RunFacts, plot: str | None
) -> list[tuple[str, bytes]]:
    """Names and contents of the reports and of the figure that were asked for."""
    from uqcli.reports.render import to_file_format

    files = [
        (name, to_file_format(report, name, facts).encode("utf-8", "backslashreplace"))
        for name in options.report or []
    ]
    if plot is not None:
        files.append((plot, _plotted(report, plot)))
    return files


def _plotted(report: Report, plot: str) -> bytes:
    from uqcli.reports.figures import check_plot_name, render

    figures = report.document().figures
    if not figures:
        raise UsageError("--plot: this report has no figure", expected="no --plot for such rules")
    return render(figures[0], check_plot_name(plot))


def _next_step(
    then: str,
    result: Result[Report, Saved | None],
    provenance: Provenance,
    written: Sequence[str],
    *,
    stopped: bool,
) -> str:
    """The command to run next, or the option that saves the rule; empty if neither applies."""
    if provenance.unwritten:
        name = f"-{SEVERAL}.json to save them" if result.several else ".json to save the rule"
        return "" if stopped else f"Next: add -o {provenance.command}{name}."
    if not then or ("{rule}" in then and not written):
        return ""
    files = " ".join(map(shlex.quote, provenance.files[:2])) + (" ..." if len(provenance.files) > 2 else "")
    rule = shlex.quote(written[0]) if written else ""
    return f"Next: uqcli {then.replace('{rule}', rule).replace('{input}', files)}"
