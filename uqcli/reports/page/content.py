"""What a page shows: the document of a report with the checks, the error and the provenance of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from uqcli.base.files import is_stdin
from uqcli.base.running.cautions import cautions, remarks, repeated_doubts, suspicions
from uqcli.base.wording import short_names
from uqcli.reports.checks import checks_table
from uqcli.reports.document import Document, HeadCard, Report, Table, Verdict
from uqcli.reports.figures import can_draw
from uqcli.reports.format import Failure, RunContext
from uqcli.reports.provenance import Provenance


def page_content(report: Report, context: RunContext) -> tuple[Document, Table]:
    """Return the document of a page, with the run's checks, error and remarks, and its provenance."""
    document, made_from = report.document(), context.provenance.table(report.payload())
    figures = [figure for figure in document.figures if figure.on_page and (figure.required or can_draw())]
    tables = [*document.tables, *([checks_table(context.checks)] if context.checks else [])]
    failed = [check.in_words for check in context.checks if check.fails]
    is_unsaved = context.provenance.unwritten and not failed and context.failure is None
    unsaved = ["No rule was saved: run again with --output FILE to save it."] if is_unsaved else []
    content = replace(
        document,
        title=f"{document.title}: check failed" if failed else document.title,
        lead=(
            *failed,
            *(f"If it had passed: {sentence}" if failed else sentence for sentence in document.lead),
            *_failed(document, context.failure),
        ),
        cautions=(*cautions(), *document.cautions, *suspicions(), *repeated_doubts()),
        notes=(*document.notes, *unsaved, *remarks()),
        card=_card(document, context, failed=bool(failed)),
        figures=figures,
        tables=tables,
    )
    return content, made_from


def file_names(provenance: Provenance) -> dict[str, str]:
    """Return the names that stand for the inputs, the rules and the output at the head of a page."""
    return {
        "inputs": _listed(provenance.files),
        "rules": _listed(tuple(provenance.digests)),
        "output": provenance.rows_to or "standard output",
    }


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
