"""Tests that 32-bit counts give the results of 64-bit counts, even where sums overflow 32 bits."""

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

from tests.oracles.isotonic_blocks import isotonic_counts
from uqcli.base.choices import Algorithm, CalibrationTest, ScoreBinning
from uqcli.base.counts import Cells, ValueCounts, binned_cells, distinct_cells
from uqcli.bin.isotonic_error import isotonic_errors
from uqcli.boundary.search.algorithms import ALGORITHMS, optimise
from uqcli.boundary.search.constraint_kinds import ConstraintKind
from uqcli.boundary.search.typed_constraints import parse_constraint
from uqcli.calibrate.maps.formulas import fit_beta, fit_platt, fit_temperature
from uqcli.calibrate.maps.histogram import fit_histogram
from uqcli.calibrate.maps.isotonic import fit_by_uncertainty, fit_isotonic
from uqcli.calibrate.scale import Scale
from uqcli.comparison.run import metrics_of
from uqcli.estimates.binning import equi_weight_edges
from uqcli.estimates.calibration_error import diagram
from uqcli.estimates.resampling import DrawnMeans, Resamples
from uqcli.estimates.score_metrics import auc, average_precision, mean_loss
from uqcli.kernels.pava import bounded_blocks, isotonic_blocks
from uqcli.tce.calibration_line import calibration_line
from uqcli.tce.chance import draw_positives
from uqcli.tce.drawn_lines import DrawnLines
from uqcli.tce.measure import ErrorsOfDraws, measure
from uqcli.tce.options import MeasureOptions

HALVES = np.array([0.5])


def draw_counts(values, rows, seed):
    """Draw counts of about this many distinct scores and rows, 64 bits wide and below 2**31 each."""
    random = np.random.default_rng(seed)
    value = np.unique(np.round(random.beta(1, 2, values), 6))
    count = np.maximum(1, random.multinomial(rows, random.dirichlet(np.full(len(value), 2.0))))
    return ValueCounts(value=value, count=count, positives=random.binomial(count, value**1.1))


def narrow(counts):
    assert counts.count.max() < 2**31
    return replace(counts, count=counts.count.astype(np.int32), positives=counts.positives.astype(np.int32))


def plain(result):
    """Turn a result into lists and numbers, so that every digit is compared."""
    if isinstance(result, np.ndarray):
        return result.tolist()
    if is_dataclass(result):
        return {field.name: plain(getattr(result, field.name)) for field in fields(result)}
    if isinstance(result, tuple | list):
        return [plain(item) for item in result]
    return {name: plain(value) for name, value in result.items()} if isinstance(result, dict) else result


def by_uncertainty(counts):
    """Divide the scores into two uncertainty bins, with counts of the same integer width."""
    parts = [
        ValueCounts(
            value=counts.value[offset::2],
            count=counts.count[offset::2],
            positives=counts.positives[offset::2],
        )
        for offset in (0, 1)
    ]
    return tuple(parts)


def cells_of(counts):
    parts = by_uncertainty(counts)
    edges = (equi_weight_edges(part, 5) for part in parts)
    rows = tuple(binned_cells(part, bin_edges) for part, bin_edges in zip(parts, edges, strict=True))
    return Cells(uncertainty_edges=HALVES, rows=rows)


def score_cells(counts):
    return Cells(uncertainty_edges=np.empty(0), rows=(distinct_cells(counts),))


def draws_of(counts):
    first, second = np.random.default_rng(1), np.random.default_rng(2)
    means = DrawnMeans({"value": counts.value}, counts.count)
    times = Resamples(counts.count).times(second)
    line = calibration_line(counts)
    lines = DrawnLines(counts.value, len(times) // 2, line).of(times)
    return draw_positives(counts, first), means.of(times), lines


def measurement(counts, **options):
    report = measure(counts, MeasureOptions(**options))
    return report, diagram(counts, report.bins, report.equispaced)


CONSUMERS = {
    "measure": measurement,
    "t-test": lambda counts: measurement(counts, test=CalibrationTest.T, binning=ScoreBinning.QUANTILE),
    "errors of draws": lambda counts: ErrorsOfDraws(counts, MeasureOptions()).of(counts.positives),
    "line": lambda counts: calibration_line(counts, errors=True),
    "comparison": metrics_of,
    "ranking": lambda counts: (auc(counts), average_precision(counts)),
    "losses": lambda counts: (mean_loss(counts, "brier"), mean_loss(counts, "log_loss")),
    "draws": draws_of,
    "isotonic": fit_isotonic,
    "mist": lambda counts: fit_by_uncertainty(by_uncertainty(counts), HALVES),
    "platt": lambda counts: fit_platt(counts, Scale()),
    "beta": lambda counts: fit_beta(counts, Scale()),
    "temperature": lambda counts: fit_temperature(counts, Scale()),
    "histogram": lambda counts: fit_histogram(counts, equi_weight_edges(counts, 4), 0.95),
    "isotonic errors": lambda counts: isotonic_errors(
        by_uncertainty(counts),
        [isotonic_counts(part) for part in (*by_uncertainty(counts), counts)],
        cells_of(counts),
    ),
    "isotonic blocks": lambda counts: isotonic_blocks(counts.positives, counts.count),
    "bounded blocks": lambda counts: bounded_blocks(
        counts.positives, counts.count, counts.rows // 9, counts.rows // 4
    ),
}


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize(("values", "rows"), [(7, 2_900_000_000), (2000, 2_900_000_000), (40_000, 90_000)])
@pytest.mark.parametrize("name", CONSUMERS)
def test_results_are_those_of_wide_counts(name, values, rows):
    counts = draw_counts(values, rows, seed=values)
    consume = CONSUMERS[name]
    assert repr(plain(consume(narrow(counts)))) == repr(plain(consume(counts)))


OPTIMA = [
    (algorithm, kind, text)
    for algorithm in Algorithm
    for kind, text in ((ConstraintKind.PRECISION, "0.6"), (ConstraintKind.RECALL, "0.7"))
    if ALGORITHMS[algorithm].supports(parse_constraint(kind, text))
    and algorithm is not Algorithm.HR  # HR pools rows itself
]


@pytest.mark.parametrize(("algorithm", "kind", "text"), OPTIMA)
def test_boundaries_are_those_of_wide_counts(algorithm, kind, text):
    counts = draw_counts(60, 2_900_000_000, seed=3)
    cells = score_cells if algorithm is Algorithm.ST else cells_of
    constraint = parse_constraint(kind, text)
    optima = [
        plain(optimise(cells(counts_of_width), algorithm, constraint))
        for counts_of_width in (narrow(counts), counts)
    ]
    assert optima[0] == optima[1]
