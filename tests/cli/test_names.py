"""Names from data are shown as they are, wherever they are shown: nothing in them acts."""

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
from uqcli.document import Claim, Document, Table
from uqcli.errors import DataError, GateError
from uqcli.reports.checks import Check, CheckResult
from uqcli.reports.failure import Failure, failed_report
from uqcli.reports.junit import to_junit
from uqcli.reports.prometheus import to_prometheus
from uqcli.reports.render import to_html, to_markdown, to_terminal
from uqcli.visible import visible

SEEN = (
    "region[/eu]", "price [eur]", "[bold]x[/bold]", "[/]", ":smile:", "<script>alert(1)</script>",
    "a&amp;b", "*stars* and _lines_", "[x](http://e.vil)", "`code`", "a|b", "~~struck~~", "$x^2$",
    "mean_size", "back\\slash", "two  blanks", "naïve Ω 🎉 👩‍👩‍👧", "שלום", "{curly}", "#head",
    "- item", "1. item", "",
)  # fmt: skip
ACTING = {
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
NAMES = {**{name: name for name in SEEN}, **ACTING}


def acting(text):
    return [each for each in text if unicodedata.category(each) in ("Cc", "Cf") and each not in "\n\u200d"]


def parquet_bytes(frame):
    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


def page(name):
    table = Table(title=name, header=("group", name), rows=[(name, name), ("plain", "1")])
    return Document(title=name, tables=[table], notes=[name, f"About {name}."], live=[name])


@pytest.mark.parametrize("name", NAMES)
def test_terminal(name, capsys):
    import sys

    to_terminal(page(name), sys.stdout, verbose=True)
    out = capsys.readouterr().out
    shown = NAMES[name]
    assert visible(name) == shown
    assert not acting(out)
    assert out.startswith(f"{shown}\n")
    for place in (rf"group *{re.escape(shown)} *$", rf"^{re.escape(shown)} *{re.escape(shown)} *$"):
        assert re.search(place, out, re.MULTILINE), out
    assert f"About {shown}.\n" in out


@pytest.mark.parametrize("name", NAMES)
def test_html_page(name):
    text = to_html(page(name))
    assert not acting(text)
    cells = [html.unescape(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", text)]
    assert cells == ["group", NAMES[name], NAMES[name], NAMES[name], "plain", "1"]
    assert html.unescape(re.search("<h1>(.*?)</h1>", text)[1]) == NAMES[name]
    assert "<script" not in text


@pytest.mark.parametrize("name", NAMES)
def test_markdown_page(name):
    text = to_markdown(page(name))
    assert not acting(text)
    title, *lines = [line for line in text.splitlines() if line]
    shown = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", title.removeprefix("# "))
    assert shown == NAMES[name]
    rows = [line for line in lines if line.startswith("| ")]
    assert [len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows] == [3, 3, 3, 3]
    for sign in (r"\*", "`", r"(?<=\])\(", r"<(?=script)", "~(?=~)"):
        assert not re.search(rf"(?<!\\){sign}", text.replace("\\\\", "")), text


@pytest.mark.parametrize("name", NAMES)
def test_junit(name):
    check = Check(path=name, operator="<", value=1.0, text=f"{name} < 1")
    claims = [Claim(name=name, kept=kept, sentence=name) for kept in (True, False, None)]
    document = Document(title=name, tables=(), claims=claims)
    failure = Failure(command=name, exit_code=3, found=name)
    text = to_junit("tce", document, [CheckResult(check=check, artifact=name, actual=0.5)], failure)
    assert not acting(text)
    (suite,) = JUnitXml.fromstring(text.encode())
    shown = NAMES[name]
    assert [case.name for case in suite] == [
        f"--fail-if {shown} < 1" + f" ({shown})" * bool(name),
        *[shown] * 3,
        "result",
    ]
    said = [[each.message for each in case.result] for case in suite]
    assert said[1:] == [[], [shown], [shown], [shown]]
    assert (suite.tests, suite.failures, suite.skipped, suite.errors) == (5, 3, 0, 1)


@pytest.mark.parametrize("name", NAMES)
def test_reports_of_a_failure(name):
    failure = Failure(command=name, exit_code=3, found=name)
    shown = NAMES[name]
    made = {form: failed_report(failure, f".{form}") for form in ("json", "xml", "prom", "md", "html")}
    assert not any(map(acting, made.values()))
    assert json.loads(made["json"])["error"]["found"] == name
    ((case,),) = JUnitXml.fromstring(made["xml"].encode())
    assert [each.message for each in case.result] == [shown]
    ((sample,),) = [each.samples for each in text_string_to_metric_families(made["prom"])]
    assert (sample.labels, sample.value) == ({"command": shown}, 0)
    assert f": {html.escape(shown)}</p>" in made["html"]
    assert not re.search(r"(?<!\\)<script", made["md"])
    assert "<script" not in made["html"]


@pytest.mark.parametrize("name", NAMES)
def test_prometheus(name):
    text = to_prometheus("evaluate", {name: {"by_class": {name: {"ece": 0.5}}}, "other": {"by_class": {}}})
    assert not acting(text)
    (family,) = text_string_to_metric_families(text)
    (sample,) = family.samples
    artifact = {"artifact": NAMES[name]} if name else {}
    assert (sample.name, sample.labels, sample.value) == (
        "uqcli_evaluate_ece",
        {**artifact, "class": NAMES[name]},
        0.5,
    )
    unknown = to_prometheus("evaluate", {"": {name: {"x": 1}}})  # names of metrics are names of ours
    assert re.fullmatch(r"uqcli_evaluate_\w* 1", unknown.splitlines()[-1], flags=re.ASCII)


def test_numbers_and_dashes_stay_readable_in_markdown():
    table = Table(
        title="", header=("a_b", "c"), rows=[("-0.5000 [0.1, 0.2]", "-"), ("1,000.5", "0 < 1 & 2 $")]
    )
    text = to_markdown(Document(title="precision >= 0.7", tables=[table], notes=["10 rows."]))
    assert "\\" not in text


def test_a_paragraph_begins_nothing():
    for name, expected in (("#head", "\\#head"), ("- item", "\\- item"), ("1. item", "1\\. item")):
        assert f"\n{expected}\n" in to_markdown(Document(title="x", tables=(), notes=[name]))


def test_errors_are_one_line_of_what_is_there():
    error = str(DataError("no column 'a  b\x1b[31m\tc\u202e' in\n  'x.csv'", expected="one of y\n"))
    assert error == "no column 'a  b\\x1b[31m\\tc\\u202e' in 'x.csv'; expected one of y"
    assert str(GateError(["gate: x\x1b > 1 holds", "gate: y"])) == "gate: x\\x1b > 1 holds\ngate: y"


@pytest.fixture
def grouped(tmp_path):
    """Rows in groups of awkward names."""
    names = [*SEEN[:-1], *ACTING]
    frame = sample_frame(60 * len(names))
    return frame.with_columns(
        pl.Series("region[/eu] \x1b[31m", [names[row % len(names)] for row in range(frame.height)])
    )


def test_figures_show_groups(uqcli, grouped, tmp_path):
    grouped.write_parquet(tmp_path / "g.parquet")
    assert uqcli("tce", "g.parquet", "--by", "region[/eu] \x1b[31m", "-q", "--plot", "f.svg").code == 0
    assert not acting((tmp_path / "f.svg").read_text())


@pytest.mark.usefixtures("undrawn")
def test_commands_show_groups(uqcli, grouped, tmp_path):
    grouped.write_parquet(tmp_path / "g.parquet")
    pages = [f"page.{ending}" for ending in ("html", "md", "json")]
    reports = [word for page in pages for word in ("--report", page)]
    outcome = uqcli("tce", "g.parquet", "--by", "region[/eu] \x1b[31m", "--verbose", *reports)
    assert outcome.code == 0, outcome.err
    out = outcome.out.decode()
    assert not acting(out + "".join((tmp_path / page).read_text() for page in pages))
    for name in (
        "region[/eu]",
        "price [eur]",
        ":smile:",
        "[bold]x[/bold]",
        "<script>",
        "\\x1b[2J",
        "two\\nlin",
    ):
        assert name in out
    groups = json.loads((tmp_path / "page.json").read_text())["groups"]
    assert {group["group"] for group in groups} == {*SEEN[:-1], *ACTING}


def test_columns_classes_and_files_of_such_names(uqcli, grouped, tmp_path):
    awkward = "s[/core] :smile: \x1b[31m"
    path = tmp_path / "[bold]rows.parquet"
    path.write_bytes(parquet_bytes(grouped.rename({"score": awkward})))
    for more in ((), ("--score", awkward)):
        outcome = uqcli("boundary", path, "--precision", "0.5", *more, "-o", tmp_path / "[red]b.json")
        assert outcome.code == (0 if more else 3), outcome.err
        assert not acting(outcome.out.decode() + outcome.err)
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
    assert not acting(shown.out.decode())
