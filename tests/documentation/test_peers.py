"""Tests that what docs say of packages of others was measured, with the version that was."""

import re
from fnmatch import fnmatchcase

import pytest

from reproduction.same_rows import ROWS
from tests.documentation import quoted
from tests.documentation.reference import DOCS
from tests.documentation.test_quoted_levels import PROSE, blocks

MEASURED, QUOTES = quoted.measured(), quoted.quotes()
PAGE = (DOCS / "explanation" / "same-rows.md").read_text()
PEERS = re.compile(
    r"scikit-learn|sklearn|MAPIE|netcal|\brms\b|pROC|crepes|venn-abers\b|statsmodels|torchmetrics|relplot"
    r"|XGBoost|LightGBM|ONNX Runtime|skl2onnx|DataFusion|ClickHouse|uncertainty-calibration"
)
README = DOCS.parent / "README.md"
NO_CLAIM = {
    "watching.md": "the Kullback-Leibler",
    "faq.md": "It maximises a metric",
    "calibrate.md": "`--method venn-abers`",
    "README.md": "It fits your pipelines",
    "same-rows.md": "",
}
"""Paragraphs with a peer's name and numbers that claim nothing of it; the last page is quoted row by row."""


def test_the_rows_are_those_of_the_page():
    assert ROWS.read_text().strip() in PAGE


def test_the_page_has_versions_and_the_date_of_the_record():
    date = MEASURED["same rows/date"]["value"]
    text = quoted.words(PAGE)
    assert f"on {date} with" in text
    for name, entry in MEASURED.items():
        package = name.split("/")[1]
        if package not in ("date", "uqcli"):
            assert f"{package} {entry['version']}" in text, package


def test_every_number_of_the_record_is_on_the_page():
    names = quoted.names_in(QUOTES["explanation/same-rows.md"])
    unused = [name for name in MEASURED if not any(fnmatchcase(name, pattern) for pattern in names)]
    assert unused in ([], ["same rows/date"])


def claims(text):
    """Yield sentences, items and cells of tables that have a peer's name, or are below it, and a number."""
    for block in blocks(text):
        lines = block.splitlines()
        if not block.startswith("|"):
            if PEERS.search(block) and re.search(r"\d", PEERS.sub("", block)):
                yield block
            continue
        header = [cell.strip() for cell in lines[0].split("|")]
        for line in lines[2:]:
            cells = [cell.strip() for cell in line.split("|")]
            if PEERS.search(line):
                yield from [line] if re.search(r"\d", PEERS.sub("", line)) else []
                continue
            yield from (
                f"| {cell} |"
                for cell, head in zip(cells, header, strict=True)
                if PEERS.search(head) and re.search(r"\d", cell)
            )


@pytest.mark.parametrize("path", [*PROSE, README], ids=lambda path: path.name)
def test_numbers_beside_the_name_of_a_peer_are_measured(path):
    """They are on a page of results, row for row, or quoted from a record."""
    results = [quoted.words(page.read_text()) for page in (DOCS / "results").glob("*.md")]
    one = QUOTES.get(str(path.relative_to(DOCS)) if path.is_relative_to(DOCS) else "", quoted.Quotes())
    for claim in claims(path.read_text()):
        is_measured = any(quoted.words(claim) in page for page in results)
        is_quoted = any(re.search(quoted.pattern(template), claim) for template in one.quoted)
        is_known = any(quoted.words(other["text"]) in quoted.words(claim) for other in one.other)
        is_no_claim = path.name in NO_CLAIM and NO_CLAIM[path.name] in claim
        assert is_measured or is_quoted or is_known or is_no_claim, claim


def test_rows_and_cells_that_claim_something_of_a_peer_are_found():
    table = "| a | MAPIE, 0.05 |\n|---|--:|\n| b | 7 |\n| netcal 1 | |\n"
    page = f"# T\n\nnetcal has 3.\n\n- MAPIE\n- relplot 5\n\n{table}"
    assert list(claims(page)) == ["netcal has 3.", "- relplot 5", "| 7 |", "| netcal 1 | |"]
