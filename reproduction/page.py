"""Writes the pages from kept results alone, so that equal results give equal bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reproduction.study import Outcome, Row, Study

HEAD = """# The papers, reproduced

`make reproduce` writes this page. It runs `uqcli` on simulated data, and on scores of models that it trains
with scikit-learn. It calls the Python library to draw rows, and where it would run a command hundreds of
times. The published values are in `reproduction/values.toml`. A second run gives the same bytes, but
trained models may differ on another processor. [speed.md](speed.md) lists the times.

A cell of the calibration tables contains the paper's value, a colon, and our median (lowest to highest of
the seeds). Then it gives the share of our seeds below the paper's value. The paper shows one draw of each
setting, so we call a value reproduced if it lies in the range of our seeds. A cell in bold is outside. A
value of the same distribution falls outside the range of S seeds with probability 2/(S+1). Cells of one
table come from the same data, so they tend to be outside together.
"""
SPEED_HEAD = """# How long it takes

These are seconds on the machine that wrote this page, including start-up and the reading of files. As many
studies run in parallel as there are cores. Studies that time commands run alone. The page of results
contains no times, so that it is the same everywhere.
"""


def results_page(
    outcomes: Sequence[tuple[Study, Outcome]], not_reproduced: Sequence[Mapping[str, str]], note: str
) -> str:
    """Write the page of results.

    Parameters
    ----------
    not_reproduced
        Published tables and figures that no study reproduces, with status and reason.
    note
        Text at the top of a smaller run; empty for a full run.
    """
    parts = [HEAD, note] if note else [HEAD]
    parts.append(_summary(outcomes, not_reproduced))
    for study, outcome in outcomes:
        parts.append(f"## {study.heading}\n")
        for sheet in outcome.sheets:
            parts.append(f"### {sheet.title}\n")
            parts += [text + "\n" for text in sheet.text]
            if sheet.rows:
                parts.append(markdown_table(sheet.header, sheet.rows))
            for picture in sheet.pictures:
                parts.append(f"![{picture.title}](images/{picture.name})\n")
                parts.append(f"**{picture.title}.** {picture.caption}\n")
    return "\n".join(parts).rstrip() + "\n"


def _summary(outcomes: Sequence[tuple[Study, Outcome]], not_reproduced: Sequence[Mapping[str, str]]) -> str:
    rows = [
        [study.heading.partition(":")[0].lower(), sheet.title, sheet.verdict]
        for study, outcome in outcomes
        for sheet in outcome.sheets
        if sheet.verdict
    ]
    reproduced = markdown_table(["paper", "table or figure", "result"], rows)
    missing = markdown_table(
        ["paper", "table or figure", "status", "reason"],
        [[item["paper"], item["what"], item["status"], item["reason"]] for item in not_reproduced],
    )
    return f"## All tables and figures\n\n{reproduced}\nNot reproduced:\n\n{missing}"


def speed_page(outcomes: Sequence[tuple[Study, Outcome]], spent: Mapping[str, Mapping[str, Any]]) -> str:
    """Write the page of times.

    Parameters
    ----------
    spent
        Number of commands, and seconds, of each study.
    """
    rows = [
        [study.heading, str(spent[study.name]["commands"]), f"{spent[study.name]['seconds']:.0f}"]
        for study, _ in outcomes
    ]
    parts = [SPEED_HEAD, markdown_table(["study", "commands", "seconds"], rows)]
    for study, outcome in outcomes:
        if outcome.times:
            parts += [f"## {study.heading}\n", markdown_table(outcome.times[0], outcome.times[1:])]
    return "\n".join(parts).rstrip() + "\n"


def markdown_table(header: Row, rows: Sequence[Row]) -> str:
    """Write a table in Markdown."""
    table_rows = [header, ["---"] * len(header), *rows]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in table_row) + " |\n" for table_row in table_rows
    )
