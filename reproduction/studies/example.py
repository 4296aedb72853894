"""The paper's example of two Gaussian scores and one binary feature [HC section 3, figures 1 and 2]."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from reproduction.gaussian import Say
from reproduction.learned import Floats
from reproduction.program import Program
from reproduction.study import Outcome, Row, Scale, Sheet, Status, Study
from reproduction.values import read

ROWS = 40_000
SHARE = 0.75
"""Probability that the feature equals the label."""
WEIGHTS = (0.0, 0.9, 1.8, 2.7, 3.6, 4.5)
BEST_WEIGHT = 4 * math.log(SHARE / (1 - SHARE))
"""The best weight on new rows: the difference in log-odds, times the factor 2 of the scores."""
TEXT = (
    "The data follow section 3 of the paper. Scores of new data are N(-1, 2) and N(1, 2) by "
    "class, where 2 is the standard deviation. Otherwise the distribution of the training rows, "
    "which is narrower inside, would not be continuous. Both classes are equally frequent, and a "
    "binary feature equals the label with probability 3/4. The model adds w to the score if the "
    "feature is 1, and subtracts w/2 from every score. The study draws {rows:,} rows of each "
    "distribution, and `uqcli calibrate --logit` measures them."
)


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Check the claims of the text, and compute the curve."""
    rows = min(ROWS, scale.rows)
    rows_by_kind = {kind: _draw(rows, kind == "training") for kind in ("new", "training")}
    slopes = {}
    for kind in rows_by_kind:
        say(f"scores of {kind} rows")
        slopes[kind] = _calibrate(program, rows_by_kind[kind], None, "temperature")["calibration"]["slope"]
    curve = {}
    published = read()["heterogeneous"]["example"]
    weights = WEIGHTS if scale.grids > 1 else (WEIGHTS[1], published["learned"], published["better"])
    for weight in (*weights, BEST_WEIGHT):
        say(f"the feature at {weight:.2f}")
        curve[weight] = {
            kind: _calibrate(program, rows_by_kind[kind], weight, "temperature")["metrics"]
            for kind in rows_by_kind
        }
    auc_by_parts = _calibrate(program, rows_by_kind["new"], published["learned"], "heterogeneous")["metrics"][
        "after"
    ]["auc"]
    claims = _claims(slopes, curve, auc_by_parts, published)
    return Outcome(sheets=[replace(claims, text=[TEXT.format(rows=rows)]), _curve(curve)])


def _draw(rows: int, training: bool) -> dict[str, Any]:
    """Draw scores without the feature, the feature, and labels."""
    draws = np.random.default_rng(int(training))
    label = draws.random(rows) < 0.5
    if training:  # a third of the mass is inside, with standard deviation 1
        distance = np.abs(draws.normal(size=rows))
        shift = np.where(draws.random(rows) < 1 / 3, -distance, 2 * distance)
    else:
        shift = 2 * draws.normal(size=rows)
    feature = (draws.random(rows) < SHARE) == label
    return {"score": np.where(label, 1 + shift, -1 - shift), "feature": feature, "label": label.astype(int)}


def _calibrate(
    program: Program, drawn_columns: dict[str, Any], weight: float | None, method: str
) -> dict[str, Any]:
    score: Floats = drawn_columns["score"] + (weight or 0.0) * (drawn_columns["feature"] - 0.5)
    columns = {
        "score": score,
        "label": drawn_columns["label"],
        "part": np.where(drawn_columns["feature"], "yes", "no"),
    }
    pl.DataFrame(columns).write_parquet(program.folder / "rows.parquet")
    partition = ("--partition", "part") if method == "heterogeneous" else ()
    command = ("calibrate", "rows.parquet", "--logit", "--method", method, *partition, "--bootstrap", 0)
    report = program.run(*command, "-o", "map.json")
    assert report is not None
    return report


def expected_auc(weight: float) -> float:
    """Compute the AUC on new rows by the formula, over pairs of a positive and a negative by feature."""
    normal = NormalDist()
    share = {1: SHARE, 0: 1 - SHARE}
    return sum(
        share[above] * share[1 - below] * normal.cdf((2 + weight * (above - below)) / math.sqrt(8))
        for above in (0, 1)
        for below in (0, 1)
    )


