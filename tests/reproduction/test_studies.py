"""Tests of the computations of studies."""

import numpy as np
import polars as pl
import pytest

import uqcli
from reproduction import census
from reproduction.classes import GaussianClasses
from reproduction.gaussian import MetricsCache
from reproduction.generators.posterior import ExpectedCurve, PosteriorModel
from reproduction.library import write
from reproduction.program import Program, recalls
from reproduction.studies import bias, recalibration, shift, undersampling
from reproduction.study import Status


@pytest.fixture
def program(tmp_path):
    return Program(folder=tmp_path)


@pytest.mark.thorough
def test_seeds_measured_together_equal_seeds_measured_one_by_one(program):
    measured = MetricsCache(program=program, say=lambda text: None)
    settings = {
        "train": 0.5,
        "test": 0.4,
        "rows": 600,
        "n_min": 30,
        "n_max": 120,
        "alpha": 0.05,
        "test_of": "t",
    }
    together = measured.metrics(settings, 2)
    assert program.commands == 1
    for seed, metrics in enumerate(together):
        one_by_one = measured._one_by_one("data0", {"n_min": 30, "n_max": 120, "alpha": 0.05, "test": "t"}, 2)
        for name in ("tce", "tce_q", "tce_v", "ece", "ace", "mce", "mce_q"):
            assert metrics[name] == pytest.approx(one_by_one[seed][name], rel=1e-12)
    assert measured.metrics(settings, 2) is together
    assert program.commands == 1


@pytest.mark.thorough
def test_recalls_are_given_by_name_of_the_boundary(program):
    assert recalls(program, "rows.parquet") == {}
    write(program.folder / "rows.parquet", PosteriorModel().draw(2_000))
    program.run("boundary", "rows.parquet", "--recall", 0.5, "-o", "one.json")
    recall_by_boundary = recalls(program, "rows.parquet")
    assert list(recall_by_boundary) == ["one"]
    assert 0.5 <= recall_by_boundary["one"] < 0.6


CLASSES = GaussianClasses(means=((-1.0, 0.0), (1.0, 0.0)), standard_deviation=1.0, prior=(0.7, 0.3))


def test_class_probabilities_are_calibrated():
    probability, label = CLASSES.draw(CLASSES.prior, 40_000, np.random.default_rng(0))
    assert probability.sum(axis=1) == pytest.approx(1)
    for low in (0.0, 0.2, 0.5, 0.8):
        band = (probability[:, 1] >= low) & (probability[:, 1] < low + 0.2)
        assert label[band].mean() == pytest.approx(probability[band, 1].mean(), abs=0.03)


def test_true_weights_are_ratios_of_priors():
    assert CLASSES.weights((0.35, 0.65)).weights == pytest.approx([0.5, 0.65 / 0.3])
    assert CLASSES.towards((0.5, 0.5), 0.5) == pytest.approx((0.6, 0.4))


def test_true_rates_of_bins_equal_those_of_many_rows():
    lowest = np.array([0.0, 0.1, 0.4, 0.7])
    classes = recalibration.CLASSES
    for shares in (classes.prior, recalibration.TARGET):
        probability, label = classes.draw(shares, 200_000, np.random.default_rng(1))
        bins = np.searchsorted(lowest, probability[:, 1], side="right") - 1
        count = np.bincount(bins)
        rate, mass = recalibration.truth(lowest, shares)
        assert mass == pytest.approx(count / len(label), abs=0.005)
        assert rate == pytest.approx(np.bincount(bins, label) / count, abs=0.01)


def test_the_bound_of_theorem_4_is_that_of_the_paper():
    """For w = (1.6, 0.4) the bound is 2 * 4 * source + 2 * error / 0.4."""
    errors = np.array([0.0, 0.1])
    assert recalibration.theorem_4(errors, np.array([1.6, 0.4])) == pytest.approx([0, 0.8])
    assert recalibration.theorem_4(errors, np.array([1.5, 0.4])) == pytest.approx([0.5, 1.3])


def test_bins_of_classes_are_those_of_the_map():
    draws = np.random.default_rng(3)
    classes = recalibration.THREE_CLASSES
    source, label = classes.draw(classes.prior, 300, draws)
    new, _ = classes.draw(classes.prior, 2_000, draws)
    fitted = uqcli.Calibrator.fit(source, label, method="histogram")
    bins, first_rows = recalibration.class_bins([part.edges for part in fitted.map.bins], new)
    rates = np.concatenate([part.rate for part in fitted.map.bins])
    assert np.array_equal(fitted.predict(new), rates[bins])
    assert np.array_equal(bins[first_rows], np.unique(bins))


def test_bounds_hold_for_three_classes():
    truth_rows, _ = recalibration.THREE_CLASSES.draw((0.4, 0.3, 0.3), 20_000, np.random.default_rng(1))
    repetition = recalibration._repeat_classes(2_000, 0, truth_rows)
    assert repetition.within_bound
    assert max(repetition.tightness.values()) <= 1
    assert repetition.target_distance["true weights"] < repetition.target_distance["uncorrected"] / 2


