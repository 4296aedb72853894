"""Measures single steps inside one process, and other packages on the same work."""

import importlib.util
import time
from fractions import Fraction

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import precision_recall_curve

from uqcli import calibration_error
from uqcli.base.choices import Algorithm, ConformalMethod, LeafMethod
from uqcli.base.counts import LOWEST_EDGE, CellRow, Cells, Feature, distinct_cells, pool
from uqcli.base.defaults import UNCOMPILED_WORK
from uqcli.base.rows import Rows
from uqcli.boundary.search.algorithms import optimise
from uqcli.boundary.search.constraint_kinds import ConstraintKind
from uqcli.boundary.search.typed_constraints import parse_constraint
from uqcli.calibrate.fit import LearnedTrees, fit_trees
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.maps.isotonic import fit_isotonic
from uqcli.calibrate.scale import Scale
from uqcli.conformal.coverage import SCORES, marginal_threshold
from uqcli.kernels.nonconformity import true_label_scores

SINGLE_TESTS = 400
"""Rows that scipy tests one by one; the rest is extrapolated."""


def counted_cells(uncertainty_bins, score_bins, rows):
    """Draw the counts of a grid of many rows."""
    random = np.random.default_rng(1)
    size = rows // (uncertainty_bins * score_bins)
    table = []
    for bin_index in range(uncertainty_bins):
        rate = np.linspace(0.01, 0.95, score_bins) ** (1 + bin_index / uncertainty_bins)
        lower = np.concatenate([LOWEST_EDGE, np.arange(1.0, score_bins)])
        table.append(
            CellRow(lower=lower, count=np.full(score_bins, size), positives=random.binomial(size, rate))
        )
    return Cells(uncertainty_edges=np.arange(1.0, uncertainty_bins), rows=tuple(table))


def search_milliseconds(algorithm, cells):
    """Return the milliseconds of the fastest of twenty searches, after one that compiles."""
    constraint = parse_constraint(ConstraintKind.PRECISION, "0.7")
    seconds = []
    for _ in range(21):
        start = time.perf_counter()
        optimise(cells, algorithm, constraint)
        seconds.append(time.perf_counter() - start)
    return 1000 * min(seconds[1:])


def calibration_milliseconds(rows):
    """Return the milliseconds of all metrics, best of twenty, and the ratio of scipy row by row to them."""
    random = np.random.default_rng(0)
    score = random.random(rows)
    label = random.random(rows) < score
    seconds = []
    for _ in range(40):
        start = time.perf_counter()
        report = calibration_error(score, label)
        seconds.append(time.perf_counter() - start)
    bins = report.bins
    bin_of_row = np.searchsorted(bins.low[1:], score[:SINGLE_TESTS], side="right")
    start = time.perf_counter()
    for score_of_row, bin_index in zip(score[:SINGLE_TESTS], bin_of_row, strict=True):
        stats.binomtest(int(bins.positives[bin_index]), int(bins.count[bin_index]), score_of_row)
    by_row = (time.perf_counter() - start) / len(bin_of_row) * rows
    return 1000 * min(seconds[20:]), by_row / min(seconds[20:])


def best_of(runs, work):
    """Return the shortest time of some runs, in seconds."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def isotonic_ratio(rows):
    """Return how much faster the isotonic fit is than scikit-learn's, and its seconds."""
    random = np.random.default_rng(0)
    score = random.random(rows)
    label = random.random(rows) < score
    fit_isotonic(pool(score, label))  # compiles
    uqcli_seconds = best_of(3, lambda: fit_isotonic(pool(score, label)))
    sklearn_seconds = best_of(2, lambda: IsotonicRegression(out_of_bounds="clip").fit(score, label))
    return sklearn_seconds / uqcli_seconds, uqcli_seconds