def training_auc(weight: float) -> float:
    """Compute the AUC on training rows by integration over the paper's densities."""
    score = np.linspace(-16, 16, 3201)
    step = score[1] - score[0]

    def density(shift: Floats) -> Floats:  # of a positive's score above 1, and a negative's below -1
        scale = np.where(shift < 0, 1.0, 2.0)
        return np.exp(-((shift / scale) ** 2) / 2) * 2 / 3 / math.sqrt(2 * math.pi)

    def with_feature(share: float, sign: int) -> Floats:
        parts = [density(sign * (score - side * weight / 2) - 1) for side in (1, -1)]
        return share * parts[0] + (1 - share) * parts[1]

    positive, negative = with_feature(SHARE, 1), with_feature(1 - SHARE, -1)
    below = (np.cumsum(negative) - negative / 2) * step
    return float((positive * below).sum() * step)


def _claims(
    slopes: dict[str, float],
    curve: dict[float, dict[str, Any]],
    auc_by_parts: float,
    published: dict[str, float],
) -> Sheet:
    learned, better = published["learned"], published["better"]
    weights = [weight for weight in sorted(curve) if weight != BEST_WEIGHT]
    weights_text = "of " + ", ".join(f"{weight:g}" for weight in weights)
    lowest = min(weights, key=lambda weight: curve[weight]["training"]["before"]["log_loss"])
    best_in_training = max((step / 10 for step in range(46)), key=training_auc)
    highest = max(weights, key=lambda weight: curve[weight]["training"]["before"]["auc"])
    auc = {weight: curve[weight]["new"]["before"]["auc"] for weight in (learned, better, BEST_WEIGHT)}
    table_rows: list[tuple[str, object, str]] = [
        (
            "scores of new data are too large by a factor of",
            published["too_large"],
            f"{1 / slopes['new']:.2f}",
        ),
        (
            "scores of training rows are too small by a factor of",
            published["too_small"],
            f"{slopes['training']:.2f}",
        ),
        (f"w with the lowest log loss on training rows, {weights_text}", learned, f"{lowest:g}"),
        ("w with the highest AUC on training rows, of the same", learned, f"{highest:g}"),
        ("the same by integration, of all w in steps of 0.1", learned, f"{best_in_training:g}"),
        (f"AUC on new data, w = {learned:g}", published["auc_learned"], f"{auc[learned]:.3f}"),
        (f"AUC on new data, w = {better:g}", published["auc_better"], f"{auc[better]:.3f}"),
        (
            f"AUC on new data, w = 4 ln 3 = {BEST_WEIGHT:.2f}, the best by the formula",
            "-",
            f"{auc[BEST_WEIGHT]:.3f}",
        ),
        (f"AUC on new data, w = {learned:g}, then a Platt map for each part", "-", f"{auc_by_parts:.3f}"),
    ]
    reproduced = sum(table_rows[row][1] == round(float(table_rows[row][2]), 2) for row in (5, 6))
    agreement = (
        "at the same w as in the paper"
        if best_in_training == learned
        else f"at {best_in_training:g} by integration, not at {learned:g} as in the paper"
    )
    return Sheet(
        title="Figure 1 and the text on it. An over-confident model",
        header=["claim", "paper, about", "ours"],
        rows=[[str(cell) for cell in claim] for claim in table_rows],
        status=Status.EXACT if best_in_training == learned and reproduced == 2 else Status.DIFFERS,
        verdict=f"{reproduced} of 2 AUCs are exact, and a map for each part reaches {auc_by_parts:.3f}, "
        f"where {auc[BEST_WEIGHT]:.3f} is the best; the AUC on training rows is highest {agreement}",
    )


def _curve(curve: dict[float, dict[str, Any]]) -> Sheet:
    rows: list[Row] = []
    for weight, metrics in sorted(curve.items()):
        new, training = metrics["new"]["before"], metrics["training"]["before"]
        shown = [new["auc"], expected_auc(weight), new["log_loss"], training["auc"], training["log_loss"]]
        rows.append([f"{weight:.2f}", *(f"{value:.4f}" for value in shown)])
    text = (
        "The paper draws the AUC on new data by w, and prints no values but the two above. The "
        "formula gives the AUC of the distribution itself. Ours differs from it by the random error "
        "of one draw, which is the same for all w."
    )
    return Sheet(
        title="Figure 2. AUC by the weight of the feature",
        text=[text],
        header=[
            "w",
            "AUC, new data",
            "by formula",
            "log loss, new data",
            "AUC, training",
            "log loss, training",
        ],
        rows=rows,
        status=Status.WITHIN_RANGE,
        verdict="simulated scores follow the formula; the paper prints the two AUCs above only",
    )


STUDY = Study(name="example", heading="Heterogeneous calibration: the paper's example", run=run)
