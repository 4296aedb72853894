"""Tests that names from outside are data in every output of every command, and act on none of its readers."""

import csv
import json
import re
import unicodedata
import xml.etree.ElementTree as ET

import html5lib
import polars as pl
import pytest
from markdown_it import MarkdownIt
from prometheus_client.parser import text_string_to_metric_families

from tests.cli.conftest import sample_frame
from uqcli.cli.config import COMMANDS

SCORE, UNCERTAINTY, LABEL = "::error::score", '##[error]u"><script>x</script>', "label\n::warning::y"
GROUP, DAY = "by |`*[x](http://e.vil)<b>", "##vso[task.setvariable]day"
GROUPS = (
    "::error file=x::g",
    "##[group]g",
    "##teamcity[g]",
    "'\"><img src=x>",
    "]]>&amp;<!--",
    "line\r\n::debug::x",
    "=1+1",
    "\x1b]0;title\x07",
    "# h\n- item",
    "|a|b|",
    "{rule} {inputs}",
    "x" * 4000,
    "a b" * 900,
    "\u202ereversed",
    '\\"} 1\n# x',
)
CLASSES = ("::error::a", "##[b]", "<i>c</i>\n")
RULE, ROWS = "##[rule]'.json", "::rows::<b>.parquet"


def hostile_files():
    """Write rows with hostile names in every role, and a rule of each kind."""
    frame = sample_frame(280 * len(GROUPS))  # 200 rows of a group in three of four parts
    number = pl.int_range(pl.len())
    frame = frame.with_columns(
        pl.Series(GROUP, [GROUPS[row % len(GROUPS)] for row in range(frame.height)]),
        (pl.date(2026, 1, 1) + pl.duration(days=number % 40)).alias(DAY),
        pl.lit(5.0).alias("gain"),
    )
    for position, name in enumerate(CLASSES):
        frame = frame.with_columns((pl.lit(0.2) + 0.4 * (number % 3 == position)).alias(f"p_{name}"))
    truth = pl.Series("class", [CLASSES[row % 3 if row % 4 else 0] for row in range(frame.height)])
    frame.rename({"score": SCORE, "uncertainty": UNCERTAINTY, "label": LABEL}).with_columns(
        truth
    ).write_parquet(ROWS)
    for words in FITS:
        fit_words(words)


def fit_words(words):
    from uqcli.cli.app import run

    assert run([*words, "-q"]) == 0, words


COLUMNS = ("--score", SCORE, "--uncertainty", UNCERTAINTY, "--label", LABEL)
SCORED = (ROWS, *COLUMNS[:2], *COLUMNS[4:])
BY_PARTS = (*SCORED, "--method", "heterogeneous", "--partition", GROUP, "--bootstrap", "0")
PROBA = ("--proba", "p_*", "--label", "class")
FITS = (
    ("boundary", ROWS, *COLUMNS, "--precision", "0.5", "--day", DAY, "-o", RULE),
    (
        "boundary",
        ROWS,
        *COLUMNS,
        "--precision",
        "0.5",
        "--by",
        GROUP,
        "--min-group",
        "40",
        "-o",
        "groups.json",
    ),
    ("calibrate", *BY_PARTS, "-o", "map.json"),
    ("conformal", ROWS, *PROBA, "-o", "sets.json"),
    ("bin", ROWS, *COLUMNS, "--score-bins", "5", "-o", "grid.json"),
    ("watch", RULE, ROWS, "--day", DAY, "--state", "state.json"),
)
LINES = {
    "overview": ((ROWS, *COLUMNS),),
    "bin": ((ROWS, *COLUMNS),),
    "boundary": (
        (ROWS, *COLUMNS, "--precision", "0.5", "--by", GROUP, "--min-group", "40"),
        (ROWS, *COLUMNS),
    ),
    "calibrate": (BY_PARTS, (ROWS, *PROBA, "--bootstrap", "0")),
    "tce": ((*SCORED, "--by", GROUP, "--audit", GROUP), (ROWS, *PROBA)),
    "shift": ((ROWS, *PROBA, "--target", ROWS, "--confusion", "soft", "--bootstrap", "0"),),
    "conformal": ((ROWS, *PROBA, "--mode", "label-conditional"), (ROWS, *PROBA, "--by", GROUP)),
    "apply": (("groups.json", ROWS, "-o", "out.parquet"), ("sets.json", ROWS, "-o", "out.parquet")),
    "evaluate": (
        (RULE, ROWS, "--by", GROUP),
        ("groups.json", ROWS, "--audit", GROUP),
        ("sets.json", ROWS),
        (RULE, "groups.json", ROWS),
        ("map.json", ROWS, "--bootstrap", "0"),
    ),
    "sample": ((RULE, ROWS, "--for", "precision", "--budget", "9", "-o", "out.parquet"),),
    "backtest": (
        (ROWS, *COLUMNS, "--day", DAY, "--every", "10d", "--precision", "0.5", "--by", GROUP),
        (ROWS, *SCORED, "--day", DAY, "--every", "10d", "--top", "3", "--per", GROUP),
    ),
    "watch": ((RULE, ROWS, "--day", DAY), ("sets.json", ROWS)),
    "uncertainty": ((ROWS, "--members", "p_*", "-o", "out.parquet"),),
    "export": ((RULE, "--to", "python", "-o", "out.py"),),
    "show": (
        (RULE,),
        ("groups.json",),
        ("map.json",),
        ("sets.json",),
        ("state.json",),
        (RULE, "groups.json"),
    ),
}
"""Lines of each command that reports."""


