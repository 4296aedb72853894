"""What README and docs show is run as it stands there."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documentation.pages import BLOCKS, PAGES
from tests.documentation.reference import ROOT


def test_every_mark_is_before_a_block():
    marks = [line for path in PAGES for line in path.read_text().splitlines() if line == "<!-- run -->"]
    assert len(marks) == len(BLOCKS)
    assert {language for _, language, _ in BLOCKS} == {"sh", "python"}
    assert {name.rpartition("-")[0] for name, _, _ in BLOCKS} >= {
        "README.md",
        "docs/tutorial.md",
        "docs/index.md",
    }


@pytest.mark.parametrize(
    ("language", "code"), [block[1:] for block in BLOCKS], ids=[block[0] for block in BLOCKS]
)
def test_block_runs(tmp_path, language, code):
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    command = ["bash", "-euo", "pipefail", "-c", code] if language == "sh" else [sys.executable, "-c", code]
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env={"PATH": path}
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
