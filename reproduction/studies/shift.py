"""Coverage of prediction sets under label shift [LS sec. 2, its toy problem]."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

import uqcli
from reproduction.classes import Floats, GaussianClasses, Ints, estimate_weights
from reproduction.gaussian import Say
from reproduction.picture import BLUE, GREEN, GREY, INK, RED, VIOLET, Picture, draw_svg
from reproduction.program import Program
from reproduction.study import Outcome, Row, Scale, Sheet, Status, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLASSES = GaussianClasses(
    means=((-2.0, 0.0), (2.0, 0.0), (0.0, 12**0.5)), standard_deviation=2.0, prior=(0.1, 0.6, 0.3)
)
TARGET = (0.3, 0.2, 0.5)
FRACTIONS = (0.0, 0.5, 1.0, 1.4)
"""Fractions of the way from the source priors to the target priors; above 1, beyond them."""
ROWS, SIZES = 1_000, (100, 300, 1_000, 3_000)
ALPHA = 0.1
TEST_ROWS = 200
METHODS = {"uncorrected": RED, "true weights": INK, "BBSE": BLUE, "EM": GREEN, "label-conditional": VIOLET}
TEXT = (
    "Our source for this paper is a summary that prints no numbers of its toy example, so we "
    "chose them. There are three Gaussian classes in the plane, with means (-2, 0), (2, 0), (0, "
    "3.46) and standard deviation 2. The source priors are 0.1 / 0.6 / 0.3, and the probabilities "
    "are those of the model that knows them. Each of {repetitions} repetitions draws {rows:,} "
    "labelled rows of source data and as many unlabelled rows of target data. Its test set has "
    "{tested} labelled rows of target data. The Python library builds sets at alpha 0.1. A cell "
    "contains coverage in per cent with its Monte Carlo standard error, and the mean set size."
)
UPPER_TEXT = (
    "By Theorem 1, sets of n rows without a shift cover at least 1 - alpha. They cover at most 1 - alpha + "
    "1/(n + 1) if scores are distinct, as randomised scores are. The coverage over all draws is then "
    "k/(n + 1), with k the rank of the threshold. The last columns are the mean over {repetitions} "
    "repetitions of {tested:,} rows with its Monte Carlo standard error, and whether both bounds hold "
    "within three of these errors."
)
UPPER_SIZES, UPPER_TEST_ROWS = (20, 50, 100, 300, 1_000), 1_000
Point = tuple[int, float]
"""Number of labelled rows, and fraction of the way to the target priors."""
Coverages = dict[tuple[Point, str], list[tuple[float, float]]]
"""Coverage and mean set size of each repetition."""


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Make all tables."""
    del program
    repetitions = scale.repetitions
    coverages: Coverages = {}
    for rows, fractions in [(ROWS, FRACTIONS), *((rows, (1.0,)) for rows in SIZES if rows != ROWS)]:
        targets = {fraction: CLASSES.towards(TARGET, fraction) for fraction in fractions}
        known = {fraction: CLASSES.weights(shares) for fraction, shares in targets.items()}
        for number in range(repetitions):
            if number % 50 == 0:
                say(f"conformal sets of {rows} rows, repetition {number} of {repetitions}")
            _repeat(coverages, rows, targets, known, number)
    by_fraction = [(ROWS, fraction) for fraction in FRACTIONS]
    by_rows = [(rows, 1.0) for rows in SIZES]
    say(f"sets without a shift, {repetitions} repetitions")
    unshifted = {rows: [_unshifted(rows, seed) for seed in range(repetitions)] for rows in UPPER_SIZES}
    return Outcome(
        sheets=[
            _by_fraction(coverages, by_fraction, by_rows, repetitions),
            _by_rows(coverages, by_rows),
            _upper_bound(unshifted),
        ]
    )


def _unshifted(rows: int, seed: int) -> float:
    """Return the coverage of randomised sets on rows of the same distribution."""
    draws = np.random.default_rng([seed, rows, 1])
    source, label = CLASSES.draw(CLASSES.prior, rows, draws)
    tested, truth = CLASSES.draw(CLASSES.prior, UPPER_TEST_ROWS, draws)
    return _coverage(uqcli.conformal_sets(source, label, alpha=ALPHA, seed=seed), tested, truth)[0]


