"""Browser tests of the pages of every command: wide and narrow, light and dark (``make browser``)."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import sync_playwright

from uqcli.cli.config import COMMANDS

BROWSER = "/usr/bin/chromium"
SAMPLE = Path(__file__).parents[2] / "sample_data"
MIN_TEXT = 11
"""Smallest legible size of text in figures, in pixels."""

PAGES = {
    "boundary": "boundary digits_holdout.csv --precision 0.7 --compare --frontier frontier.csv -o b.json",
    "boundary of few bins": "boundary digits_holdout.csv --precision 0.9 --uncertainty-bins auto",
    "boundary by all algorithms": "boundary digits_holdout.csv --precision 0.9 --algorithm all",
    "boundaries": "boundary digits_holdout.csv --precision 0.7,0.8,0.9",
    "boundary of one threshold": "boundary digits_holdout.csv --precision 0.9 --algorithm st -o st.json",
    "bin": "bin digits_holdout.csv",
    "bin of one row": "bin digits_holdout.csv --binning pava",
    "calibrate": "calibrate digits_holdout.csv --method all -o c.json",
    "calibrate by uncertainty": "calibrate digits_holdout.csv --method mist -o m.json",
    "calibrate parts": "calibrate digits_holdout.csv --method heterogeneous --features uncertainty -o p.json",
    "tce": "tce digits_new.csv --bootstrap 40",
    "tce of classes": "tce digits_proba_new.csv --proba p_*",
    "tce of hostile groups": "tce hostile.parquet --by group",
    "evaluate": "evaluate b.json digits_new.csv",
    "evaluate two": "evaluate b.json st.json digits_new.csv",
    "evaluate calibrators": "evaluate c.json m.json p.json digits_new.csv",
    "shift": "shift digits_proba_holdout.csv --target digits_proba_new.csv --proba p_*",
    "conformal": "conformal digits_proba_holdout.csv --proba p_* --mode label-conditional -o sets.json",
    "evaluate sets": "evaluate sets.json digits_proba_new.csv",
    "apply": "apply b.json digits_new.csv -o decided.csv",
    "uncertainty": "uncertainty digits_proba_new.csv --members p_* -o rows.csv",
    "simulate": "simulate posterior --rows 500 -o drawn.csv",
    "show": "show b.json",
    "show a calibrator": "show c.json",
}
"""Command lines by the name of their page; each can use the files of those before it."""

HOSTILE = ("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "'\"&" + "long" * 30)

TEXT_SIZES = """() => [...document.querySelectorAll("svg .text g[transform*=scale]")].flatMap(
  glyphs => {
    const picture = glyphs.closest("svg"), width = picture.getBoundingClientRect().width
    if (!width) return []  // a figure for the other width
    const scale = Number(glyphs.getAttribute("transform").match(/scale\\(([\\d.]+)/)[1])
    return [100 * scale * width / picture.viewBox.baseVal.width]
})"""
"""Script that returns text sizes in figures, in pixels. Figures draw text as shapes, scaled by 100."""


def test_every_command_that_reports_has_a_page():
    assert {line.split()[0] for line in PAGES.values()} == set(COMMANDS) - {"schema"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write all pages into a folder."""
    folder = tmp_path_factory.mktemp("pages")
    for path in SAMPLE.glob("*.csv"):
        shutil.copy(path, folder)
    frame = pl.read_csv(folder / "digits_new.csv").with_row_index("number")
    group = pl.col("number").mod(3).replace_strict(dict(enumerate(HOSTILE)), return_dtype=pl.String)
    frame.with_columns(group=group).write_parquet(folder / "hostile.parquet")
    for name, line in PAGES.items():
        command = [sys.executable, "-m", "uqcli", *shlex.split(line), "-q", "--report", f"{name}.html"]
        subprocess.run(command, cwd=folder, check=True)
    return folder


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
