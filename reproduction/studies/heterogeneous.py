"""Networks and boosted trees before and after heterogeneous calibration [HC section 6, app. 11 and 14]."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

import uqcli
from reproduction.gaussian import Say
from reproduction.learned import (
    EPOCHS,
    LEARNING_RATE,
    SIZES,
    DataSet,
    Floats,
    Rows,
    Scorer,
    boosted,
    cancer,
    clusters,
    digits,
    log_odds_file,
    network,
    patterns,
    sphere,
)
from reproduction.program import Program
from reproduction.study import Outcome, Row, Scale, Sheet, Status, Study
from reproduction.values import read

RUNS = 5
"""Number of runs in the paper."""
REPLICATES = 200
SIMULATED_SPLIT = (4_000, 4_000, 6_000)
PATTERNS = DataSet(name="simple patterns", draw=patterns, split=SIMULATED_SPLIT, min_leaf=500)
CLUSTERS = DataSet(name="clusters", draw=clusters, split=SIMULATED_SPLIT, min_leaf=500)
SPHERE = DataSet(name="sphere", draw=sphere, split=SIMULATED_SPLIT, min_leaf=500)
DIGITS = DataSet(name="digits", draw=digits, split=(900, 450, 447), min_leaf=100)
CANCER = DataSet(name="breast cancer", draw=cancer, split=(285, 142, 142), min_leaf=40)
TREE = "tree"
PARTITIONS = {
    TREE: (),
    "forest": ("--partitioner", "forest"),
    "boosted trees": ("--partitioner", "boosted"),
    "tree, split for AUC": ("--split", "auc"),
}
REGULARISATIONS = ("reg", "unreg")
RATES = (5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2)
"""Learning rates of the paper."""
RATE_RUNS = 3
DEPTH = 3
"""Depth of the trees; the paper tries 3 and 4."""
ERROR_BINS = 10
DATA_TEXT = (
    "The paper's data do not come with scikit-learn, so the study draws its own. Simple patterns "
    "have two binary features that matter only together, a third one, and thirty numbers of "
    "little weight. Clusters come from make_classification, with eight informative numbers of "
    "twenty and a tenth of the labels drawn again. There are {split}, with a new draw for each "
    "run."
)
NETWORK_TEXT = (
    "The networks have the paper's sizes and train for {epochs} epochs. Networks marked reg have "
    "a penalty of 1 and stop early by a tenth of the training rows. The penalty replaces dropout "
    "and batch normalisation, which scikit-learn does not have. Networks marked unreg have no "
    "penalty and do not stop early. `uqcli calibrate --method heterogeneous --tree-data` learns a "
    "tree of depth {depth} on the training rows, and fits Platt maps of its parts to the calibration "
    "set. A cell contains the mean AUC before and after, and the mean lift. Ours has a standard "
    "error over {runs} runs. The paper's are means of the best three settings of nine."
)
INTERVAL_TEXT = (
    "The paper draws box plots of these lifts. The last columns are the program's verdict on each "
    "run: the 95 % interval of the difference of AUC on the test set ({replicates} bootstrap "
    "resamples)."
)
PARTITION_TEXT = (
    "Lifts are as above. Sphere has ten numbers, none of which tells much alone. Digits and "
    "breast cancer are files that come with scikit-learn. Their parts have at least 100 and 40 "
    "rows, since they are small; all others have at least 500. A single map leaves the order of "
    "rows unchanged. The difference of the last two columns is what parts gain beyond it."
)
RATE_TEXT = (
    "The paper says that calibration has a much tighter variance of AUC over learning rates, and prints no "
    "values. These are its rates, for networks S without regularisation. A cell contains the mean AUC; "
    "runs: {runs}. The last column is the standard deviation of these means over the rates. "
    "At the lowest rates, {epochs} epochs do not finish the training, and the tree adds what is missing."
)
ERROR_TEXT = (
    "The paper defines the expected calibration error as a root mean square over scores, while ECE is a mean "
    "of absolute values. Both are over {bins} equispaced bins of the probability, mean over runs. The root "
    "mean square is never smaller. The paper prints no values. It says that parts need not lower the error "
    "beyond what one map for all rows does."
)


@dataclass(frozen=True, kw_only=True)
class Run:
    """Metrics of a model before and after calibration, on the test set.

    Attributes
    ----------
    low, high
        Interval of the difference of AUC.
    errors_before, errors_after
        Calibration error: mean of absolute values (ECE), and root mean square.
    loss_one_map
        Log loss after one Platt map for all rows; None if not computed.
    """

    before: float
    after: float
    low: float | None
    high: float | None
    loss_before: float
    loss_after: float
    errors_before: tuple[float, float]
    errors_after: tuple[float, float]
    loss_one_map: float | None

    @property
    def lift(self) -> float:
        """Return the lift in percent of the AUC before."""
        return 100 * (self.after / self.before - 1)


@dataclass(frozen=True, kw_only=True)
class BaseModel:
    """A model with its training function."""

    name: str
    train: Callable[[Rows, int], Scorer]


def _network(size: str, kind: str, rate: float = LEARNING_RATE) -> BaseModel:
    train = partial(_trained_network, width=SIZES[size], regularised=kind == "reg", rate=rate)
    return BaseModel(name=f"network {size}, {kind}", train=train)


def _trained_network(rows: Rows, seed: int, width: int, regularised: bool, rate: float) -> Scorer:
    return network(rows, width, regularised, seed, rate)


NETWORKS = {(size, kind): _network(size, kind) for size in SIZES for kind in REGULARISATIONS}
SMALL = NETWORKS["S", "unreg"]
BOOSTED = BaseModel(name="boosted trees", train=boosted)
Key = tuple[str, str, str]
RunsByKey = dict[Key, list[Run]]


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Make all tables."""
    runs = min(RUNS, scale.few_seeds)
    sizes, data = list(SIZES)[: scale.grids], [PATTERNS, CLUSTERS][: scale.grids]
    partitions = list(PARTITIONS)[: 1 + scale.grids]
    networks = [
        (data_set, NETWORKS[size, kind]) for data_set in data for size in sizes for kind in REGULARISATIONS
    ]
    others = [(data_set, SMALL) for data_set in (CANCER, DIGITS, SPHERE)[: scale.grids]]
    runs_by_key: RunsByKey = {}
    for data_set, base in [*networks, (PATTERNS, BOOSTED), *others]:
        names = partitions if data_set is PATTERNS and base is SMALL else [TREE]
        say(f"{data_set.name}, {base.name}, {runs} times: {', '.join(names)}")
        for seed in range(runs):
            for name, result in _runs(program, data_set, base, names, seed).items():
                runs_by_key.setdefault((data_set.name, base.name, name), []).append(result)
    network_runs = {
        (data_set.name, base.name, TREE): runs_by_key[data_set.name, base.name, TREE]
        for data_set, base in networks
    }
    by_rate = _over_rates(program, data, RATES if scale.grids > 1 else RATES[::7], min(runs, RATE_RUNS), say)
    return Outcome(
        sheets=[
            _tables(network_runs, data, sizes),
            _run_by_run(network_runs, data),
            _steadiness(by_rate, data),
            _errors(network_runs),
            _partitions(runs_by_key),
        ]
    )


