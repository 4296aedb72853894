"""The page of a report: what it shows of the run, and its self-contained HTML."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

from uqcli.base.defaults import VERSION
from uqcli.base.files import is_stdin
from uqcli.base.operating_system import join, quote, split
from uqcli.base.running.messages import remarks, rows_by_input, said
from uqcli.base.wording import capitalised, count, rows_of, short_names
from uqcli.estimates.estimate import Estimate
from uqcli.reports.checks import checks_table
from uqcli.reports.document import (
    Document,
    Figure,
    HeadCard,
    OperatingPoint,
    OperatingPoints,
    Report,
    Table,
    Verdict,
)
from uqcli.reports.figures import can_draw, to_page_svg
from uqcli.reports.format import MAX_NAMED, Failure, RunContext, RunFiles, escaped, html_page

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Content security policy: nothing is loaded from outside the page."""

_SORTABLE_ROWS: Final = 3
_MANY_COLUMNS: Final = 8
"""Rows from which a table can be sorted; columns from which it is printed in small type."""

_SIGNS: Final = {"good": "✓ ", "fair": "! ", "bad": "✗ ", "neutral": ""}
"""Signs of verdicts, for print without colours."""


def to_html(
    document: Document,
    made_from: Table | None = None,
    *,
    heading: str = "",
    line: str = "",
    step: str = "",
    names: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Render a report as a self-contained HTML page, with its provenance at the end.

    The answer stands below a heading that the user chose. The command lines of other operating points are
    made from ``line``, that of the run, and ``names`` stand for files on the card.
    """
    card = document.head
    choice = operating_point_section(document, line)
    tables = [_shown(table) for table in document.tables if not table.detail]
    details = [table for table in document.tables if table.detail or _shown(table) is not table]
    lead = [] if card.states_lead else [text for text in document.lead if text != card.action]
    body = [
        _card(card, heading, document, step, names),
        "".join(f"<p>{_sentence(sentence)}</p>\n" for sentence in lead),
        choice,
        *(_figure(figure, number) for number, figure in enumerate(document.figures)),
        *map(_table, tables),
        _folded("Further cautions", _items([capitalised(sentence) for sentence in document.cautions[1:]])),
        _folded("Details", "".join(map(_table, details)) + _items(document.notes)),
        _folded(made_from.title, _table(made_from, titled=False)) if made_from else "",
    ]
    script = _asset("page.js")
    return html_page(
        heading or card.title,
        _asset("page.css"),
        f"<main>\n{''.join(body)}</main>\n",
        script=script,
        policy=f"{_POLICY}; script-src '{_hash_of(script)}'",
    )


def _shown(table: Table) -> Table:
    """Return the short form of a table if it has fewer rows; the details then have the whole table."""
    return table.brief if table.brief is not None and len(table.brief.rows) < len(table.rows) else table


_PLACEHOLDER: Final = re.compile(r"\{(inputs|rules|output)\}")


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8").strip()


def _hash_of(script: str) -> str:
    """Return the source expression that lets a browser run this script only."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _card(card: HeadCard, heading: str, document: Document, step: str, names: Mapping[str, str]) -> str:
    answer = f'<p class="answer">{escaped(card.title)}</p>\n' if heading else ""
    tone, badge = "neutral", ""
    if card.verdict is not None:
        tone = card.verdict.tone
        badge = f'<p class="badge {tone}">{_SIGNS[tone]}{escaped(card.verdict.text)}</p>\n'
    numbers = "".join(
        f"<div><dt>{escaped(number.label)}</dt><dd>{escaped(number.value)}"
        f"{f'<small>{escaped(number.interval)}</small>' if number.interval else ''}</dd></div>\n"
        for number in card.numbers
    )
    caution = f"<p>Caution: {_sentence(capitalised(document.cautions[0]))}</p>\n" if document.cautions else ""
    command = step.removeprefix("Next: ")
    if card.action and not (card.action.startswith("uqcli ") and command.startswith("uqcli ")):
        command = card.action
    known = "{" not in card.subject or all(names.get(name) for name in _PLACEHOLDER.findall(card.subject))
    subject = _PLACEHOLDER.sub(lambda name: names[name[1]], card.subject) if known else ""
    about = f'<p class="subject">{escaped(subject)}</p>\n' if subject else ""
    action = f"<code>{_sentence(command)}</code>" if command.startswith("uqcli ") else _sentence(command)
    numbers = f'<dl class="numbers">\n{numbers}</dl>\n' if numbers else ""
    next_step = f'<p class="action">Next: {action}</p>\n' if command else ""
    title = escaped(heading or card.title)
    return (
        f'<header class="card {tone}">\n<h1>{title}</h1>\n{answer}{about}{badge}{numbers}{caution}{next_step}'
        "</header>\n"
    )


def _folded(title: str, content: str) -> str:
    return f"<details>\n<summary>{escaped(title)}</summary>\n{content}</details>\n" if content else ""


def _items(sentences: Sequence[str]) -> str:
    items = "".join(f"<li>{_sentence(sentence)}</li>\n" for sentence in sentences)
    return f"<ul>\n{items}</ul>\n" if items else ""


def _figure(figure: Figure, position: int) -> str:
    """Render a figure wide and narrow; the page shows the one that fits its width."""
    shapes, has_values = "", False
    for name in ("wide", "narrow"):
        picture, frames = to_page_svg(figure, f"{name[0]}{position}-", narrow=name == "narrow")
        has_values |= 'class="values"' in picture
        chosen = f' data-frames="{escaped(json.dumps(frames))}"' if frames else ""
        shapes += (
            f'<div class="picture {name}" role="img" aria-label="{escaped(figure.title)}"{chosen}>\n'
            f"{picture}\n</div>\n"
        )
    pointed = '<output class="pointed"></output>\n' if has_values else ""
    caption = f"<figcaption>{escaped(figure.caption)}</figcaption>\n" if figure.caption else ""
    return f"<figure>\n{shapes}{pointed}{caption}</figure>\n"


def _sentence(text: str) -> str:
    """Escape a sentence, and keep the name of an option on one line."""
    return _OPTION.sub(r'<span class="o">\g<0></span>', escaped(text))


_OPTION: Final = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def _table(table: Table, *, titled: bool = True) -> str:
    has_head = any(table.header)
    head = f"<thead><tr>{_cells('th', table, table.header)}</tr></thead>\n" if has_head else ""
    rows = "".join(f"<tr>{_cells('td', table, row)}</tr>\n" for row in table.rows)
    title = f"<h2>{escaped(table.title)}</h2>\n" if table.title and titled else ""
    classes = ["sortable"] if has_head and len(table.rows) >= _SORTABLE_ROWS else []
    classes += ["many"] if len(table.header) >= _MANY_COLUMNS else []
    named = f' class="{" ".join(classes)}"' if classes else ""
    label = escaped(table.title or next(filter(None, table.header), "") or "Table")
    return (
        f'{title}<div class="scroll" tabindex="0" role="group" aria-label="{label}">\n'
        f"<table{named}>\n{head}<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )


def _cells(tag: str, table: Table, line: Sequence[str]) -> str:
    last = len(table.header) - 1
    cells = []
    for number, text in enumerate(line):
        name = ' class="n"' if not table.is_text(number) else ' class="w"' if number == last else ""
        kind = tag if text else "td"  # an empty header names nothing
        scope = ' scope="col"' if kind == "th" else ""
        cells.append(f"<{kind}{scope}{name}>{escaped(text)}</{kind}>")
    return "".join(cells)


def operating_point_section(document: Document, line: str) -> str:
    """Build the section, with command lines like that of the run; empty if there is no choice."""
    points = document.operating_points()
    if points is None:
        return ""
    pairs = [pair for family in points.families.values() for pair in family]
    header = ["alerts", "precision", "recall"]
    header += ["utility"] if any(rule.utility is not None for rule, _ in pairs) else []
    names = {"rule": "score and uncertainty", "single": "score alone"}
    if not any(single is not None for _, single in pairs):
        names = {"rule": "this rule"}
    options = "".join(f'<option value="{name}">{name}</option>' for name in points.families)
    columns = "".join(f'<th scope="col" class="n">{name}</th>' for name in header)
    cells = '<td class="n"></td>' * len(header)
    rows = "".join(
        f'<tr data-point="{key}"><th scope="row">{name}</th>{cells}</tr>\n' for key, name in names.items()
    )
    content = json.dumps(_content(points, line), ensure_ascii=True, allow_nan=False).replace("<", "\\u003c")
    return f"""<section id="operating-point" hidden>
<h2>Choose the operating point</h2>
<p>{escaped(points.caption)}</p>
<div class="choice">
<label>Choose by <select autocomplete="off">{options}</select></label>
<label>Rule with <output></output><input type="range" min="0" max="1" step="1" autocomplete="off"></label>
</div>
<div class="scroll" tabindex="0" role="group" aria-label="Operating point">
<table>
<thead><tr><td></td>{columns}</tr></thead>
<tbody>
{rows}</tbody>
</table>
</div>
<p>Command: <code></code></p>
<p>The slider changes this table and the yellow line; everything else stays as reported.</p>
<script type="application/json" id="operating-points">{content}</script>
</section>
"""


def _content(points: OperatingPoints, line: str) -> dict[str, Any]:
    families = {
        name: [
            {
                "amount": rule.option[1],
                "option": list(map(quote, rule.option)),
                "rule": _point(rule),
                "single": None if single is None else _point(single),
            }
            for rule, single in family
        ]
        for name, family in points.families.items()
    }
    return {
        "rows": points.rows,
        "families": families,
        "chosen": points.chosen,
        "command": _command(points, line),
    }


def _point(point: OperatingPoint) -> dict[str, Any]:
    return {
        "alerts": point.alerts,
        "precision": _rounded(point.precision),
        "recall": _rounded(point.recall),
        "utility": point.utility,
        "thresholds": point.thresholds,
    }


def _rounded(estimate: Estimate) -> list[float | None]:
    ends = (estimate.value, estimate.low, estimate.high)
    return [None if end is None else round(end, 5) for end in ends]


def _command(points: OperatingPoints, line: str) -> tuple[str, str]:
    """Return the parts of a command line before and after the option that is chosen."""
    words, kept = split(line), list[str]()
    position: int | None = None
    while words:
        word = words.pop(0)
        if word in points.dropped_flags:
            continue
        if word in points.dropped_options:
            words = words[1:]
            position = len(kept) if position is None else position
            continue
        kept.append(word)
    if len(kept) > 1:
        kept[1] = "boundary"  # whatever command drew the page
    start = min(2, len(kept)) if position is None else position
    settings = {} if "--grid" in kept else points.settings  # a saved grid sets its bins
    more = [word for pair in settings.items() for word in pair]
    return join(kept[:start]), join([*more, *kept[start:], "-o", "boundary.json"])


def page_content(report: Report, context: RunContext) -> tuple[Document, Table]:
    """Return the document of a page, with the run's checks, error and remarks, and its context."""
    document, made_from = report.document(), _made_from(context, report.payload())
    figures = [figure for figure in document.figures if figure.on_page and (figure.required or can_draw())]
    tables = [*document.tables, *([checks_table(context.checks)] if context.checks else [])]
    failed = [check.in_words for check in context.checks if check.fails]
    is_unsaved = context.files.unwritten and not failed and not context.failures
    unsaved = ["No rule was saved: run again with --output FILE to save it."] if is_unsaved else []
    answer = [document.title]
    if context.files.unwritten:
        answer = ["Nothing was saved.", f"If it had passed: {document.title}"]
    content = replace(
        document,
        title=failed[0] if failed else document.title,
        lead=(
            *(f"{text}." for text in failed[1:]),
            *(answer if failed else []),
            *document.lead,
            *_failed(document, context.failures),
        ),
        cautions=said().notices(document.cautions),
        notes=(*document.notes, *unsaved, *remarks()),
        card=_head(document, context, failed),
        figures=figures,
        tables=tables,
    )
    return content.shortened(), made_from


def file_names(context: RunContext) -> dict[str, str]:
    """Return the names that stand for the inputs, the rules and the output at the head of a page."""
    return {
        "inputs": _listed(context.files.inputs),
        "rules": _listed(tuple(context.files.digests)),
        "output": context.files.rows_to or "standard output",
    }


def _listed(names: Sequence[str]) -> str:
    """List the first file names without their folders; empty if there are none."""
    shown = ["standard input" if is_stdin(name) else name for name in short_names(names[:_MAX_LISTED])]
    more = [f"{len(names) - _MAX_LISTED} more"] if len(names) > _MAX_LISTED else []
    return ", ".join([*shown, *more])


_MAX_LISTED: Final = 3
"""Most file names at the head of a page."""


def _head(document: Document, context: RunContext, failed: Sequence[str]) -> HeadCard:
    """Return the head of a page; a failed check or run is its verdict."""
    card = document.head
    if failed:
        verdict = Verdict(text="check failed", tone="bad")
        return replace(card, title=failed[0], verdict=verdict, states_lead=False)
    if context.failures and card.verdict is None:
        return replace(card, verdict=Verdict(text="failed", tone="bad"))
    return card


def _failed(document: Document, failures: Sequence[Failure]) -> list[str]:
    """Return the error of the run, unless the page states it already."""
    text = " ".join(document.sentences())
    return [f"Failed: {failure}." for failure in failures if failure.found not in text]


def _made_from(context: RunContext, payload: Mapping[str, Any]) -> Table:
    """Build the table of the run; ``payload``, the JSON form of its report, has the number of rows."""
    lines = [("command", context.line), ("version", f"uqcli {VERSION}")]
    if context.configured:
        lines.insert(1, ("configured", context.configured))
    lines += [("input", line) for line in _inputs(context.files)]
    rows, files = _rows_of(payload), context.files
    if files.inputs and rows is not None and not rows_by_input():  # a cluster counts all rows together
        lines.append(("rows of INPUT", count(rows)))
    digest_notes = {name: f", which states digest {digest}" for name, digest in files.rules.items()}
    lines += [
        ("rule file", f"{name}, SHA-256 {digest}{digest_notes.get(name, '')}")
        for name, digest in files.digests.items()
    ]
    lines += [("rule file", files.unwritten)] if files.unwritten else []
    lines += [("rows written to", files.rows_to)] if files.rows_to else []
    return Table(title="Made from", header=("", ""), rows=lines, left=2, text_last=True)


def _inputs(files: RunFiles) -> list[str]:
    """List the files with their rows, if read by this process; many files in one line."""
    names = ["standard input" if is_stdin(name) else name for name in files.inputs]
    rows = rows_by_input()
    row_counts = [rows.get(name) for name in names]
    if len(names) <= MAX_NAMED:
        lines = [
            f"{name}{_row_suffix(rows_of_file)}" for name, rows_of_file in zip(names, row_counts, strict=True)
        ]
        digests = [f", SHA-256 {files.hashed[name]}" if name in files.hashed else "" for name in files.inputs]
        return [f"{line}{digest}" for line, digest in zip(lines, digests, strict=True)]
    total = None if None in row_counts else sum(rows_of_file or 0 for rows_of_file in row_counts)
    return [f"{count(len(names))} files, the first {names[0]}, the last {names[-1]}{_row_suffix(total)}"]


def _row_suffix(rows: int | None) -> str:
    return "" if rows is None else f": {rows_of(rows)}"


def _rows_of(payload: Mapping[str, Any]) -> int | None:
    """Return the number of input rows; several results have the same inputs."""
    source = payload.get("source")
    if source is None:
        return _rows_of(payload["results"][0]) if payload.get("results") else None
    rows = source.get("rows")
    return rows if isinstance(rows, int) else None
