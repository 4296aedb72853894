"""Measures a command on many small objects of a store that answers late, beside the same files here."""

import os
import statistics
import subprocess
import sys
from contextlib import contextmanager
from unittest.mock import patch

from tests.benchmarks.many import many_csv_files, many_files
from tests.benchmarks.processes import UQCLI, run
from tests.documentation.reference import ROOT

DELAY = 30
"""Milliseconds before each answer."""

NUMBERS = {100: 4, 5_000: 60}
"""Numbers of objects, and the most seconds that a command may take."""

KINDS = {"Parquet": many_files, "CSV": many_csv_files}


@contextmanager
def served(folder):
    """Serve the files of a folder to processes that begin in the block."""
    command = (sys.executable, "-m", "tests.cloud.server", str(folder), str(DELAY))
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        variables = {
            "AWS_ENDPOINT_URL": server.stdout.readline().strip(),
            "AWS_ACCESS_KEY_ID": "benchmark",
            "AWS_SECRET_ACCESS_KEY": "benchmark",
        }
        with patch.dict(os.environ, variables):
            yield "s3://bucket"
        server.stdin.close()


def measure_objects(folder, runs, scale=1):
    """Yield a row of the table for each kind and number of objects, with ``scale`` times fewer of them."""
    line = ("--precision", "0.25", "-q", "-o", str(folder / "rule.json"))
    for kind, write in KINDS.items():
        for number, most in NUMBERS.items():
            place = folder / f"objects_{kind}_{number}"
            place.mkdir()
            write(place, number // scale)
            with served(place) as address:
                measured = [
                    [run((*UQCLI, "boundary", rows, *line)).seconds for rows in (address, place)]
                    for _ in range(runs)
                ]
            seconds, local_seconds = map(statistics.median, zip(*measured, strict=True))
            yield {
                "what": f"`boundary s3://bucket` of {kind}, {DELAY} ms an answer",
                "number": number // scale,
                "seconds": seconds,
                "most_seconds": most,
                "local_seconds": local_seconds,
            }
