"""Tests of names from data: they are shown as they are, and control characters are escaped."""

import csv
import html
import io
import json
import re
import unicodedata

import polars as pl
import pytest
from junitparser import JUnitXml
from prometheus_client.parser import text_string_to_metric_families

from tests.cli.conftest import sample_frame
from uqcli.base.errors import DataError, GateError
from uqcli.base.wording import visible
from uqcli.reports.checks import Check
from uqcli.reports.document import Claim, Document, OnTerminal, Table
from uqcli.reports.format import Failure
from uqcli.reports.formats import FORMATS
from uqcli.reports.formats.csv import to_csv
from uqcli.reports.formats.junit import to_junit
from uqcli.reports.formats.markdown import to_markdown
from uqcli.reports.formats.prometheus import to_prometheus
from uqcli.reports.page import to_html
from uqcli.reports.terminal import to_terminal

HARMLESS_NAMES = (
    "region[/eu]", "price [eur]", "[bold]x[/bold]", "[/]", ":smile:", "<script>alert(1)</script>",
    "a&amp;b", "*stars* and _lines_", "[x](http://e.vil)", "`code`", "a|b", "~~struck~~", "$x^2$",
    "mean_size", "back\\slash", "two  blanks", "naïve Ω 🎉 👩‍👩‍👧", "שלום", "{curly}", "#head",
    "- item", "1. item", "",
)  # fmt: skip
ACTIVE_NAMES = {
    "\x1b[2J\x1b[31mred": "\\x1b[2J\\x1b[31mred",
    "bell\x07": "bell\\x07",
    "two\nlines": "two\\nlines",
    "two\r\nlines": "two\\r\\nlines",
    "tab\tstop": "tab\\tstop",
    "c1\x9b31m": "c1\\x9b31m",
    "\u202eturned\u202c": "\\u202eturned\\u202c",
    "iso\u2066late\u2069": "iso\\u2066late\\u2069",
    "para\u2029graph": "para\\u2029graph",
    "mark\ufeff": "mark\\ufeff",
    "none\uffff": "none\\uffff",
}
NAMES = {**{name: name for name in HARMLESS_NAMES}, **ACTIVE_NAMES}


def control_characters(text):
    return [
        character
        for character in text
        if unicodedata.category(character) in ("Cc", "Cf") and character not in "\n\u200d"
    ]


def parquet_bytes(frame):
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def page(name):
    table = Table(title=name, header=("group", name), rows=[(name, name), ("plain", "1")])
    return Document(
        title=name, tables=[table], notes=[name, f"About {name}."], terminal=OnTerminal(live=[name])
    )


@pytest.mark.parametrize("name", NAMES)
def test_names_on_the_terminal_are_visible(name, capsys):
    import sys

    to_terminal(page(name), sys.stdout, verbose=True)
    output = capsys.readouterr().out
    shown = NAMES[name]
    assert visible(name) == shown
    assert not control_characters(output)
    assert output.startswith(f"{shown}\n")
    for pattern in (rf"group *{re.escape(shown)} *$", rf"^{re.escape(shown)} *{re.escape(shown)} *$"):
        assert re.search(pattern, output, re.MULTILINE), output
    assert f"About {shown}.\n" in output


@pytest.mark.parametrize("name", NAMES)
def test_names_on_html_pages_are_escaped(name):
    text = to_html(page(name))
    assert not control_characters(text)
    cells = [html.unescape(cell) for cell in re.findall(r"<t[dh](?: [^>]*)?>(.*?)</t[dh]>", text)]
    assert cells == ["group", NAMES[name], NAMES[name], NAMES[name], "plain", "1"]
    assert html.unescape(re.search("<h1>(.*?)</h1>", text)[1]) == NAMES[name]
    assert text.count("<script") == 1  # the page's own


@pytest.mark.parametrize("name", NAMES)
def test_names_on_markdown_pages_are_escaped(name):
    text = to_markdown(page(name))
    assert not control_characters(text)
    title, *lines = [line for line in text.splitlines() if line]
    shown = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", title.removeprefix("# "))
    assert shown == NAMES[name]
    rows = [line for line in lines if line.startswith("| ")]
    assert [len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows] == [3, 3, 3, 3]
    for sign in (r"\*", "`", r"(?<=\])\(", r"<(?=script)", "~(?=~)"):
        assert not re.search(rf"(?<!\\){sign}", text.replace("\\\\", "")), text


