"""What README and docs show is run as it stands there (``make blocks``)."""

import shutil

import polars as pl
import pytest

from tests.documentation.outputs import output_of
from tests.documentation.pages import before, needing, run
from tests.documentation.reference import ROOT

SHOWN = [block for block in needing("", "before") if block.output is not None]
SILENT = [block for block in needing("", "before") if block.output is None]


@pytest.mark.parametrize("block", SHOWN, ids=lambda block: block.name)
def test_block_prints_what_the_page_shows(block):
    assert output_of(block) == block.output, "run make outputs"


@pytest.mark.parametrize("block", SILENT, ids=lambda block: block.name)
def test_block_runs(tmp_path, block):
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    run(block, tmp_path, before=before(block))


ROWS = """
import numpy as np

random = np.random.default_rng(0)
train, holdout = random.normal(size=(2, 300, 3))
train_label, holdout_label = (each.sum(axis=1) + random.normal(size=300) > 0 for each in (train, holdout))
"""


def test_the_ensemble_of_seeds(tmp_path):
    (block,) = needing("xgboost")
    run(block, tmp_path, before=ROWS)
    written = pl.read_parquet(tmp_path / "members.parquet")
    assert written.columns == [*(f"m_{seed}" for seed in range(10)), "label"]
    assert written.select(pl.all_horizontal(pl.exclude("label").is_between(0, 1)).all()).item()
    assert written["m_0"].to_list() != written["m_1"].to_list()
