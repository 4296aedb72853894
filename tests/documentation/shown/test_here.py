"""What README and docs show is run as it stands there (``make blocks``)."""

import polars as pl
import pytest

from tests.documentation.outputs import outputs_of
from tests.documentation.pages import blocks_needing, chains, run


@pytest.mark.parametrize("chain", chains(), ids=lambda chain: chain[0].name)
def test_blocks_print_what_the_page_shows(chain):
    for block, printed in zip(chain, outputs_of(chain), strict=True):
        assert block.output in (None, printed), f"{block.name}: run make outputs"


ROWS = """
import numpy as np

random = np.random.default_rng(0)
train, holdout = random.normal(size=(2, 300, 3))
train_label, holdout_label = (part.sum(axis=1) + random.normal(size=300) > 0 for part in (train, holdout))
"""


def test_the_ensemble_of_seeds(tmp_path):
    (block,) = blocks_needing("xgboost")
    run(block, tmp_path, before=ROWS)
    written = pl.read_parquet(tmp_path / "members.parquet")
    assert written.columns == [*(f"m_{seed}" for seed in range(10)), "label"]
    assert written.select(pl.all_horizontal(pl.exclude("label").is_between(0, 1)).all()).item()
    assert written["m_0"].to_list() != written["m_1"].to_list()
