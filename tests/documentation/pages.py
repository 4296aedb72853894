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
    """List the blocks that need nothing, each with those that run after it in the same folder."""
    all_chains = []
    for block in BLOCKS:
        if block.needs == "":
            all_chains.append([block])
        elif block.needs == "before":
            all_chains[-1].append(block)
    return all_chains


def blocks_needing(needs):
    """List the blocks with this need, in the order of their page."""
    blocks = [block for block in BLOCKS if block.needs == needs]
    assert blocks, f"no block needs {needs}"
    return blocks


def run(block, folder, *, before="", variables=(), path=PATH):
    """Run a block after other code; it must print nothing on standard error.

    Parameters
    ----------
    variables
        Environment variables, beside the path of the programs.
    """
    code, environment = before + block.code, {**dict(variables), "PATH": path}
    process = subprocess.run(
        [*INTERPRETERS[block.language], code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert (process.returncode, process.stderr) == (0, ""), process.stdout


def without_code(text):
    """Remove the blocks of code of a page."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
