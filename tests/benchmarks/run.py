"""Speed and memory as a Markdown table: ``make bench``, alone on the machine.

Whole processes are run in turn with their yardstick (A B A B ...); the median of the pairs' ratios is
shown, because a machine's speed drifts. Nothing is asserted here: a timed test would fail by chance.
"""

import importlib.util
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.isotonic import IsotonicRegression

from uqcli import calibration_error
from uqcli.choices import Algorithm, ConformalMethod, ConstraintKind, LeafMethod
from uqcli.counts import LOWEST_EDGE, CellRow, Cells, Feature, pool
from uqcli.kernels.nonconformity import true_label_scores
from uqcli.methods.boundary.constraint import parse_constraint
from uqcli.methods.boundary.fit import search
from uqcli.methods.calibration.heterogeneous import CalibrationRows, LeafOptions, fit_trees
from uqcli.methods.calibration.isotonic import fit_isotonic
from uqcli.methods.calibration.predict import predict
from uqcli.methods.calibration.scale import Scale
from uqcli.methods.calibration.tree import TreeOptions, learn_trees
from uqcli.methods.conformal.scores import SCORES
from uqcli.methods.conformal.thresholds import marginal_threshold

PYTHON = sys.executable
UQCLI = [PYTHON, "-m", "uqcli"]
MEASURE = Path(__file__).with_name("measure.py")
RUNS = 5


@dataclass(frozen=True)
class Run:
    """One finished process."""

    seconds: float
    mebibytes: float


def run(command):
    """Run a process and take its wall time and its peak memory from the operating system."""
    printed = subprocess.run(
        [PYTHON, str(MEASURE), *command], capture_output=True, text=True, check=True
    ).stdout
    seconds, kibibytes = printed.split()
    return Run(float(seconds), float(kibibytes) / 1024)


def alone(command):
    """Median seconds and highest memory."""
    runs = [run(command) for _ in range(RUNS + 1)][1:]
    return statistics.median(each.seconds for each in runs), max(each.mebibytes for each in runs)


def against(command, yardstick):
    """Median ratio of wall times, median seconds, highest memory."""
    pairs = [(run(command), run(yardstick)) for _ in range(RUNS + 1)][1:]
    ratio = statistics.median(a.seconds / b.seconds for a, b in pairs)
    seconds = statistics.median(a.seconds for a, _ in pairs)
    return ratio, seconds, max(a.mebibytes for a, _ in pairs)


def rows_file(folder, rows):
    """Continuous scores without ties, uncertainty, labels."""
    random = np.random.default_rng(0)
    score = random.random(rows)
    columns = {
        "score": score,
        "uncertainty": random.normal(size=rows),
        "label": random.random(rows) < 0.3 * score,
    }
    path = folder / f"{rows}.parquet"
    pl.DataFrame(columns).with_columns(pl.col("label").cast(pl.Int8)).write_parquet(path)
    return path


def rounded(path):
    """The same rows with scores of two decimals."""
    out = path.with_stem(f"{path.stem}_rounded")
    pl.scan_parquet(path).with_columns(pl.col("score").round(2)).sink_parquet(out)
    return out


def scan(path, columns=("score", "uncertainty", "label")):
    """A process that reads the same columns and adds them up."""
    names = ", ".join(map(repr, columns))
    query = f"pl.scan_parquet({str(path)!r}).select({names}).sum()"
    code = f"import polars as pl; {query}.collect(engine='streaming')"
    return [PYTHON, "-c", code]


def counted_cells(uncertainty_bins, score_bins, rows):
    """A grid of counts as large data give it."""
    random = np.random.default_rng(1)
    size = rows // (uncertainty_bins * score_bins)
    table = []
    for number in range(uncertainty_bins):
        rate = np.linspace(0.01, 0.95, score_bins) ** (1 + number / uncertainty_bins)
        lower = np.concatenate([LOWEST_EDGE, np.arange(1.0, score_bins)])
        table.append(
            CellRow(lower=lower, count=np.full(score_bins, size), positives=random.binomial(size, rate))
        )
    return Cells(uncertainty_edges=np.arange(1.0, uncertainty_bins), rows=tuple(table))


