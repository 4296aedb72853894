"""Draw the first figure of the README: the rule and a single threshold on the census test set.

``make figures`` writes it. A test compares the numbers in its title with the program.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure as Canvas

import uqcli
from uqcli.base.counts import CellRow, Cells, Floats, Ints
from uqcli.reports.document import Figure, HoverText
from uqcli.reports.figures import to_svg
from uqcli.reports.positivity import draw_map

HERE = Path(__file__).resolve().parent
PRECISION = "0.7"
BANDS = 25


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Recall of the rule and of two single thresholds on the test set, with its precision and alerts.

    Attributes
    ----------
    same_precision, same_alerts
        Of the best single threshold with at least the rule's precision, or with as many alerts. Both are
        chosen on the test set, in favour of the threshold.
    """

    rule: float
    precision: float
    alerts: int
    same_precision: float
    same_alerts: float


def read(name: str) -> tuple[Floats, Floats, Ints]:
    """Read score, uncertainty and label; shapes (n,)."""
    rows = pl.read_parquet(HERE / f"census_{name}.parquet")
    return tuple(rows[column].to_numpy() for column in ("score", "uncertainty", "label"))  # type: ignore[return-value]


def compare(rule: uqcli.Boundary) -> Comparison:
    """Compare the rule with single thresholds on the test set."""
    score, uncertainty, label = read("test")
    flagged = rule.decide(score, uncertainty)
    alerts, hits = int(flagged.sum()), int(label[flagged].sum())
    order = np.argsort(-score, kind="stable")
    hits_at = np.cumsum(label[order])
    selected = np.arange(1, len(score) + 1)
    ends_a_tie = np.append(np.diff(score[order]) != 0, True)  # ties are flagged together
    precise = ends_a_tie & (hits_at * alerts >= hits * selected)
    total = int(label.sum())
    return Comparison(
        rule=hits / total,
        precision=hits / alerts,
        alerts=alerts,
        same_precision=hits_at[precise].max() / total,
        same_alerts=hits_at[alerts - 1] / total,
    )


def cells_of(rule: uqcli.Boundary) -> Cells:
    """Count the test set in the rule's uncertainty bins and narrow bands of scores."""
    score, uncertainty, label = read("test")
    edges = np.asarray(rule.uncertainty_edges)
    lower = np.arange(BANDS) / BANDS
    uncertainty_bin, band = np.searchsorted(edges, uncertainty, side="right"), (score * BANDS).astype(int)
    rows = []
    for bin_index in range(len(edges) + 1):
        inside = uncertainty_bin == bin_index
        count = np.bincount(band[inside], minlength=BANDS)[:BANDS]
        positives = np.bincount(band[inside & (label == 1)], minlength=BANDS)[:BANDS]
        rows.append(CellRow(lower=lower, count=count, positives=positives))
    return Cells(uncertainty_edges=edges, rows=tuple(rows))


def sentence(comparison: Comparison) -> str:
    """State the gain in words, as README and figure do."""
    single = (
        f"{100 * comparison.same_precision:.0f} % at the same precision, {100 * comparison.same_alerts:.0f} %"
    )
    return (
        f"{100 * comparison.rule:.0f} % of positives found; one threshold finds {single} with as many alerts"
    )


def main() -> None:
    """Fit on the calibration set, and draw on the test set."""
    score, uncertainty, label = read("calibration")
    rule = uqcli.find_boundary(score, label, uncertainty=uncertainty, precision=PRECISION)
    single = uqcli.find_boundary(score, label, precision=PRECISION, algorithm="st")
    title, cells = sentence(compare(rule)), cells_of(rule)
    boundaries = {
        "rule: a threshold per uncertainty bin": rule.thresholds,
        "single threshold": single.thresholds,
    }

    def draw(canvas: Canvas) -> list[HoverText]:
        draw_map(canvas.subplots(), cells, boundaries)
        canvas.suptitle(f"{title}.", fontweight="bold", x=0.01, ha="left")
        return []

    figure = Figure(title=title, caption="", width=8.6, height=4.2, narrow_height=4.2, draw=draw)
    (HERE.parent / "docs" / "images" / "boundary.svg").write_text(to_svg(figure))


if __name__ == "__main__":
    main()