def _runs(
    program: Program, data: DataSet, base: BaseModel, partitions: Sequence[str], seed: int
) -> dict[str, Run]:
    """Train one model, then calibrate it with each partition."""
    rows = data.draw(seed)
    train_end, fit_end = data.split[0], data.split[0] + data.split[1]
    scorer = base.train(rows.between(0, train_end), seed)
    row_ranges = {
        "train": (0, train_end),
        "fit": (train_end, fit_end),
        "new": (fit_end, fit_end + data.split[2]),
    }
    for name, (start, stop) in row_ranges.items():
        features = log_odds_file(rows.between(start, stop), scorer, program.folder / f"{name}.parquet")
    loss_one_map = None
    if base in (SMALL, NETWORKS["S", "reg"], BOOSTED):
        loss_one_map = _metrics(program, "--method", "platt", "--bootstrap", 0)["after"]["log_loss"]
    size = ("--max-depth", DEPTH, "--min-leaf", data.min_leaf)
    options = ("--features", ",".join(features), "--tree-data", "train.parquet", *size)
    results = {}
    for name in partitions:
        method = ("--method", "heterogeneous", *options, *PARTITIONS[name], "--bootstrap", REPLICATES)
        results[name] = _run(_metrics(program, *method), _errors_of(program, features), loss_one_map)
    return results


def _errors_of(program: Program, features: Sequence[str]) -> list[tuple[float, float]]:
    """Compute the calibration errors on the test set, before and after the last map."""
    rows = pl.read_parquet(program.folder / "new.parquet")
    fitted = uqcli.load(str(program.folder / "map.json"))
    assert isinstance(fitted, uqcli.Calibrator)
    label = rows["label"].to_numpy()
    before = 1 / (1 + np.exp(-rows["score"].to_numpy()))
    after = fitted.predict(rows["score"], features={name: rows[name] for name in features})
    return [calibration_errors(probability, label) for probability in (before, after)]


