"""Choices that single cases decide: exact comparisons, ties, and what a limit or a tolerance is."""

from fractions import Fraction

import numpy as np
import pytest

from tests.properties.strategies import as_cells
from uqcli.base.choices import Algorithm
from uqcli.base.counts import Cells, ValueCounts, binned_cells, no_amounts
from uqcli.base.rows import Rows
from uqcli.boundary.candidate import Candidate
from uqcli.boundary.candidates import best_of
from uqcli.boundary.drawn_rows import split_by_hash
from uqcli.boundary.expected import Expected
from uqcli.boundary.groups import merged
from uqcli.boundary.search.goals import KeepBounds, LinearBound, TopRuns, highest_ratio
from uqcli.boundary.search.smoothing import nested_boundaries
from uqcli.boundary.search.thresholds import as_sums, boundary_at
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.estimates.estimate import Estimate


def test_the_highest_of_two_ratios_whose_quotients_are_equal():
    numerator, denominator = (
        np.array([2_999_999_998, 2_999_999_999]),
        np.array([2_999_999_999, 3_000_000_000]),
    )
    assert (numerator / denominator).tolist() == [numerator[0] / denominator[0]] * 2
    assert highest_ratio(numerator, denominator) == 1
    assert highest_ratio(numerator[::-1], denominator[::-1]) == 0


def test_the_nearest_choice_breaks_each_of_several_limits_by_little():
    """At most 4 rows and no false positive: by (rows, false positives), 1 too many of both beats 0 and 3."""
    limits = (
        LinearBound(numerator=1, denominator=0, allowance=4),
        LinearBound(numerator=1, denominator=1, allowance=0),
    )
    runs = [
        TopRuns(true_positives=np.array([0, 1]), selected=np.array([0, 4]), sums=no_amounts(2)),
        TopRuns(true_positives=np.array([0, 4]), selected=np.array([0, 5]), sums=no_amounts(2)),
    ]
    assert KeepBounds(limits=limits).closest(runs) == (0, 1)
    assert KeepBounds(limits=limits).closest(runs[::-1]) == (1, 0)


def test_merged_rankings_of_equal_rates_go_from_the_top_down():
    parts = [as_cells([[(10, 5)] * 3] * 2), as_cells([[(10, 5)] * 2])]
    found = merged(parts, [nested_boundaries(part) for part in parts])
    assert len(set(found.rate.tolist())) == 1
    assert found.row.tolist() == [0, 1, 2, 0, 1, 2, 0, 1]


@pytest.mark.parametrize(("less", "chosen"), [(Fraction(4, 1000), 0), (Fraction(6, 1000), 1)])
def test_a_bound_is_expected_to_be_met_within_half_a_point(less, chosen):
    boundary = boundary_at(as_cells([[(10, 2), (10, 9)]]), [1])
    candidates = [
        Candidate(
            algorithm=algorithm,
            boundary=boundary,
            expected=Expected(precision=Estimate(value=precision), recall=Estimate(value=recall)),
        )
        for algorithm, precision, recall in (
            (Algorithm.SMOOTH, float(Fraction(8, 10) - less), 0.9),
            (Algorithm.ST, 0.81, 0.5),
        )
    ]
    assert best_of(candidates, constraint_from(precision="0.8")) is candidates[chosen]


def test_copies_of_a_row_are_split_like_other_rows():
    rows = Rows(
        numbers={"score": np.array([0.2, 0.7])}, positive=np.array([False, True]), weight=np.array([400, 600])
    )
    first, rest = split_by_hash(rows, 1, [200])
    assert (first.sum(), (first + rest).tolist()) == (200, [400, 600])
    assert 50 < first[0] < 110


def test_amounts_of_rows_below_a_raised_threshold_do_not_count():
    """Scores .6 and .7 are below the lowest positive row of the flagged cell, from .5 on."""
    counts = ValueCounts(
        value=np.array([0.2, 0.6, 0.7, 0.8, 0.9]),
        count=np.array([1, 2, 1, 2, 1]),
        positives=np.array([1, 0, 0, 1, 1]),
        sums=(np.array([[7, 30, 40, 12, 5], [7, 0, 0, 6, 5]]), np.array([[1, 2, 3, 4, 5], [1, 0, 0, 2, 5]])),
    )
    cells = Cells(uncertainty_edges=np.zeros(0), rows=(binned_cells(counts, np.array([0.5])),))
    found = boundary_at(cells, [1])
    assert (found.fit.selected, found.fit.true_positives) == (3, 2)
    assert found.fit.sums_selected == as_sums(counts.amounts[..., 3:].sum(axis=-1))
    assert boundary_at(cells, [1], raised=False).fit.sums_selected == as_sums(
        counts.amounts[..., 1:].sum(axis=-1)
    )
