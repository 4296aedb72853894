"""Write the results of a job: its rules or rows unless a check failed, then its reports, each atomically."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from uqcli.base.choices import EngineName
from uqcli.base.defaults import MAX_RULE_BYTES
from uqcli.base.errors import GateError, UsageError, words
from uqcli.base.files import AT_ONCE, STDIO, AtOnce, InMemory, OutputQueue, is_stdin, is_stdout
from uqcli.base.operating_system import join, quote, split
from uqcli.base.wording import printable
from uqcli.jobs.delivery import Delivery, Ending, FailedEnding
from uqcli.jobs.inputs import Reads, check_conflicts
from uqcli.jobs.options import RULE_ENDING, ReportOptions, RunOptions
from uqcli.jobs.shell import current_line, refuse_typed, shell
from uqcli.reports.document import Metrics, Report
from uqcli.reports.format import MAX_NAMED, Failure, Format, FormatOfSamples, RunContext, RunFiles
from uqcli.stores.output import can_queue, check_writable, open_output, read_bytes, write_bytes

if TYPE_CHECKING:
    from uqcli.reports.document import Document
    from uqcli.rules.result import Result
    from uqcli.rules.saved import Saved


_MAX_BYTES: Final = 2**30
"""Largest file that is read only for its digest; this takes about a second."""

PLACEHOLDER: Final = "{}"
"""Placeholder in an output's name for the bound of each of several boundaries."""


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
    artifact: str | None = None,
) -> RunContext:
    """Refuse impossible outputs before the run starts; return the command line and the inputs, for pages.

    ``metrics`` are those that checks may name, if known before the run. ``has_figures`` says that pages of
    the report always have figures, so that matplotlib is required at once. ``artifact`` is the rule whose
    results are reported, if there is one. From here on the reports of samples say that a run goes on.
    """
    from uqcli.reports.figures import check_plot_name, require_drawing
    from uqcli.reports.formats import format_of

    results, reports = output if isinstance(output, tuple) else (output,), options.report
    outputs = [name for name in (*results, *reports, plot, table) if name is not None]
    formats = [format_of(report) for report in reports]
    of_samples = _labels_of_samples(artifact, options, formats)
    shell().label(of_samples)
    is_local = running.engine is EngineName.POLARS
    files = reads.files() if is_local else reads.tables
    check_conflicts(reads, files, outputs, running)
    if STDIO in results and options.json:
        raise UsageError(words("-o - and --json both want standard output"), remedy="give -o FILE")
    _refuse_unused(formats, running)
    if plot is not None:
        check_plot_name(plot)
    if plot is not None or (has_figures and any(form.is_page for form in formats)):
        require_drawing()
    shell().check_streams(results[0], options, to_files=bool(outputs))
    by_cluster = () if is_local or not rows else (output,)  # which checks where it writes
    for name in outputs:
        if name not in by_cluster:
            check_writable(name)
    _check_gates(options, metrics)
    shell().begin(STDIO if rows and results[0] is None else results[0], options)
    return _context(reads, files, formats, of_samples)


def _refuse_unused(formats: Sequence[Format], running: RunOptions) -> None:
    """Refuse typed options for reports or engines that this run has not."""
    if not any(form.is_page for form in formats):
        refuse_typed(("title",), "without a page to head", words("--report FILE.html or FILE.md"))
    if not _have_samples(formats):
        refuse_typed(("tag",), "without samples to label", words("--report FILE.prom"))
    if running.engine is not EngineName.SPARK:
        refuse_typed(("spark",), words("is given without --engine spark"), remedy=words("add --engine spark"))


def _have_samples(formats: Iterable[Format]) -> bool:
    return any(isinstance(form, FormatOfSamples) for form in formats)


def _check_gates(options: ReportOptions, metrics: Metrics | None) -> None:
    """Refuse checks that cannot be parsed, or name no metric as far as the metrics are known."""
    from uqcli.reports.checks import apply_checks, parse_check
    from uqcli.reports.rows_read import SHARE

    checks = [parse_check(check) for check in options.fail_if]
    if metrics is not None:
        apply_checks(checks, {"": {**metrics, SHARE: None}})


