"""Tests of several bounds that hold together, against brute force on small grids."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.boundary import run_counts
from tests.properties.strategies import as_cells, cell_rows
from uqcli.base.choices import Algorithm
from uqcli.base.errors import UsageError
from uqcli.boundary.rule_file import SavedConstraint
from uqcli.boundary.search.algorithms import optimise
from uqcli.boundary.search.constraint_kinds import COMBINED, ConstraintKind
from uqcli.boundary.search.knapsack import _choose
from uqcli.boundary.search.thresholds import boundary_at
from uqcli.boundary.search.typed_constraints import constraint_from

BOUNDS = st.sampled_from(["0.2", "0.34", "0.5", "0.7", "0.9", "1"])
LIMITS = {
    "precision": BOUNDS,
    "max_fpr": st.sampled_from(["0", "0.1", "0.25", "0.4", "0.75", "1"]),
    "min_specificity": st.sampled_from(["0", "0.2", "0.5", "0.6", "0.9", "1"]),
    "max_selected": st.one_of(
        st.integers(1, 40).map(str), st.sampled_from(["10%", "25%", "40%", "62.5%", "100%"])
    ),
}


@st.composite
def several_limits(draw):
    """Draw two or more bounds other than one on recall."""
    names = draw(st.lists(st.sampled_from(sorted(LIMITS)), min_size=2, max_size=4, unique=True))
    return {name: draw(LIMITS[name]) for name in names}


def is_within(hits, selected, cells, bounds):
    """Whether counts are within all bounds but one on recall."""
    rows, positives = cells.total, cells.positives
    negatives, false = rows - positives, selected - hits
    for name, text in bounds.items():
        share = Fraction(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        kept = {
            "precision": hits >= share * selected,
            "max_fpr": false <= share * negatives,
            "min_specificity": negatives - false >= share * negatives,
            "max_selected": selected <= (share * rows if text.endswith("%") else share),
        }
        if name != "recall" and not kept[name]:
            return False
    return True


def best_by_brute_force(rows, cells, bounds):
    """Return the tops of most true positives, then fewest flagged, then fewest cells in early rows."""
    runs, best = run_counts(rows), None
    for tops in product(*(range(len(run)) for run in runs)):
        hits, selected = (sum(run[top][i] for run, top in zip(runs, tops, strict=True)) for i in (0, 1))
        if hits and is_within(hits, selected, cells, bounds):
            best = min(best or (-hits, selected, tops), (-hits, selected, tops))
    return None if best is None else best[2]


@settings(max_examples=2000)
@given(cell_rows(max_rows=3, max_cells=4), BOUNDS, BOUNDS)
def test_both_bounds_equal_brute_force(rows, precision, recall):
    cells, constraint = as_cells(rows), constraint_from(precision=precision, recall=recall)
    found = optimise(cells, Algorithm.VW_DPMT, constraint).boundary
    reached = None
    if found is not None and constraint.leaves_recall(found.fit):
        reached = found.fit.true_positives
    best = None
    for tops in product(*(run_counts(rows))):
        hits, selected = sum(p for p, _ in tops), sum(n for _, n in tops)
        if not hits or Fraction(hits, selected) < Fraction(precision):
            continue
        if Fraction(hits, cells.positives) >= Fraction(recall):
            best = max(best or 0, hits)
    assert reached == best


@settings(max_examples=1000)
@given(cell_rows(max_rows=3, max_cells=4), several_limits(), st.sampled_from([None, "0.34", "0.7", "1"]))
def test_the_optimum_within_several_bounds_is_that_of_brute_force(rows, limits, recall):
    cells = as_cells(rows)
    constraint = constraint_from(**limits, recall=recall)
    expected = best_by_brute_force(rows, cells, limits)
    found = optimise(cells, Algorithm.VW_DPMT, constraint)
    assert (found.boundary is None) == (expected is None)
    if found.boundary is not None:
        best = boundary_at(cells, expected)
        assert (found.boundary.thresholds, found.boundary.fit) == (best.thresholds, best.fit)
        assert constraint.limits.is_met(best.fit)
        floor = Fraction(recall or 0) * cells.positives
        assert constraint.leaves_recall(best.fit) == (best.fit.true_positives >= floor)


@settings(max_examples=300)
@given(cell_rows(max_rows=1, max_cells=12), several_limits())
def test_a_single_threshold_within_several_bounds_is_the_best_one(rows, limits):
    cells = as_cells(rows)
    found = optimise(cells, Algorithm.ST, constraint_from(**limits)).boundary
    expected = best_by_brute_force(rows, cells, limits)
    assert (found is None) == (expected is None)
    if found is not None:
        assert (found.thresholds, found.fit) == (boundary_at(cells, expected).thresholds, found.fit)


@settings(max_examples=300)
@given(cell_rows(max_rows=3, max_cells=4), several_limits())
def test_the_closest_boundary_has_the_highest_precision_within_the_other_bounds(rows, limits):
    limits["precision"] = "1"
    cells, others = as_cells(rows), {name: text for name, text in limits.items() if name != "precision"}
    result = optimise(cells, Algorithm.VW_DPMT, constraint_from(**limits))
    if result.boundary is not None or not others:
        return
    counts = [(sum(hits for hits, _ in tops), sum(n for _, n in tops)) for tops in product(*run_counts(rows))]
    allowed = [Fraction(p, n) for p, n in counts if p and is_within(p, n, cells, others)]
    if not allowed:  # the cheapest true positive breaks another bound
        assert result.closest is None or not constraint_from(**others).is_met(result.closest.fit)
        return
    fit = result.closest.fit
    assert Fraction(fit.true_positives, fit.selected) == max(allowed)


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("seed", range(5))
def test_large_tables_have_the_optimum_of_a_table_over_counts(seed):
    """Too many values for the table, so that the lists of the relaxation decide."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(4):
        count = random.integers(200, 900, 12)
        rows.append(
            [
                (int(n), int(p))
                for n, p in zip(count, random.binomial(count, np.linspace(0, 1, 12)), strict=True)
            ]
        )
    cells = as_cells(rows)
    fewest = {0: 0}
    for run in run_counts(rows):
        extended = {}
        for hits, n in fewest.items():
            for p, m in run:
                extended[hits + p] = min(extended.get(hits + p, cells.total), n + m)
        fewest = extended
    single = optimise(cells, Algorithm.VW_DPMT, constraint_from(precision="0.8")).boundary.fit
    alerts, false = single.selected - 1, single.selected - single.true_positives
    for bounds in (
        {"precision": "0.8", "max_selected": str(alerts)},
        {"precision": "0.8", "max_fpr": f"{(false - 1) / (cells.total - cells.positives):.6f}"},
        {"max_fpr": "0.1", "max_selected": "35%"},
        {"precision": "0.75", "max_fpr": "0.12", "max_selected": "40%"},
    ):
        fit = optimise(cells, Algorithm.VW_DPMT, constraint_from(**bounds)).boundary.fit
        best = max(hits for hits, n in fewest.items() if is_within(hits, n, cells, bounds))
        assert fit.true_positives == best
        assert is_within(fit.true_positives, fit.selected, cells, bounds)


