"""Reports as Markdown pages."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote as url_quote

from uqcli.base.wording import capitalised, visible
from uqcli.reports.format import Failure, Format, RunContext

if TYPE_CHECKING:
    from uqcli.reports.document import Document, Report, Table


def to_markdown(document: Document, made_from: Table | None = None, heading: str = "", plot: str = "") -> str:
    """Render a report as Markdown under a title of the user's, if any, with its provenance at the end.

    Figures are left out, since code hosts strip what is embedded; ``plot`` is the file of one, to link to.
    """
    buffer = io.StringIO()
    buffer.write(f"# {_plain(heading or document.title)}\n")
    listed_cautions = [f"Caution: {capitalised(sentence)}" for sentence in document.cautions]
    answer = [document.title] if heading else []
    for note in (*answer, *document.lead, *listed_cautions, *document.notes):
        buffer.write(f"\n{_paragraph(note)}\n")
    for table in document.tables:
        buffer.write(_markdown_table(table))
    for figure in document.figures[:1] if plot else ():
        shown = "" if plot.lower().endswith(".pdf") else "!"
        buffer.write(f"\n{shown}[{_plain(figure.title)}]({url_quote(plot)})\n")
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


def _render(report: Report, context: RunContext) -> str:
    from uqcli.reports.page import page_content

    return to_markdown(*page_content(report, context), context.heading, context.plot)


def _failed(failure: Failure) -> str:
    return f"# {_escaped(failure.title)}\n\nError (exit code {failure.exit_code}): {_escaped(str(failure))}\n"


def _escaped(text: str) -> str:
    """Escape every sign that may have a meaning, wherever it stands."""
    return "".join(
        f"\\{character}" if character in "\\`*_|<>[]#&~$" else character for character in visible(text)
    )


FORMAT: Final = Format(render=_render, failed=_failed, is_page=True, needs_digests=True, needs_rules=True)
