"""Pages of the documentation, and their blocks of code to run."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.documentation.reference import DOCS, README, ROOT

PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "sample_data" / "README.md", *sorted(DOCS.rglob("*.md"))]

INTERPRETERS = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}
PATH = f"{Path(sys.executable).parent}:/usr/bin:/bin"


@dataclass(frozen=True)
class Block:
    """Code of a page that is marked to be run by ``<!-- run -->``, or ``<!-- run: needs -->`` above it.

    A block that needs what stands ``before`` it runs after the block above it, in the same folder.
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


def chains():
    """Blocks that need nothing else, each with those that run after it in the same folder (``before``)."""
    found = []
    for block in BLOCKS:
        if block.needs == "":
            found.append([block])
        elif block.needs == "before":
            found[-1].append(block)
    return found


def blocks_needing(needs):
    """The blocks that need something, in the order of their page."""
    found = [block for block in BLOCKS if block.needs == needs]
    assert found, f"no block needs {needs}"
    return found


def run(block, folder, *, before="", variables=()):
    """Run a block after other code; it must print nothing on standard error.

    Parameters
    ----------
    variables
        Environment variables, beside the path of the programs.
    """
    code, environment = before + block.code, {**dict(variables), "PATH": PATH}
    done = subprocess.run(
        [*INTERPRETERS[block.language], code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def without_code(text):
    """Remove the blocks of code of a page."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
