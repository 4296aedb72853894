"""Tests of calibration errors by sampling weight: equal to loops over the rows, in any order of them."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.api.functions import calibration_error
from uqcli.base.choices import ScoreBinning

ROW = st.tuples(
    st.integers(0, 20).map(lambda number: number / 20),
    st.booleans(),
    st.sampled_from([1.0, 1.25, 3.0, 17.5, 1 / 0.3, 250.0]),
)
TABLES = st.lists(ROW, min_size=2, max_size=40)
FROM_TESTS = {
    *("tce", "tce_q", "tce_v", "calibration_p", "calibration_p_adjusted"),
    *("within", "within_low", "within_runs", "within_detectable"),
}


def by_loops(rows):
    """Compute metrics of (score, label, weight) rows, one row at a time."""
    total = sum(weight for _, _, weight in rows)
    losses = [((s - y) ** 2, -math.log(max(1e-15, s if y else 1 - s)), w) for s, y, w in rows]
    bins = {}
    for s, y, w in rows:
        bins.setdefault(min(9, int(10 * s + 1e-9)), []).append((s, y, w))
    sizes = {number: sum(w for _, _, w in inside) for number, inside in bins.items()}
    gaps = {number: abs(sum((y - s) * w for s, y, w in bins[number])) / sizes[number] for number in bins}
    running, ends = 0.0, [0.0]
    for score in sorted({s for s, _, _ in rows}):
        running += sum((y - s) * w for s, y, w in rows if s == score)
        ends.append(running)
    rate = sum(y * w for _, y, w in rows) / total
    return {
        "brier": sum(loss * w for loss, _, w in losses) / total,
        "log_loss": sum(loss * w for _, loss, w in losses) / total,
        "ece": sum(sizes[number] * gaps[number] for number in bins) / total,
        "mce": max(gaps.values()),
        "ecce": (max(ends) - min(ends)) / total,
        "unc": rate * (1 - rate),
    }


def measured(rows, **options):
    score, label, weight = zip(*rows, strict=True)
    return calibration_error(score, label, sampling_weight=weight, **options)


@given(rows=TABLES)
def test_metrics_by_weight_are_those_of_loops_over_rows(rows):
    metrics = measured(rows).metrics
    for name, expected in by_loops(rows).items():
        assert metrics[name] == pytest.approx(expected, rel=1e-6, abs=1e-6), name
    assert metrics["brier"] == pytest.approx(metrics["mcb"] - metrics["dsc"] + metrics["unc"], abs=1e-9)


@given(rows=TABLES)
def test_the_line_solves_its_weighted_score_equations(rows):
    metrics = measured(rows).metrics
    if metrics["slope"] is None or abs(metrics["slope"]) > 20:
        return
    score, label, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    log_odds = np.log(np.clip(score, 1e-12, None)) - np.log(np.clip(1 - score, 1e-12, None))
    fitted = 1 / (1 + np.exp(-metrics["intercept"] - metrics["slope"] * log_odds))
    residual = weight * (label - fitted)
    assert abs(residual.sum()) < 1e-4 * weight.sum()
    assert abs((residual * log_odds).sum()) < 1e-3 * weight.sum()


@given(
    rows=TABLES, weight=st.sampled_from([1.0, 3.7, 1 / 3, 4e6]), binning=st.sampled_from(["quantile", "pava"])
)
def test_equal_weights_give_every_bit_of_rows_without_weights(rows, weight, binning):
    rows = [(score, label, weight) for score, label, _ in rows]
    score, label, _ = zip(*rows, strict=True)
    expected = calibration_error(score, label, binning=binning)
    found = measured(rows, binning=binning)
    assert found.metrics == {**expected.metrics, **dict.fromkeys(FROM_TESTS)}
    np.testing.assert_array_equal(found.bins.rate, expected.bins.rate)
    np.testing.assert_array_equal(found.bins.count, expected.bins.count)


@given(rows=TABLES, random=st.randoms(use_true_random=False), times=st.integers(1, 3))
def test_no_bit_depends_on_the_order_of_rows_or_on_how_equal_rows_are_counted(rows, random, times):
    shuffled = rows * times
    random.shuffle(shuffled)
    score, label, weight = zip(*rows, strict=True)
    expected = calibration_error(score, label, sampling_weight=weight, weight=[times] * len(rows))
    assert measured(shuffled).metrics == expected.metrics
    assert expected.report.overall.rows == len(shuffled)


@given(rows=st.lists(st.tuples(ROW, st.integers(1, 4)), min_size=2, max_size=20))
def test_whole_weights_give_the_metrics_of_repeated_rows(rows):
    weighted = [(score, label, float(times)) for (score, label, _), times in rows]
    repeated = [(score, label) for (score, label, _), times in rows for _ in range(times)]
    expected = calibration_error(*zip(*repeated, strict=True), binning=ScoreBinning.EQUISPACED)
    assert measured(weighted).metrics == {**expected.metrics, **dict.fromkeys(FROM_TESTS)}


def test_bins_count_rows_and_their_rates_are_by_weight():
    rows = [(0.15, True, 3.0), (0.12, False, 1.0), (0.95, True, 2.0), (0.55, True, 0.0)]
    bins = measured(rows).bins
    assert bins.count.tolist() == [0, 2, 0, 0, 0, 0, 0, 0, 0, 1]
    assert bins.positives.tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert (bins.rate[1], bins.mean_score[1]) == (0.75, pytest.approx(0.1425))


def test_groups_and_classes_are_measured_by_weight():
    random = np.random.default_rng(4)
    score, group = random.random(300), random.choice(["a", "b"], 300)
    label, weight = random.random(300) < score, random.choice([1.0, 8.0], 300)
    options = {"sampling_weight": weight, "group": group}
    found = calibration_error(score, label, **options)
    inside = group == "a"
    alone = calibration_error(score[inside], label[inside], sampling_weight=weight[inside])
    band = dict.fromkeys(FROM_TESTS)
    assert {**band, **found.by_group["a"].metrics} == alone.metrics
    assert found.metrics["worst_group"]["ece"] is None
    frame = pl.DataFrame({"no": 1 - score, "yes": score})
    names = np.where(label, "yes", "no")
    classes = calibration_error(frame, names, sampling_weight=weight)
    single = calibration_error(score, label, sampling_weight=weight)
    assert classes.by_class["yes"].metrics == single.metrics
    assert classes.metrics["brier"] == pytest.approx(single.metrics["brier"])
