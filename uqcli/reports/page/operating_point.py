"""The part of a page in which readers choose an operating point; a script shows it and fills it in."""

from __future__ import annotations

import json
from typing import Any

from uqcli.base.operating_system import join, quote, split
from uqcli.estimates.estimate import Estimate
from uqcli.reports.document import Document, OperatingPoint, OperatingPoints
from uqcli.reports.failure import escaped


def operating_point_section(document: Document, line: str) -> str:
    """Build the section, with command lines like that of the run; empty if there is no choice."""
    points = document.operating_points() if document.operating_points is not None else None
    if points is None:
        return ""
    pairs = [pair for family in points.families.values() for pair in family]
    header = ["alerts", "precision", "recall"]
    header += ["utility"] if any(pair.rule.utility is not None for pair in pairs) else []
    names = {"rule": "score and uncertainty", "single": "score alone"}
    if not any(pair.single is not None for pair in pairs):
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
                "amount": pair.rule.option[1],
                "option": list(map(quote, pair.rule.option)),
                "rule": _point(pair.rule),
                "single": None if pair.single is None else _point(pair.single),
            }
            for pair in family
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
