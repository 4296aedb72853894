"""Positive rate by score and evidence, compared with Theorem 3.1 [UB figures 1 (b) and 3]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.gaussian import Say
from reproduction.generators.posterior import ExpectedCurve, PosteriorModel, expected_curves
from reproduction.library import write
from reproduction.picture import BLUE, GREEN, GREY, RED, Picture, draw_svg
from reproduction.program import Program
from reproduction.study import Outcome, Row, Scale, Sheet, Status, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Level = tuple[ExpectedCurve, list[dict[str, Any]]]
"""A curve of the theorem, and the score bins of the rows with its evidence."""

TAUS = (1, 3, 10)
SHOWN_SCORES = (0.2, 0.5, 0.8)
MIN_EXPECTED = 5.0
BINS = 1000
"""Enough bins to separate all possible scores of a level (evidence up to 200)."""
BANDS, MIN_SHOWN = 40, 1000
"""Bands of scores in the picture, and the smallest number of rows of a shown band."""
MAP_FILE, MAP_GAMMAS, BOUND = "positivity.svg", (0.01, 0.02, 0.04, 0.08, 0.16, 0.3), 0.6
TEXT = (
    "The rows are those of a simulated posterior network (omega 0.5, xi 0.25). At each level of "
    "evidence and each score we compare the positive rate found with the rate that the theorem "
    "predicts. The misfit is the mean over the scores of (found - expected)^2 / variance. It is 1 "
    "on average where the theorem is right; its standard deviation is in brackets. The last "
    "columns show found / expected near scores of 0.2, 0.5 and 0.8."
)


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Run all levels of undersampling."""
    rows: list[Row] = []
    levels_by_tau: dict[int, list[Level]] = {}
    agree = 0
    for tau in TAUS:
        say(f"positivity by score and evidence, tau {tau}")
        model = PosteriorModel(tau=tau)
        write(program.folder / f"tau-{tau}.parquet", model.draw(scale.rows))
        binning_options = ("--binning", "equispaced", "--n-bins", BINS)
        report = program.run("tce", f"tau-{tau}.parquet", "--by", "evidence", *binning_options)
        assert report is not None
        groups = {group["name"]: group for group in report["groups"]}
        levels_by_tau[tau] = [
            (curve, groups[str(curve.evidence)]["bins"]) for curve in expected_curves(model)
        ]
        for curve, bins in levels_by_tau[tau]:
            row, misfit, standard_deviation = _level(tau, curve, bins)
            rows.append(row)
            agree += abs(misfit - 1) <= 3 * standard_deviation
    sheet = Sheet(
        title="Figure 3. Positive rate against score by uncertainty",
        text=[f"{TEXT} There are {scale.rows:,} rows for each tau."],
        header=["tau, evidence", "scores", "misfit", *(f"near {score}" for score in SHOWN_SCORES)],
        rows=rows,
        status=Status.of(agree == len(rows)),
        verdict=f"{agree} of {len(rows)} simulated levels follow Theorem 3.1 within three standard "
        "deviations",
        pictures=[_curves(levels_by_tau)],
    )
    return Outcome(sheets=[sheet, _heat_map(program, scale)])


def _curves(levels_by_tau: dict[int, list[Level]]) -> Picture:
    """Draw the curves of the theorem, with the positive rates."""

    def draw(panels: list[Axes]) -> None:
        for axes, (tau, levels) in zip(panels, levels_by_tau.items(), strict=True):
            axes.plot([0, 1], [0, 1], color=GREY, linestyle=(0, (4, 3)), label="the score itself")
            for (curve, bins), colour in zip(levels, (BLUE, GREEN, RED), strict=True):
                name = f"{curve.evidence} training rows"
                axes.plot(curve.score, curve.positivity, color=colour, label=name)
                axes.plot(*_points(bins), "o", color=colour, markersize=3.2, alpha=0.8)
            title = "all negatives in training" if tau == 1 else f"1 of {tau} negatives in training"
            axes.set(title=title, xlabel="score", xlim=(0, 1), ylim=(0, 1))
        panels[0].set_ylabel("share of positives")

    return Picture(
        name="bias.svg",
        title="Positive rate against score by uncertainty, tau 1, 3, 10",
        caption="Lines: Theorem 3.1. Dots: positive rates found, in equally wide bands of scores. With "
        "different amounts of evidence, the same score has different positive rates. If training "
        "leaves out negatives, scores are far too high.",
        svg=draw_svg(len(TAUS), draw, below=0.35),
    )


