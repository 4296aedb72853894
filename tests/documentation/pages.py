"""The pages people read: where they are, and what of them is to be run."""

import re

from tests.documentation.reference import DOCS, README, ROOT

PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "sample_data" / "README.md", *sorted(DOCS.rglob("*.md"))]
BLOCKS = [
    (f"{path.relative_to(ROOT)}-{number}", language, code)
    for path in PAGES
    for number, (language, code) in enumerate(
        re.findall(r"<!-- run -->\n```(sh|python)\n(.*?)```", path.read_text(), flags=re.DOTALL)
    )
]
"""Name, language and code of every block that is marked to be run."""


def without_code(text):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
