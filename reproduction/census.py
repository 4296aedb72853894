"""The census sample: boundaries and their results on new rows, calibration errors, descriptions of rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import uqcli
from reproduction.classes import Floats
from reproduction.study import Row

SAMPLE = Path(__file__).parents[1] / "sample_data"
EVIDENCE, ENSEMBLE = ("score", "uncertainty"), ("ensemble_score", "ensemble_uncertainty")
DEGREES = ("Bachelors", "Masters", "Prof-school", "Doctorate")
DESCRIBED = ("mean uncertainty", "men", "degree", "mean age", "mean hours a week")


@dataclass(frozen=True, kw_only=True)
class Split:
    """Rows to choose boundaries, and rows to measure them."""

    fit: pl.DataFrame
    new: pl.DataFrame


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A boundary and its results on new rows.

    Attributes
    ----------
    alerts
        Number of flagged new rows.
    score_recall
        Recall of the score alone with as many alerts.
    """

    boundary: uqcli.Boundary
    recall: float
    precision: float
    alerts: int
    score_recall: float

    @property
    def equal_alerts(self) -> float:
        """Return the gain over the score at equal alerts, in points of recall."""
        return 100 * (self.recall - self.score_recall)


def shipped_split() -> Split:
    """Read the files as they are."""
    fit, new = (pl.read_parquet(SAMPLE / f"census_{name}.parquet") for name in ("calibration", "test"))
    return Split(fit=fit, new=new)


def random_split(split: Split, seed: int) -> Split:
    """Divide all rows of a split again, at random, into parts of the same sizes."""
    rows = pl.concat([split.fit, split.new])
    order = np.random.default_rng(seed).permutation(len(rows))
    return Split(fit=rows[order[: len(split.fit)]], new=rows[order[len(split.fit) :]])


def measure(
    split: Split, columns: tuple[str, str], bound: float, algorithm: str, **options: Any
) -> Measured | None:
    """Find a boundary and measure it on new rows; return None if none meets the bound."""
    score, uncertainty = columns
    fit, new = split.fit, split.new
    try:
        boundary = uqcli.find_boundary(
            fit[score],
            fit["label"],
            uncertainty=fit[uncertainty],
            precision=str(bound),
            algorithm=algorithm,
            **options,
        )
    except uqcli.InfeasibleError:
        return None
    flagged = boundary.decide(new[score], new[uncertainty])
    label = new["label"].to_numpy()
    alerts = int(flagged.sum())
    by_score = np.argsort(-new[score].to_numpy(), kind="stable")[:alerts]
    return Measured(
        boundary=boundary,
        recall=float(label[flagged].sum() / label.sum()),
        precision=float(label[flagged].mean()),
        alerts=alerts,
        score_recall=float(label[by_score].sum() / label.sum()),
    )


def gain(st: Measured, other: Measured) -> float:
    """Return the gain in recall in per cent."""
    return 100 * (other.recall / st.recall - 1)


def errors_by_bin(probability: Floats, label: Floats, uncertainty_bin: Any, score_bin: Any) -> Floats:
    """Compute ECE@j: the mean over uncertainty bins of the absolute error of the cells with rows.

    Returns
    -------
    float64, shape (L,)
    """
    shape = (int(uncertainty_bin.max()) + 1, int(score_bin.max()) + 1)
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (uncertainty_bin, score_bin), probability - label)
    np.add.at(count, (uncertainty_bin, score_bin), 1)
    error = np.full(shape, np.nan)
    np.divide(np.abs(total), count, out=error, where=count > 0)
    mean: Floats = np.nanmean(error, axis=0)
    return mean


def cumulative_errors(errors: Floats) -> Floats:
    """Average ECE@j over the bins from each bin up."""
    mean: Floats = errors[::-1].cumsum()[::-1] / np.arange(len(errors), 0, -1)
    return mean


def description(rows: pl.DataFrame) -> Row:
    """Describe rows by the positive rate and their columns."""
    if rows.is_empty():
        return ["none", *("-" for _ in DESCRIBED)]
    shares = rows.select(
        pl.col("label").cast(pl.Float64).mean(),
        pl.col("uncertainty").mean(),
        (pl.col("sex") == "Male").mean().alias("men"),
        pl.col("education").is_in(DEGREES).mean().alias("degree"),
        pl.col("age").mean(),
        pl.col("hours_per_week").mean(),
    ).row(0)
    positives = int(rows["label"].sum())
    return [
        f"{positives:,} of {len(rows):,} ({shares[0]:.2f})",
        f"{shares[1]:.2f}",
        *(f"{100 * share:.0f} %" for share in shares[2:4]),
        *(f"{mean:.1f}" for mean in shares[4:]),
    ]
