"""Browser tests of the pages of every command: wide, narrow, light, dark and printed (``make browser``)."""

import json
import re
import shlex
import shutil
import unicodedata
from pathlib import Path

import html5lib
import polars as pl
import pypdfium2
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from tests.cli.conftest import in_one_process
from uqcli.cli.config import COMMANDS

BROWSER = "/usr/bin/chromium"
SAMPLE = Path(__file__).parents[2] / "sample_data"
MIN_TEXT = 11
"""Smallest legible size of text in figures, in pixels."""

PAGES = {
    "overview": "overview digits_holdout.csv",
    "boundary without a target": "boundary digits_holdout.csv",
    "boundary": "boundary digits_holdout.csv --precision 0.7 --compare --frontier frontier.csv -o b.json",
    "bin": "bin digits_holdout.csv --binning shared -o grid.json",
    "boundary of few bins": "boundary digits_holdout.csv --precision 0.9 --uncertainty-bins auto",
    "boundary by all algorithms": "boundary digits_holdout.csv --precision 0.9 --algorithm all",
    "boundaries": "boundary digits_holdout.csv --precision 0.7,0.8,0.9",
    "boundary of one threshold": "boundary digits_holdout.csv --precision 0.9 --algorithm st -o st.json",
    "boundary of alerts": "boundary digits_holdout.csv --max-selected 100 --title 'Whom to ask first'",
    "boundary of money": "boundary digits_holdout.csv --gain 10 --cost 3",
    "boundary of amounts": "boundary hostile.parquet --gain number --cost 50 --compare -o amounts.json",
    "boundary of a grid": "boundary --grid grid.json --precision 0.9",
    "boundary with review": "boundary digits_holdout.csv --precision 0.7 --miss 0.1 -o review.json",
    "boundaries of groups": "boundary hostile.parquet --precision 0.7 --by group --bound each -o groups.json",
    "boundaries of classes": "boundary digits_proba_holdout.csv --proba p_* --precision 0.9 --min-group 50 "
    "-o classes.json",
    "certified boundary": "boundary digits_holdout.csv --precision 0.7 --certify 0.1",
    "bin of one row": "bin digits_holdout.csv --binning pava",
    "calibrate": "calibrate digits_holdout.csv --method all -o c.json",
    "calibrate by uncertainty": "calibrate digits_holdout.csv --method mist -o m.json",
    "calibrate parts": "calibrate digits_holdout.csv --method heterogeneous --features uncertainty -o p.json",
    "tce": "tce digits_new.csv --bootstrap 40",
    "tce of classes": "tce digits_proba_new.csv --proba p_*",
    "tce of hostile groups": "tce hostile.parquet --by group",
    "tce of segments": "tce hostile.parquet --audit group,number,day",
    "backtest": "backtest hostile.parquet --day day --precision 0.5 --every 4d",
    "evaluate": "evaluate b.json digits_new.csv",
    "evaluate segments": "evaluate b.json hostile.parquet --audit group,number,day",
    "evaluate clusters": "evaluate b.json hostile.parquet --cluster day",
    "evaluate two": "evaluate b.json st.json digits_new.csv",
    "evaluate a review": "evaluate review.json digits_new.csv",
    "evaluate groups": "evaluate groups.json hostile.parquet",
    "evaluate amounts": "evaluate b.json amounts.json hostile.parquet",
    "watch": "watch b.json hostile.parquet --day day --state watched.json --bound 0.5",
    "evaluate classes": "evaluate classes.json digits_proba_new.csv",
    "evaluate calibrators": "evaluate c.json m.json p.json digits_new.csv",
    "shift": "shift digits_proba_holdout.csv --target digits_proba_new.csv --proba p_*",
    "conformal": "conformal digits_proba_holdout.csv --proba p_* --mode label-conditional -o sets.json",
    "evaluate sets": "evaluate sets.json digits_proba_new.csv",
    "apply": "apply b.json digits_new.csv -o decided.csv",
    "sample": "sample b.json digits_new.csv --for precision --budget 50 -o label.csv",
    "export": "export b.json --to python -o rule.py --check digits_new.csv",
    "uncertainty": "uncertainty digits_proba_new.csv --members p_* -o rows.csv",
    "show": "show b.json",
    "show groups": "show groups.json",
    "show a calibrator": "show c.json",
    "show two": "show b.json st.json --on digits_new.csv",
}
"""Command lines by the name of their page; each can use the files of those before it."""

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "'\"&</title>\n\u202eright to left" + "long" * 30,
)

HYPHEN_AT_THE_END = "\ufffe"
"""What stands for a hyphen at the end of a line in the text of a PDF."""

MAX_BYTES = 600_000
"""Largest page of the sample data."""

