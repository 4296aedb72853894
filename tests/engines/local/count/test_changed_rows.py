"""Tests that counts of ranges end, and never mix, when a later pass reads other rows than the first."""

import numpy as np
import polars as pl
import pytest

from uqcli.base.errors import DataError
from uqcli.base.running import memory
from uqcli.engines.local.count import cached, ranges
from uqcli.engines.local.engine import LocalEngine
from uqcli.engines.protocol import ALL_ROWS
from uqcli.engines.request import DataRequest, Roles

ROWS = 20_000
MAX_PASSES = 100


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Rows that do not fit into memory, and are divided into ranges often."""
    monkeypatch.setattr(memory, "_aims", [])
    monkeypatch.setattr(memory, "_typed", [1000])
    monkeypatch.setattr(ranges, "COLLECTED_ROWS", 500)
    monkeypatch.setattr(ranges, "ROWS_PER_PART", 100)
    monkeypatch.setattr(cached, "ROWS_PER_PART", 1000)
    path = tmp_path / "a.parquet"
    write(path, 0, (0.0, 1.0))
    return path


def write(path, seed, ends):
    """Write as many rows, with scores between other ends."""
    random = np.random.default_rng(seed)
    score = random.uniform(*ends, ROWS)
    pl.DataFrame({"score": score, "label": (random.random(ROWS) < score).astype(int)}).write_parquet(path)


def drawn_masks(seed):
    """Return a query that wants some of the ranges that are not exact."""
    random = np.random.default_rng(seed)
    return lambda counts: [~part.exact & (part.count > random.integers(1, 50)) for part in counts]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("change", ["never", "each pass", "second pass"])
def test_other_rows_in_a_later_pass_are_refused(path, monkeypatch, seed, change):
    passes, read_again = [], cached.CachedRows.remaining

    def remaining(self):
        passes.append(self)
        assert len(passes) < MAX_PASSES, "it does not end"
        if change == "each pass" or (change == "second pass" and len(passes) == 2):
            write(path, len(passes), sorted(np.random.default_rng(len(passes)).random(2)))
        return read_again(self)

    monkeypatch.setattr(cached.CachedRows, "remaining", remaining)
    roles = Roles(numbers={"score": "score"}, label="label")
    table = LocalEngine().table(DataRequest(inputs=(str(path),), roles=roles))
    try:
        (_, total) = table.range_counts(ALL_ROWS, drawn_masks(seed))
    except DataError as error:
        assert change != "never"
        assert "changed while they were read" in str(error)  # noqa: PT017  it may also end as if unchanged
    else:
        assert total.count.sum() == ROWS


def test_a_query_that_is_never_content_ends(path):
    """Each round must open or split a range, so that a query has an end, whatever it asks for."""
    roles = Roles(numbers={"score": "score"}, label="label")
    table = LocalEngine().table(DataRequest(inputs=(str(path),), roles=roles))
    counts = table.range_counts(ALL_ROWS, lambda counts: [~part.exact for part in counts])
    assert all(part.exact.all() for part in counts)
