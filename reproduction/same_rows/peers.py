"""Measure some rows with packages of others: run in an environment that has them, prints JSON.

``python peers.py rows.csv`` prints numbers by package and quantity, and versions by package. Two environments
share it: the one with torch measures the packages that need it, and the other one all others.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import sys
import tempfile
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

BINS, FEW, ALERTS, HITS = 10, 9, 10, 7
THRESHOLD = 0.7
values: dict[str, float | str] = {}
versions: dict[str, str] = {}


def keep(package: str, name: str, numbers: dict[str, float | str]) -> None:
    """Keep what a package says; ``name`` is the name of its distribution."""
    versions[package] = version(name)
    for quantity, value in numbers.items():
        values[f"{package}/{quantity}"] = value if isinstance(value, str) else float(value)


def scikit_learn(score: np.ndarray, label: np.ndarray) -> None:
    """Metrics, the curve of calibration, and isotonic fits of four scores."""
    from sklearn.calibration import calibration_curve
    from sklearn.isotonic import IsotonicRegression
    from sklearn.metrics import (
        auc,
        average_precision_score,
        brier_score_loss,
        log_loss,
        precision_recall_curve,
        precision_score,
        roc_auc_score,
    )

    both = np.column_stack([1 - score, score])
    recall_curve = precision_recall_curve(label, score)
    knots = {}
    close = np.array([0.5, 0.5000001, 0.5000002, 0.9], dtype=np.float32)
    for bits, kind in ((32, np.float32), (64, np.float64)):
        knots[f"isotonic knots, {bits} bits"] = len(
            IsotonicRegression().fit(close.astype(kind), [0, 1, 0, 1]).X_thresholds_
        )
    curves = {}
    for strategy in ("uniform", "quantile"):
        rate, mean = calibration_curve(label, score, n_bins=BINS, strategy=strategy)
        edges = (
            np.linspace(0, 1, BINS + 1)
            if strategy == "uniform"
            else np.percentile(score, np.linspace(0, 100, BINS + 1))
        )
        rows = np.bincount(np.searchsorted(edges[1:-1], score), minlength=BINS)
        curves[strategy] = float((rows[rows > 0] / len(score) * np.abs(rate - mean)).sum())
    keep(
        "scikit-learn",
        "scikit-learn",
        {
            "ece": curves["uniform"],
            "ace": curves["quantile"],
            "log loss": log_loss(label, score),
            "log loss, 32 bits": log_loss(label, score.astype(np.float32)),
            "log loss, 16 bits": log_loss(label, score.astype(np.float16)),
            "brier": brier_score_loss(label, score),
            "brier, both classes": brier_score_loss(label, both, scale_by_half=False),
            "auc": roc_auc_score(label, score),
            "average precision": average_precision_score(label, score),
            "area under the curve": auc(recall_curve[1], recall_curve[0]),
            "precision without alerts": precision_score(label, np.zeros_like(label)),
            **knots,
        },
    )


def mapie(score: np.ndarray, label: np.ndarray) -> None:
    """Calibration errors, and prediction sets from nine rows."""
    from mapie.classification import SplitConformalClassifier
    from mapie.metrics.calibration import expected_calibration_error
    from sklearn.linear_model import LogisticRegression

    errors = {
        f"{name}, num_bins={number}": expected_calibration_error(
            label, score, num_bins=number, split_strategy=strategy
        )
        for name, strategy in (("ece", "uniform"), ("ace", "quantile"))
        for number in (BINS, BINS + 1)
    }
    features = np.linspace(0, 3, FEW)[:, None]
    model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    try:
        sets = SplitConformalClassifier(model, confidence_level=0.9, prefit=True)
        sets.conformalize(features, model.predict(features)).predict_set(features)
        few = "sets"
    except ValueError:
        few = "an error"
    keep("MAPIE", "mapie", {**errors, "nine rows": few})


def others(score: np.ndarray, label: np.ndarray) -> None:
    """Calibration errors, intervals and prediction sets of smaller packages."""
    import calibration
    import relplot
    import statsmodels.api as statsmodels
    from crepes import ConformalClassifier
    from scipy.stats import binomtest
    from statsmodels.stats.proportion import proportion_confint
    from statsmodels.tools.sm_exceptions import MissingDataError
    from venn_abers import VennAbers

    keep(
        "uncertainty-calibration",
        "uncertainty-calibration",
        {
            "ece": calibration.get_ece(score, label, num_bins=BINS),
            "calibration error": calibration.get_calibration_error(score, label),
            "calibration error, not debiased": calibration.get_calibration_error(score, label, debias=False),
        },
    )
    keep("relplot", "relplot", {"smooth ece": relplot.smECE(score, label.astype(float))})
    low, high = proportion_confint(HITS, ALERTS)
    all_low, all_high = proportion_confint(HITS, HITS)
    exact_low, exact_high = proportion_confint(HITS, ALERTS, method="beta")
    try:
        odds = np.log(score / (1 - score))
        slope = str(statsmodels.Logit(label, statsmodels.add_constant(odds)).fit(disp=0).params[1])
    except MissingDataError:
        slope = "an error"
    slopes = {}
    cut = np.clip(score, 1e-6, 1 - 1e-6)
    terms = statsmodels.add_constant(np.log(cut / (1 - cut)))
    slopes["slope, cut at 1e-06"] = statsmodels.Logit(label, terms).fit(disp=0).params[1]
    keep(
        "statsmodels",
        "statsmodels",
        {
            "interval, low": low,
            "interval, high": high,
            "interval by beta, low": exact_low,
            "interval by beta, high": exact_high,
            "interval of all hits, low": all_low,
            "interval of all hits, high": all_high,
            "slope": slope,
            **slopes,
        },
    )
    exact = binomtest(HITS, ALERTS).proportion_ci()
    keep("SciPy", "scipy", {"interval, low": exact.low, "interval, high": exact.high})
    chosen, new = np.array([0.1, 0.3, 0.5, 0.7]), np.array([0.99])
    abers = VennAbers()
    abers.fit(np.column_stack([1 - chosen, chosen]), np.array([0, 0, 1, 1]))
    keep(
        "venn-abers",
        "venn-abers",
        {"above the top score": abers.predict_proba(np.column_stack([1 - new, new]))[0][0, 1]},
    )
    sets = ConformalClassifier().fit(np.linspace(0.1, 0.3, FEW))
    classes = sets.predict_set(np.array([[0.05, 0.95]]), confidence=0.9, smoothing=False).sum()
    keep("crepes", "crepes", {"nine rows, classes": classes})


def engines(score: np.ndarray) -> None:
    """Quantiles, and rows at a threshold that is a 32-bit score."""
    import chdb
    import datafusion
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    narrow = np.array([THRESHOLD], dtype=np.float32)
    folder = Path(tempfile.mkdtemp())
    path = str(folder / "rows.parquet")
    pq.write_table(pa.table({"score": narrow}), path)
    context = datafusion.SessionContext()
    context.register_parquet("rows", path)
    database = sqlite3.connect(":memory:")
    database.execute("create table rows (score real)")
    database.execute("insert into rows values (?)", (float(narrow[0]),))
    query = f"select count(*) as n from {{}} where score >= {THRESHOLD}"
    at = "rows at a 32-bit threshold"
    frame = pl.DataFrame({"score": score})
    keep(
        "polars",
        "polars",
        {
            at: pl.read_parquet(path).filter(pl.col("score") >= THRESHOLD).height,
            "lower quartile": frame["score"].quantile(0.25) or 0,
        },
    )
    keep(
        "DuckDB",
        "duckdb",
        {
            at: duckdb.sql(query.format(f"'{path}'")).fetchall()[0][0],
            "lower quartile, cont": duckdb.sql("select quantile_cont(score, 0.25) from frame").fetchall()[0][
                0
            ],
            "lower quartile, disc": duckdb.sql("select quantile_disc(score, 0.25) from frame").fetchall()[0][
                0
            ],
        },
    )
    keep("numpy", "numpy", {"lower quartile": np.quantile(score, 0.25)})
    keep("DataFusion", "datafusion", {at: context.sql(query.format("rows")).to_pydict()["n"][0]})
    keep("ClickHouse", "chdb", {at: int(str(chdb.query(query.format(f"file('{path}')"))))})
    versions["ClickHouse"] = str(chdb.query("select version()")).strip().strip('"')
    keep(
        "pyarrow", "pyarrow", {at: ds.dataset(path).to_table(filter=ds.field("score") >= THRESHOLD).num_rows}
    )
    pandas_rows = pd.DataFrame({"score": narrow})
    keep("pandas", "pandas", {at: (pandas_rows["score"] >= THRESHOLD).sum()})
    versions["SQLite"] = sqlite3.sqlite_version
    values[f"SQLite/{at}"] = float(database.execute(query.format("rows")).fetchone()[0])


def with_torch(score: np.ndarray, label: np.ndarray) -> None:
    """Calibration errors and losses of packages on torch."""
    import torch
    from netcal.metrics import ECE, MCE
    from torchmetrics.classification import BinaryCalibrationError, BinaryPrecision

    probability, target = torch.tensor(score), torch.tensor(label)
    keep(
        "netcal",
        "netcal",
        {
            "ece": ECE(BINS).measure(score, label),
            "ace": ECE(BINS, equal_intervals=False).measure(score, label),
            "mce": MCE(BINS).measure(score, label),
        },
    )
    keep(
        "torchmetrics",
        "torchmetrics",
        {
            "ece": float(BinaryCalibrationError(n_bins=BINS)(probability, target)),
            "ece, 32 bits": float(BinaryCalibrationError(n_bins=BINS)(probability.float(), target)),
            "mce": float(BinaryCalibrationError(n_bins=BINS, norm="max")(probability, target)),
            "precision without alerts": float(BinaryPrecision()(probability * 0.1, target)),
        },
    )
    loss = torch.nn.functional.binary_cross_entropy(probability, target.to(torch.float64))
    keep("PyTorch", "torch", {"log loss": float(loss)})


def main() -> None:
    """Measure the rows of the file."""
    warnings.simplefilter("ignore")
    with Path(sys.argv[1]).open() as file:
        rows = list(csv.DictReader(file))
    score = np.array([float(row["score"]) for row in rows])
    label = np.array([int(row["label"]) for row in rows])
    if find_spec("torch"):
        with_torch(score, label)
    else:
        scikit_learn(score, label)
        mapie(score, label)
        others(score, label)
        engines(score)
    sys.stdout.write(json.dumps({"values": values, "versions": versions}) + "\n")


if __name__ == "__main__":
    main()
