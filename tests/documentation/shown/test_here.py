"""Tests that run the blocks of README and docs (``make blocks``)."""

import shutil

import polars as pl
import pytest

from tests.documentation.outputs import output_of
from tests.documentation.pages import before, blocks_needing, run
from tests.documentation.reference import ROOT

SHOWN = [block for block in blocks_needing("", "before") if block.output is not None]
SILENT = [block for block in blocks_needing("", "before") if block.output is None]


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


def test_the_ensemble_of_seeds_runs(tmp_path):
    (block,) = blocks_needing("xgboost")
    run(block, tmp_path, before=ROWS)
    members = pl.read_parquet(tmp_path / "members.parquet")
    assert members.columns == [*(f"m_{seed}" for seed in range(10)), "label"]
    assert members.select(pl.all_horizontal(pl.exclude("label").is_between(0, 1)).all()).item()
    assert members["m_0"].to_list() != members["m_1"].to_list()
