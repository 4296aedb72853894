"""Histogram calibration under label shift, with its error bounds [LS sec. 3]."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import uqcli
from reproduction.classes import Floats, GaussianClasses, Ints, estimate_weights
from reproduction.gaussian import Say
from reproduction.picture import BLUE, GREEN, GREY, INK, RED, Picture, draw_svg
from reproduction.program import Program
from reproduction.study import Outcome, Row, Scale, Sheet, Status, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLASSES = GaussianClasses(means=((-1.0, 0.0), (1.0, 0.0)), standard_deviation=1.0, prior=(0.5, 0.5))
DISTANCE = 2.0
"""Distance of the means in standard deviations."""
TARGET = (0.8, 0.2)
WEIGHTS = np.array(TARGET) / np.array(CLASSES.prior)
SIZES = (500, 2_000, 10_000)
THREE_CLASSES = GaussianClasses(
    means=((-2.0, 0.0), (2.0, 0.0), (0.0, 12**0.5)), standard_deviation=2.0, prior=(0.4, 0.3, 0.3)
)
THREE_TARGET = (0.2, 0.2, 0.6)
TRUTH_ROWS = 100_000
"""Rows that estimate the truth of the bins of three classes."""
ROWS = 20_000
METHODS = {"uncorrected": RED, "true weights": INK, "BBSE": BLUE, "EM": GREEN}
ESTIMATORS = {"true weights": "known", "BBSE": "bbse", "EM": "em"}
LEVEL = 95
TEXT = (
    "There are two Gaussian classes in the plane, with means (-1, 0) and (1, 0) and standard "
    "deviation 1. Half of the source data are positive, and {share:.0f} % of the target data. The "
    "model knows the source, so its probabilities are right there and too high in the target "
    "data. "
)
BOUNDS = (
    "The Python library fits histogram calibration with ten bins to the labelled rows of the "
    "source data. It estimates weights from as many unlabelled rows of the target data, in "
    "{repetitions} repetitions. The two normal distributions give the truth of each bin. "
    "Distances are those of the paper, over both classes, so they are twice the difference of the "
    "probabilities. The distance in the target data is the mean over their rows and over "
    "repetitions, with its Monte Carlo standard error."
)
THREE_TEXT = (
    "There are three Gaussian classes in the plane, with priors {prior} in the source data and {target} in "
    "the target data. The library fits histogram calibration of class probabilities, as `uqcli calibrate "
    "--proba` does: ten bins for each predicted class. Distances are over all three classes, in "
    "{repetitions} repetitions. The truth of a bin is the mean of the true probabilities over {rows:,} rows. "
    "With few rows per bin, the bounds of Theorem 3 are wide: the largest distance possible is 2."
)


@dataclass(frozen=True, kw_only=True)
class Repetition:
    """Distances of one repetition from the true rates.

    Attributes
    ----------
    within_bound
        Whether all bins meet the bound of Theorem 3 on the source.
    target_distance
        Distances on target data, by method; methods without weights are absent.
    tightness
        Largest share of the bound of Theorem 4 that a bin uses, by method.
    """

    within_bound: bool
    bound: float
    target_distance: dict[str, float]
    tightness: dict[str, float]


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Compute the bounds over repetitions, and the curves of one draw."""
    repetitions_by_size: dict[int, list[Repetition]] = {}
    for rows in SIZES:
        say(f"histogram calibration of {rows} rows, {scale.repetitions} repetitions")
        repetitions_by_size[rows] = [_repeat(rows, seed) for seed in range(scale.repetitions)]
    three_classes: dict[int, list[Repetition]] = {}
    repetitions = max(2, scale.repetitions // 5)
    truth_rows, _ = THREE_CLASSES.draw(THREE_CLASSES.prior, TRUTH_ROWS, np.random.default_rng(1))
    for rows in SIZES:
        say(f"histogram calibration of three classes, {rows} rows, {repetitions} repetitions")
        three_classes[rows] = [_repeat_classes(rows, seed, truth_rows) for seed in range(repetitions)]
    return Outcome(
        sheets=[
            _reliability(program, say),
            _bounds(
                repetitions_by_size,
                title="Theorems 3 and 4. Bounds of histogram calibration",
                text=BOUNDS.format(repetitions=scale.repetitions),
            ),
            _bounds(
                three_classes,
                title="Theorems 3 and 4 for three classes. Bounds of histogram calibration",
                text=THREE_TEXT.format(
                    prior=_shares(THREE_CLASSES.prior),
                    target=_shares(THREE_TARGET),
                    repetitions=repetitions,
                    rows=TRUTH_ROWS,
                ),
            ),
        ]
    )


def _shares(shares: tuple[float, ...]) -> str:
    return " / ".join(f"{share:g}" for share in shares)


def _repeat_classes(rows: int, seed: int, truth_rows: Floats) -> Repetition:
    draws = np.random.default_rng([seed, rows, 3])
    source, label = THREE_CLASSES.draw(THREE_CLASSES.prior, rows, draws)
    target, _ = THREE_CLASSES.draw(THREE_TARGET, rows, draws)
    true_weights = np.array(THREE_TARGET) / np.array(THREE_CLASSES.prior)
    weights = {
        "true weights": THREE_CLASSES.weights(THREE_TARGET),
        "BBSE": estimate_weights("bbse", source, label, target),
        "EM": estimate_weights("em", source, label, target),
    }
    uncorrected = uqcli.Calibrator.fit(source, label, method="histogram", confidence=LEVEL / 100)
    parts = uncorrected.map.bins  # type: ignore[union-attr]  # of many classes
    bins, first_rows = class_bins([part.edges for part in parts], truth_rows)
    rates = [np.bincount(bins, truth_rows[:, name]) for name in range(truth_rows.shape[1])]
    joint = np.array(rates)[:, np.bincount(bins) > 0].T
    mass, in_target = joint.sum(axis=1), joint * true_weights
    source_truth, target_truth = joint / mass[:, None], in_target / in_target.sum(axis=1)[:, None]
    target_mass = in_target.sum(axis=1) / in_target.sum()
    shown = truth_rows[first_rows]
    source_error = np.abs(uncorrected.predict(shown) - source_truth).sum(axis=1)
    bound = np.concatenate([part.error for part in parts])[np.unique(bins)].astype(np.float64)

    def distance(fitted: uqcli.Calibrator) -> Floats:
        of_bins: Floats = np.abs(fitted.predict(shown) - target_truth).sum(axis=1)
        return of_bins

    distances, tightness = {"uncorrected": float(target_mass @ distance(uncorrected))}, {}
    for name, shift in weights.items():
        if shift is not None:
            of_bins = distance(uqcli.Calibrator.fit(source, label, method="histogram", shift=shift))
            distances[name] = float(target_mass @ of_bins)
            bound_4 = theorem_4(source_error, shift.weights, true_weights)
            tightness[name] = float((of_bins / bound_4).max())
    return Repetition(
        within_bound=bool((source_error <= bound).all()),
        bound=float(bound.max()),
        target_distance=distances,
        tightness=tightness,
    )


def class_bins(edges: Sequence[Sequence[float]], probability: Floats) -> tuple[Ints, Ints]:
    """Number the bins of rows by predicted class and its probability.

    Parameters
    ----------
    edges
        Edges of the bins of each predicted class.
    probability : shape (n, C)

    Returns
    -------
    The bin of each row, int64, shape (n,); and the first row of each bin that has rows.
    """
    predicted, largest = probability.argmax(axis=1), probability.max(axis=1)
    bins = np.empty(len(probability), dtype=np.int64)
    start = 0
    for name, class_edges in enumerate(edges):
        inside = predicted == name
        bins[inside] = start + np.searchsorted(class_edges, largest[inside], side="right")
        start += len(class_edges) + 1
    return bins, np.unique(bins, return_index=True)[1]


def _repeat(rows: int, seed: int) -> Repetition:
    draws = np.random.default_rng([seed, rows])
    source, label = CLASSES.draw(CLASSES.prior, rows, draws)
    target, _ = CLASSES.draw(TARGET, rows, draws)
    weights = {
        "true weights": CLASSES.weights(TARGET),
        "BBSE": estimate_weights("bbse", source, label, target),
        "EM": estimate_weights("em", source, label, target),
    }
    uncorrected = uqcli.Calibrator.fit(source[:, 1], label, method="histogram", confidence=LEVEL / 100)
    bins: Any = uncorrected.map
    lowest = np.array([0.0, *bins.edges])
    rate, mass = truth(lowest, TARGET)
    source_error = 2 * np.abs(np.array(bins.rate) - truth(lowest, CLASSES.prior)[0])
    bound = 2 * np.array(bins.error)
    distances = {"uncorrected": float(mass @ (2 * np.abs(uncorrected.predict(lowest) - rate)))}
    tightness = {}
    for name, shift in weights.items():
        if shift is not None:
            fitted = uqcli.Calibrator.fit(source[:, 1], label, method="histogram", shift=shift)
            distance = 2 * np.abs(fitted.predict(lowest) - rate)
            distances[name] = float(mass @ distance)
            bound_4 = theorem_4(source_error, shift.weights)
            tightness[name] = float((distance / bound_4).max())
    return Repetition(
        within_bound=bool((source_error <= bound).all()),
        bound=float(bound.max()),
        target_distance=distances,
        tightness=tightness,
    )


def truth(lowest: Floats, priors: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Compute the positive rate and the share of rows of each bin of the model's probability.

    Parameters
    ----------
    lowest : shape (M,)
        Lower edges of the bins, the first at 0.
    priors
        Priors of the two classes.
    """
    prior = log(CLASSES.prior[1] / CLASSES.prior[0])
    class_mass = []
    for sign in (-1, 1):
        distribution = NormalDist(prior + sign * DISTANCE**2 / 2, DISTANCE)
        below = [0.0, *(distribution.cdf(log(edge / (1 - edge))) for edge in lowest[1:]), 1.0]
        class_mass.append(np.diff(below))
    joint = np.array(priors)[:, None] * np.array(class_mass)
    mass = joint.sum(axis=0)
    return joint[1] / mass, mass


def theorem_4(source_error: Floats, weights: Floats, true_weights: Floats = WEIGHTS) -> Floats:
    """Compute Theorem 4's bound on the target distance from the source distance, by bin."""
    ratio = true_weights.max() / true_weights.min()
    bound: Floats = 2 * ratio * source_error + 2 * np.abs(weights - true_weights).max() / true_weights.min()
    return bound


def _bounds(repetitions_by_size: dict[int, list[Repetition]], *, title: str, text: str) -> Sheet:
    rows: list[Row] = []
    for size, repetitions_of_size in repetitions_by_size.items():
        share_within_bound = statistics.mean(repetition.within_bound for repetition in repetitions_of_size)
        bound = statistics.mean(repetition.bound for repetition in repetitions_of_size)
        mean_distances = [
            _mean(
                [
                    repetition.target_distance[name]
                    for repetition in repetitions_of_size
                    if name in repetition.target_distance
                ]
            )
            for name in METHODS
        ]
        rows.append([f"{size:,}", f"{100 * share_within_bound:.1f} %", f"{bound:.3f}", *mean_distances])
    all_repetitions = [
        repetition
        for repetitions_of_size in repetitions_by_size.values()
        for repetition in repetitions_of_size
    ]
    largest_use = {
        name: max(
            repetition.tightness[name] for repetition in all_repetitions if name in repetition.tightness
        )
        for name in ESTIMATORS
    }
    holds = all(value <= 1 for value in largest_use.values())
    lowest_share = min(
        statistics.mean(repetition.within_bound for repetition in repetitions_of_size)
        for repetitions_of_size in repetitions_by_size.values()
    )
    bins_hold = lowest_share >= LEVEL / 100
    use_text = "; ".join(f"{name} {100 * value:.0f} %" for name, value in largest_use.items())
    return Sheet(
        title=title,
        text=[
            text,
            f"Theorem 4 {'held' if holds else 'DID NOT HOLD'} in every bin of every repetition. Errors "
            f"reached at most this part of their bound: {use_text}.",
        ],
        header=["rows", "Theorem 3 held", "its largest bound", *METHODS],
        rows=rows,
        status=Status.of(holds and bins_hold),
        verdict=f"Theorem 3 {'held' if bins_hold else 'NOT HELD'} at {LEVEL} % (at least "
        f"{100 * lowest_share:.1f} %), Theorem 4 {'held' if holds else 'NOT HELD'} in all of "
        f"{len(repetitions_of_size)} repetitions at each size",
    )


def _mean(values: list[float]) -> str:
    error = f" ± {statistics.stdev(values) / len(values) ** 0.5:.4f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.4f}{error}"


def _reliability(program: Program, say: Say) -> Sheet:
    say(f"reliability curves of {ROWS} rows")
    draws = np.random.default_rng(0)
    files = {"source": CLASSES.prior, "target": TARGET, "new": TARGET}
    for name, shares in files.items():
        probability, label = CLASSES.draw(shares, ROWS, draws)
        columns = {"score": probability[:, 1], "label": label}
        pl.DataFrame(columns).write_parquet(program.folder / f"{name}.parquet")
    rows: list[Row] = []
    curves: dict[str, list[tuple[float, float]]] = {}
    for name in METHODS:
        report = _calibration_error(program, name)
        curves[name] = [
            (score_bin["mean_score"], score_bin["rate"]) for score_bin in report["bins"] if score_bin["count"]
        ]
        metrics = report["metrics"]
        rows.append([name, f"{metrics['ece']:.4f}", f"{metrics['tce']:.1f}", f"{metrics['brier']:.4f}"])
    uncorrected_ece = float(rows[0][1])
    corrected_ece = max(float(row[1]) for row in rows[1:])
    return Sheet(
        title="Reliability curves in the target data (Proposition 1)",
        text=[
            TEXT.format(share=100 * TARGET[1])
            + f"Each of three files has {ROWS:,} rows. Labelled source data serve to fit ten histogram "
            "bins, unlabelled target data to estimate the weights, and labelled target data as the test "
            "set. The TCE does not fall to 5 %. The fitted rates have sampling errors, which a test on as "
            "many rows can detect."
        ],
        header=["histogram calibration", "ECE", "TCE %", "Brier"],
        rows=rows,
        status=Status.of(corrected_ece < uncorrected_ece),
        verdict=f"ECE {uncorrected_ece:.4f} uncorrected, at most {corrected_ece:.4f} with true or estimated "
        "weights (the summary prints no values)",
        pictures=[_picture(curves)],
    )


def _calibration_error(program: Program, name: str) -> dict[str, Any]:
    """Return the report of ``uqcli tce`` for a calibration method on target data."""
    corrected: list[object] = []
    if name in ESTIMATORS:
        prior_options = ["--prior", ",".join(map(str, TARGET))] if ESTIMATORS[name] == "known" else []
        command = ("shift", "source.parquet", "--target", "target.parquet", "--estimator", ESTIMATORS[name])
        program.run(*command, *prior_options, "--bootstrap", 0, "-o", "shift.json")
        corrected = ["--shift", "shift.json"]
    program.run("calibrate", "source.parquet", "--method", "histogram", *corrected, "-o", "map.json")
    program.run("apply", "map.json", "new.parquet", "-o", "calibrated.parquet")
    report = program.run(
        "tce", "calibrated.parquet", "--score", "calibrated", "--binning", "equispaced", "--n-bins", 20
    )
    assert report is not None
    return report


def _picture(curves: dict[str, list[tuple[float, float]]]) -> Picture:
    def plot(panels: list[Axes]) -> None:
        panels[0].plot([0, 1], [0, 1], color=GREY, linestyle=(0, (4, 3)), label="calibrated")
        for name, colour in METHODS.items():
            line: dict[str, Any] = {"linestyle": (0, (1, 2)), "linewidth": 3} if name == "EM" else {}
            panels[0].plot(*zip(*curves[name], strict=True), marker="o", color=colour, label=name, **line)
        panels[0].set(xlabel="calibrated probability", ylabel="share of positives in the target")
        panels[0].set(xlim=(0, 1), ylim=(0, 1))
        panels[0].legend()

    return Picture(
        name="reliability.svg",
        title="Reliability in the target data",
        caption="Positive rate against the calibrated probability. Uncorrected bins give probabilities that "
        "are too high where positives are rarer. Corrected bins lie near the diagonal with all three "
        "kinds of weights.",
        svg=draw_svg(1, plot, width=5.6),
    )


STUDY = Study(name="recalibration", heading="Label shift: calibration", run=run)
