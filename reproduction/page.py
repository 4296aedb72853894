"""Writes the pages from kept results alone, so that equal results give equal bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reproduction.releases import FEW_ROWS
from reproduction.study import Outcome, Row, Study, named_once
from uqcli.base.wording import count, listed

HEAD = """# The papers, reproduced

`make reproduce` writes this page. It runs `uqcli` on simulated data, and on scores of models that it trains
with scikit-learn. It calls the Python library to draw rows, and where it would run a command hundreds of
times. The published values are in `reproduction/values.toml`. A second run gives the same bytes, but
trained models may differ on another processor. [speed.md](speed.md) lists the times.

Most results start with one of four terms. "Exact" means equal in all printed digits. "Within range" means in
the range of our seeds or, if the paper prints no values, that its claim holds here. "Differs" and "not
possible" come with the reason. The scores of the paper on uncertainty are not public, so its tables are
repeated on other data.

A cell of the calibration tables contains the paper's value, which is also ours on the paper's own draw or
split. A cell in bold is not exact: ours follows a colon. After the semicolon is our median (lowest–highest)
over our seeds or splits. In the tables on two Gaussian classes, bold cells have other quantile bins, since
the paper's program rounds the first rank of a bin down in double precision (0.29 times 6,000 is 1,739), and
uqcli computes ranks exactly.

The paper's draw uses numpy's legacy generator with seed 0. It draws 20,000 labels, and then the features,
around -0.5 and 0.5 with standard deviation 2. The last 30 % of the rows are the test. Test rows of other
class priors are drawn again from seed 0. Logistic models are fitted as by scikit-learn 1.2, which ends closer
to the optimum than newer versions.
"""
SPEED_HEAD = """# How long it takes

These are seconds on one machine, with start-up.
"""


def results_page(
    outcomes: Sequence[tuple[Study, Outcome]], not_reproduced: Sequence[Mapping[str, str]], note: str
) -> str:
    """Write the page of results.

    Parameters
    ----------
    not_reproduced
        Published tables and figures that are in no study, with status and reason.
    note
        Text at the top of a smaller run; empty for a full run.
    """
    parts = [HEAD, note] if note else [HEAD]
    parts.append(_summary(outcomes, not_reproduced))
    for study, outcome in outcomes:
        if outcome.sheets:
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
        [study.heading.partition(":")[0].lower(), sheet.title, _result(sheet.status, sheet.verdict)]
        for study, outcome in outcomes
        for sheet in outcome.sheets
        if sheet.verdict
    ]
    rows += [
        [item["paper"], item["what"], _result(item["status"], item["reason"])] for item in not_reproduced
    ]
    papers = list(dict.fromkeys(row[0] for row in rows))
    rows.sort(key=lambda row: papers.index(row[0]))
    table = markdown_table(["paper", "table or figure", "result"], named_once(rows, 1))
    return f"## All tables and figures\n\n{table}"


def _result(status: str, verdict: str) -> str:
    return f"{status}: {verdict}" if status else verdict


def speed_page(
    outcomes: Sequence[tuple[Study, Outcome]],
    spent: Mapping[str, Mapping[str, Any]],
    releases: Mapping[str, Any],
) -> str:
    """Write the page of times.

    Parameters
    ----------
    spent
        Seconds of each study.
    releases
        What ``docs/releases.json`` holds.
    """
    rows = [[study.heading, f"{spent[study.name]['seconds']:.0f}"] for study, _ in outcomes]
    parts = [SPEED_HEAD, markdown_table(["study", "seconds"], rows)]
    for study, outcome in outcomes:
        if outcome.times:
            text = [outcome.text_of_times + "\n"] if outcome.text_of_times else []
            parts += [f"## {study.heading}\n", *text, markdown_table(outcome.times[0], outcome.times[1:])]
    return "\n".join([*parts, releases_section(releases)]).rstrip() + "\n"


ALIKE: Final = 1.03
"""A command that costs more, as a ratio to the version before, is slower: a bound of ours."""


def releases_section(releases: Mapping[str, Any]) -> str:
    """Write the costs of commands as ratios to those of the version before, the fewest rows first.

    The size in the middle tells whether a command is faster.
    """
    why: Mapping[str, str] = releases.get("why", {})
    ratios: dict[str, dict[int, float]] = {}
    for line in releases["lines"]:
        ratios.setdefault(line["command"], {})[line["rows"]] = line["ratio"]
    sizes = sorted({line["rows"] for line in releases["lines"]})
    middle = sizes[len(sizes) // 2]
    lists: dict[str, list[str]] = {"Faster": [], "Alike": [], "Slower": []}
    for command, by_rows in sorted(ratios.items(), key=lambda item: item[1].get(middle, 1.0)):
        ratio = by_rows.get(middle, 1.0)
        kind = "Faster" if ratio < 1 / ALIKE else "Alike" if ratio <= ALIKE else "Slower"
        numbers = [f"{by_rows[rows]:.2f}" if rows in by_rows else "-" for rows in sizes]
        reason = f" ({why[command]})" if command in why else ""
        lists[kind].append(f"{command} {', '.join(numbers).rstrip(', -')}{reason}")
    version = releases["version"]
    return "\n".join(
        [
            f"## Beside {version}\n",
            f"Costs relative to {version}, at {listed(map(count, sizes))} rows: instructions up to "
            f"{count(FEW_ROWS)}, else user CPU of up to nine runs, within a tenth.\n",
            *(f"- {kind}: {'; '.join(commands)}." for kind, commands in lists.items() if commands),
        ]
    )


def markdown_table(header: Row, rows: Sequence[Row]) -> str:
    """Write a table in Markdown."""
    table_rows = [header, ["---"] * len(header), *rows]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in table_row) + " |\n" for table_row in table_rows
    )