def heterogeneous_seconds(rows):
    """Time a tree of depth 4 over 8 features: learning, calibrating its leaves, and applying."""
    random = np.random.default_rng(0)
    score = random.random(rows)
    features = {f"f{number}": Feature(levels=None, value=random.normal(size=rows)) for number in range(8)}
    label = random.random(rows) < score ** (1 + (features["f0"].value > 0) + (features["f1"].value > 1))
    table = Rows(numbers={"score": score}, positive=label, features=features)
    half = rows // 2
    options = CalibrationOptions(max_depth=4, leaf_method=LeafMethod.PLATT, min_leaf=min(500, rows // 20))
    start = time.perf_counter()
    learned = LearnedTrees.of(table.select(slice(half)), [options])
    learned_at = time.perf_counter()
    (fitted,) = fit_trees(learned, table.select(slice(half, None)), [options])
    fitted_at = time.perf_counter()
    fitted.predict(score, Scale(), None, {name: feature.value for name, feature in features.items()})
    return learned_at - start, fitted_at - learned_at, time.perf_counter() - fitted_at


def sorted_scores(probability, label):
    """Compute non-conformity scores of the labels by sorting every row."""
    order = np.argsort(-probability, axis=1, kind="stable")
    mass = np.cumsum(np.take_along_axis(probability, order, axis=1), axis=1)
    rank = np.argmax(order == label[:, None], axis=1)
    return mass[np.arange(len(label)), rank]


def conformal_ratio(rows, classes=100):
    """Return how much faster a conformal fit is than sorting every row, and its seconds."""
    random = np.random.default_rng(0)
    part_rows = min(rows, 50_000)
    seconds = [0.0, 0.0]
    scores = [[], []]
    warm_up_rows = UNCOMPILED_WORK  # loads the compiled code before the clock starts
    true_label_scores(
        np.full((warm_up_rows, 2), 0.5), np.zeros(warm_up_rows, dtype=np.int64), np.ones(warm_up_rows)
    )
    for _ in range(rows // part_rows):
        probability = random.dirichlet(np.full(classes, 0.05), part_rows)
        label = (probability.cumsum(axis=1) < random.random((part_rows, 1))).sum(axis=1).clip(0, classes - 1)
        methods = (lambda p, y: true_label_scores(p, y, np.ones(part_rows)), sorted_scores)
        for index, score_rows in enumerate(methods):
            start = time.perf_counter()
            scores[index].append(score_rows(probability, label))
            seconds[index] += time.perf_counter() - start
    start = time.perf_counter()
    marginal_threshold(np.concatenate(scores[0]), None, Fraction(1, 10))
    seconds[0] += time.perf_counter() - start
    start = time.perf_counter()
    np.quantile(np.concatenate(scores[1]), 0.9)
    seconds[1] += time.perf_counter() - start
    return seconds[1] / seconds[0], seconds[0]


class PrecomputedClassifier(ClassifierMixin, BaseEstimator):
    """A classifier for MAPIE whose inputs are its probabilities."""

    def __init__(self, classes):
        self.classes = classes

    def fit(self, probability, label):
        return self

    def predict_proba(self, probability):
        return probability

    def predict(self, probability):
        return probability.argmax(axis=1)

    @property
    def classes_(self):
        return np.arange(self.classes)

    def __sklearn_is_fitted__(self):
        return True


def mapie_ratios(rows, classes=26):
    """Return how much faster lac fits and forms sets than MAPIE, and the share of equal decisions."""
    from mapie.classification import SplitConformalClassifier

    random = np.random.default_rng(0)
    probability = random.dirichlet(np.full(classes, 0.1), 2 * rows)
    label = (probability.cumsum(axis=1) < random.random((2 * rows, 1))).sum(axis=1).clip(0, classes - 1)
    first, second, first_label = probability[:rows], probability[rows:], label[:rows]
    mapie = SplitConformalClassifier(
        PrecomputedClassifier(classes), confidence_level=0.9, conformity_score="lac", prefit=True
    )
    lac, ones = SCORES[ConformalMethod.LAC], np.ones(rows)

    def fit():
        return marginal_threshold(lac.label_scores(first, first_label, ones), None, Fraction(1, 10))

    start = time.perf_counter()
    mapie.conformalize(first, first_label)
    conformalized_at = time.perf_counter()
    _, mapie_sets = mapie.predict_set(second)
    seconds = conformalized_at - start, time.perf_counter() - conformalized_at
    threshold = np.full((1, classes), fit())
    fit_ratio = seconds[0] / best_of(3, fit)
    sets_ratio = seconds[1] / best_of(3, lambda: lac.sets(second, threshold, ones))
    equal_share = np.mean(lac.sets(second, threshold, ones) == mapie_sets[:, :, 0])
    return fit_ratio, sets_ratio, equal_share


def curve_ratio(rows):
    """Return how much faster one threshold is found than scikit-learn's curve of all thresholds."""
    random = np.random.default_rng(0)
    score = random.beta(1, 5, rows)
    label = random.random(rows) < score
    constraint = parse_constraint(ConstraintKind.PRECISION, "0.25")

    def single_threshold():
        cells = Cells(uncertainty_edges=np.empty(0), rows=(distinct_cells(pool(score, label)),))
        return optimise(cells, Algorithm.ST, constraint)

    single_threshold()
    seconds = best_of(3, single_threshold)
    return best_of(2, lambda: precision_recall_curve(label, score)) / seconds, seconds


def steps(max_rows):
    """Yield the title, bound and result of each step, on at most this many rows."""
    many_rows, some_rows = min(max_rows, 10_000_000), min(max_rows, 1_000_000)
    ratio, seconds = curve_ratio(many_rows)
    yield (
        f"precision_recall_curve, {many_rows:,} rows / our single threshold",
        "",
        f"{ratio:.1f} x, {seconds:.2f} s",
    )
    ratio, seconds = isotonic_ratio(many_rows)
    yield (
        f"scikit-learn's isotonic fit, {many_rows:,} rows / ours",
        "at least 5 x",
        f"{ratio:.1f} x, {seconds:.2f} s",
    )
    few_rows = min(max_rows, 50_000)
    milliseconds, ratio = calibration_milliseconds(few_rows)
    yield f"TCE and ten relatives, {few_rows:,} rows", "60 ms", f"{milliseconds:.0f} ms"
    yield "scipy's test for each row / the same", "at least 500 x", f"{ratio:.0f} x"
    tree, leaves, apply_seconds = heterogeneous_seconds(some_rows)
    split = f"{tree:.2f} + {leaves:.2f} + {apply_seconds:.2f} s"
    yield f"heterogeneous, {some_rows:,} rows, 8 features: tree + leaves + apply", "", split
    ratio, seconds = conformal_ratio(some_rows)
    yield (
        f"sorting every row, {some_rows:,} x 100 / our conformal fit",
        "at least 3 x",
        f"{ratio:.1f} x, {seconds:.2f} s",
    )
    yield mapie_row(min(max_rows, 200_000))
    milliseconds = search_milliseconds(Algorithm.EW_DPMT, counted_cells(11, 1000, 10_000_000))
    yield "EW-DPMT, K=11, L=1000", "50 ms", f"{milliseconds:.1f} ms"
    milliseconds = search_milliseconds(Algorithm.VW_DPMT, counted_cells(3, 500, 8_000_000))
    yield "VW-DPMT, 8M rows in K=3, L=500", "20 ms", f"{milliseconds:.1f} ms"


def mapie_row(rows):
    """Compare the fit and the sets with MAPIE's, if it is installed."""
    title = f"MAPIE, lac, {rows:,} x 26 / ours"
    if importlib.util.find_spec("mapie") is None:
        return title, "", "MAPIE is not installed"
    fit, sets, equal_share = mapie_ratios(rows)
    return title, "", f"fit {fit:.0f} x, sets {sets:.0f} x, {100 * equal_share:.3f} % alike"
