"""Writes the outputs that the docs show under their commands (``make outputs``).

An output is a ``text`` block right below a block that is run. It is what a terminal of 80 columns shows, or
its first lines if ``[...]`` stands in the last line of the block.
"""

import os
import pty
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.documentation.pages import INTERPRETERS, PATH, ROOT, chains

COLUMNS = 80
_CUT = "[...]"


def outputs_of(chain):
    """Return what blocks print on a terminal, one after another in one folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "sample_data", folder / "sample_data")
        return [_output_of(block, folder) for block in chain]


def _output_of(block, folder):
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [*INTERPRETERS[block.language], block.code],
        cwd=folder,
        env={"PATH": PATH, "COLUMNS": str(COLUMNS), "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(terminal)
        shown = _read(controller)
        error = process.stderr.read().decode()
    assert (process.returncode, error) == (0, ""), (block.name, shown, error)
    return "".join(f"{line.rstrip()}\n" for line in shown.replace("\r\n", "\n").rstrip().split("\n"))


def _read(descriptor):
    """Read a terminal to its end."""
    pieces = []
    while True:
        try:
            piece = os.read(descriptor, 1 << 16)
        except OSError:  # closed on the other side
            piece = b""
        if not piece:
            os.close(descriptor)
            return b"".join(pieces).decode()
        pieces.append(piece)


def excerpt(shown, old):
    """Return as many lines of an output as the docs show."""
    *lines, last = (old or "").splitlines() or [""]
    return "".join(shown.splitlines(keepends=True)[: len(lines)]) + f"{_CUT}\n" if last == _CUT else shown


def write(chain):
    """Replace the shown outputs of a chain by the current ones."""
    for block, shown in zip(chain, outputs_of(chain), strict=True):
        if block.output is not None:
            page = ROOT / block.name.rpartition("-")[0]
            text = page.read_text()
            kept = excerpt(shown, block.output)
            old_text = f"{block.code}```\n\n```text\n{block.output}```"
            assert text.count(old_text) == 1, block.name
            page.write_text(text.replace(old_text, f"{block.code}```\n\n```text\n{kept}```"))


if __name__ == "__main__":
    for chain in chains():
        if any(block.output is not None for block in chain):
            write(chain)