def calibration_errors(probability: Floats, label: Floats) -> tuple[float, float]:
    """Compute the mean of the absolute error of equispaced bins, and its root mean square."""
    bins = np.minimum((probability * ERROR_BINS).astype(np.int64), ERROR_BINS - 1)
    total = np.bincount(bins, probability - label, minlength=ERROR_BINS)
    count = np.bincount(bins, minlength=ERROR_BINS)
    filled = count > 0
    error, share = total[filled] / count[filled], count[filled] / len(label)
    return float(share @ np.abs(error)), float(np.sqrt(share @ error**2))


def _metrics(program: Program, *options: object) -> dict[str, Any]:
    command = ("calibrate", "fit.parquet", "--logit", "--test", "new.parquet", *options, "-o", "map.json")
    report = program.run(*command)
    assert report is not None
    metrics: dict[str, Any] = report["metrics"]
    return metrics


def _run(metrics: dict[str, Any], errors: Sequence[tuple[float, float]], loss_one_map: float | None) -> Run:
    before, after, gain = metrics["before"], metrics["after"], metrics["difference"]["auc"]
    return Run(
        before=before["auc"]["value"],
        after=after["auc"]["value"],
        low=gain["low"],
        high=gain["high"],
        loss_before=before["log_loss"]["value"],
        loss_after=after["log_loss"]["value"],
        errors_before=errors[0],
        errors_after=errors[1],
        loss_one_map=loss_one_map,
    )


def mean_lift(runs: Sequence[Run]) -> str:
    """Return the mean lift in percent, with its standard error if there are several runs."""
    lifts = [result.lift for result in runs]
    if len(lifts) < 2:
        return f"{lifts[0]:+.2f} %"
    return f"{statistics.mean(lifts):+.2f} ± {statistics.stdev(lifts) / len(lifts) ** 0.5:.2f} %"


def significant_intervals(runs: Sequence[Run]) -> tuple[int, int]:
    """Count the intervals above 0, and those below."""
    above = sum(result.low is not None and result.low > 0 for result in runs)
    return above, sum(result.high is not None and result.high < 0 for result in runs)


def _mean(values: Sequence[float]) -> str:
    return f"{statistics.mean(values):.4f}"


def _cell(runs: Sequence[Run]) -> str:
    before, after = (_mean([getattr(result, name) for result in runs]) for name in ("before", "after"))
    return f"{before}, {after}, {mean_lift(runs)}"


def _tables(runs_by_key: RunsByKey, data: Sequence[DataSet], sizes: Sequence[str]) -> Sheet:
    published = read()["heterogeneous"]
    columns = [(size, kind) for size in sizes for kind in REGULARISATIONS]
    rows: list[Row] = []
    for index, name in enumerate(published["data"]):
        row = [f"{name}, paper"]
        for size, kind in columns:
            table_column = published["table3"][f"{size}_{kind}"]
            before, after, lift = (table_column[key][index] for key in ("before", "after", "lift"))
            row.append(f"{before:.4f}, {after:.4f}, {lift:+.2f} %")
        rows.append(row)
    for data_set in data:
        cells = [_cell(runs_by_key[data_set.name, NETWORKS[column].name, TREE]) for column in columns]
        rows.append([f"{data_set.name}, ours", *cells])
    runs = len(next(iter(runs_by_key.values())))
    text = [
        DATA_TEXT.format(
            split="{:,} rows for training, {:,} for calibration and {:,} for the test".format(
                *SIMULATED_SPLIT
            )
        ),
        NETWORK_TEXT.format(depth=DEPTH, epochs=EPOCHS, runs=runs),
        _trends(runs_by_key, data, sizes),
    ]
    return Sheet(
        title="Tables 1 to 3. AUC of networks before and after",
        text=text,
        header=["data", *(f"{size} {kind}" for size, kind in columns)],
        rows=rows,
        status=Status.DIFFERS,
        verdict="on simulated data, without the paper's data and tuned networks, which all gain; "
        f"{_clear_gains(runs_by_key, data, sizes)}",
    )


def _clear_gains(runs_by_key: RunsByKey, data: Sequence[DataSet], sizes: Sequence[str]) -> str:
    clear_gains = {
        kind: [
            is_clear(runs_by_key[data_set.name, NETWORKS[size, kind].name, TREE])
            for data_set in data
            for size in sizes
        ]
        for kind in REGULARISATIONS
    }
    without, with_it = (f"{sum(clear_gains[kind])} of {len(clear_gains[kind])}" for kind in ("unreg", "reg"))
    if len(next(iter(runs_by_key.values()))) == 1:
        return "one run, which has no standard error"
    clear = "gains of more than two standard errors"
    return f"{clear} in {without} settings without regularisation, {with_it} with it"


