"""What README and docs show is run as it stands there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.documentation.pages import BLOCKS, PAGES, needing
from tests.documentation.reference import DOCS, ROOT

RUN_BY = {
    "": "here",
    "xgboost": "here",
    "store": "tests/cloud",
    "torch": "make blocks",
    "dvc": "make blocks",
    "zsh": "make blocks",
    "fish": "make blocks",
}
GENERATED = DOCS / "reference"
"""Its examples are those of ``--help`` and of docstrings, which have tests of their own."""


def test_every_block_is_run_by_some_test():
    for path in PAGES:
        if GENERATED in path.parents:
            continue
        marked = re.sub(r"^<!-- run(: [a-z]+)? -->\n```.*?^```$", "", path.read_text(), flags=re.M | re.S)
        assert not re.findall(r"^```(?:sh|python|pycon|<!--)", marked, flags=re.M), path
        assert not re.findall(r"^<!-- run", marked, flags=re.M), path
    assert {block.needs for block in BLOCKS} == set(RUN_BY)
    assert {block.name.rpartition("-")[0] for block in needing("")} >= {
        "README.md",
        "docs/tutorial.md",
        "docs/index.md",
    }


def run(code, language, folder):
    command = ["bash", "-euo", "pipefail", "-c", code] if language == "sh" else [sys.executable, "-c", code]
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={"PATH": path}
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize("block", needing(""), ids=lambda block: block.name)
def test_block_runs(tmp_path, block):
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    run(block.code, block.language, tmp_path)


ROWS = """
import numpy as np

random = np.random.default_rng(0)
train, holdout = random.normal(size=(2, 300, 3))
train_label, holdout_label = (each.sum(axis=1) + random.normal(size=300) > 0 for each in (train, holdout))
"""


def test_the_ensemble_of_seeds(tmp_path):
    (block,) = needing("xgboost")
    run(ROWS + block.code, block.language, tmp_path)
    written = pl.read_parquet(tmp_path / "members.parquet")
    assert written.columns == [*(f"m_{seed}" for seed in range(10)), "label"]
    assert written.select(pl.all_horizontal(pl.exclude("label").is_between(0, 1)).all()).item()
    assert written["m_0"].to_list() != written["m_1"].to_list()
