"""Links between pages lead somewhere, and everything can be reached."""

import re

import pytest

from tests.documentation.pages import PAGES, without_code
from tests.documentation.reference import DOCS, README, ROOT

MOST_BYTES = 10_000


def links_of(path):
    """Places that a page links to, without addresses of other hosts."""
    targets = re.findall(r"\]\(([^)\s]+)\)", without_code(path.read_text()))
    return [target for target in targets if not re.match(r"\w+:", target)]


def anchors_of(path):
    """What the headings of a page are called in links."""
    headings = re.findall(r"^#+ (.*)$", without_code(path.read_text()), flags=re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=[str(path.relative_to(ROOT)) for path in PAGES])
def test_links_lead_somewhere(path):
    for link in links_of(path):
        target, _, anchor = link.partition("#")
        place = (path.parent / target).resolve() if target else path
        assert place.is_file(), link
        assert not anchor or anchor in anchors_of(place), link
        if path.is_relative_to(DOCS):
            assert place.is_relative_to(DOCS), f"{link} is not on the site"


def test_every_page_is_in_the_contents_of_the_site_and_reached_from_the_readme():
    contents = (DOCS / "zensical.toml").read_text()
    reached, new = set(), {README}
    while new:
        reached |= new
        links = [(page.parent / link.partition("#")[0]).resolve() for page in new for link in links_of(page)]
        new = {path for path in links if path.suffix == ".md"} - reached
    for page in DOCS.rglob("*.md"):
        assert contents.count(f'"{page.relative_to(DOCS)}"') == 1, page
        assert page in reached, page


def test_every_image_of_the_docs_is_shown():
    shown = {(path.parent / link).resolve() for path in PAGES for link in links_of(path)}
    assert set((DOCS / "images").iterdir()) <= shown


def test_the_readme_is_short():
    assert len(README.read_bytes()) <= MOST_BYTES
