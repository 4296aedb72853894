"""What of a large job does not get faster with more cores, from two cores and from its longest chain.

Beside it stands what the machine itself costs: two processes on two cores share nothing, and still slow each
other down, since cores share memory, cache and clock.
"""

import os
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.benchmarks.data import rows_file
from tests.benchmarks.jobs import JOBS, MODEL, START_ROWS, command
from tests.benchmarks.processes import CHAIN, UQCLI, output_of, run

NAMES = ("boundary", "tce", "evaluate", "isotonic", "platt", "apply")
MOST_SERIAL = {"two cores": 0.12, "two processes": 1, "longest chain": 0.12}
"""Largest allowed shares; what two processes cost each other is the machine's, and is only shown."""

PAIRS = 9


def serial_fraction(one, two):
    """Compute the serial fraction of Karp and Flatt from the seconds on one core and on two."""
    return 2 * two / one - 1


def scaling(folder, rows, pairs=PAIRS):
    """Yield the shares of each large job that are serial, by pairs; the seconds of a start are subtracted."""
    path, start_path = (rows_file(folder, size, ties=False) for size in (rows, START_ROWS))
    model, out = folder / "model", folder / "out"
    run(command(MODEL, path, model, None))
    for job in (job for job in JOBS if job.name in NAMES):
        lines = [command(job, file, out, model.with_suffix(".json")) for file in (path, start_path)]
        run(lines[0])  # compiles kernels
        measured = [_pair(*lines) for _ in range(pairs)]
        for (what, most), shares in zip(MOST_SERIAL.items(), zip(*measured, strict=True), strict=True):
            yield {"command": job.name, "rows": rows, "what": what, "most": most, **summary(shares)}


def summary(shares):
    """Return the median of shares and its interval of at least 90 %: all but the ends of nine."""
    ordered = sorted(shares)
    trimmed = ordered[1:-1] if len(ordered) >= PAIRS else ordered
    return {"share": statistics.median(ordered), "low": trimmed[0], "high": trimmed[-1]}


def _pair(line, start):
    cores = sorted(os.sched_getaffinity(0))[:2]
    one, two = (_seconds(line, used) - _seconds(start, used) for used in (cores[:1], cores))
    with ThreadPoolExecutor(2) as pool:
        side_by_side = max(pool.map(lambda core: _seconds((*line, "--threads", "1"), [core]), cores))
    (chain, total), (start_chain, start_total) = (_chain(words) for words in (line, start))
    return (
        serial_fraction(one, two),
        (side_by_side - _seconds(start, cores[:1])) / one - 1,
        (chain - start_chain) / (total - start_total),
    )


def _seconds(line, cores):
    return run(("taskset", "-c", ",".join(map(str, cores)), *line)).seconds


def _chain(line):
    """Return the CPU seconds of the longest chain and of all threads, with sixteen."""
    words = output_of((*CHAIN, *line[len(UQCLI) :], "--threads", "16")).split()
    return float(words[-2]), float(words[-1])


if __name__ == "__main__":
    import sys

    with tempfile.TemporaryDirectory() as temporary:
        for row in scaling(Path(temporary), int(float(sys.argv[1]))):
            print(row, flush=True)
