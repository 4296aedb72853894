"""Measures the speed and memory of uqcli: ``make bench``, alone on the machine.

Nothing is asserted, because a timed test would fail at random. The page marks unmet bounds.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.benchmarks.data import classes_file, dtype_of, rows_file, text_file
from tests.benchmarks.jobs import (
    BOUNDS,
    JOBS,
    MAX_CLASS_ROWS,
    MAX_SLOPE,
    MODEL,
    SLOPE_FROM,
    Bound,
    baseline,
    command,
)
from tests.benchmarks.many import measure_many
from tests.benchmarks.objects import measure_objects
from tests.benchmarks.others import other_process_benchmarks
from tests.benchmarks.pages import markdown
from tests.benchmarks.processes import compare_processes, run
from tests.benchmarks.scaling import scaling
from tests.benchmarks.steps import steps

SIZES = "1e4,1e5,1e6,1e7"
PACKAGES = ("polars", "numpy", "pyarrow", "numba", "scipy", "scikit-learn", "mapie", "typer")
LARGE, LARGE_RUNS = 20_000_000, 3
PARTS = ("rows", "slopes", "scaling", "many", "objects", "others", "steps")
OBJECT_RUNS = 3


def machine():
    """Describe the machine and the versions of packages."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    versions = {"Python": platform.python_version(), "uqcli": importlib.metadata.version("uqcli")}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "versions": versions,
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
    }


def measure_size(folder, rows, jobs, runs):
    """Measure every job on files of this many rows, and remove the files."""
    runs = min(runs, LARGE_RUNS) if rows > LARGE else runs
    row_jobs = [job for job in jobs if not job.classes]
    for ties in (False, True) if row_jobs else ():
        path, rule = rows_file(folder, rows, ties=ties), folder / "model.json"
        run(command(MODEL, path, folder / "model", None))
        for job in row_jobs:
            yield measure_job(job, rows, path, rule, runs=runs, ties="two decimals" if ties else "continuous")
        for remaining_path in path.parent.glob(f"{path.stem}.*"):
            remaining_path.unlink()
    size = min(rows, MAX_CLASS_ROWS)
    for job in jobs:
        if job.classes:
            path = classes_file(folder, size)
            yield measure_job(job, size, path, None, runs=runs, ties="10 classes")
            path.unlink()


def measure_job(job, rows, path, rule, *, runs, ties):
    """Measure a job, and return its row of the table."""
    out = path.with_name("out")
    path = text_file(path, job.text) if job.text else path
    baseline_command, name = baseline(job, rows, path, out)
    comparison = compare_processes(command(job, path, out, rule), baseline_command, runs)
    bounds = [bound for bound in BOUNDS if (bound.job, bound.rows) == (job.name, rows)]
    bound = bounds[0] if bounds else Bound(job=job.name, rows=rows)
    row = {
        "command": job.name,
        "rows": rows,
        "dtype": np.dtype(dtype_of(rows)).name,
        "ties": ties,
        "seconds": comparison.seconds,
        "ratio": comparison.ratio,
        "baseline": name,
        "baseline_seconds": comparison.baseline_seconds,
        "memory": comparison.memory,
        "most_ratio": bound.ratio,
        "most_memory": bound.memory,
    }
    print(
        f"{job.name} {rows:,} {ties}: {comparison.seconds:.2f} s, {comparison.ratio:.2f} x {name}",
        file=sys.stderr,
    )
    return row


def slopes(rows):
    """Fit the slope of log seconds on log rows, for every command on its larger files."""
    groups = {}
    for row in rows:
        if row["rows"] >= SLOPE_FROM:
            groups.setdefault((row["command"], row["ties"]), []).append((row["rows"], row["seconds"]))
    return [
        {
            "command": name,
            "ties": ties,
            "from": points[0][0],
            "to": points[-1][0],
            "slope": float(np.polyfit(*np.log10(points).T, 1)[0]),
            "most": MAX_SLOPE,
        }
        for (name, ties), points in groups.items()
        if len(points) > 1
    ]


def bench(options, folder, results):
    """Run the requested benchmarks, and fill in the content of the JSON file as they are done."""
    sizes = sorted({int(float(size)) for size in options.rows.split(",")})
    commands = options.commands.split(",") if options.commands else [job.name for job in JOBS]
    unknown = set(commands) - {job.name for job in JOBS}
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; there are {', '.join(job.name for job in JOBS)}")
    jobs = [job for job in JOBS if job.name in commands]
    for size in sizes:
        results["rows"] += measure_size(folder, size, jobs, options.runs)
    results["slopes"] = slopes(results["rows"])
    if sizes[-1] >= LARGE and not options.brief:
        results["scaling"] += scaling(folder, sizes[-1])
    if options.commands is None and not options.brief:
        results["many"] += measure_many(folder, options.runs)
        results["objects"] += measure_objects(folder, min(options.runs, OBJECT_RUNS))
        results["others"] += [
            {"what": what, "baseline": name, **vars(comparison)}
            for what, name, comparison in other_process_benchmarks(folder, sizes[-1], options.runs)
        ]
        keys = ("what", "bound", "measured")
        results["steps"] += [dict(zip(keys, step, strict=True)) for step in steps(sizes[-1])]


def main(arguments=None):
    """Measure, and write benchmarks.json and benchmarks.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default=SIZES, help="sizes of the files, such as 1e6,1e7")
    parser.add_argument("--commands", help=f"some of {','.join(job.name for job in JOBS)} and nothing else")
    parser.add_argument(
        "--runs", type=int, default=5, help="pairs after the first; at most 3 for large files"
    )
    parser.add_argument("--out", type=Path, default=Path("build"), help="folder of the results")
    parser.add_argument("--brief", action="store_true", help="only the commands, no single steps")
    options = parser.parse_args(arguments)
    results = {"machine": machine(), **{part: [] for part in PARTS}}
    try:
        with tempfile.TemporaryDirectory() as folder:
            bench(options, Path(folder), results)
    finally:
        if results["rows"]:  # which took long, whatever failed after it
            options.out.mkdir(parents=True, exist_ok=True)
            page = markdown(results)
            (options.out / "benchmarks.json").write_text(json.dumps(results, indent=1) + "\n")
            (options.out / "benchmarks.md").write_text(page)
            print(page)


if __name__ == "__main__":
    main()
