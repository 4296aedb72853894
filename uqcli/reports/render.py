"""Reports as terminal text, JSON, Markdown and HTML, and the choice of a form by file name."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from uqcli.document import Document, HeadCard, Report, Table, Verdict, short_names
from uqcli.errors import UsageError
from uqcli.files import is_stdin
from uqcli.reports.checks import CheckResult, checks_table
from uqcli.reports.failure import Failure, up_metric
from uqcli.reports.figures import can_draw, to_svg
from uqcli.reports.junit import to_junit
from uqcli.reports.page.page import to_html
from uqcli.reports.prometheus import to_prometheus
from uqcli.reports.provenance import Provenance
from uqcli.running.remarks import cautions, doubts, remarks, suspicions
from uqcli.visible import is_acting, visible

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod
    from rich.table import Table as RichTable

_PIPE_WIDTH = 1000

PAGES: Final = frozenset({".html", ".md"})
"""Forms for people, with figures and provenance."""

_REPORT_SUFFIXES: Final = (".html", ".md", ".json", ".xml", ".prom")


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """Provenance, checks and failure of a run, for the files of a report.

    Attributes
    ----------
    failure
        Error of the run; None if there is a result.
    heading
        Title of pages that the user chose; empty for the report's own.
    step
        Next step, as on a terminal; empty if there is none.
    """

    provenance: Provenance
    checks: Sequence[CheckResult] = ()
    failure: Failure | None = None
    heading: str = ""
    step: str = ""


_TABLE_LINES: Final = 8
"""Most lines of a table on a terminal, without its header."""

_SCREEN_LINES: Final = 16
"""Most lines of a report on a terminal; the last tables are shortened to fit."""


def to_terminal(document: Document, stream: TextIO, *, end: str = "", verbose: bool = False) -> None:
    """Print a document on one screen, with the colours and the width of the terminal, if it is one.

    rich receives texts, never markup, since names from the data may look like markup.

    Parameters
    ----------
    end
        Last line: written files and the next command.
    verbose
        Whether to print details, all cautions and whole tables.
    """
    from rich.console import Console

    console = Console(
        file=stream,
        width=None if stream.isatty() else _PIPE_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )
    tables = [
        table if verbose else table.brief or table for table in document.tables if verbose or not table.detail
    ]
    all_cautions = [*cautions(), *document.cautions, *suspicions(), *_repeated_doubts()]
    more = f" (and {len(all_cautions) - 1} more: --verbose)" if len(all_cautions) > 1 and not verbose else ""
    last_lines = [
        f"Caution: {sentence}{more}" for sentence in (all_cautions if verbose else all_cautions[:1])
    ]
    last_lines += [*document.notes, *remarks(), *document.live] if verbose else []
    last_lines += [end] if end else []
    lines = [len(table.rows) if verbose else min(len(table.rows), _TABLE_LINES) for table in tables]
    text = _printed(console, document, list(zip(tables, lines, strict=True)), last_lines)
    for index in [] if verbose else range(len(tables) - 1, -1, -1):
        excess = min(text.count("\n") - _SCREEN_LINES, lines[index] - 2)
        if excess > 0:
            lines[index] -= excess
            text = _printed(console, document, list(zip(tables, lines, strict=True)), last_lines)
    stream.write(text)


def _printed(
    console: Console, document: Document, tables: Sequence[tuple[Table, int]], last_lines: Sequence[str]
) -> str:
    """Lay out the title, the lead, tables with their most lines, and further sentences."""
    from rich.text import Text

    with console.capture() as capture:  # the console would exit by itself on a closed pipe
        console.print(Text(visible(document.title), style="bold"))
        for sentence in document.lead:
            console.print(Text(visible(sentence)))
        for table, lines in tables:
            console.print(_rich_table(table, lines))
        for sentence in last_lines:
            console.print(Text(visible(sentence)))
    return "\n".join(line.rstrip() for line in capture.get().split("\n"))


def _rich_table(table: Table, max_lines: int) -> RichTable:
    from rich.table import Table as RichTable
    from rich.text import Text

    title = Text(visible(table.title)) if table.title else None
    head = any(table.header)
    rich_table = RichTable(
        title=title, title_justify="left", box=None, show_header=head, header_style="bold", pad_edge=False
    )
    for column, name in enumerate(table.header):
        justify: JustifyMethod = "left" if table.is_text(column) else "right"
        rich_table.add_column(Text(visible(name)), justify=justify, overflow="fold")
    rows = table.rows if len(table.rows) <= max_lines else table.rows[: max_lines - 1]
    for row in rows:
        rich_table.add_row(*(Text(visible(cell)) for cell in row))
    if len(rows) < len(table.rows):
        rich_table.add_row(f"... {len(table.rows) - len(rows)} more")
    return rich_table


def to_json(report: Report, failure: Failure | None = None) -> str:
    """Format a report as one indented JSON object; escape characters that act on a terminal."""
    listed = [*cautions(), *suspicions()]
    more: dict[str, Any] = {"cautions": listed} if listed else {}
    if by_rule := doubts():
        more["doubts"] = [
            sentence if len(by_rule) == 1 else f"{name}: {sentence}"
            for name, sentences in by_rule.items()
            for sentence in sentences
        ]
    if failure is not None:
        more["error"] = failure.payload()
    text = json.dumps({**report.payload(), **more}, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    if text.replace("\n", "").isprintable():
        return text
    return "".join(
        _json_escape(character) if character != "\n" and is_acting(character) else character
        for character in text
    )


def _repeated_doubts() -> list[str]:
    """State the doubts about the rules that the run uses."""
    return [
        f"{name} was made with a doubt: {sentence}"
        for name, sentences in doubts().items()
        for sentence in sentences
    ]


def _json_escape(character: str) -> str:
    return json.dumps(character)[1:-1]


def to_markdown(document: Document, made_from: Table | None = None, heading: str = "") -> str:
    """Render a report as Markdown under a title of the user's, if any, with its provenance at the end."""
    buffer = io.StringIO()
    buffer.write(f"# {_plain(heading or document.title)}\n")
    listed_cautions = [f"Caution: {sentence}" for sentence in document.cautions]
    answer = [document.title] if heading else []
    for note in (*answer, *document.lead, *listed_cautions, *document.notes):
        buffer.write(f"\n{_paragraph(note)}\n")
    for table in document.tables:
        buffer.write(_markdown_table(table))
    for figure in document.figures:
        picture = base64.b64encode(to_svg(figure).encode()).decode()
        buffer.write(f"\n![{_plain(figure.title)}](data:image/svg+xml;base64,{picture})\n")
        buffer.write(f"\n{_paragraph(figure.caption)}\n")
    buffer.write(_markdown_table(made_from) if made_from else "")
    return buffer.getvalue()


