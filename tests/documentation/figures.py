"""Draw the figures of the gallery again, by its own commands; ``make figures`` does it."""

import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.documentation.pages import BLOCKS, ROOT, run

IMAGES = ROOT / "docs" / "images"


def draw(block):
    """Run a block and keep the figures it saves."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "sample_data", folder / "sample_data")
        run(block, folder)
        for figure in folder.glob("*.svg"):
            shutil.copy(figure, IMAGES)


if __name__ == "__main__":
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(draw, [block for block in BLOCKS if block.name.startswith("docs/gallery.md")]))
