"""Whole processes beside the main table: other options, many classes, help."""

from tests.benchmarks.data import classes_file
from tests.benchmarks.processes import PYTHON, UQCLI, against


def others(folder, path, most, runs):
    """Rows of what was measured against what.

    Parameters
    ----------
    path
        Rows with continuous scores.
    """
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
    every = (*UQCLI, "boundary", path, "--precision", "0.25", "--score-bins", "all", "-q")
    yield "`boundary --score-bins all`", "scan", against(every, scan, runs)
    saved = folder / "calibrator.json"
    test = ("--test", path, "--bootstrap", "0")
    fit = (*UQCLI, "calibrate", path, *test, "-q", "-o", saved)
    yield "`calibrate --test`", "scan", against(fit, scan, runs)
    applied = (*UQCLI, "apply", saved, path, "-q", "-o", folder / "applied.parquet")
    yield "`apply` of a calibrator", "scan and write", against(applied, copy, runs)
    classes = classes_file(folder, min(most, 1_000_000), classes=100)
    scan = (
        PYTHON,
        "-c",
        f"import polars as pl; pl.scan_parquet({str(classes)!r}).sum().collect(engine='streaming')",
    )
    sets = folder / "sets.json"
    fit = (*UQCLI, "conformal", classes, "--proba", "p_*", "-q", "-o", sets)
    yield "`conformal`, 100 classes", "scan", against(fit, scan, runs)
    applied = (*UQCLI, "apply", sets, classes, "-q", "-o", folder / "sets.parquet")
    yield "`apply` of sets, 100 classes", "scan", against(applied, scan, runs)
    classes.unlink()
    yield "`--help`", "import typer", against((*UQCLI, "--help"), (PYTHON, "-c", "import typer"), runs)
