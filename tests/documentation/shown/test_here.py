"""Tests that run what README and docs show (``make blocks``)."""

import polars as pl
import pytest

from tests.documentation.outputs import excerpt, outputs_of
from tests.documentation.pages import blocks_needing, chains, run


@pytest.mark.parametrize("chain", chains(), ids=lambda chain: chain[0].name)
def test_blocks_print_what_the_page_shows(chain):
    for block, printed in zip(chain, outputs_of(chain), strict=True):
        assert block.output in (None, excerpt(printed, block.output)), f"{block.name}: run make outputs"


ROWS = """
import numpy as np

random = np.random.default_rng(0)
train, holdout = random.normal(size=(2, 300, 3))
train_label, holdout_label = (x.sum(axis=1) + random.normal(size=300) > 0 for x in (train, holdout))
"""


def test_the_ensemble_of_seeds_has_different_members(tmp_path):
    (block,) = blocks_needing("xgboost")
    run(block, tmp_path, before=ROWS)
    members = pl.read_parquet(tmp_path / "members.parquet")
    assert members.columns == [*(f"m_{seed}" for seed in range(10)), "label"]
    assert members.select(pl.all_horizontal(pl.exclude("label").is_between(0, 1)).all()).item()
    assert members["m_0"].to_list() != members["m_1"].to_list()