TEXT_SIZES = """() => [...document.querySelectorAll("svg .text g[transform*=scale]")].flatMap(
  glyphs => {
    const picture = glyphs.closest("svg"), width = picture.getBoundingClientRect().width
    if (!width) return []  // a figure for the other width
    const scale = Number(glyphs.getAttribute("transform").match(/scale\\(([\\d.]+)/)[1])
    return [100 * scale * width / picture.viewBox.baseVal.width]
})"""
"""Script that returns text sizes in figures, in pixels. Figures draw text as shapes of size 100."""


def test_every_command_that_reports_has_a_page():
    assert {line.split()[0] for line in PAGES.values()} == set(COMMANDS)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write all pages into a folder."""
    folder = tmp_path_factory.mktemp("pages")
    for path in SAMPLE.glob("*.csv"):
        shutil.copy(path, folder)
    frame = pl.read_csv(folder / "digits_new.csv").with_row_index("number")
    group = pl.col("number").mod(3).replace_strict(dict(enumerate(HOSTILE)), return_dtype=pl.String)
    day = pl.date(2026, 1, 1) + pl.duration(days=pl.col("number") // 60)
    frame.with_columns(group=group, day=day).write_parquet(folder / "hostile.parquet")
    run(folder, *(f"{line} -q --report {shlex.quote(name)}.html" for name, line in PAGES.items()))
    return folder


def run(folder, *lines):
    """Run command lines, and return the output of the last."""
    outcomes = in_one_process([shlex.split(line) for line in lines], cwd=folder)
    assert [outcome.err for outcome in outcomes if outcome.code] == []
    return outcomes[-1].out


@pytest.fixture(scope="module")
def browser():
    """Start the system's browser."""
    if not Path(BROWSER).exists():
        pytest.fail(f"{BROWSER} is missing: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_pages_fit_the_screen_and_are_legible(pages, browser, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, messages, requests = context.new_page(), [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: (messages.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: requests.append(request.url))
    problems = {}
    for name in PAGES:
        messages.clear()
        requests.clear()
        page.goto((pages / f"{name}.html").as_uri())
        sizes = page.evaluate(TEXT_SIZES)
        problems_of_page = {
            "messages": list(messages),
            "requests beside the page": requests[1:],
            "wider than the screen": max(0, page.evaluate("document.documentElement.scrollWidth") - width),
            "small text in figures": [size for size in sizes if size < MIN_TEXT],
            "figures without text": page.locator("figure").count() > 0 and not sizes,
            "dark ink on dark": page.evaluate("getComputedStyle(document.body).color")
            == page.evaluate("getComputedStyle(document.body).backgroundColor"),
        }
        problems |= {f"{name}: {what}": problem for what, problem in problems_of_page.items() if problem}
    context.close()
    assert not problems


def test_pages_are_accessible(pages, browser):
    axe, problems = Axe(), {}
    for scheme in ("light", "dark"):
        page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
        for name in PAGES:
            page.goto((pages / f"{name}.html").as_uri())
            page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
            rules = {} if scheme == "light" else {"runOnly": ["color-contrast"]}
            violations = axe.run(page, options={"resultTypes": ["violations"], **rules}).response[
                "violations"
            ]
            found = [(rule["id"], rule["nodes"][0]["html"][:100]) for rule in violations]
            problems |= {f"{name}, {scheme}": found} if found else {}
        page.close()
    assert not problems


def test_pages_are_valid_and_short(pages):
    problems = {}
    for name in PAGES:
        content = (pages / f"{name}.html").read_bytes()
        parser = html5lib.HTMLParser(strict=False)
        parser.parse(content)
        identifiers = re.findall(rb' id="([^"]*)"', content)
        problems_of_page = {
            "errors": parser.errors,
            "repeated identifiers": {one for one in identifiers if identifiers.count(one) > 1},
            "bytes": len(content) if len(content) > MAX_BYTES else 0,
        }
        problems |= {f"{name}: {what}": problem for what, problem in problems_of_page.items() if problem}
    assert not problems


def test_a_page_of_fifty_groups_is_short(pages):
    group = pl.int_range(pl.len()) % 50
    frame = pl.concat([pl.read_csv(pages / "digits_new.csv")] * 15)
    frame.with_columns(group=group).write_parquet(pages / "fifty.parquet")
    run(pages, "tce fifty.parquet --by group -q --report fifty.html")
    assert (pages / "fifty.html").stat().st_size < 1_000_000


def test_printed_pages_have_every_column(pages, browser, tmp_path):
    missing = {}
    for name in PAGES:
        page = browser.new_page()
        page.goto((pages / f"{name}.html").as_uri())
        texts = page.evaluate(
            "[...document.querySelectorAll('h1, h2, td, th, dd, dt, li, summary, figcaption')]"
            ".filter(part => !part.closest('#operating-point')).map(part => part.textContent)"
        )
        page.pdf(path=tmp_path / "page.pdf", format="A4")
        with pypdfium2.PdfDocument(tmp_path / "page.pdf") as document:
            printed = "".join(sheet.get_textpage().get_text_range() for sheet in document)
        printed = unicodedata.normalize("NFKC", printed)  # without ligatures
        content = re.sub(r"\s+", "", printed).replace(HYPHEN_AT_THE_END, "-")
        lost = [text for text in texts if re.sub(r"\s+", "", text) not in content]
        missing |= {name: lost} if lost else {}
        page.close()
    assert not missing


def test_tables_are_sorted_by_their_headers(pages, browser):
    page = browser.new_page()
    page.goto((pages / "shift.html").as_uri())
    table = page.locator("table.sortable").first
    original = table.locator("tbody tr").all_inner_texts()
    header = table.locator("th button").last

    def weights():
        rows = table.locator("tbody tr").all_inner_texts()
        return [float(row.split("\t")[-1].split()[0]) for row in rows]

    header.focus()
    page.keyboard.press("Enter")
    assert weights() == sorted(weights())
    header.click()
    assert weights() == sorted(weights(), reverse=True)
    assert table.locator("th[aria-sort=descending]").count() == 1
    header.click()
    assert table.locator("tbody tr").all_inner_texts() == original
    page.close()


def test_figures_say_their_values(pages, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((pages / "tce.html").as_uri())
    picture = page.locator("figure .picture.wide")
    picture.scroll_into_view_if_needed()
    picture.locator(".values rect").first.hover()
    pointed = page.locator("figure output").first
    assert "Bin 1, scores 0 to" in pointed.inner_text()
    assert "p = " in pointed.inner_text() or "p < " in pointed.inner_text()
    picture.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "Bin " in pointed.inner_text()
    assert picture.locator(".values rect title").count() > 10
    page.close()


def point_of(page):
    """Return what the page says of the chosen operating point."""
    section = page.locator("#operating-point")
    cells = section.locator("tr[data-point=rule] td").all_inner_texts()
    return section.locator("output").inner_text(), cells, section.locator("code").inner_text()


def test_the_slider_shows_the_rule_that_its_command_makes(pages, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((pages / "boundary of few bins.html").as_uri())
    assert point_of(page)[0] == "target precision 0.9"
    slider = page.locator("#operating-point input")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    name, (alerts, precision, recall), command = point_of(page)
    assert name == slider.get_attribute("aria-valuetext") == "target precision 0.89"
    shapes = [page.locator(f".picture.wide .{shape}").count() for shape in ("chosen-rule", "chosen-point")]
    assert shapes == [1, 1]
    report = json.loads(run(pages, f"{command.removeprefix('uqcli ')} --json"))
    expected = report["metrics"]["expected"]
    assert precision.startswith(f"{100 * expected['precision']['value']:.1f} %")
    assert recall.startswith(f"{100 * expected['recall']['value']:.1f} %")
    assert int(alerts.split()[0].replace(",", "")) >= report["metrics"]["selected"]
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 2, box["y"] + box["height"] / 2)
    assert point_of(page)[0] == "target precision 0.5"
    page.close()


def test_the_slider_says_which_precision_gives_100_alerts(pages, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((pages / "boundary of alerts.html").as_uri())
    assert page.locator("h1").inner_text() == page.title() == "Whom to ask first"
    name, (alerts, precision, _), command = point_of(page)
    assert name == "at most 100 alerts"
    assert int(alerts.split()[0]) <= 100
    assert float(precision.split()[0]) > 50
    assert "--max-selected 100" in command
    page.locator("#operating-point select").select_option("precision")
    assert point_of(page)[0].startswith("target precision 0.")
    page.close()


def test_certified_pages_have_no_slider(pages):
    """A rule chosen after looking at the results would have no certificate."""
    assert (
        "operating-point"
        not in (pages / "certified boundary.html").read_text().split("</style>")[1].split("<script>")[0]
    )


def test_pages_without_scripts_have_everything_else(pages, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((pages / "boundary.html").as_uri())
    assert not page.locator("#operating-point").is_visible()
    assert page.locator("figure .picture.wide").first.is_visible()
    assert page.locator("main > .scroll table").first.is_visible()
    context.close()


def test_names_from_the_data_stay_text(pages, browser):
    page = browser.new_page()
    for name in PAGES:
        page.goto((pages / f"{name}.html").as_uri())
        assert page.locator("script").count() == (2 if page.locator("#operating-point").count() else 1), name
        assert page.locator("main img").count() == 0, name
    page.goto((pages / "tce of hostile groups.html").as_uri())
    assert "<script>alert(1)</script>" in page.locator("main").inner_text()
    assert "\u202e" not in page.content()
    page.close()


def test_dark_pages_are_dark(pages, browser):
    shades = {}
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto((pages / "show.html").as_uri())
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        shades[scheme] = sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(",")))
        page.close()
    assert shades["dark"] < 200 < 600 < shades["light"]


def test_wide_tables_scroll_on_a_narrow_screen(pages, browser):
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.goto((pages / "evaluate two.html").as_uri())
    frame = page.locator(".scroll").first
    assert frame.evaluate("each => each.scrollWidth > each.clientWidth")
    assert frame.evaluate("each => getComputedStyle(each).overflowX") == "auto"
    page.close()