def _context(
    reads: Reads, files: tuple[str, ...], formats: Sequence[Format], labels: tuple[tuple[str, str], ...]
) -> RunContext:
    """Return the command line and the inputs, with the digests that some format shows."""
    command, line, configured = current_line()
    needs_digests = any(form.needs_digests for form in formats)
    of_inputs = [*(files if len(files) <= MAX_NAMED else ()), *reads.labels]
    return RunContext(
        command=command,
        line=line,
        configured=configured,
        files=RunFiles(
            inputs=files,
            digests=_digests_of(reads.rules) if needs_digests else {},
            rules=_stated_digests(reads.rules) if any(form.needs_rules for form in formats) else {},
            hashed=_digests_of(of_inputs) if needs_digests else {},
        ),
        labels=labels,
    )


def _labels_of_samples(
    artifact: str | None, options: ReportOptions, formats: Iterable[Format]
) -> tuple[tuple[str, str], ...]:
    if not _have_samples(formats):
        return ()
    from uqcli.reports.formats.prometheus import parse_tags

    return (*(() if artifact is None else (("artifact", artifact),)), *parse_tags(options.tag))


def _stated_digest(content: bytes) -> str | None:
    """Return the digest that a rule file states; None if there is none."""
    import json

    with suppress(ValueError, RecursionError):
        saved = json.loads(content)
        digest = saved.get("digest") if isinstance(saved, dict) else None
        return digest if isinstance(digest, str) else None
    return None


def _is_file(name: str) -> bool:
    """Whether a name is that of a regular file."""
    return not (isinstance(name, InMemory) or is_stdin(name)) and Path(name).is_file()


def _stated_digests(names: Iterable[str]) -> dict[str, str]:
    """Return the digests that rule files state, by file name; only regular files can be read twice."""
    rules: dict[str, str] = {}
    for name in names:
        with suppress(OSError, ValueError):
            if _is_file(name):
                digest = _stated_digest(read_bytes(name, MAX_RULE_BYTES))
                rules |= {} if digest is None else {name: digest}
    return rules


