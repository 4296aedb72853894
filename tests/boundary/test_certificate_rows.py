"""Tests of thresholds that are certified by rows drawn above a score, and of where these are drawn."""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.certificate import highest_dropped, loosest_threshold, share_reaching
from uqcli.base.rows import Rows
from uqcli.boundary.certificate import Certified, least_rates
from uqcli.boundary.certificate_rows import (
    labels_at_start,
    mirrored,
    mirrored_cells,
    mirrored_outcome,
    region_certifier,
)
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.estimates.confusion import Rate
from uqcli.sample.certificate import least_budget, share_above

ROWS = st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=60)


def pooled(rows):
    """Make pooled rows of integer scores and labels."""
    score, label = (np.array(column) for column in zip(*rows, strict=True))
    return Rows(numbers={"score": score.astype(np.float64)}, positive=label).pooled()


@given(ROWS, st.sampled_from(["0.3", "0.6", "0.9"]), st.sampled_from([0.05, 0.2, 0.5]))
def test_the_certified_threshold_is_that_of_a_loop_over_exact_tests(rows, bound, delta):
    precision = Fraction(bound)
    above = float(min(score for score, _ in rows))
    certifier, sequence = region_certifier(pooled(rows), above, float(precision), delta)
    outcome = certifier.certify(least_rates(constraint_from(precision=bound)), delta, sequence=sequence)
    first = min(max(ceil(len(rows) / 4), labels_at_start(float(precision), delta)), len(rows))
    threshold = loosest_threshold(rows, above, precision, Fraction(delta), first)
    if threshold is None:
        assert not isinstance(outcome, Certified)
        return
    (found,) = outcome.thresholds
    assert min(score for score, _ in rows if score >= found) == threshold  # it may be moved below that score
    assert outcome.tested.selected == sum(score >= threshold for score, _ in rows)
    hits = sum(positive for score, positive in rows if score >= threshold)
    assert outcome.tested.true_positives == hits
    assert outcome.tested.rows == len(rows)


@given(ROWS, st.sampled_from(["0.1", "0.4", "0.7"]), st.sampled_from([0.05, 0.2, 0.5]))
def test_the_dropped_rows_are_those_of_a_loop_over_exact_tests(rows, bound, delta):
    omission, below = Fraction(bound), float(max(score for score, _ in rows))
    certifier, sequence = region_certifier(mirrored(pooled(rows)), -below, float(1 - omission), delta)
    promises = [(Rate.PRECISION, 1 - omission)]
    outcome = mirrored_outcome(certifier.certify(promises, delta, sequence=sequence))
    first = min(max(ceil(len(rows) / 4), labels_at_start(float(1 - omission), delta)), len(rows))
    highest = highest_dropped(rows, below, omission, Fraction(delta), first)
    if highest is None:
        assert not isinstance(outcome, Certified)
        return
    (threshold,) = outcome.thresholds
    assert [score < threshold for score, _ in rows] == [score <= highest for score, _ in rows]
    assert outcome.tested.selected == sum(score > highest for score, _ in rows)
    hits = sum(positive for score, positive in rows if score > highest)
    assert outcome.tested.true_positives == hits
    tested, positives = outcome.tested, sum(positive for _, positive in rows)
    assert (tested.rows, tested.positives) == (len(rows), positives)
    (cells,) = mirrored_cells(certifier.pilot).rows
    place = np.searchsorted(cells.lower, [score for score, _ in rows], side="right") - 1
    assert np.bincount(place, minlength=len(cells.count)).tolist() == cells.count.tolist()


@given(ROWS, st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20))
def test_the_share_at_a_precision_is_that_of_all_thresholds(rows, precision):
    assert share_above(pooled(rows), precision) == share_reaching(rows, precision)


def test_no_threshold_is_below_the_scores_that_were_drawn():
    rows = pooled([(10 + index % 50, True) for index in range(200)])
    certifier, sequence = region_certifier(rows, 9.5, 0.5, 0.1)
    outcome = certifier.certify(least_rates(constraint_from(precision="0.5")), 0.1, sequence=sequence)
    assert outcome.thresholds == (9.5,)
    assert (outcome.tested.selected, outcome.tested.true_positives) == (200, 200)


@pytest.mark.parametrize("precision", ["0.5", "0.8", "0.95", "0.99"])
def test_the_least_budget_leaves_enough_labels_for_the_test(precision):
    budget, needed = least_budget(Fraction(precision)), labels_at_start(float(precision), 0.1)
    assert budget - budget // 3 >= needed
    assert budget - 1 - (budget - 1) // 3 < needed
    assert float(precision) ** needed <= 0.1
