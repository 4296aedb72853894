"""The reference pages of the site, made from uqcli; ``make reference`` writes them."""

import sys
from pathlib import Path

from tests.documentation.api_page import api_page
from tests.documentation.artifacts_page import artifacts_page
from tests.documentation.commands_page import commands_page
from tests.documentation.designs_page import designs_page
from tests.documentation.reports_page import reports_page
from tests.documentation.stub import stub
from tests.documentation.summaries import summaries

ROOT = Path(__file__).parents[2]
SUMMARIES = ROOT / "uqcli" / "cli" / "summaries.py"
STUB = ROOT / "uqcli" / "commands.pyi"
README, DOCS = ROOT / "README.md", ROOT / "docs"
PAGES = {
    "commands": commands_page,
    "artifacts": artifacts_page,
    "json-reports": reports_page,
    "python-api": api_page,
    "how-rows-were-drawn": designs_page,
}
"""Functions that make the pages, by file name."""


def path_of(name):
    """Return the path of a reference page."""
    room = "explanation" if name == "how-rows-were-drawn" else "reference"
    return DOCS / room / f"{name}.md"


if __name__ == "__main__":
    for name, page in PAGES.items():
        path_of(name).write_text(page())
    STUB.write_text(stub())
    SUMMARIES.write_text(summaries())
    sys.stdout.write(f"{', '.join(PAGES)} are up to date\n")
