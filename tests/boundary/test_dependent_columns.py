"""Columns that may mark dependent rows are found alike in all formats."""

import datetime

import numpy as np
import polars as pl
import pytest

from uqcli.base.choices import EngineName
from uqcli.boundary.dependent_columns import dependent_columns
from uqcli.engines.protocol import Keys
from uqcli.engines.request import DataRequest, Roles, in_memory

ROWS = 2000
FOUND = Keys(dates=("day", "when", "bought"), others=("customerId", "Merchant"))
ROLES = Roles(numbers={"score": "score", "uncertainty": "user"}, label="label")


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    days = [datetime.date(2026, 1, 1) + datetime.timedelta(int(day)) for day in random.integers(0, 60, ROWS)]
    return pl.DataFrame(
        {
            "score": random.random(ROWS),
            "user": random.random(ROWS),  # the uncertainty
            "label": random.integers(0, 2, ROWS),
            "customerId": random.integers(0, 100, ROWS),
            "day": days,
            "when": [datetime.datetime(2026, 1, 1, 12, int(m)) for m in random.integers(0, 60, ROWS)],
            "bought": [f"{day} early" if day.day != 7 else None for day in days],
            "date": ["2026-02-31"] * ROWS,
            "discard": random.integers(0, 9, ROWS),
            "card_amount": random.random(ROWS),
            "Merchant": pl.Series(
                [f"m{code}" for code in random.integers(0, 50, ROWS)], dtype=pl.Categorical
            ),
        }
    )


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "arrow"])
def test_dates_come_first_then_customers(frame, tmp_path, ending):
    path = str(tmp_path / f"a.{ending}")
    writers = {"parquet": "write_parquet", "csv": "write_csv", "jsonl": "write_ndjson", "arrow": "write_ipc"}
    getattr(frame, writers[ending])(path)
    assert dependent_columns(DataRequest(inputs=(path,), roles=ROLES)) == FOUND


def test_a_frame_may_have_columns_that_are_no_keys(frame):
    frame = frame.with_columns(account=pl.Series([[1]] * ROWS), client=pl.Series([None] * ROWS))
    assert dependent_columns(DataRequest(inputs=in_memory(frame), roles=ROLES)) == FOUND


def test_a_column_must_be_in_every_input(frame, tmp_path):
    frame.write_parquet(tmp_path / "a.parquet")
    frame.drop("day", "Merchant").write_csv(tmp_path / "b.csv")
    inputs = tuple(str(tmp_path / name) for name in ("a.parquet", "b.csv"))
    assert dependent_columns(DataRequest(inputs=inputs, roles=ROLES)) == Keys(
        dates=("when", "bought"), others=("customerId",)
    )


def test_pipes_are_not_read_for_it_and_clusters_have_no_first_rows():
    for name, engine in (("-", EngineName.POLARS), ("a.parquet", EngineName.SPARK)):
        assert dependent_columns(DataRequest(inputs=(name,), roles=ROLES, engine=engine)) == Keys()
