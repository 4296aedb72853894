"""Tests that run the commands of the docs on object stores."""

import os

import polars as pl
import pytest

from tests.cli.conftest import sample_frame
from tests.documentation.pages import blocks_needing, run


@pytest.mark.thorough
def test_the_commands_of_the_page_run(bucket, tmp_path):
    bucket.client.create_bucket(Bucket="bucket")
    frame = sample_frame(rows=600)
    for day in ("2026-01-01", "2026-01-02"):
        path = tmp_path / f"{day}.parquet"
        frame.write_parquet(path)
        for key in (f"scores/day={day}/part.parquet", f"new/{day}/part.parquet"):
            bucket.client.put_object(Bucket="bucket", Key=key, Body=path.read_bytes())
    for block in blocks_needing("store"):
        run(block, tmp_path, variables=os.environ)
    decided = bucket.client.get_object(Bucket="bucket", Key="decisions.parquet")["Body"].read()
    assert pl.read_parquet(decided)["decision"].len() == 2 * frame.height
