"""The example of two Gaussian scores and one yes-or-no feature [HC section 3, figures 1 and 2]."""

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
from reproduction.study import Outcome, Row, Scale, Sheet, Study
from reproduction.values import read

ROWS = 40_000
SHARE = 0.75
"""How often the feature says the label."""
STEPS = (0.0, 0.9, 1.8, 2.7, 3.6, 4.5)
BEST = 4 * math.log(SHARE / (1 - SHARE))
"""What the law of new rows asks for: the difference in log-odds, times the 2 that scores are too large by."""
TEXT = (
    "The data follow section 3 of the paper. Scores of new data are N(-1, 2) and N(1, 2) by "
    "class, where 2 is the standard deviation. Otherwise the distribution of the training rows, "
    "which is narrower inside, would not be continuous. Both classes are equally frequent, and a "
    "binary feature equals the label with probability 3/4. The model adds w to the score if the "
    "feature is 1, and subtracts w/2 from every score. The study draws {rows:,} rows of each "
    "distribution, and `uqcli calibrate --logit` measures them."
)


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """The claims of the text, and the curve."""
    rows = min(ROWS, scale.rows)
    drawn = {law: _drawn(rows, law == "training") for law in ("new", "training")}
    slopes = {}
    for law in drawn:
        say(f"scores of {law} rows")
        slopes[law] = _measured(program, drawn[law], None, "temperature")["calibration"]["slope"]
    curve = {}
    theirs = read()["heterogeneous"]["example"]
    steps = STEPS if scale.grids > 1 else (STEPS[1], theirs["learned"], theirs["better"])
    for step in (*steps, BEST):
        say(f"the feature at {step:.2f}")
        curve[step] = {law: _measured(program, drawn[law], step, "temperature")["metrics"] for law in drawn}
    parted = _measured(program, drawn["new"], theirs["learned"], "heterogeneous")["metrics"]["after"]["auc"]
    claims = _claims(slopes, curve, parted, theirs)
    return Outcome(sheets=[replace(claims, text=[TEXT.format(rows=rows)]), _curve(curve)])


def _drawn(rows: int, training: bool) -> dict[str, Any]:
    """Scores without the feature, the feature, labels."""
    draws = np.random.default_rng(int(training))
    label = draws.random(rows) < 0.5
    if training:  # a third of the mass inside, where the standard deviation is 1
        away = np.abs(draws.normal(size=rows))
        shift = np.where(draws.random(rows) < 1 / 3, -away, 2 * away)
    else:
        shift = 2 * draws.normal(size=rows)
    feature = (draws.random(rows) < SHARE) == label
    return {"score": np.where(label, 1 + shift, -1 - shift), "feature": feature, "label": label.astype(int)}


def _measured(program: Program, drawn: dict[str, Any], step: float | None, method: str) -> dict[str, Any]:
    score: Floats = drawn["score"] + (step or 0.0) * (drawn["feature"] - 0.5)
    columns = {"score": score, "label": drawn["label"], "part": np.where(drawn["feature"], "yes", "no")}
    pl.DataFrame(columns).write_parquet(program.folder / "rows.parquet")
    parts = ("--partition", "part") if method == "heterogeneous" else ()
    asked = ("calibrate", "rows.parquet", "--logit", "--method", method, *parts, "--bootstrap", 0)
    report = program.run(*asked, "-o", "map.json")
    assert report is not None
    return report


def expected_auc(step: float) -> float:
    """AUC on new rows by the formula: pairs of one positive and one negative by what the feature says."""
    normal = NormalDist()
    share = {1: SHARE, 0: 1 - SHARE}
    return sum(
        share[above] * share[1 - below] * normal.cdf((2 + step * (above - below)) / math.sqrt(8))
        for above in (0, 1)
        for below in (0, 1)
    )


def _claims(
    slopes: dict[str, float], curve: dict[float, dict[str, Any]], parted: float, theirs: dict[str, float]
) -> Sheet:
    learned, better = theirs["learned"], theirs["better"]
    tried = [step for step in sorted(curve) if step != BEST]
    among = "of " + ", ".join(f"{step:g}" for step in tried)
    lowest = min(tried, key=lambda step: curve[step]["training"]["before"]["log_loss"])
    highest = max(tried, key=lambda step: curve[step]["training"]["before"]["auc"])
    ours = {step: curve[step]["new"]["before"]["auc"] for step in (learned, better, BEST)}
    lines: list[tuple[str, object, str]] = [
        ("scores of new data are too large by a factor of", theirs["too_large"], f"{1 / slopes['new']:.2f}"),
        (
            "scores of training rows are too small by a factor of",
            theirs["too_small"],
            f"{slopes['training']:.2f}",
        ),
        (f"w with the lowest log loss on training rows, {among}", learned, f"{lowest:g}"),
        ("w with the highest AUC on training rows, of the same", learned, f"{highest:g}"),
        (f"AUC on new data, w = {learned:g}", theirs["auc_learned"], f"{ours[learned]:.3f}"),
        (f"AUC on new data, w = {better:g}", theirs["auc_better"], f"{ours[better]:.3f}"),
        (f"AUC on new data, w = 4 ln 3 = {BEST:.2f}, the best by the formula", "-", f"{ours[BEST]:.3f}"),
        (f"AUC on new data, w = {learned:g}, then a Platt map for each part", "-", f"{parted:.3f}"),
    ]
    made = sum(lines[row][1] == round(float(lines[row][2]), 2) for row in (4, 5))
    same = (
        "at the same w as in the paper"
        if highest == learned
        else f"at {highest:g}, not at {learned:g} as in the paper"
    )
    return Sheet(
        title="Figure 1 and the text on it. An over-confident model",
        header=["claim", "paper, about", "ours"],
        rows=[[str(cell) for cell in line] for line in lines],
        verdict=f"reproduced with simulated scores: {made} of 2 AUCs, and a map for each part reaches "
        f"{parted:.3f}, where {ours[BEST]:.3f} is the best; the AUC on training rows is highest {same}",
    )


def _curve(curve: dict[float, dict[str, Any]]) -> Sheet:
    rows: list[Row] = []
    for step, found in sorted(curve.items()):
        new, training = found["new"]["before"], found["training"]["before"]
        shown = [new["auc"], expected_auc(step), new["log_loss"], training["auc"], training["log_loss"]]
        rows.append([f"{step:.2f}", *(f"{value:.4f}" for value in shown)])
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
        verdict="reproduced with simulated scores, beside the formula; the paper prints no values",
    )


STUDY = Study(name="example", heading="Heterogeneous calibration: the paper's example", run=run)
