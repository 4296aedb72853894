"""Exact values on both sides of limits, where a number one off would show nowhere else."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from uqcli.base.counts import CellRow, Cells
from uqcli.boundary.search.constraint import rates_of
from uqcli.boundary.search.cross_validation import tried_bins
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.conformal.coverage import widened
from uqcli.estimates.binning import BinSizes, size_notes
from uqcli.estimates.confusion import Confusion
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.value import Moments, difference_of_shares_margin
from uqcli.evaluate.promises import _target_outcome
from uqcli.shift.estimators import KnownPrior
from uqcli.tce.results import _shortest_run
from uqcli.watch.evidence import rate_interval
from uqcli.watch.unlabelled import homogeneity


def test_the_margin_of_a_difference_of_shares_is_that_of_its_residuals():
    lost, gained = np.arange(1, 31) ** 2, np.arange(5, 45)
    both = np.arange(100, 130)
    whole = np.concatenate([lost, gained, both])
    difference = (gained.sum() - lost.sum()) / whole.sum()
    direction = np.concatenate([np.full(len(lost), -1), np.ones(len(gained)), np.zeros(len(both))])
    residuals = whole * (direction - difference)
    expected = norm.ppf(0.975) * np.sqrt((residuals**2).sum() + whole.max() ** 2) / whole.sum()
    found = difference_of_shares_margin(*map(Moments.of, (lost, gained, whole)), 0.95)
    assert found == pytest.approx(expected, rel=1e-9)


def test_a_known_prior_is_the_weights_times_the_drawn_source_prior():
    evidence = KnownPrior(
        target_prior=np.array([0.2, 0.8]), class_counts=np.array([30, 70]), classes=("a", "b")
    )
    weights, prior = evidence.redrawn(np.random.default_rng(0), evidence.estimate())
    assert prior == pytest.approx([0.2, 0.8])
    assert weights[0] < 1 < weights[1]


def test_uncertainty_bins_are_tried_from_a_hundred_alerts_on():
    def cells_with(alerts):
        share = np.array([[25, 25, 25, 25], [24, 25, 25, 25]])[int(alerts == 99)]
        rows = tuple(
            CellRow(
                lower=np.array([0.1, 0.9]), count=np.array([200, flagged]), positives=np.array([20, flagged])
            )
            for flagged in share
        )
        return Cells(uncertainty_edges=np.array([0.25, 0.5, 0.75]), rows=rows)

    constraint = constraint_from(precision="0.9")
    assert tried_bins(cells_with(99), constraint, 0) == ()
    assert [tried.bins for tried in tried_bins(cells_with(100), constraint, 0)] == [1, 2, 4]


def test_rates_between_bounds_leave_0_out_and_1_in():
    assert rates_of(map(Fraction, (0, 1, 2))) == [1]


def test_printed_thresholds_are_the_shown_ones_or_those_of_the_rule():
    fit = Confusion(rows=2, positives=1, selected=1, true_positives=1)
    bare = FittedBoundary(uncertainty_edges=np.array([]), thresholds=(0.5,), fit=fit)
    shown = FittedBoundary(uncertainty_edges=np.array([]), thresholds=(0.5,), fit=fit, shown=(0.51,))
    assert (bare.printed, shown.printed) == ((0.5,), (0.51,))


def test_the_shortest_run_has_four_fifths_of_the_rows():
    assert _shortest_run([0, 0, 8, 0, 0, 2]) == (2, 2)
    assert _shortest_run([1, 7, 1, 1]) == (0, 1)
    assert _shortest_run([4, 0, 4]) == (0, 2)


def test_a_column_without_rows_has_no_degrees_of_freedom():
    nothing = np.zeros(2, dtype=np.int64)
    assert homogeneity(nothing, nothing) == (0.0, 0, None)


def test_a_single_row_has_the_range_that_its_evidence_allows():
    """Ends are where the evidence is 40: of one failure, 1 / (2 (1 - p)) integrated over all rates."""
    low, high = rate_interval(0, 1, 0.95)
    assert low == 0
    assert 0.9 < high < 1
    assert rate_interval(1, 1, 0.95) == pytest.approx((1 - high, 1 - low))
    assert rate_interval(0, 2, 0.95)[1] < high


@pytest.mark.parametrize(("low", "high", "verdict"), [(0.71, 0.9, "meets"), (0.5, 0.69, "misses")])
def test_a_target_on_target_data_is_met_or_missed_significantly(low, high, verdict):
    estimate = Estimate(value=(low + high) / 2, low=low, high=high)
    constraint = constraint_from(precision="0.7")
    _, sentence = _target_outcome(constraint, estimate, constraint.numbers[0])
    assert sentence.startswith(f"{verdict} ")
    assert "(significant)" in sentence
    wide = Estimate(value=0.7, low=0.6, high=0.8)
    assert _target_outcome(constraint, wide, constraint.numbers[0])[1].startswith("consistent with")


def test_the_note_on_large_bins_names_them_with_their_verb():
    sizes = BinSizes(n_min=10, n_max=20)
    assert size_notes(np.array([15, 25]), sizes, 10, 20) == [
        "bin 2 has more than 20 rows, because of ties or merges."
    ]
    assert size_notes(np.array([25, 15, 25]), sizes, 10, 20)[0].startswith("bins 1, 3 have more")


def test_a_threshold_is_widened_to_what_its_32_bit_scores_reach():
    score = 1 - np.float64(np.float32(0.7))
    single, double = (
        widened(1 - 0.7, np.array([0.1, 0.5]), is_single=is_single) for is_single in (True, False)
    )
    assert score <= double
    assert single >= 1 - 0.7
