"""Tests that figures of simulations in the docs are those that the statistical suite found."""

import re
from fnmatch import fnmatchcase

import pytest

from tests.documentation import quoted
from tests.documentation.pages import without_code
from tests.documentation.reference import DOCS, PAGES, path_of

QUOTES = quoted.quotes()
LEVELS = quoted.recorded()
MEASURED = quoted.measured()
GENERATED = {*map(path_of, PAGES), *(DOCS / "results").iterdir(), DOCS / "results.md"}
"""Pages that the program, the studies of reproduction/ and the benchmarks write."""
PROSE = sorted(set(DOCS.rglob("*.md")) - GENERATED)
SIMULATED = re.compile(
    r"simulat|\bcover(?:s|ed) (?:the |at )?[a-z]*\s*\d|contain(?:s|ed)? the truth|falsely"
    r"|raised a false alarm|\b0\.01 is\b|false alarms? at|\brang\b|over seeds|means over"
    r"|median (?:days|delay)|[Mm]isses (?:its target|it) on new data|bound missed|missed:|chosen \|$"
    r"|\d (?:samples|streams|calibration sets)"
    r"|% of (?:the )?(?:years|files|streams|samples|runs|calibration sets)",
    re.MULTILINE,
)
"""Words of a sentence or table that tells what was found in simulations."""
FIGURE = re.compile(r"\d|\bhalf\b|\bone in\b|\bnearly (?:all|always)\b")


@pytest.mark.parametrize("page", QUOTES)
def test_a_page_quotes_the_recorded_figures(page):
    """After a change of either, run ``make levels``, which writes the record into the pages."""
    text, one = quoted.words((DOCS / page).read_text()), QUOTES[page]
    for template in one.quoted:
        shown = quoted.rendered(template, LEVELS | MEASURED)
        assert text.count(quoted.words(shown)) == 1, shown
    for rough in one.rough:
        assert quoted.words(rough["text"]) in text, rough
        assert rough["low"] <= float(quoted.rendered(rough["field"], LEVELS)) <= rough["high"], rough
    for other in one.other:
        assert quoted.words(other["text"]) in text, other


def test_the_record_has_what_pages_quote_and_nothing_else():
    patterns = [name for one in QUOTES.values() for name in quoted.names_in(one)]
    unused = [name for name in LEVELS if not any(fnmatchcase(name, pattern) for pattern in patterns)]
    assert not unused


def blocks(text):
    """Yield paragraphs, items and tables of a page, each on one line or with a line for each row."""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:- |\d+\. ))", without_code(text)):
        if block.lstrip().startswith("|"):
            yield "\n".join(map(quoted.words, block.strip().splitlines()))
        elif not block.startswith("#"):
            yield quoted.words(block)


def statements(text):
    """Yield sentences and rows that tell figures of simulations, with the blocks that they are in."""
    before = ""
    for block in blocks(text):
        if block.startswith("|"):
            header, _, *rows = block.splitlines()
            if any(map(SIMULATED.search, (header, *rows, before))):
                yield from ((row, block) for row in rows if re.search(r"\d", row))
        else:
            for sentence in re.split(r"(?<=[.?!])\s+(?=[^a-z\d])", block):
                if SIMULATED.search(sentence) and FIGURE.search(sentence):
                    yield sentence, block
        before = block


@pytest.mark.parametrize("path", PROSE, ids=lambda path: str(path.relative_to(DOCS)))
def test_every_figure_of_a_simulation_is_listed(path):
    """A figure is one of ``quoted_levels.toml``, or that says where else it comes from."""
    one, page = QUOTES.get(str(path.relative_to(DOCS)), quoted.Quotes()), quoted.words(path.read_text())
    listed = [re.search(quoted.pattern(template), page)[0] for template in one.quoted]
    listed += [quoted.words(rough["text"]) for rough in one.rough]
    exempt = [quoted.words(other["text"]) for other in one.other]
    for statement, block in statements(path.read_text()):
        if any(text in quoted.words(block) for text in exempt):
            continue
        rest = statement
        for text in sorted(listed, key=len, reverse=True):
            rest = rest.replace(text, "") if text in rest else "" if rest and rest in text else rest
        assert rest != statement, f"say in quoted_levels.toml where this comes from: {statement}"
        assert not re.search(r"\d %", rest), f"say where all figures come from: {rest}"


def test_figures_are_written_into_a_page_whatever_its_line_breaks():
    levels = {"a/one": {"value": 0.0123, "runs": 1000}, "a/two": {"value": 0.5, "runs": 200}}
    template = "rang in {a/one:.1%} of them, at {max a/*:.0p}, in {runs a/*:,} years"
    page = "It rang in 0.7\n% of them, at 9,\nin 1,000 years. Other 9 %."
    expected = "It rang in 1.2\n% of them, at 50,\nin 200 years. Other 9 %."
    assert quoted.updated(page, template, levels) == expected
    with pytest.raises(AssertionError, match="once in the page"):
        quoted.updated(page + page, template, levels)
    with pytest.raises(AssertionError, match="no simulation keeps a/three"):
        quoted.rendered("{a/three:.1%}", levels)


def test_sentences_and_rows_with_figures_of_simulations_are_found():
    table = "| a | over seeds |\n|---|---|\n| b | 2 |\n| c | |\n"
    page = f"# Title\n\nIn simulations it\nrang in 3 %. It has 5 options.\n\n{table}"
    assert [statement for statement, _ in statements(page)] == ["In simulations it rang in 3 %.", "| b | 2 |"]