def _points(bins: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Return the mean score and positive rate of the bands with enough rows."""
    bands: dict[int, list[dict[str, Any]]] = {}
    for score_bin in bins:
        if score_bin["count"]:
            bands.setdefault(int(score_bin["mean_score"] * BANDS), []).append(score_bin)
    scores, rates = [], []
    for band in bands.values():
        count = sum(score_bin["count"] for score_bin in band)
        if count >= MIN_SHOWN:
            scores.append(sum(score_bin["mean_score"] * score_bin["count"] for score_bin in band) / count)
            rates.append(sum(score_bin["positives"] for score_bin in band) / count)
    return scores, rates


def _heat_map(program: Program, scale: Scale) -> Sheet:
    """Show the picture of ``uqcli boundary`` for simulated rows at six levels of evidence."""
    write(program.folder / "map.parquet", PosteriorModel(gammas=MAP_GAMMAS).draw(scale.rows))
    bins = ("--algorithm", "vw-dpmt", "--uncertainty-bins", 5)
    command = ("boundary", "map.parquet", "--precision", BOUND, *bins)
    report = program.run(*command, "-o", "boundary.json", "--plot", MAP_FILE)
    assert report is not None
    boundary_recall, score_recall = (
        _percent(report["metrics"][name]) for name in ("recall", "score_only_recall")
    )
    caption = (
        f"`uqcli boundary --precision {BOUND} --algorithm vw-dpmt --uncertainty-bins 5 --plot` drew "
        f"this figure from {scale.rows:,} simulated rows, tau 3, at six levels of evidence. The "
        f"boundary flags rows to the right of its lines. At this precision it finds {boundary_recall} of the "
        f"positives of these rows, the single threshold {score_recall}. The lower the uncertainty, the more "
        "reliable the score."
    )
    picture = Picture(
        name=MAP_FILE,
        title="Positive rate over score and uncertainty",
        caption=caption,
        svg=program.read(MAP_FILE),
    )
    return Sheet(
        title="Figure 1 (b). Heat map with a boundary",
        pictures=[picture],
        status=Status.DIFFERS,
        verdict="on simulated data; the paper's figure is of Criteo",
    )


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.1f} %"


def _level(tau: int, curve: ExpectedCurve, bins: list[dict[str, Any]]) -> tuple[Row, float, float]:
    terms, shown = [], {}
    bins_with_expected = [
        (score_bin, _expected(curve, score_bin["mean_score"])) for score_bin in bins if score_bin["count"]
    ]
    for score_bin, expected in bins_with_expected:
        variance = score_bin["count"] * expected * (1 - expected)
        if min(expected, 1 - expected) * score_bin["count"] >= MIN_EXPECTED:
            terms.append((score_bin["positives"] - score_bin["count"] * expected) ** 2 / variance)
    for score in SHOWN_SCORES:
        score_bin, expected = min(bins_with_expected, key=lambda pair: abs(pair[0]["mean_score"] - score))
        shown[score] = f"{score_bin['rate']:.3f} / {expected:.3f}"
    misfit, standard_deviation = sum(terms) / len(terms), (2 / len(terms)) ** 0.5
    label = f"{tau}, {curve.evidence} rows"
    return (
        [label, str(len(terms)), f"{misfit:.2f} (± {standard_deviation:.2f})", *shown.values()],
        misfit,
        standard_deviation,
    )


def _expected(curve: ExpectedCurve, score: float) -> float:
    """Interpolate the curve between its scores."""
    return float(np.interp(score, curve.score, curve.positivity))


STUDY = Study(name="bias", heading="Uncertainty boundary: estimation bias", run=run)
