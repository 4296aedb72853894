"""What packages of others say of twenty rows, beside uqcli: the numbers of the page on the same rows."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROWS = HERE / "rows.csv"
RECORD = HERE.parents[1] / "docs" / "peers.json"
PINNED = {
    "tables": (
        "scikit-learn==1.9.1",
        "mapie==1.6.0",
        "uncertainty-calibration==0.1.4",
        "relplot==1.0.3",
        "statsmodels==0.15.0",
        "crepes==0.9.1",
        "venn-abers==1.5.4",
        "polars==2.1.0",
        "pandas==3.1.1",
        "pyarrow==26.0.1",
        "duckdb==2.0.1",
        "datafusion==55.0.0",
        "chdb==4.4.0",
        "numpy==2.4.6",
        "scipy==1.17.1",
    ),
    "torch": ("netcal==1.4.0", "torchmetrics==1.9.0", "torch==2.14.1"),
}
"""Packages of each environment; those on torch need another numpy."""


Run = Callable[..., str]
"""Runs the program with some words, and returns what it prints."""


def own_values(run: Run) -> dict[str, float]:
    """Return what uqcli says of the same rows, by quantity."""

    def content(*words: object) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(run(*words, "--json"))
        return read

    with tempfile.TemporaryDirectory() as folder:
        rule, calibrator = Path(folder) / "rule.json", Path(folder) / "calibrator.json"
        turned, four, top = (Path(folder) / f"{name}.csv" for name in ("turned", "four", "top"))
        errors, ranking = content("tce", ROWS)["metrics"], content("overview", ROWS)["metrics"]
        run("boundary", ROWS, "--precision", "0.7", "-o", rule)
        precision = content("evaluate", rule, ROWS)["metrics"]["precision"]
        rows = [line.split(",") for line in ROWS.read_text().split()[1:]]
        turned.write_text("score,label\n" + "".join(f"{1 - float(s)},{y}\n" for s, y in rows))
        four.write_text("score,label\n0.1,0\n0.3,0\n0.5,1\n0.7,1\n")
        top.write_text("score\n0.99\n")
        run("calibrate", four, "--method", "venn-abers", "-o", calibrator)
        calibrated = run("apply", calibrator, top).splitlines()[1].split(",")[1]
        edges = content("bin", ROWS, "--binning", "quantile", "--score-bins", "4")["score_edges"][0]
        return {
            "ece": errors["ece"],
            "ace": errors["ace"],
            "mce": errors["mce"],
            "log loss": errors["log_loss"],
            "brier": errors["brier"],
            "slope": errors["slope"],
            "auc": ranking["auc"],
            "auc of the turned score": content("overview", turned)["metrics"]["auc"],
            "average precision": ranking["average_precision"],
            "interval, low": precision["low"],
            "interval, high": precision["high"],
            "above the top score": float(calibrated),
            "lower quartile": edges[0],
        }


def in_process(*words: object) -> str:
    """Run the program in a process of its own."""
    command = [sys.executable, "-m", "uqcli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