def test_every_command_that_reports_has_a_line():
    assert {*LINES} == {*COMMANDS}


def acting(text):
    return [sign for sign in text if unicodedata.category(sign) in {"Cc", "Cf"} and sign not in "\n\u200d"]


def require_harmless_lines(text):
    assert not acting(text)
    for line in text.splitlines():
        assert not line.strip().startswith("::"), line
        assert not re.search(r"##(vso|teamcity)?\[", line), line
        assert len(line) < 6000


def require_html(text):
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)
    elements = {element.tag for element in tree.iter() if isinstance(element.tag, str)}
    assert not elements & {"img", "b", "i", "a", "iframe", "form", "base", "object", "embed", "link"}
    assert "base-uri 'none'; form-action 'none'" in text
    handlers = [name for element in tree.iter() for name in element.attrib if str(name).startswith("on")]
    assert handlers == []


def require_markdown(text):
    assert not acting(text)
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    tags = set(re.findall(r"<([a-z][a-z0-9]*)", rendered))
    assert tags <= {"h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "em", "strong"}
    assert "<img" not in rendered
    cells = [line.count("</td>") for line in re.findall(r"<tr>(.*?)</tr>", rendered, re.DOTALL)]
    assert cells


def require_csv(text):
    rows = list(csv.reader(text.splitlines()))
    assert {len(row) for row in rows} == {5}
    assert not acting(text)


def require_xml(text):
    assert {element.tag for element in ET.fromstring(text).iter()} <= {
        *(
            "testsuites",
            "testsuite",
            "properties",
            "property",
            "testcase",
            "failure",
            "error",
            "skipped",
            "system-out",
        )
    }


def require_prometheus(text):
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            assert sample.name.startswith("uqcli_")


READERS = {
    "html": require_html,
    "md": require_markdown,
    "csv": require_csv,
    "xml": require_xml,
    "prom": require_prometheus,
    "json": json.loads,
}


@pytest.mark.covering("thorough", every=10, also=["evaluate-0", "boundary-0"])
@pytest.mark.parametrize(
    ("command", "line"), [(name, line) for name, lines in LINES.items() for line in range(len(lines))]
)
def test_names_from_outside_act_on_no_reader(uqcli, prepared, tmp_path, command, line):
    prepared(hostile_files)
    words = [command, *LINES[command][line]]
    reports = [word for ending in READERS for word in ("--report", f"report.{ending}")]
    outcome = uqcli(*words, *reports, "--verbose")
    assert outcome.code == 0, outcome.err
    require_harmless_lines(outcome.out.decode())
    require_harmless_lines(outcome.err)
    for ending, require in READERS.items():
        require((tmp_path / f"report.{ending}").read_text(encoding="utf-8"))
    printed = uqcli(*words, "--json") if command not in {"export"} else uqcli(*words, "-q")
    assert printed.code == 0, printed.err
    require_harmless_lines(printed.out.decode())
    if "--by" in words and command in {"tce", "evaluate"}:
        groups = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["groups"]
        assert {group.get("group", group.get("name")) for group in groups} == {*GROUPS}, (
            "names are carried unchanged"
        )


ERRORS = (
    ("tce", "rows.csv", "--score", "::error::\n##[error]x"),
    ("tce", "::error::\nmissing.csv"),
    ("boundary", ROWS, "--precision", "::error::\n##[x]"),
    ("evaluate", ROWS, "--by", "x" * 100_000),
    ("apply", RULE, ROWS, "--top", "5", "--per", "::error::\r\n" * 5000),
    ("boundary", ROWS, *COLUMNS, "--precision", "0.5", "--fail-if", "##[error]" * 5000 + " < 1"),
    ("::error::\n##[x]",),
    ("tce", ROWS, "--::error::\n##[x]"),
    ("tce", f"https://{'a' * 40_000}"),
    ("export", RULE, "--to", "##[x]\n::y"),
)


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors_are_one_short_line(uqcli, prepared, number):
    prepared(hostile_files)
    outcome = uqcli(*ERRORS[number])
    assert outcome.code in {2, 3}, outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert outcome.err.startswith("error: ")
    require_harmless_lines(outcome.err)
