"""Tests of links: their targets exist, and every page can be reached."""

import re

from tests.documentation.pages import PAGES, without_code
from tests.documentation.reference import DOCS, README, ROOT


def links_of(path):
    """List the link targets of a page, without addresses of other hosts."""
    targets = re.findall(r"\]\(([^)\s]+)\)", without_code(path.read_text()))
    return [target for target in targets if not re.match(r"\w+:", target)]


def anchors_of(path):
    """List the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", without_code(path.read_text()), flags=re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def test_link_targets_exist():
    broken = [
        f"{path.relative_to(ROOT)}: {link}"
        for path in PAGES
        for link in links_of(path)
        if is_broken(path, link)
    ]
    assert not broken, "\n".join(broken)


def is_broken(path, link):
    """Whether a link names no page, no heading of it, or a page that is not on the site."""
    target, _, anchor = link.partition("#")
    linked = (path.parent / target).resolve() if target else path
    if not linked.is_file() or (anchor and anchor not in anchors_of(linked)):
        return True
    return path.is_relative_to(DOCS) and not linked.is_relative_to(DOCS)


APPENDIX = {
    "explanation/sources.md",
    "reference/artifacts.md",
    "results.md",
    "results/reproduction.md",
    "results/speed.md",
}
"""Pages that only links lead to: papers, times and schemas."""


def test_every_page_is_in_the_contents_of_the_site_and_reached_from_the_readme():
    contents = (DOCS / "zensical.toml").read_text()
    reached, new = set(), {README}
    while new:
        reached |= new
        links = [(page.parent / link.partition("#")[0]).resolve() for page in new for link in links_of(page)]
        new = {path for path in links if path.suffix == ".md"} - reached
    for page in DOCS.rglob("*.md"):
        name = str(page.relative_to(DOCS))
        assert contents.count(f'"{name}"') == (name not in APPENDIX), page
        assert page in reached, page


def test_every_image_of_the_docs_is_shown():
    shown = {(path.parent / link).resolve() for path in PAGES for link in links_of(path)}
    assert set((DOCS / "images").iterdir()) <= shown
