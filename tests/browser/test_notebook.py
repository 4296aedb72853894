"""Tests of what a notebook shows of a result, in a browser."""

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

from tests.browser.test_pages import BROWSER
from uqcli import commands as uq


@pytest.mark.parametrize("command", ["boundary", "tce"])
def test_a_notebook_shows_the_answer_the_numbers_and_the_figure(command, tmp_path):
    random = np.random.default_rng(0)
    score = random.random(2000)
    rows = {"score": score, "label": random.random(2000) < score**1.5}
    result = uq.boundary(rows, precision=0.8) if command == "boundary" else uq.tce(rows)
    page_file = tmp_path / "cell.html"
    page_file.write_text(f"<meta charset='utf-8'><body>{result._repr_html_()}</body>")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 800, "height": 900})
        page.goto(page_file.as_uri())
        assert page.locator("strong").first.inner_text() == str(result).splitlines()[0]
        assert page.locator("tr").count() >= 3
        picture = page.locator("img").bounding_box()
        assert picture["width"] > 500
        assert picture["height"] > 200
        assert picture["x"] + picture["width"] <= 800
        browser.close()