def in_process(algorithm, cells):
    """Best of twenty searches, in milliseconds, after one that compiles."""
    constraint = parse_constraint(ConstraintKind.PRECISION, "0.7")
    seconds = []
    for _ in range(21):
        start = time.perf_counter()
        search(cells, algorithm, constraint)
        seconds.append(time.perf_counter() - start)
    return 1000 * min(seconds[1:])


def calibration_milliseconds(rows=50_000):
    """All metrics of continuous scores: best of twenty after those that warm up, and scipy row by row."""
    random = np.random.default_rng(0)
    score = random.random(rows)
    label = random.random(rows) < score
    seconds = []
    for _ in range(40):
        start = time.perf_counter()
        found = calibration_error(score, label)
        seconds.append(time.perf_counter() - start)
    bins = found.bins
    of_bin = np.searchsorted(bins.low[1:], score[:400], side="right")
    start = time.perf_counter()
    for each, number in zip(score[:400], of_bin, strict=True):
        stats.binomtest(int(bins.positives[number]), int(bins.count[number]), each)
    by_row = (time.perf_counter() - start) / 400 * rows
    return 1000 * min(seconds[20:]), by_row / min(seconds[20:])


def calibration_rows(big):
    """What `tce` takes."""
    took, ratio = calibration_milliseconds()
    yield "TCE and ten relatives, 50,000 rows", "60 ms", f"{took:.0f} ms", None, None
    yield "the same / scipy's test for each row", "at least 500 x", f"{ratio:.0f} x", None, None
    measure, columns = [*UQCLI, "tce", str(big), "-q"], ("score", "label")
    ratio, seconds, memory = against(measure, scan(big, columns))
    yield "`tce`, 10M rows, whole process", "12 x a polars scan", f"{ratio:.1f} x", seconds, memory
    ratio, seconds, memory = against([*UQCLI, "tce", str(rounded(big)), "-q"], measure)
    yield "`tce`, 10M rows, scores of 2 decimals", "1 x continuous", f"{ratio:.2f} x", seconds, memory


def best_of(runs, work):
    """Least seconds of some runs."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def isotonic_ratio(rows=10_000_000):
    """How much faster the isotonic fit is than scikit-learn's, on the same rows."""
    random = np.random.default_rng(0)
    score = random.random(rows)
    label = random.random(rows) < score
    fit_isotonic(pool(score, label))  # compiles
    ours = best_of(3, lambda: fit_isotonic(pool(score, label)))
    theirs = best_of(2, lambda: IsotonicRegression(out_of_bounds="clip").fit(score, label))
    return theirs / ours, ours


def heterogeneous_seconds(rows=1_000_000):
    """Seconds to learn a tree of depth 4 over 8 features, to calibrate its leaves, and to apply them."""
    random = np.random.default_rng(0)
    score = random.random(rows)
    features = {f"f{each}": Feature(levels=None, value=random.normal(size=rows)) for each in range(8)}
    label = random.random(rows) < score ** (1 + (features["f0"].value > 0) + (features["f1"].value > 1))
    half, weight = rows // 2, np.ones(rows, dtype=np.int64)
    first = {name: each.only(slice(half)) for name, each in features.items()}
    second = {name: each.only(slice(half, None)) for name, each in features.items()}
    start = time.perf_counter()
    learned = learn_trees(first, label[:half], weight[:half], TreeOptions(max_depth=4))
    middle = time.perf_counter()
    calibration = CalibrationRows(
        score=score[half:], positive=label[half:], weight=weight[half:], features=second
    )
    how = LeafOptions(method=LeafMethod.PLATT, scale=Scale(), min_leaf=500)
    fitted = fit_trees(learned, calibration, how, boosted=False)
    end = time.perf_counter()
    predict(fitted, score, Scale(), None, {name: each.value for name, each in features.items()})
    return middle - start, end - middle, time.perf_counter() - end


def sorted_scores(probability, label):
    """Non-conformity scores of the labels as numpy code usually finds them: every row sorted."""
    order = np.argsort(-probability, axis=1, kind="stable")
    mass = np.cumsum(np.take_along_axis(probability, order, axis=1), axis=1)
    place = np.argmax(order == label[:, None], axis=1)
    return mass[np.arange(len(label)), place]


