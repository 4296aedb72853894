"""Tests that cached predictions take no memory for the probabilities of all classes."""

import numpy as np
import polars as pl
import pytest

from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.local.count.part import part_of
from uqcli.engines.request import PREDICTED, ClassColumns, DataRequest, Roles, in_memory

ROWS = {"p_a": [0.5, 0.25], "p_b": [0.25, 0.5], "p_c": [0.25, 0.25], "label": ["a", "c"], "u": [1.0, 2.0]}


@pytest.mark.parametrize(("dtype", "width"), [(pl.Float32, np.int32), (pl.Float64, np.int64)])
def test_a_part_holds_a_score_and_a_code_whatever_the_number_of_classes(dtype, width):
    rows = pl.DataFrame(ROWS).with_columns(pl.col("^p_.$").cast(dtype))
    roles = Roles(
        numbers={"uncertainty": "u"}, label="label", class_columns=ClassColumns(columns="p_*"), predicted=True
    )
    (batch,) = LocalBatches(DataRequest(inputs=in_memory(rows), roles=roles), narrow=True)
    part = part_of(batch)
    assert {role: keys.dtype for role, keys in part.keys.items()} == {"score": width, "uncertainty": np.int64}
    assert {key: codes.dtype for key, codes in part.codes.items()} == {PREDICTED: np.int32}