@pytest.mark.parametrize("name", NAMES)
def test_names_in_junit_reports_are_visible(name):
    check = Check(path=name, operator="<", value=1.0, text=f"{name} < 1", artifact=name, actual=0.5)
    claims = [Claim(name=name, met=met, sentence=name) for met in (True, False, None)]
    document = Document(title=name, tables=(), claims=claims)
    failure = Failure(command=name, exit_code=3, found=name)
    text = to_junit("tce", document, [check], [failure])
    assert not control_characters(text)
    (suite,) = JUnitXml.fromstring(text.encode())
    shown = NAMES[name]
    assert [case.name for case in suite] == [
        f"--fail-if {shown} < 1" + f" ({shown})" * bool(name),
        *[shown] * 3,
        "result",
    ]
    messages = [[result.message for result in case.result] for case in suite]
    assert messages[1:] == [[], [shown], [shown], [shown]]
    assert (suite.tests, suite.failures, suite.skipped, suite.errors) == (5, 3, 0, 1)


@pytest.mark.parametrize("name", NAMES)
def test_names_in_failure_reports_are_visible(name):
    failure = Failure(command=name, exit_code=3, found=name)
    shown = NAMES[name]
    reports = {suffix[1:]: report_format.failed(failure) for suffix, report_format in FORMATS.items()}
    assert not any(map(control_characters, reports.values()))
    assert json.loads(reports["json"])["error"]["found"] == name
    ((case,),) = JUnitXml.fromstring(reports["xml"].encode())
    assert [result.message for result in case.result] == [shown]
    ((sample,),) = [family.samples for family in text_string_to_metric_families(reports["prom"])]
    assert (sample.labels, sample.value) == ({"command": shown, "run": ""}, 0)
    assert f": {html.escape(shown)}</p>" in reports["html"]
    assert not re.search(r"(?<!\\)<script", reports["md"])
    assert "<script" not in reports["html"]


@pytest.mark.parametrize("name", NAMES)
def test_names_in_csv_reports_are_visible(name):
    text = to_csv("evaluate", {name: {"by_class": {name: {"ece": 0.5}}}}, is_up=True)
    assert not control_characters(text)
    *_, row = csv.reader(text.splitlines())
    shown = NAMES[name]
    assert row == ["evaluate", f"by_class.{shown}.ece" + f" ({shown})" * bool(name), "0.5", "", ""]


@pytest.mark.parametrize("name", NAMES)
def test_names_in_prometheus_files_are_labels(name):
    text = to_prometheus("evaluate", {name: {"by_class": {name: {"ece": 0.5}}}, "other": {"by_class": {}}})
    assert not control_characters(text)
    (family,) = text_string_to_metric_families(text)
    (sample,) = family.samples
    artifact = {"artifact": NAMES[name]} if name else {}
    assert (sample.name, sample.labels, sample.value) == (
        "uqcli_evaluate_ece",
        {**artifact, "class": NAMES[name]},
        0.5,
    )
    unknown = to_prometheus("evaluate", {"": {name: {"x": 1}}})  # uqcli chooses the names of metrics
    assert re.fullmatch(r"uqcli_evaluate_\w* 1", unknown.splitlines()[-1], flags=re.ASCII)


def test_numbers_and_dashes_stay_readable_in_markdown():
    table = Table(
        title="", header=("a_b", "c"), rows=[("-0.5000 [0.1, 0.2]", "-"), ("1,000.5", "0 < 1 & 2 $")]
    )
    text = to_markdown(Document(title="precision >= 70 %", tables=[table], notes=["10 rows."]))
    assert "\\" not in text


def test_a_paragraph_starts_no_markdown_block():
    for name, expected in (("#head", "\\#head"), ("- item", "\\- item"), ("1. item", "1\\. item")):
        assert f"\n{expected}\n" in to_markdown(Document(title="x", tables=(), notes=[name]))