def _digests_of(names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of regular files of moderate size by file name; unreadable ones fail when read."""
    from hashlib import file_digest

    digests = {}
    for name in names:
        with suppress(OSError, ValueError):
            if _is_file(name) and Path(name).stat().st_size <= _MAX_BYTES:
                with Path(name).open("rb") as stream:
                    digests[name] = file_digest(stream, "sha256").hexdigest()
    return digests


def deliver(
    result: Result[Report, Saved | None],
    options: ReportOptions,
    *,
    context: RunContext,
    output: str | None = None,
    queue: AtOnce = AT_ONCE,
    plot: str | None = None,
    table: str | None = None,
    warnings: Sequence[str] = (),
) -> None:
    """Write the rule or rows and the reports; no rule or rows if the job or a check failed.

    The queue of written rows is committed here if nothing failed. The job has written a further ``table``
    itself. ``warnings`` are cautions for a terminal's standard error, unless the printed table has them. A
    failed check raises GateError after the reports are written; an old rule or file of rows stays.
    """
    from uqcli.rules.codec import encode

    shell().end()
    saved = {name: encode(model) for name, model in _rules_to_save(result, output).items()}
    ending = _ending_of(result, options, context.command)
    stopped = ending.is_stopped
    is_fitted = bool(result.artifact or result.several)
    all_files = _with_outputs(
        context.files, saved, is_fitted=is_fitted, stopped=stopped, is_state=context.command == "watch"
    )
    files = [] if stopped else _file_names(*saved, all_files.rows_to, table or "")
    context = replace(context, files=all_files)
    context = replace(context, checks=ending.checks, failures=ending.errors, heading=options.title)

    @cache
    def composed() -> tuple[Document, str]:
        document = ending.report.document()
        step = _step(document, result, context, files, stopped=stopped)
        return document, _like_the_inputs(step, context)

    delivery = Delivery(
        result=result,
        ending=ending,
        options=options,
        context=context,
        output=output,
        warnings=warnings,
        compose=composed,
    )
    reports = _report_files(delivery, options.report, plot)
    _write({} if stopped else saved, reports, rows=AT_ONCE if stopped else queue)
    written = [name for name in files if not isinstance(name, InMemory)]
    written += _file_names(*(name for name, _ in reports))
    shell().deliver(
        replace(
            delivery,
            wrote=f"Wrote {', '.join(written)}." if written else "",
            older=_older_file(output) if stopped else "",
        )
    )
    if result.failure is not None:
        raise result.failure
    if ending.failed:
        raise GateError(ending.failed)


def _ending_of(result: Result[Report, Saved | None], options: ReportOptions, command: str) -> Ending:
    from uqcli.base.running.messages import rows_left_out
    from uqcli.reports.checks import apply_checks, parse_check
    from uqcli.reports.rows_read import with_rows_read

    report = with_rows_read(result.report, rows_left_out())
    checks = apply_checks([parse_check(text) for text in options.fail_if], report.checked_metrics)
    if result.failure is None or result.saved_though_failed:  # an alarm: its state is saved
        return Ending(report=report, checks=checks)
    return FailedEnding(report=report, checks=checks, failure=Failure.from_error(command, result.failure))


def _file_names(*names: str) -> list[str]:
    return [name for name in names if name not in ("", STDIO)]


def _older_file(output: str | None) -> str:
    """State that a failed run left an older output as it was, lest it be taken for this run's."""
    if output is None or not can_queue(output) or not os.path.exists(output):  # noqa: PTH110  any bytes
        return ""
    return f"{printable(output)} was left as it was: it holds the result of an earlier run."


def _write(saved: Mapping[str, bytes], reports: Sequence[tuple[str, bytes]], *, rows: AtOnce) -> None:
    """Write all files, then rename them into place, reports last."""
    with OutputQueue() as models, OutputQueue(has_reports=True) as pages:
        direct = [
            [file for file in files if not queued(file, queue)]
            for files, queue in ((saved.items(), models), (reports, pages))
        ]
        for outputs, streams in ((rows, []), (models, direct[0]), (pages, direct[1])):
            outputs.commit()
            for name, content in streams:
                write_bytes(name, content)


def queued(file: tuple[str, bytes], queue: OutputQueue) -> bool:
    """Write a file to a queue; return False for streams and devices, which cannot be queued."""
    name, content = file
    if not can_queue(name):
        return False
    with open_output(name, queue) as stream:
        stream.write(content)
    return True


def deliver_rows(
    result: Result[Report, Saved | None],
    options: ReportOptions,
    *,
    context: RunContext,
    output: str | None,
    queue: OutputQueue,
    warnings: Sequence[str] = (),
) -> None:
    """Deliver a result whose output is rows; pages name the file of rows.

    If the rows go to standard output by default, no table is printed. Warnings are printed nevertheless.
    """
    quiet_options = replace(options, quiet=True) if output is None else options
    deliver(
        result,
        quiet_options,
        context=replace(context, files=replace(context.files, rows_to=output or "")),
        output=output,
        queue=queue,
        warnings=() if options.quiet else warnings,
    )


def _rules_to_save(result: Result[Report, Saved | None], output: str | None) -> dict[str, Saved]:
    """Return the rules to save, by file name."""
    if output is None:
        return {}
    rules_by_name = {output.replace(PLACEHOLDER, text): model for text, model in result.several.items()}
    return rules_by_name if result.artifact is None else {output: result.artifact, **rules_by_name}


def _with_outputs(
    files: RunFiles, saved: Mapping[str, bytes], *, is_fitted: bool, stopped: bool, is_state: bool
) -> RunFiles:
    """Add the rules and rows to be written, or the reason why none is written."""
    from hashlib import sha256

    if stopped and (is_fitted or files.rows_to):
        return replace(files, rows_to="", unwritten="none was written: the run failed")
    if is_fitted and not saved:
        return replace(files, unwritten="none was written: --output was not given")
    names = {name: "standard output" if is_stdout(name) else name for name in saved}
    outputs = {} if stopped else {names[name]: content for name, content in saved.items()}
    written = {name: sha256(content).hexdigest() for name, content in outputs.items()}
    rules = {name: _stated_digest(content) or "" for name, content in outputs.items()}
    state = next(iter(rules), "") if is_state else ""
    return replace(files, digests={**files.digests, **written}, rules={**files.rules, **rules}, state=state)


def _report_files(delivery: Delivery, names: Sequence[str], plot: str | None) -> list[tuple[str, bytes]]:
    """Render the requested reports and figure; return their names and contents."""
    from uqcli.reports.formats import format_of

    report, files = delivery.ending.report, []
    for name in names:
        _, step = delivery.compose()
        place = "" if plot is None else _as_seen_from(name, plot)
        beside = replace(delivery.context, report=name, plot=place, step=step)
        files.append((name, format_of(name).render(report, beside).encode("utf-8", "backslashreplace")))
    if plot is not None:
        from uqcli.reports.figures import rendered

        files.append((plot, rendered(report, plot)))
    return files


def _as_seen_from(report: str, plot: str) -> str:
    """Return the path of a figure relative to the folder of a report; as it is if one is elsewhere."""
    if STDIO in {report, plot} or "://" in report + plot:
        return plot
    return Path(os.path.relpath(plot, Path(report).parent)).as_posix()


def write_report(delivery: Delivery, name: str) -> None:
    """Write the report of a run that is over into one more file."""
    _write({}, _report_files(delivery, [name], None), rows=AT_ONCE)


def write_plot(delivery: Delivery, name: str) -> None:
    """Write the figure of a run that is over."""
    from uqcli.reports.figures import save_figure

    save_figure(delivery.ending.report, name)


_EXAMPLE: Final = re.compile(r"\b(TEST|NEW|CALIBRATION)\.(?:csv|parquet)\b")
"""File of other rows that a next command names."""

_READING: Final = ("--format", "--delimiter", "--decimal", "--null-value", "--on-invalid")
"""Options of reading that every such command takes, and that no rule file keeps."""


def _like_the_inputs(step: str, context: RunContext) -> str:
    """Let a next command read a file that is written as the first input, with the options that were typed."""
    example = _EXAMPLE.search(step)
    if example is None:
        return step
    from uqcli.engines.inputs import FILE_ENDINGS

    ending = PurePath(context.files.inputs[0]).suffix.lower() if context.files.inputs else ""
    name = f"{example[1]}{ending}" if ending in FILE_ENDINGS else example[0]
    line = split(step[example.end() :]) if "uqcli " in step else []
    typed = [
        word
        for option, value in pairwise(split(context.line))
        if option in _READING and option not in line
        for word in (option, value)
    ]
    reading = f" {join(typed)}" if typed and step.startswith("Next: uqcli ") else ""
    return f"{step[: example.start()]}{name}{reading}{step[example.end() :]}"


def _step(
    document: Document,
    result: Result[Report, Saved | None],
    context: RunContext,
    written: Sequence[str],
    *,
    stopped: bool,
) -> str:
    """Return the command to run next, or the option that saves the rule; empty if neither applies."""
    template, action = document.next, document.head.action
    said = [document.title, *document.lead]
    unwritten = context.files.unwritten
    saves_first = result.several and unwritten  # the action is about rules that were saved
    is_new = not any(action in sentence for sentence in said)
    if action and not stopped and not template and is_new and not saves_first:
        return f"Next: {action}"
    if unwritten:
        saved = {"bin": "grid", "calibrate": "calibrator"}.get(context.command, "rule")
        name = f"-{PLACEHOLDER}.json to save them" if result.several else f".json to save the {saved}"
        is_of_use = template or result.several or context.command == "bin"
        return "" if stopped or not is_of_use else f"Next: add -o {context.command}{name}."
    if not template or ("{rule}" in template and not written):
        return ""
    if template.startswith("evaluate {rule}") and not written[0].lower().endswith(RULE_ENDING):
        return f"Next: rename it to {written[0]}{RULE_ENDING}, by which evaluate knows rules."
    rule = quote(written[0]) if written else ""
    return f"Next: uqcli {template.replace('{rule}', rule)}"
