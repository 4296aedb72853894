"""Times of large jobs by number of cores, beside a scan: ``make bench-cores``, alone on Linux."""

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from tests.benchmarks.data import rows_file
from tests.benchmarks.jobs import JOBS, MODEL, baseline, command
from tests.benchmarks.processes import run
from tests.benchmarks.scaling import NAMES


def main(arguments=None):
    """Print the median seconds of each job with 1, 2, 4 ... cores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="1e8")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args(arguments)
    usable = sorted(os.sched_getaffinity(0))
    cores = [1 << power for power in range(len(usable).bit_length()) if 1 << power <= len(usable)]
    print("| job |", " | ".join(f"{number} cores" for number in cores), "| baseline |")
    print("|---|" + "--:|" * (len(cores) + 1))
    with tempfile.TemporaryDirectory() as folder:
        rows = int(float(options.rows))
        path, out = rows_file(Path(folder), rows, ties=False), Path(folder) / "out"
        run(command(MODEL, path, Path(folder) / "model", None))
        for job in (job for job in JOBS if job.name in NAMES):
            line, (beside, name) = (
                command(job, path, out, Path(folder) / "model.json"),
                baseline(job, rows, path, out),
            )
            run(line)  # compiles kernels
            cells = [seconds(line, usable[:number], options.runs) for number in cores]
            cells.append(f"{name} {seconds(beside, usable, options.runs)}")
            print(f"| {job.name} |", " | ".join(cells), "|", flush=True)


def seconds(line, usable, runs):
    """Return the median seconds of a process on some cores."""
    numbers = ",".join(map(str, usable))
    return f"{statistics.median(run(('taskset', '-c', numbers, *line)).seconds for _ in range(runs)):.2f}"


if __name__ == "__main__":
    main()