def bounds_of_theorem_1(rows: int) -> tuple[float, float, float]:
    """Return the lower bound, the coverage over all draws, and the upper bound, if scores are distinct."""
    rank = ceil(Fraction(str(1 - ALPHA)) * (rows + 1))
    return 1 - ALPHA, rank / (rows + 1), 1 - ALPHA + 1 / (rows + 1)


def _upper_bound(unshifted: dict[int, list[float]]) -> Sheet:
    table_rows: list[Row] = []
    held = 0
    for rows, coverages in unshifted.items():
        low, expected, high = bounds_of_theorem_1(rows)
        mean, error = _mean_and_error(coverages)
        holds = low - 3 * error < mean < high + 3 * error
        held += holds
        cells = [f"{100 * value:.2f}" for value in (low, high, expected)]
        table_rows.append(
            [f"{rows:,}", *cells, f"{100 * mean:.2f} ± {100 * error:.2f}", "yes" if holds else "no"]
        )
    repetitions = len(next(iter(unshifted.values())))
    return Sheet(
        title="Theorem 1. Bounds of coverage without a shift",
        text=[UPPER_TEXT.format(repetitions=repetitions, tested=UPPER_TEST_ROWS)],
        header=["rows", "lower bound, %", "upper bound, %", "k/(n + 1), %", "ours, %", "both hold"],
        rows=table_rows,
        status=Status.of(held == len(unshifted)),
        verdict=f"coverage is within both bounds at {held} of {len(unshifted)} numbers of rows",
    )


def _repeat(
    coverages: Coverages,
    rows: int,
    targets: dict[float, tuple[float, ...]],
    known: dict[float, uqcli.ShiftWeights],
    seed: int,
) -> None:
    """Draw labelled rows and each target once, and add the coverages."""
    draws = np.random.default_rng([seed, rows])
    source, label = CLASSES.draw(CLASSES.prior, rows, draws)
    options: dict[str, Any] = {"alpha": ALPHA, "seed": seed}
    unweighted = {
        "uncorrected": uqcli.conformal_sets(source, label, **options),
        "label-conditional": uqcli.conformal_sets(source, label, mode="label-conditional", **options),
    }
    for fraction, shares in targets.items():
        target, _ = CLASSES.draw(shares, rows, draws)
        tested, truth = CLASSES.draw(shares, TEST_ROWS, draws)
        weights = {
            "true weights": known[fraction],
            "BBSE": estimate_weights("bbse", source, label, target),
            "EM": estimate_weights("em", source, label, target),
        }
        sets = dict(unweighted)
        for name, shift in weights.items():
            if shift is not None:
                sets[name] = uqcli.conformal_sets(source, label, mode="label-shift", shift=shift, **options)
        for name, rule in sets.items():
            coverages.setdefault(((rows, fraction), name), []).append(_coverage(rule, tested, truth))


def _coverage(sets: uqcli.ConformalSets, tested: Floats, truth: Ints) -> tuple[float, float]:
    members = sets.sets(tested)
    return float(members[np.arange(len(truth)), truth].mean()), float(members.sum(axis=1).mean())


def _mean(coverages: Coverages, point: Point, name: str) -> tuple[float, float, float]:
    """Return the mean coverage with its Monte-Carlo standard error, and the mean set size."""
    pairs = coverages[point, name]
    return *_mean_and_error([coverage for coverage, _ in pairs]), statistics.mean(size for _, size in pairs)


def _mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 1.0
    return statistics.mean(values), error


def _by_fraction(
    coverages: Coverages, points: Sequence[Point], points_by_rows: Sequence[Point], repetitions: int
) -> Sheet:
    claims = _claims(coverages, [*points, *points_by_rows])
    held = sum(claims.values())
    claim_texts = [f"{claim}: {'yes' if holds else 'no'}" for claim, holds in claims.items()]
    return Sheet(
        title="The toy example of section 2. Coverage against the size of the shift",
        text=[
            TEXT.format(rows=ROWS, repetitions=repetitions, tested=TEST_ROWS),
            "What the paper says, tested here at every size of shift and number of rows, within three "
            f"standard errors: {'; '.join(claim_texts)}.",
        ],
        header=["target priors", "largest weight", *METHODS],
        rows=[
            [_shares(fraction), f"{_largest(fraction):.2f}", *_cells(coverages, (rows, fraction))]
            for rows, fraction in points
        ],
        status=Status.of(held == len(claims)),
        verdict=f"{held} of {len(claims)} claims hold on {repetitions} repetitions (the summary prints no "
        "values)",
        pictures=[_picture(coverages, points, points_by_rows)],
    )