def test_the_bounds_of_theorem_1_contain_the_coverage_over_all_draws():
    assert shift.bounds_of_theorem_1(100) == pytest.approx((0.9, 91 / 101, 0.9 + 1 / 101))
    low, expected, high = shift.bounds_of_theorem_1(99)
    assert low == expected < high
    sheet = shift._upper_bound({100: [0.89, 0.91], 20: [0.5, 0.5001]})
    assert [row[-1] for row in sheet.rows] == ["yes", "no"]
    assert sheet.status == Status.DIFFERS
    assert sheet.verdict.startswith("coverage is within both bounds at 1 of 2")


def _coverages(level):
    """Make two coverages around a level for each method, without and with shift."""
    points = [(100, 0.0), (100, 1.0)]
    pairs = [(level - 0.01, 1.5), (level + 0.01, 1.5)]
    return points, {(point, name): pairs for point in points for name in shift.METHODS}


def test_claims_of_the_shift_paper_follow_from_the_coverages():
    points, coverages = _coverages(0.9)
    claims = shift._claims(coverages, points)
    assert not claims["uncorrected sets miss the guarantee under every shift"]
    assert claims["true weights meet it (Theorem 2)"]
    points, coverages = _coverages(0.8)
    claims = shift._claims(coverages, points)
    assert claims["uncorrected sets miss the guarantee under every shift"]
    assert not claims["true weights meet it (Theorem 2)"]
    assert shift._by_fraction(coverages, points, points, 2).status == Status.DIFFERS


def test_a_missing_trend_is_reported():
    recalls = {
        (name, tau): [value]
        for name, values in {"st": (60, 50), "ew-dpmt": (55, 40), "vw-dpmt": (61, 52)}.items()
        for tau, value in zip((1, 3), values, strict=True)
    }
    sheet = undersampling._sheet(recalls, (1, 3), 1, 100)
    assert "recall first rises with tau: no" in sheet.verdict
    assert "the gain grows with tau: yes" in sheet.verdict
    assert sheet.rows == [["1", "60.00", "55.00", "61.00"], ["3", "50.00", "40.00", "52.00"]]
    recalls["ew-dpmt", 3] = []
    assert undersampling._sheet(recalls, (1, 3), 1, 100).rows[1][2] == "none"


def test_the_curve_of_the_theorem_is_interpolated():
    curve = ExpectedCurve(
        gamma=0.1, evidence=20, score=np.array([0.1, 0.3]), positivity=np.array([0.05, 0.25])
    )
    assert bias._expected(curve, 0.2) == pytest.approx(0.15)


def test_points_of_the_picture_pool_the_rows_of_a_band():
    def score_bin(score, count, positives):
        return {"mean_score": score, "count": count, "positives": positives}

    few = score_bin(0.9, bias.MIN_SHOWN - 1, 3)
    scores, rates = bias._points(
        [score_bin(0.501, 1_000, 100), score_bin(0.521, 3_000, 900), score_bin(0.0, 0, 0), few]
    )
    assert scores == pytest.approx([0.516])
    assert rates == pytest.approx([0.25])


def test_calibration_errors_of_score_bins_are_means_over_uncertainty_bins():
    probability, label = np.array([0.2, 0.4, 0.9, 0.5]), np.array([0, 1, 1, 0])
    errors = census.errors_by_bin(probability, label, np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))
    assert errors == pytest.approx([(0.2 + 0.1) / 2, 0.5])
    assert census.cumulative_errors(errors) == pytest.approx([0.325, 0.5])


@pytest.fixture(scope="module")
def shipped():
    return census.shipped_split()


def test_the_gain_on_the_census_sample_is_that_of_its_own_counts(shipped):
    st, optimum = (
        census.measure(shipped, census.EVIDENCE, 0.7, name, binning="equi-weight")
        for name in ("st", "vw-dpmt")
    )
    assert round(st.recall, 3) == 0.365
    assert st.score_recall == st.recall
    assert round(optimum.recall, 3) == 0.495
    assert round(census.gain(st, optimum)) == 36
    assert 2 < optimum.equal_alerts < 3


def test_random_splits_use_every_row_once(shipped):
    split = census.random_split(shipped, seed=1)
    both = pl.concat([split.fit, split.new])
    assert len(split.fit) == len(shipped.fit)
    assert both.sort(both.columns).equals(pl.concat([shipped.fit, shipped.new]).sort(both.columns))


def test_rows_are_described_by_their_columns(shipped):
    cells = census.description(shipped.new.head(0))
    assert cells[0] == "none"
    men = shipped.new.filter(pl.col("sex") == "Male")
    cells = census.description(men)
    assert len(cells) == 1 + len(census.DESCRIBED)
    assert cells[0].startswith(f"{men['label'].sum():,} of {len(men):,}")
    assert cells[2] == "100 %"