def is_increasing(values: Sequence[float]) -> bool:
    """Return whether each value is larger than the one before."""
    return all(before < after for before, after in pairwise(values))


def is_clear(runs: Sequence[Run]) -> bool:
    """Return whether the mean lift is above two standard errors; a single run has none."""
    lifts = [result.lift for result in runs]
    return len(lifts) > 1 and statistics.mean(lifts) > 2 * statistics.stdev(lifts) / len(lifts) ** 0.5


def _trends(runs_by_key: RunsByKey, data: Sequence[DataSet], sizes: Sequence[str]) -> str:
    """Count how often each of the paper's two trends holds, in its tables and in ours."""
    published = read()["heterogeneous"]
    table1, table3 = published["table1"], published["table3"]
    published_rises = [
        is_increasing([table1[f"{size}_{kind}"]["lift"][index] for size in SIZES])
        for kind in ("top3", "top50")
        for index in range(len(published["data"]))
    ]
    published_gains = [
        unreg > reg
        for size in SIZES
        for reg, unreg in zip(table3[f"{size}_reg"]["lift"], table3[f"{size}_unreg"]["lift"], strict=True)
    ]

    def lift(data_set: DataSet, size: str, kind: str) -> float:
        runs = runs_by_key[data_set.name, NETWORKS[size, kind].name, TREE]
        return statistics.mean([result.lift for result in runs])

    our_rises = [
        is_increasing([lift(data_set, size, kind) for size in sizes])
        for data_set in data
        for kind in REGULARISATIONS
    ]
    our_gains = [
        lift(data_set, size, "unreg") > lift(data_set, size, "reg") for data_set in data for size in sizes
    ]
    lifts_of_table = [value for table_column in table1.values() for value in table_column["lift"]]
    low, high = min(lifts_of_table), max(lifts_of_table)
    text = f"Table 1 of the paper, with its best networks, has lifts of {low} to {high} %. "
    if len(sizes) == len(SIZES):
        text += (
            "The paper says that the lift grows with the network. From S to M to L it grows in "
            f"{sum(published_rises)} of the {len(published_rises)} lines of its Table 1, and in "
            f"{sum(our_rises)} of our {len(our_rises)}. "
        )
    return text + (
        f"It says that networks without regularisation gain more. They do in {sum(published_gains)} of the "
        f"{len(published_gains)} pairs of its Table 3, and in {sum(our_gains)} of our {len(our_gains)}."
    )


def _run_by_run(runs_by_key: RunsByKey, data: Sequence[DataSet]) -> Sheet:
    rows: list[Row] = []
    for (name, base, _), runs in runs_by_key.items():
        lifts = [result.lift for result in runs]
        box = [min(lifts), statistics.median(lifts), max(lifts)]
        above_0, below_0 = significant_intervals(runs)
        cells = [mean_lift(runs), *(f"{value:+.2f} %" for value in box), f"{above_0} of {len(runs)}"]
        rows.append([f"{name}, {base}", *cells, f"{below_0} of {len(runs)}"])
    summaries = []
    for kind, words in (("unreg", "without regularisation"), ("reg", "with it")):
        names = {NETWORKS[size, kind].name for size in SIZES}
        runs = [result for key, results in runs_by_key.items() if key[1] in names for result in results]
        risen = sum(result.lift > 0 for result in runs)
        above, below = significant_intervals(runs)
        interval = f"the interval above 0 in {above}, below in {below}"
        summaries.append(f"{words} a lift in {risen} of {len(runs)} runs, {interval}")
    return Sheet(
        title="Figures 3 to 8. Lift of each run",
        text=[INTERVAL_TEXT.format(replicates=REPLICATES), *_overconfidence(runs_by_key, data)],
        header=["data, model", "mean lift", "lowest", "median", "highest", "interval above 0", "below 0"],
        rows=rows,
        status=Status.DIFFERS,
        verdict=f"on simulated data, without the paper's networks; {'; '.join(summaries)}",
    )


