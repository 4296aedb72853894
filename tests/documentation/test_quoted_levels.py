"""Tests that figures of simulations in the docs are those that the statistical suite found."""

from fnmatch import fnmatchcase

import pytest

from tests.documentation import quoted
from tests.documentation.reference import DOCS

QUOTES = quoted.quotes()
LEVELS = quoted.recorded()


@pytest.mark.parametrize("page", QUOTES)
def test_a_page_quotes_the_recorded_figures(page):
    """After a change of either, run ``make levels``, which writes the record into the pages."""
    text, one = quoted.words((DOCS / page).read_text()), QUOTES[page]
    for template in one.quoted:
        shown = quoted.rendered(template, LEVELS)
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
