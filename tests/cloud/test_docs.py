"""What the docs show of object stores is run as it stands there."""

import os
import subprocess
import sys
from pathlib import Path

import polars as pl

from tests.cli.conftest import sample_frame
from tests.documentation.pages import needing


def test_the_commands_of_the_page(bucket, tmp_path):
    bucket.client.create_bucket(Bucket="bucket")
    frame = sample_frame(rows=600)
    for day in ("2026-01-01", "2026-01-02"):
        path = tmp_path / f"{day}.parquet"
        frame.write_parquet(path)
        for key in (f"scores/day={day}/part.parquet", f"new/{day}/part.parquet"):
            bucket.client.put_object(Bucket="bucket", Key=key, Body=path.read_bytes())
    (block,) = needing("store")
    surroundings = {**os.environ, "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=surroundings,
    )
    assert (done.returncode, done.stderr) == (0, "")
    decided = bucket.client.get_object(Bucket="bucket", Key="decisions.parquet")["Body"].read()
    assert pl.read_parquet(decided)["decision"].len() == 2 * frame.height
