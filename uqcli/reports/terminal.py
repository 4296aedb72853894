"""Reports as text on a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TextIO

from uqcli.base.running.memory import memory_notes
from uqcli.base.running.messages import remarks, said
from uqcli.base.wording import capitalised, visible
from uqcli.reports.document import Document, Table

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod
    from rich.table import Table as RichTable

_PIPE_WIDTH = 1000

_TABLE_LINES, _LEAST_LINES = 8, 2
"""Most lines of a table on a terminal, without its header, and of one that has to make room."""


def to_terminal(
    document: Document, stream: TextIO, *, end: str = "", verbose: bool = False, titled: bool = True
) -> None:
    """Print a document on one screen, with the colours and the width of the terminal, if it is one.

    The last tables are shortened to fit, unless details, all cautions and whole tables are asked for. ``end``
    is the last line: written files and the next command. A document is not ``titled`` if an error has said
    its title. rich receives texts, never markup, since names from the data may look like markup.
    """
    from rich.console import Console

    document = document.shortened()
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
    all_cautions = said().notices(document.cautions)
    more = f" ({len(all_cautions) - 1} more with --verbose)" if len(all_cautions) > 1 and not verbose else ""
    last_lines = [
        f"Caution: {capitalised(sentence)}{more}"
        for sentence in (all_cautions if verbose else all_cautions[:1])
    ]
    last_lines += [*document.notes, *remarks(), *document.terminal.live, *memory_notes()] if verbose else []
    last_lines += [end] if end else []
    last_lines += [f"{purpose}: uqcli {command}" for purpose, command in document.terminal.others]
    first = [(sentence, "") for sentence in document.lead]
    first = [(document.title, "bold"), *first] if titled else first
    lines = [len(table.rows) if verbose else min(len(table.rows), _TABLE_LINES) for table in tables]
    text = _printed(console, first, list(zip(tables, lines, strict=True)), last_lines)
    for index in [] if verbose else range(len(tables) - 1, -1, -1):
        # a row may fold into several lines
        while text.count("\n") > document.terminal.lines and lines[index] > _LEAST_LINES:
            lines[index] -= 1
            text = _printed(console, first, list(zip(tables, lines, strict=True)), last_lines)
    stream.write(text)


def _printed(
    console: Console,
    first: Sequence[tuple[str, str]],
    tables: Sequence[tuple[Table, int]],
    last_lines: Sequence[str],
) -> str:
    """Lay out first sentences in their styles, tables with their most lines, and further sentences."""
    from rich.text import Text

    with console.capture() as capture:  # the console would exit by itself on a closed pipe
        for sentence, style in first:
            console.print(Text(visible(sentence), style=style))
        for table, lines in tables:
            console.print(_rich_table(table, lines))
        for sentence in last_lines:
            console.print(Text(visible(sentence)))
    return "\n".join(_RUNNER_COMMAND.sub(r"\1\\x3a", line.rstrip()) for line in capture.get().split("\n"))


_RUNNER_COMMAND: Final = re.compile(r"^(\s*):(?=:)")
"""Beginning of a line that CI runners take for a command; a line may begin with a name from the data."""


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