def conformal_ratio(rows=1_000_000, classes=100):
    """How much faster a conformal fit is than by sorting every row, part by part to bound the memory."""
    random = np.random.default_rng(0)
    part = 50_000
    seconds = [0.0, 0.0]
    scores = [[], []]
    true_label_scores(np.full((1, 2), 0.5), np.zeros(1, dtype=np.int64), np.ones(1))
    for _ in range(rows // part):
        probability = random.dirichlet(np.full(classes, 0.05), part)
        label = (probability.cumsum(axis=1) < random.random((part, 1))).sum(axis=1).clip(0, classes - 1)
        ways = (lambda p, y: true_label_scores(p, y, np.ones(part)), sorted_scores)
        for each, way in enumerate(ways):
            start = time.perf_counter()
            scores[each].append(way(probability, label))
            seconds[each] += time.perf_counter() - start
    start = time.perf_counter()
    marginal_threshold(np.concatenate(scores[0]), None, Fraction(1, 10))
    seconds[0] += time.perf_counter() - start
    start = time.perf_counter()
    np.quantile(np.concatenate(scores[1]), 0.9)
    seconds[1] += time.perf_counter() - start
    return seconds[1] / seconds[0], seconds[0]


class Saved(ClassifierMixin, BaseEstimator):
    """A classifier whose inputs are its probabilities, as MAPIE wants one."""

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


def mapie_ratios(rows=200_000, classes=26):
    """How much faster the fit and the sets of lac are than MAPIE's, and whether the sets agree in size."""
    from mapie.classification import SplitConformalClassifier

    random = np.random.default_rng(0)
    probability = random.dirichlet(np.full(classes, 0.1), 2 * rows)
    label = (probability.cumsum(axis=1) < random.random((2 * rows, 1))).sum(axis=1).clip(0, classes - 1)
    first, second, known = probability[:rows], probability[rows:], label[:rows]
    theirs = SplitConformalClassifier(
        Saved(classes), confidence_level=0.9, conformity_score="lac", prefit=True
    )
    lac, ones = SCORES[ConformalMethod.LAC], np.ones(rows)

    def fit():
        return marginal_threshold(lac.of_labels(first, known, ones), None, Fraction(1, 10))

    start = time.perf_counter()
    theirs.conformalize(first, known)
    middle = time.perf_counter()
    _, their_sets = theirs.predict_set(second)
    seconds = middle - start, time.perf_counter() - middle
    threshold = np.full((1, classes), fit())
    fit_ratio = seconds[0] / best_of(3, fit)
    sets_ratio = seconds[1] / best_of(3, lambda: lac.sets(second, threshold, ones))
    agree = np.mean(lac.sets(second, threshold, ones) == their_sets[:, :, 0])
    return fit_ratio, sets_ratio, agree


def classes_file(folder, rows=1_000_000, classes=100):
    """Class probabilities and labels."""
    random = np.random.default_rng(0)
    path = folder / "classes.parquet"
    parts = []
    for _ in range(20):
        probability = random.dirichlet(np.full(classes, 0.05), rows // 20)
        label = (probability.cumsum(axis=1) < random.random((rows // 20, 1))).sum(axis=1).clip(0, classes - 1)
        columns = {f"p_{each}": probability[:, each] for each in range(classes)}
        parts.append(pl.DataFrame({**columns, "label": label}))
    pl.concat(parts).write_parquet(path)
    return path


def model_rows(folder, big):
    """What calibration and conformal sets take."""
    ratio, seconds = isotonic_ratio()
    yield "isotonic fit, 10M rows / scikit-learn", "at least 5 x", f"{ratio:.1f} x", seconds, None
    tree, leaves, applied = heterogeneous_seconds()
    split = f"{tree:.2f} + {leaves:.2f} + {applied:.2f} s"
    yield (
        "heterogeneous, 1M rows, 8 features: tree + leaves + apply",
        "",
        split,
        tree + leaves + applied,
        None,
    )
    saved = str(folder / "calibrator.json")
    calibrate = [*UQCLI, "calibrate", str(big), "--method", "platt", "--test", str(big), "--bootstrap", "0"]
    run([*calibrate, "-q", "-o", saved])
    written = str(folder / "written.parquet")
    copy = f"pl.scan_parquet({str(big)!r}).sink_parquet({written!r})"
    apply_it = [*UQCLI, "apply", saved, str(big), "-q", "-o", str(folder / "applied.parquet")]
    ratio, seconds, memory = against(apply_it, [PYTHON, "-c", f"import polars as pl; {copy}"])
    yield "`apply` calibrator, 10M rows", "3 x a scan and write", f"{ratio:.1f} x", seconds, memory
    ratio, seconds = conformal_ratio()
    yield "conformal fit, 1M x 100 / sorting every row", "at least 3 x", f"{ratio:.1f} x", seconds, None
    if importlib.util.find_spec("mapie") is None:
        yield "lac, 200,000 x 26 / MAPIE", "", "MAPIE is not installed", None, None
    else:
        fit, sets, agree = mapie_ratios()
        measured = f"fit {fit:.0f} x, sets {sets:.0f} x, {100 * agree:.3f} % alike"
        yield "lac, 200,000 x 26 / MAPIE", "", measured, None, None
    classes = classes_file(folder)
    sets = str(folder / "sets.json")
    seconds, memory = alone([*UQCLI, "conformal", str(classes), "--proba", "p_*", "-q", "-o", sets])
    yield "`conformal`, 1M x 100, whole process", "", f"{seconds:.2f} s", seconds, memory
    seconds, memory = alone([*UQCLI, "apply", sets, str(classes), "-q", "-o", str(folder / "sets.parquet")])
    yield "`apply` sets, 1M x 100, whole process", "", f"{seconds:.2f} s", seconds, memory


def table(folder):
    """Rows of what, bound, measured."""
    big, small = rows_file(folder, 10_000_000), rows_file(folder, 1_000_000)
    fit = [*UQCLI, "boundary", str(big), "--precision", "0.25", "-q", "-o", str(folder / "b.json")]
    ratio, seconds, memory = against(fit, scan(big))
    yield "`boundary`, 10M rows, whole process", "12 x a polars scan", f"{ratio:.1f} x", seconds, memory
    every = [*UQCLI, "boundary", str(small), "--precision", "0.25", "--score-bins", "all", "-q"]
    seconds, memory = alone(every)
    yield "`boundary --score-bins all`, 1M rows", "3 s", f"{seconds:.2f} s", seconds, memory
    ratio, seconds, memory = against(
        [*UQCLI, "apply", str(folder / "b.json"), str(big), "-q", "-o", str(folder / "o.parquet")], scan(big)
    )
    yield "`apply`, 10M rows, Parquet to Parquet", "", f"{ratio:.1f} x a polars scan", seconds, memory
    yield from calibration_rows(big)
    yield from model_rows(folder, big)
    ratio, seconds, memory = against([*UQCLI, "--help"], [PYTHON, "-c", "import typer"])
    yield "`--help`", "3.5 x `import typer`", f"{ratio:.1f} x", seconds, memory
    took = in_process(Algorithm.EW_DPMT, counted_cells(11, 1000, 10_000_000))
    yield "EW-DPMT, K=11, L=1000", "50 ms", f"{took:.1f} ms", None, None
    took = in_process(Algorithm.VW_DPMT, counted_cells(3, 500, 8_000_000))
    yield "VW-DPMT, 8M rows in K=3, L=500", "20 ms", f"{took:.1f} ms", None, None


def main():
    """Print the table."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"Machine: {machine}; polars {pl.__version__}, numpy {np.__version__}.\n")
    print("| what | at most | measured | seconds | peak MiB |\n|---|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for what, bound, measured, seconds, memory in table(Path(folder)):
            wall = "" if seconds is None else f"{seconds:.2f}"
            peak = "" if memory is None else f"{memory:.0f}"
            print(f"| {what} | {bound} | {measured} | {wall} | {peak} |", flush=True)


if __name__ == "__main__":
    main()