def _claims(coverages: Coverages, points: Sequence[Point]) -> dict[str, bool]:
    """Check the paper's claims on its toy problem and its theorems, with our numbers."""

    def above(point: Point, name: str) -> float:
        mean, error, _ = _mean(coverages, point, name)
        return (mean - (1 - ALPHA)) / error

    shifted = [point for point in points if point[1] > 0]
    unshifted = [point for point in points if point[1] == 0]
    fewest = min(points)
    return {
        "uncorrected sets miss the guarantee under every shift": all(
            above(point, "uncorrected") < -3 for point in shifted
        ),
        "without a shift they meet it (Theorem 1)": all(
            above(point, "uncorrected") > -3 for point in unshifted
        ),
        "true weights meet it (Theorem 2)": all(above(point, "true weights") > -3 for point in points),
        "BBSE weights meet it": all(above(point, "BBSE") > -3 for point in points),
        "EM weights meet it": all(above(point, "EM") > -3 for point in points),
        f"estimated weights give larger sets than true ones ({fewest[0]} rows)": min(
            _mean(coverages, fewest, name)[2] for name in ("BBSE", "EM")
        )
        > _mean(coverages, fewest, "true weights")[2],
        "label-conditional sets meet it": all(above(point, "label-conditional") > -3 for point in points),
    }


def _by_rows(coverages: Coverages, points: Sequence[Point]) -> Sheet:
    missing = {
        name: sum(len(coverages[point, "uncorrected"]) - len(coverages[point, name]) for point in points)
        for name in ("BBSE", "EM")
    }
    missing_text = "; ".join(f"{name} {count}" for name, count in missing.items() if count)
    return Sheet(
        title="Coverage against the number of rows (Corollary 1)",
        text=[
            f"The target priors are {_shares(1.0)}, and there are as many unlabelled rows as labelled "
            "ones. By Corollary 1, estimated weights meet the guarantee only in the limit."
            + (
                f" Repetitions without an estimate, which are left out: {missing_text}."
                if missing_text
                else ""
            )
        ],
        header=["rows", *METHODS],
        rows=[[f"{point[0]:,}", *_cells(coverages, point)] for point in points],
    )


def _cells(coverages: Coverages, point: Point) -> Row:
    means = [_mean(coverages, point, name) for name in METHODS]
    return [f"{100 * mean:.2f} ± {100 * error:.2f} ({size:.2f})" for mean, error, size in means]


def _shares(fraction: float) -> str:
    return " / ".join(f"{share:.2f}" for share in CLASSES.towards(TARGET, fraction))


def _largest(fraction: float) -> float:
    pairs = zip(CLASSES.towards(TARGET, fraction), CLASSES.prior, strict=True)
    return max(target / source for target, source in pairs)


def _picture(coverages: Coverages, by_fraction: Sequence[Point], by_rows: Sequence[Point]) -> Picture:
    def plot(panels: list[Axes]) -> None:
        for axes, points in zip(panels, (by_fraction, by_rows), strict=True):
            positions = [_largest(fraction) if axes is panels[0] else rows for rows, fraction in points]
            axes.axhline(100 * (1 - ALPHA), color=GREY, linestyle=(0, (4, 3)), label="promised")
            for name, colour in METHODS.items():
                means = [_mean(coverages, point, name) for point in points]
                covered, error = ([100 * mean[index] for mean in means] for index in (0, 1))
                bars = [2 * value for value in error]
                axes.errorbar(positions, covered, yerr=bars, fmt="o-", color=colour, label=name)
        panels[0].set(xlabel=f"largest class weight in the target, {ROWS:,} rows", ylabel="coverage, %")
        panels[1].set_xscale("log")
        panels[1].set_xticks(SIZES, [f"{rows:,}" for rows in SIZES])
        panels[1].minorticks_off()
        panels[1].set(xlabel=f"labelled rows, largest weight {_largest(1.0):g}")

    return Picture(
        name="coverage.svg",
        title="Coverage in the target data by size of the shift and by rows",
        caption="Means over the repetitions, with two standard errors. Without a correction, sets of 90 % "
        "lose coverage as the shift grows, and more rows do not help.",
        svg=draw_svg(2, plot, below=0.35),
    )


STUDY = Study(name="shift", heading="Label shift: prediction sets", run=run)