def test_errors_are_one_line_with_visible_characters():
    error = str(DataError("no column 'a  b\x1b[31m\tc\u202e' in\n  'x.csv'", expected="one of y\n"))
    assert error == "no column 'a  b\\x1b[31m\\tc\\u202e' in 'x.csv'; expected one of y"
    assert str(GateError(["gate: x\x1b > 1 holds", "gate: y"])) == "gate: x\\x1b > 1 holds\ngate: y"


@pytest.fixture
def grouped(tmp_path):
    """Make rows in groups with awkward names."""
    names = [*HARMLESS_NAMES[:-1], *ACTIVE_NAMES]
    frame = sample_frame(60 * len(names))
    return frame.with_columns(
        pl.Series("region[/eu] \x1b[31m", [names[row % len(names)] for row in range(frame.height)])
    )


def test_figures_show_visible_group_names(uqcli, grouped, tmp_path):
    grouped.write_parquet(tmp_path / "g.parquet")
    assert uqcli("tce", "g.parquet", "--by", "region[/eu] \x1b[31m", "-q", "--plot", "f.svg").code == 0
    assert not control_characters((tmp_path / "f.svg").read_text())


@pytest.mark.thorough
def test_commands_show_visible_group_names(uqcli, grouped, tmp_path):
    grouped.write_parquet(tmp_path / "g.parquet")
    pages = [f"page.{ending}" for ending in ("html", "md", "json")]
    reports = [word for page in pages for word in ("--report", page)]
    outcome = uqcli("tce", "g.parquet", "--by", "region[/eu] \x1b[31m", "--verbose", *reports)
    assert outcome.code == 0, outcome.err
    output = outcome.out.decode()
    assert not control_characters(output + "".join((tmp_path / page).read_text() for page in pages))
    for name in (
        "region[/eu]",
        "price [eur]",
        ":smile:",
        "[bold]x[/bold]",
        "<script>",
        "\\x1b[2J",
        "two\\nlin",
    ):
        assert name in output
    groups = json.loads((tmp_path / "page.json").read_text())["groups"]
    assert {group["group"] for group in groups} == {*HARMLESS_NAMES[:-1], *ACTIVE_NAMES}


def test_awkward_names_of_columns_classes_and_files_are_visible(uqcli, grouped, tmp_path):
    awkward = "s[/core] :smile: \x1b[31m"
    path = tmp_path / "[bold]rows.parquet"
    path.write_bytes(parquet_bytes(grouped.rename({"score": awkward})))
    for options in ((), ("--score", awkward)):
        outcome = uqcli("boundary", path, "--precision", "0.5", *options, "-o", tmp_path / "[red]b.json")
        assert outcome.code == (0 if options else 3), outcome.err
        assert not control_characters(outcome.out.decode() + outcome.err)
    evaluated = uqcli("evaluate", tmp_path / "[red]b.json", path)
    assert b"[red]b.json" in evaluated.out
    outcome = uqcli("boundary", path, "--precision", "0.5")
    assert "s[/core] :smile: \\x1b[31m" in outcome.err
    classes = {f"p_{name}": [0.5, 0.5] for name in ("[/x]", "\x1b[1m")} | {"label": ["[/x]", "\x1b[1m"]}
    pl.DataFrame(classes).write_parquet(tmp_path / "c.parquet")
    shown = uqcli("conformal", tmp_path / "c.parquet", "--proba", "p_*", "--mode", "label-conditional")
    assert shown.code == 0, shown.err
    assert b"[/x]" in shown.out
    assert b"\\x1b[1m" in shown.out
    assert not control_characters(shown.out.decode())


@pytest.mark.parametrize("ignores_case", [True, False])
def test_outputs_whose_names_differ_in_case_only_may_be_one_file(uqcli, data, monkeypatch, ignores_case):
    monkeypatch.setattr("uqcli.jobs.inputs.IGNORES_CASE", ignores_case)
    outcome = uqcli("bin", data, "-o", "grid.json", "--report", "Grid.json", "-q")
    assert outcome.code == (2 if ignores_case else 0)
    assert ("'grid.json' and 'Grid.json' are the same file" in outcome.err) == ignores_case
