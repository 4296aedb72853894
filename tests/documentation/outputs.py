"""Write the output that the docs show under their commands; ``make outputs`` does it.

An output is a ``text`` block right below a block that is run. It is what a terminal of 80 columns shows.
"""

import os
import pty
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.documentation.pages import BLOCKS, ROOT, before

COLUMNS = 80


def output_of(block):
    """What a block of shell commands prints on a terminal."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "sample_data", folder / "sample_data")
        near, far = pty.openpty()
        environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "COLUMNS": str(COLUMNS),
            "TERM": "dumb",
        }
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", before(block) + block.code],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=far,
            stderr=subprocess.PIPE,
        )
        os.close(far)
        shown = _read(near)
        error = process.stderr.read().decode()
        assert (process.wait(), error) == (0, ""), (block.name, shown, error)
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


def write(blocks):
    """Replace the shown outputs by those of now."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for block, shown in zip(blocks, pool.map(output_of, blocks), strict=True):
            page = ROOT / block.name.rpartition("-")[0]
            text = page.read_text()
            old = f"{block.code}```\n\n```text\n{block.output}```"
            assert text.count(old) == 1, block.name
            page.write_text(text.replace(old, f"{block.code}```\n\n```text\n{shown}```"))


if __name__ == "__main__":
    write([block for block in BLOCKS if block.output is not None])