def _overconfidence(runs_by_key: RunsByKey, data: Sequence[DataSet]) -> list[str]:
    """Correlate overconfidence with the lift, as the paper claims that they are related."""
    from scipy.stats import spearmanr

    correlations = []
    for data_set in data:
        runs = [
            result for key, results in runs_by_key.items() if key[0] == data_set.name for result in results
        ]
        if len(runs) < 2 * RUNS:
            return []
        correlation = spearmanr(
            [result.errors_before[0] for result in runs], [result.lift for result in runs]
        ).statistic
        correlations.append(f"{correlation:+.2f} over the {len(runs)} runs on {data_set.name}")
    return [
        "The paper says that over-confident networks gain more. The rank correlation of the lift with "
        f"the ECE before is {' and '.join(correlations)}."
    ]


def _over_rates(
    program: Program, data: Sequence[DataSet], rates: Sequence[float], runs: int, say: Say
) -> dict[tuple[str, float], list[Run]]:
    """Train and calibrate small networks at each learning rate."""
    by_rate = {}
    for data_set in data:
        for rate in rates:
            say(f"{data_set.name}, learning rate {rate:g}, {runs} times")
            base = _network("S", "unreg", rate)
            by_rate[data_set.name, rate] = [
                _runs(program, data_set, base, [TREE], seed)[TREE] for seed in range(runs)
            ]
    return by_rate


def _steadiness(by_rate: dict[tuple[str, float], list[Run]], data: Sequence[DataSet]) -> Sheet:
    rates = sorted({rate for _, rate in by_rate})
    runs = len(next(iter(by_rate.values())))
    rows: list[Row] = []
    deviations = {}
    for data_set in data:
        for when in ("before", "after"):
            means = [
                statistics.mean(getattr(result, when) for result in by_rate[data_set.name, rate])
                for rate in rates
            ]
            deviations[data_set.name, when] = statistics.stdev(means)
            cells = [f"{value:.4f}" for value in (*means, deviations[data_set.name, when])]
            rows.append([f"{data_set.name}, {when}", *cells])
    steadier = all(deviations[name.name, "after"] < deviations[name.name, "before"] for name in data)
    texts = [
        f"{data_set.name} {deviations[data_set.name, 'before']:.3f} before, "
        f"{deviations[data_set.name, 'after']:.3f} after"
        for data_set in data
    ]
    return Sheet(
        title="Section 6.3. AUC over learning rates",
        text=[RATE_TEXT.format(runs=runs, epochs=EPOCHS)],
        header=["data", *(f"{rate:g}" for rate in rates), "deviation"],
        rows=rows,
        status=Status.of(steadier),
        verdict=f"on simulated data, the AUC is {'steadier' if steadier else 'not always steadier'} after "
        f"calibration; standard deviation over learning rates: {'; '.join(texts)} (the paper "
        "prints no values)",
    )


def _errors(runs_by_key: RunsByKey) -> Sheet:
    rows: list[Row] = []
    lower = dict.fromkeys((0, 1), 0)
    for (name, base, _), runs in runs_by_key.items():
        means = [
            (
                statistics.mean(result.errors_before[kind] for result in runs),
                statistics.mean(result.errors_after[kind] for result in runs),
            )
            for kind in lower
        ]
        for kind, (before, after) in enumerate(means):
            lower[kind] += after < before
        rows.append([f"{name}, {base}", *(f"{value:.4f}" for pair in means for value in pair)])
    return Sheet(
        title="Appendix 11.1. Calibration error, absolute and root mean square",
        text=[ERROR_TEXT.format(bins=ERROR_BINS)],
        header=["data, model", "ECE before", "after", "root mean square before", "after"],
        rows=rows,
        status=Status.of(min(lower.values()) == len(rows)),
        verdict=f"calibration lowers the absolute error in {lower[0]} of {len(rows)} settings, the root mean "
        f"square in {lower[1]} (the paper has no values)",
    )


def _partitions(runs_by_key: RunsByKey) -> Sheet:
    rows: list[Row] = []
    for (name, base, partition), runs in runs_by_key.items():
        one_map_losses = [result.loss_one_map for result in runs if result.loss_one_map is not None]
        if not one_map_losses:
            continue
        losses = [
            [result.loss_before for result in runs],
            one_map_losses,
            [result.loss_after for result in runs],
        ]
        above_0, below_0 = significant_intervals(runs)
        cells = [_cell(runs), f"{above_0}, {below_0} of {len(runs)}", *(_mean(values) for values in losses)]
        rows.append([name, base, partition, *cells])
    return Sheet(
        title="Which parts help, and where",
        text=[PARTITION_TEXT],
        header=[
            "data",
            "model",
            "parts by",
            "AUC before, after, lift",
            "interval above, below 0",
            "log loss before",
            "one map",
            "parts",
        ],
        rows=rows,
    )


STUDY = Study(name="heterogeneous", heading="Heterogeneous calibration: trained models", run=run)
