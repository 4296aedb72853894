"""Share of positives against the score by evidence, beside Theorem 3.1 [UB figures 1 and 3]."""

from __future__ import annotations

from typing import Any

from reproduction.gaussian import Say
from reproduction.program import Program
from reproduction.study import Outcome, Row, Scale, Sheet, Study

TAUS = (1, 3, 10)
SHOWN = (0.2, 0.5, 0.8)
LEAST_EXPECTED = 5.0
BINS = 1000
"""So many that no bin holds two of the scores that rows of one level can have (evidence up to 200)."""
TEXT = (
    "Rows of a simulated posterior network (omega 0.5, xi 0.25), drawn by the program. At each level of "
    "evidence and each score the share of positives found is held against the share that the theorem "
    "expects. Misfit: mean over the scores of (found - expected)^2 / variance, 1 on average where the "
    "theorem holds, with its standard deviation by chance. Shown besides: found / expected near scores of "
    "0.2, 0.5, 0.8."
)


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """All levels of undersampling."""
    rows: list[Row] = []
    agree = 0
    for tau in TAUS:
        say(f"positivity by score and evidence, tau {tau}")
        drawn = ("simulate", "posterior", "--tau", tau, "--rows", scale.rows, "-o", "rows.parquet")
        curves = program.run(*drawn)
        found = program.run(
            "tce", "rows.parquet", "--by", "evidence", "--binning", "equispaced", "--n-bins", BINS
        )
        assert curves is not None
        assert found is not None
        groups = {group["name"]: group for group in found["groups"]}
        for curve in curves["curves"]:
            row, misfit, spread = _level(tau, curve, groups[str(curve["evidence"])]["bins"])
            rows.append(row)
            agree += abs(misfit - 1) <= 3 * spread
    sheet = Sheet(
        title="Figures 1 and 3. Positivity against score by uncertainty",
        text=[f"{TEXT} {scale.rows:,} rows for each tau."],
        header=["tau, evidence", "scores", "misfit", *(f"near {score}" for score in SHOWN)],
        rows=rows,
        verdict=f"simulated part reproduced: {agree} of {len(rows)} levels follow Theorem 3.1 within "
        "three standard deviations; the Criteo part is out of reach (their data and network)",
    )
    return Outcome(sheets=[sheet])


def _level(tau: int, curve: dict[str, Any], bins: list[dict[str, Any]]) -> tuple[Row, float, float]:
    terms, shown = [], {}
    pairs = [(each, _expected(curve, each["mean_score"])) for each in bins if each["count"]]
    for each, expected in pairs:
        variance = each["count"] * expected * (1 - expected)
        if min(expected, 1 - expected) * each["count"] >= LEAST_EXPECTED:
            terms.append((each["positives"] - each["count"] * expected) ** 2 / variance)
    for score in SHOWN:
        each, expected = min(pairs, key=lambda pair: abs(pair[0]["mean_score"] - score))
        shown[score] = f"{each['rate']:.3f} / {expected:.3f}"
    misfit, spread = sum(terms) / len(terms), (2 / len(terms)) ** 0.5
    label = f"{tau}, {curve['evidence']} rows"
    return [label, str(len(terms)), f"{misfit:.2f} (± {spread:.2f})", *shown.values()], misfit, spread


def _expected(curve: dict[str, Any], score: float) -> float:
    """The curve at the one of its scores that is nearest."""
    nearest = min(range(len(curve["score"])), key=lambda place: abs(curve["score"][place] - score))
    expected: float = curve["expected_positivity"][nearest]
    return expected


STUDY = Study(name="bias", heading="Uncertainty boundary: estimation bias", run=run)
