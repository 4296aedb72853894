"""Tests that days and customers do not make a command read its rows more often."""

import numpy as np
import polars as pl
import pytest

from uqcli.engines.local.check.batches import LocalBatches

ROWS = 3000


@pytest.fixture
def passes(monkeypatch, tmp_path):
    """Write rows, and return a list that grows with each pass over them."""
    random = np.random.default_rng(5)
    score = random.random(ROWS)
    rows = pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.random(ROWS),
            "label": (random.random(ROWS) < score).astype(int),
            "customer": random.integers(0, 200, ROWS),
            "day": np.datetime64("2026-01-01") + random.integers(0, 40, ROWS),
            "group": random.choice(["a", "b"], ROWS),
            "weight": random.integers(0, 3, ROWS),
        }
    )
    rows.write_parquet(tmp_path / "rows.parquet")
    rows.write_csv(tmp_path / "rows.csv")
    found = []
    begun = LocalBatches._in_threads

    def counting(self, *arguments, **options):
        found.append(self)
        return begun(self, *arguments, **options)

    monkeypatch.setattr(LocalBatches, "_in_threads", counting)
    return found


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--weight", "weight"),
        ("--uncertainty-bins", "1"),
        ("--algorithm", "vw-dpmt"),
        ("--review", "10%"),
        ("--by", "group"),
        ("--certify", "0.1"),
    ],
    ids=" ".join,
)
def test_dependent_rows_are_read_as_often_as_others(uqcli, passes, options, ending):
    numbers = []
    for key in ((), ("--cluster", "customer"), ("--day", "day")):
        passes.clear()
        arguments = f"rows.{ending}", "--precision", "0.7", *options, *key, "-o", "rule.json"
        assert uqcli("boundary", *arguments).code in {0, 3}
        numbers.append(len(passes))
    plain, *dependent = numbers
    assert max(dependent) <= plain
