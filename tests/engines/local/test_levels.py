"""Test that groups are numbered by their first occurrence, whichever thread reads them."""

import numpy as np
import polars as pl
import pytest

from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.request import DataRequest, Roles


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_groups_are_numbered_by_first_occurrence(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr("uqcli.base.running.concurrency.threads", lambda: 8)
    names = np.random.default_rng(1).integers(0, 400, 40_000)
    frame = pl.DataFrame({"score": np.linspace(0, 1, len(names)), "name": [f"g{name}" for name in names]})
    path = tmp_path / f"rows{suffix}"
    if suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path, row_group_size=500)
    request = DataRequest(inputs=(str(path),), roles=Roles(numbers={"score": "score"}, keys=("name",)))
    expected = {name: code for code, name in enumerate(frame["name"].unique(maintain_order=True))}
    for _ in range(5):
        batches = LocalBatches(request, max_rows=500)
        for _ in batches:
            pass
        assert batches.levels["name"] == expected
