"""Benchmarks of whole processes that are not in the main table: other options, many classes, help."""

from tests.benchmarks.data import classes_file, rows_file
from tests.benchmarks.processes import PYTHON, UQCLI, compare_processes


def other_process_benchmarks(folder, max_rows, runs):
    """Yield the title of the measured command, the name of its baseline, and the comparison."""
    rows = min(max_rows, 1_000_000)
    path, new_rows = (rows_file(folder, rows, ties=False, seed=seed) for seed in (0, 1))
    scan = (
        PYTHON,
        "-c",
        f"import polars as pl; pl.scan_parquet({str(path)!r}).sum().collect(engine='streaming')",
    )
    copy = (
        PYTHON,
        "-c",
        f"import polars as pl; pl.scan_parquet({str(path)!r}).sink_parquet('{folder}/copy')",
    )
    every_score = (*UQCLI, "boundary", path, "--precision", "0.25", "--score-bins", "all", "-q")
    yield "`boundary --score-bins all`", "scan", compare_processes(every_score, scan, runs)
    by_default = (*UQCLI, "boundary", path, "--precision", "0.25", "-q")
    fixed = (*by_default, "--uncertainty-bins", "3")
    yield "`boundary`", "3 uncertainty bins", compare_processes(by_default, fixed, runs)
    compared = (*by_default, "--compare")
    yield "`boundary --compare`", "scan", compare_processes(compared, scan, runs)
    calibrator = folder / "calibrator.json"
    test = ("--test", new_rows, "--bootstrap", "0")
    fit = (*UQCLI, "calibrate", path, *test, "-q", "-o", calibrator)
    yield "`calibrate --test`", "scan", compare_processes(fit, scan, runs)
    apply = (*UQCLI, "apply", calibrator, path, "-q", "-o", folder / "applied.parquet")
    yield "`apply` of a calibrator", "scan and write", compare_processes(apply, copy, runs)
    class_file = classes_file(folder, rows, classes=100)
    scan = (
        PYTHON,
        "-c",
        f"import polars as pl; pl.scan_parquet({str(class_file)!r}).sum().collect(engine='streaming')",
    )
    sets = folder / "sets.json"
    fit = (*UQCLI, "conformal", class_file, "--proba", "p_*", "-q", "-o", sets)
    yield "`conformal`, 100 classes", "scan", compare_processes(fit, scan, runs)
    apply = (*UQCLI, "apply", sets, class_file, "-q", "-o", folder / "sets.parquet")
    yield "`apply` of sets, 100 classes", "scan", compare_processes(apply, scan, runs)
    class_file.unlink()
    yield (
        "`--help`",
        "import typer",
        compare_processes((*UQCLI, "--help"), (PYTHON, "-c", "import typer"), runs),
    )