def _markdown_table(table: Table) -> str:
    aligned = [":--" if table.is_text(column) else "--:" for column in range(len(table.header))]
    lines = [map(_plain, table.header), aligned, *(map(_plain, row) for row in table.rows)]
    title = f"\n## {_plain(table.title)}\n" if table.title else ""
    return title + "".join(f"\n| {' | '.join(line)} |" for line in lines) + "\n"


_MARKDOWN: Final = re.compile(
    r"""[\\`*|]                    # escapes, code, emphasis, columns
    | (?<![^\W_])_ | _(?![^\W_])  # emphasis by underscores, but not inside a word
    | ~(?=~) | (?<=~)~             # struck out
    | <(?=[a-z/!?]) | &(?=[\#a-z])  # HTML
    | (?<=\])[(\[]                 # links
    | \$(?=\S)                     # formulas
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BLOCK_START: Final = re.compile(r"\s*(?:[#>]|(?:[-+=]|\d+[.)])(?=\s|$))")
"""Beginnings of headings, quotes and lists."""


def _plain(text: str) -> str:
    """Escape Markdown; brackets and signs without a meaning in their place stay unescaped."""
    return _MARKDOWN.sub(r"\\\g<0>", visible(text))


def _paragraph(text: str) -> str:
    """Escape a paragraph, so that it begins no heading, quote or list."""
    match = _BLOCK_START.match(text)
    if match is None:
        return _plain(text)
    sign = match.end() - 1
    return f"{text[:sign]}\\{text[sign]}{_plain(text[match.end() :])}"


def to_file_format(report: Report, name: str, context: RunContext) -> str:
    """Render a report in the form of its file name.

    Raises
    ------
    UsageError
        The name has no known ending.
    """
    command = context.provenance.command
    match check_report_name(name):
        case ".json":
            return to_json(report, context.failure)
        case ".xml":
            rules, inputs = context.provenance.rules, context.provenance.inputs
            made_from = {f"digest that {name} states": digest for name, digest in rules.items()}
            made_from |= {f"SHA-256 of {name}": digest for name, digest in inputs.items()}
            return to_junit(command, report.document(), context.checks, context.failure, made_from)
        case ".prom":
            head = up_metric(command, is_up=context.failure is None)
            return head + to_prometheus(command, report.checked_metrics, context.provenance.rules)
        case page:
            return _page(report, page, context)


def _page(report: Report, suffix: str, context: RunContext) -> str:
    document, made_from = report.document(), context.provenance.table(report.payload())
    figures = [figure for figure in document.figures if figure.required or can_draw()]
    tables = [*document.tables, *([checks_table(context.checks)] if context.checks else [])]
    failed = [check.in_words for check in context.checks if check.fails]
    is_unsaved = context.provenance.unwritten and not failed and context.failure is None
    unsaved = ["No rule was saved: run again with --output FILE to save it."] if is_unsaved else []
    document = replace(
        document,
        title=f"{document.title}: check failed" if failed else document.title,
        lead=(
            *failed,
            *(f"If it had passed: {sentence}" if failed else sentence for sentence in document.lead),
            *_failed(document, context.failure),
        ),
        cautions=(*cautions(), *document.cautions, *suspicions(), *_repeated_doubts()),
        notes=(*document.notes, *unsaved, *remarks()),
        card=_card(document, context, failed=bool(failed)),
        figures=figures,
        tables=tables,
    )
    if suffix == ".md":
        return to_markdown(document, made_from, context.heading)
    line = context.provenance.line
    provenance = context.provenance
    names = {
        "inputs": _listed(provenance.files),
        "rules": _listed(tuple(provenance.digests)),
        "output": provenance.rows_to or "standard output",
    }
    return to_html(document, made_from, heading=context.heading, line=line, step=context.step, names=names)


def _listed(names: Sequence[str]) -> str:
    """List the first file names without their folders; empty if there are none."""
    shown = ["standard input" if is_stdin(name) else name for name in short_names(names[:_MAX_LISTED])]
    more = [f"{len(names) - _MAX_LISTED} more"] if len(names) > _MAX_LISTED else []
    return ", ".join([*shown, *more])


_MAX_LISTED: Final = 3
"""Most file names at the head of a page."""


def _card(document: Document, context: RunContext, *, failed: bool) -> HeadCard:
    """Return the head of a page; a failed check or run is its verdict."""
    card = document.card or HeadCard(title=document.title)
    if failed:
        return replace(card, verdict=Verdict(text="check failed", tone="bad"))
    if context.failure is not None and card.verdict is None:
        return replace(card, verdict=Verdict(text="failed", tone="bad"))
    return card


def _failed(document: Document, failure: Failure | None) -> list[str]:
    """Return the error of the run, unless the page states it already."""
    text = " ".join(document.sentences())
    return [] if failure is None or failure.found in text else [f"Failed: {failure}."]


def check_report_name(name: str) -> str:
    """Return the suffix of a report file.

    Raises
    ------
    UsageError
        No form of a report has this suffix.
    """
    suffix = Path(name).suffix.lower()
    if suffix not in _REPORT_SUFFIXES:
        raise UsageError(f"--report '{name}' has no known ending", expected=" or ".join(_REPORT_SUFFIXES))
    return suffix
