"""Reports as terminal text, JSON, Markdown and HTML."""

from __future__ import annotations

import base64
import html
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from uqcli.errors import UsageError
from uqcli.files import is_stdin
from uqcli.reports.document import Document, Report, Table, count
from uqcli.reports.figures import to_svg

if TYPE_CHECKING:
    from rich.table import Table as RichTable

_PIPE_WIDTH = 1000


def to_terminal(document: Document, stream: TextIO) -> None:
    """Print a document; colours and width follow the terminal, if it is one."""
    from rich.console import Console

    console = Console(file=stream, width=None if stream.isatty() else _PIPE_WIDTH, highlight=False)
    with console.capture() as capture:  # the console would exit by itself on a closed pipe
        console.print(document.title, style="bold", markup=False)
        for sentence in document.lead:
            console.print(sentence, markup=False)
        for table in document.tables:
            console.print(_rich_table(table))
        for note in (*document.notes, *document.live):
            console.print(note, markup=False)
    stream.write(capture.get())


def _rich_table(table: Table) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable

    shown = RichTable(title=table.title or None, title_justify="left", box=box.SIMPLE_HEAD)
    for at, name in enumerate(table.header):
        shown.add_column(name, justify="left" if at < table.left else "right", overflow="fold")
    for row in table.rows:
        shown.add_row(*(_literal(cell) for cell in row))
    return shown


def _literal(cell: str) -> str:
    from rich.markup import escape

    return escape(cell)


def to_json(report: Report) -> str:
    """One JSON object, indented."""
    return json.dumps(report.payload(), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def to_markdown(document: Document) -> str:
    """A Markdown page."""
    out = io.StringIO()
    out.write(f"# {document.title}\n")
    for note in (*document.lead, *document.notes):
        out.write(f"\n{note}\n")
    for table in document.tables:
        out.write(f"\n## {table.title}\n" if table.title else "")
        aligned = [":--" if at < table.left else "--:" for at in range(len(table.header))]
        for row in (table.header, aligned, *table.rows):
            cells = " | ".join(cell.replace("|", "\\|") for cell in row)
            out.write(f"\n| {cells} |")
        out.write("\n")
    for figure in document.figures:
        picture = base64.b64encode(to_svg(figure).encode()).decode()
        out.write(f"\n![{figure.title}](data:image/svg+xml;base64,{picture})\n")
    return out.getvalue()


def to_html(document: Document) -> str:
    """A self-contained HTML page."""
    body = "".join(_html_table(table) for table in document.tables)
    notes = "".join(f"<p>{html.escape(note)}</p>\n" for note in (*document.lead, *document.notes))
    figures = "".join(
        f'<figure role="img" aria-label="{html.escape(figure.title)}">\n{to_svg(figure)}\n</figure>\n'
        for figure in document.figures
    )
    title = html.escape(document.title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<h1>{title}</h1>\n{notes}{figures}{body}</body>\n</html>\n"
    )


def _html_table(table: Table) -> str:
    head = "".join(_html_cell("th", name, at, table.left) for at, name in enumerate(table.header))
    rows = "".join(
        "<tr>" + "".join(_html_cell("td", cell, at, table.left) for at, cell in enumerate(row)) + "</tr>\n"
        for row in table.rows
    )
    title = f"<h2>{html.escape(table.title)}</h2>\n" if table.title else ""
    return f"{title}<table>\n<tr>{head}</tr>\n{rows}</table>\n"


def _html_cell(tag: str, text: str, at: int, left: int) -> str:
    side = "" if at < left else ' class="n"'
    return f"<{tag}{side}>{html.escape(text)}</{tag}>"


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}"
    "h1{font-size:1.5rem}h2{font-size:1.15rem}table{border-collapse:collapse;margin:1rem 0}"
    "th,td{padding:.35rem .9rem;border-bottom:1px solid #ddd;text-align:left}"
    "figure{margin:1.5rem 0}svg{max-width:100%;height:auto}"
    ".n{text-align:right;font-variant-numeric:tabular-nums}th{border-bottom:2px solid #888}"
)


def to_file_format(report: Report, name: str, files: Sequence[str] = ()) -> str:
    """A report in the form its file name asks for.

    Parameters
    ----------
    files
        The data files it was made from: pages name them.

    Raises
    ------
    UsageError
        The name ends in none of .json, .md, .html.
    """
    suffix = check_report_name(name)
    if suffix == ".json":
        return to_json(report)
    document = report.document()
    document = replace(document, notes=(*document.notes, *_files_read(files)))
    return to_markdown(document) if suffix == ".md" else to_html(document)


def _files_read(files: Sequence[str]) -> list[str]:
    """How many files were read, the first and the last."""
    if len(files) > 1:
        return [f"Read {count(len(files))} files: '{files[0]}' to '{files[-1]}'."]
    return ["Read standard input." if is_stdin(name) else f"Read '{name}'." for name in files]


def check_report_name(name: str) -> str:
    """Suffix of a report file.

    Raises
    ------
    UsageError
        It is none of .json, .md, .html.
    """
    suffix = Path(name).suffix.lower()
    if suffix not in (".json", ".md", ".html"):
        raise UsageError(f"--report '{name}' has no known ending", expected=".json, .md or .html")
    return suffix