@settings(max_examples=100)
@given(cell_rows(max_rows=3, max_cells=5), several_limits())
def test_every_form_of_the_kernel_finds_the_same_choice(rows, limits):
    cells = as_cells(rows)
    goal = constraint_from(**limits).goal(cells)
    runs = [np.array(run) for run in run_counts(rows)]
    value, selected = np.concatenate(runs).T
    bounds = [(bound.denominator, bound.numerator, bound.allowance) for bound in goal.bounds]
    sizes = np.array([len(run) for run in runs])
    table = np.empty((len(runs) + 1) * (cells.positives + 1), dtype=np.int64)
    chosen = []
    for choose in (_choose.python, _choose.arrays, _choose.compiled):
        tops = np.zeros((1, len(runs)), dtype=np.int64)
        choose(value, -selected[None], sizes, np.array([bounds]), table, tops)
        chosen.append(tops.tolist())
    assert chosen[0] == chosen[1] == chosen[2]


def test_the_order_of_bounds_does_not_matter_and_the_pair_keeps_its_key():
    typed = {"recall": "0.3", "max_selected": "5%", "max_fpr": "0.1", "precision": "0.7"}
    constraint = constraint_from(**typed)
    assert constraint == constraint_from(**dict(reversed(typed.items())))
    assert [bound.kind for bound in constraint.bounds] == [
        kind for kind in COMBINED if kind != "min-specificity"
    ]
    text = "precision >= 70 %, false-positive rate <= 10 %, at most 5 % flagged and recall >= 30 %"
    assert constraint.text() == text
    saved = SavedConstraint.of(constraint)
    assert saved.also == {"max-fpr": "0.1", "max-selected": "5%", "recall": "0.3"}
    assert saved.parsed() == constraint
    pair = SavedConstraint.of(constraint_from(precision="0.7", recall="0.3"))
    assert pair == SavedConstraint(kind=ConstraintKind.PRECISION, value="0.7", recall="0.3")


@pytest.mark.parametrize("other", [{"max_omission": "0.1"}, {"gain": "2", "cost": "1"}])
def test_other_kinds_cannot_be_combined(other):
    with pytest.raises(UsageError, match="cannot be combined"):
        constraint_from(max_fpr="0.1", **other)
