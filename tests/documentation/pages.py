"""The pages of the docs, and their blocks of code that tests run."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.documentation.reference import DOCS, README, ROOT

PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "sample_data" / "README.md", *sorted(DOCS.rglob("*.md"))]


@dataclass(frozen=True)
class Block:
    """A block of code under the mark ``<!-- run -->`` or ``<!-- run: needs -->``.

    A block that needs ``before`` runs after the blocks above it on its page.
    """

    name: str
    needs: str
    language: str
    code: str
    output: str | None


BLOCKS = [
    Block(f"{path.relative_to(ROOT)}-{number}", needs, language, code, output if shown else None)
    for path in PAGES
    for number, (needs, language, code, shown, output) in enumerate(
        re.findall(
            r"^<!-- run(?:: ([a-z]+))? -->\n```([a-z]+)\n(.*?)^```$(\n\n```text\n(.*?)^```$)?",
            path.read_text(),
            flags=re.DOTALL | re.MULTILINE,
        )
    )
]


BLOCKS_BY_NAME = {block.name: block for block in BLOCKS}


def before(block):
    """Return the blocks above a block as a shell script, or an empty string if it does not need them."""
    if block.needs != "before":
        return ""
    page, _, number = block.name.rpartition("-")
    blocks_above = [BLOCKS_BY_NAME[f"{page}-{index}"] for index in range(int(number))]
    return "".join(f"({_as_shell(above)}) > /dev/null\n" for above in blocks_above)


def _as_shell(block):
    return block.code if block.language == "sh" else f"python - <<'END'\n{block.code}END\n"


def blocks_needing(*needs):
    """List the blocks with these needs, in the order of the pages."""
    blocks = [block for block in BLOCKS if block.needs in needs]
    assert blocks, f"no block needs {needs}"
    return blocks


def run(block, folder, *, before="", variables=()):
    """Run a block after other code, and require an empty standard error.

    Parameters
    ----------
    variables
    Environment variables besides PATH.
    """
    code = before + block.code
    languages = {"sh": ["bash", "-euo", "pipefail", "-c", code], "python": [sys.executable, "-c", code]}
    environment = {**dict(variables), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    process = subprocess.run(
        languages[block.language], cwd=folder, capture_output=True, text=True, check=False, env=environment
    )
    assert (process.returncode, process.stderr) == (0, ""), process.stdout


def without_code(text):
    """Remove the blocks of code from a page."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
