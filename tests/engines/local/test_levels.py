"""Test that groups are numbered by their first occurrence, whichever thread reads them."""

import numpy as np
import polars as pl
import pytest

from uqcli.base import counts
from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.request import DataRequest, FeatureRequest, Roles, in_memory


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


TEXTS = ["g7", "2", "2.0", "3.0", "4", "none of them", None, "", "g1"]
LEVELS = ("2", "3", "4.0", "5.0", *(f"g{number}" for number in range(50)))


def features_of(levels, max_rows):
    request = DataRequest(
        inputs=in_memory(pl.DataFrame({"score": np.linspace(0, 1, len(TEXTS)), "name": TEXTS})),
        roles=Roles(
            numbers={"score": "score"}, features=(FeatureRequest(name="name", text=True, levels=levels),)
        ),
    )
    batches = LocalBatches(request, max_rows=max_rows)
    return np.concatenate([rows.features["name"].value for rows in batches]).tolist()


@pytest.mark.parametrize("count", [4, 14, 54])
@pytest.mark.parametrize("max_rows", [2, 100])
def test_known_levels_are_found_whether_they_or_the_rows_are_more(count, max_rows):
    levels = LEVELS[:count]
    spelled = {text: levels.index(level) for level in levels for text in {level, level.removesuffix(".0")}}
    for level in levels:
        if level.isdecimal():
            spelled[f"{level}.0"] = levels.index(level)
    expected = [-1 if text in (None, "") else spelled.get(text, count) for text in TEXTS]
    assert features_of(levels, max_rows) == expected


def test_the_codes_of_known_levels_are_made_once_for_all_batches(monkeypatch):
    made = []
    codes_of_texts = counts.codes_of_texts
    monkeypatch.setattr(counts, "codes_of_texts", lambda levels: made.append(1) or codes_of_texts(levels))
    features_of(LEVELS, 2)
    assert len(made) == 1
