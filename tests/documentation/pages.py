"""The pages people read: where they are, and what of them is to be run."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.documentation.reference import DOCS, README, ROOT

PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "sample_data" / "README.md", *sorted(DOCS.rglob("*.md"))]


@dataclass(frozen=True)
class Block:
    """Code of a page that is marked to be run: ``<!-- run -->``, or ``<!-- run: needs -->`` above it.

    A block that needs what stands ``before`` it runs after the blocks of its page above it.
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
    """What the blocks above a block do, as a shell script; empty if it does not need them."""
    if block.needs != "before":
        return ""
    page, _, number = block.name.rpartition("-")
    above = [BLOCKS_BY_NAME[f"{page}-{each}"] for each in range(int(number))]
    return "".join(f"({_as_shell(each)}) > /dev/null\n" for each in above)


def _as_shell(block):
    return block.code if block.language == "sh" else f"python - <<'END'\n{block.code}END\n"


def needing(*needs):
    """The blocks that need something, in the order of their page."""
    found = [block for block in BLOCKS if block.needs in needs]
    assert found, f"no block needs {needs}"
    return found


def run(block, folder, *, before="", more=()):
    """Run a block as it stands there, after something of ours; nothing may be said on standard error.

    Parameters
    ----------
    more
        Of the environment, beside the programs.
    """
    code = before + block.code
    languages = {"sh": ["bash", "-euo", "pipefail", "-c", code], "python": [sys.executable, "-c", code]}
    environment = {**dict(more), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run(
        languages[block.language], cwd=folder, capture_output=True, text=True, check=False, env=environment
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def without_code(text):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
