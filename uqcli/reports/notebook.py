"""The head of a report as a notebook shows it: the answer, the numbers, and the first figure."""

from __future__ import annotations

import base64

from uqcli.reports.document import Document
from uqcli.reports.figures import can_draw, render
from uqcli.reports.format import escaped


def head_of(document: Document) -> str:
    """Return the head of a page as HTML without style sheets, which would change the whole notebook."""
    card = document.head
    verdict = "" if card.verdict is None else f"<p><em>{escaped(card.verdict.text)}</em></p>"
    numbers = "".join(
        f'<tr><th style="text-align:left">{escaped(number.label)}</th><td>{escaped(number.value)}</td>'
        f"<td>{escaped(number.interval)}</td></tr>"
        for number in card.numbers
    )
    table = f"<table>{numbers}</table>" if numbers else ""
    figure = ""
    if document.figures and can_draw():
        picture = base64.b64encode(render(document.figures[0], "svg")).decode()
        figure = (
            f'<p><img alt="{escaped(document.figures[0].title)}" style="max-width:100%;background:white" '
            f'src="data:image/svg+xml;base64,{picture}"></p>'
        )
    cautions = "".join(f"<p>Caution: {escaped(text)}</p>" for text in document.cautions[:1])
    return f"<div><p><strong>{escaped(card.title)}</strong></p>{verdict}{table}{cautions}{figure}</div>"
