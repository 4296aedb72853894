"""Gains on rows held out and their placebos: against row-by-row sums, and where there is nothing to find."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import placebo as oracle
from uqcli.counts import run_starts
from uqcli.draws import Purpose, generator
from uqcli.methods.boundary.constraint import the_constraint
from uqcli.methods.boundary.ranking.placebo import Curve, OrderedRows, exchanged, gain_of


def ordered(score, level, positive, fold):
    """Rows given in ascending order of score."""
    starts = run_starts(score)
    first = np.repeat(starts, np.diff(starts, append=len(score)))
    return OrderedRows(first=first, positive=positive, fold=fold, level=level)


def drawn(seed, size, tells):
    """Rows with some ties, whose uncertainty tells something or nothing."""
    random = np.random.default_rng(seed)
    score = np.sort(random.random(size).round(3))
    level = random.integers(0, 3, size)
    positive = random.random(size) < np.clip(score * (1.2 - 0.5 * tells * level), 0, 1)
    return score, level, positive, random.permutation(np.arange(size) * 5 // size)


@st.composite
def few_rows(draw):
    size = draw(st.integers(2, 40))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    score = np.sort(random.integers(0, draw(st.sampled_from([3, 10, 1000])), size).astype(float))
    level = np.unique(random.integers(0, 3, size), return_inverse=True)[1]
    positive = random.random(size) < 0.4
    positive[draw(st.integers(0, size - 1))] = True
    return score, level, positive, random.integers(0, 5, size)


@settings(max_examples=60, deadline=None)
@given(few_rows(), st.integers(1, 50))
def test_gains_are_those_of_single_rows(rows, alerts):
    found = ordered(*rows)
    gained = found.gained(rows[1], alerts)
    score, level, positive, fold = (each.tolist() for each in rows)
    ranks = found.ranks.tolist()
    for rank, (least, most) in zip(ranks, oracle.held_out_ranks(score, level, positive, fold), strict=True):
        assert float(least) <= rank <= float(most)  # the same but where two bins' rates are as good as equal
    # six sums of whole numbers in doubles, each exact to 16 digits, against fractions
    assert gained == pytest.approx(float(oracle.gain(ranks, score, positive, alerts)), abs=1e-12)


def test_placebos_keep_what_stands_in_a_neighbourhood():
    level = np.arange(45) % 3
    moved = exchanged(level, np.random.default_rng(0))
    assert (moved != level).any()
    for start, stop in ((0, 20), (20, 40), (40, 45)):
        assert sorted(moved[start:stop]) == sorted(level[start:stop])
    assert exchanged(level[:3], np.random.default_rng(0)).shape == (3,)


def test_alerts_at_a_bound_are_those_of_the_single_threshold():
    curve = Curve.summed(np.array([2, 1, 3, 4]), np.array([2, 0, 2, 0]))
    assert curve.alerts_at(the_constraint(precision="0.6")) == 3
    assert curve.recall(the_constraint(precision="0.6")) == 1
    assert curve.recall(the_constraint(precision="0.9")) == 0.5
    assert curve.alerts_at(the_constraint(max_selected="1")) is None


@pytest.mark.parametrize("tells", [True, False])
def test_what_the_uncertainty_tells_is_found_beside_its_placebos(tells):
    rows = ordered(*drawn(1, 3000, tells))
    found = gain_of(rows, the_constraint(precision="0.6"), (0, 1))
    assert (found.p_value == 0.01) == tells
    assert (found.equal_alerts.value - found.placebo > 0.01) == tells
    assert found.equal_alerts.low <= found.equal_alerts.value <= found.equal_alerts.high
    assert found.at_bound.low <= found.at_bound.high


def test_the_same_draws_give_the_same_gain():
    rows, bound = ordered(*drawn(1, 300, True)), the_constraint(precision="0.6")
    assert gain_of(rows, bound, (0, 1), placebos=9) == gain_of(rows, bound, (0, 1), placebos=9)


def test_both_p_values_count_the_rows_themselves():
    score, level, positive, fold = drawn(3, 200, False)
    rows, bound = ordered(score, level, positive, fold), the_constraint(precision="0.5")
    found = gain_of(rows, bound, (0, 1), placebos=19)
    alerts = int(rows.by_score.alerts[rows.by_score.alerts_at(bound)])
    gains = [
        rows.gained(exchanged(level, generator(0, Purpose.PLACEBO, 1, number)), alerts)
        for number in range(19)
    ]
    observed = found.equal_alerts.value
    assert found.p_value == (1 + sum(each >= observed for each in gains)) / 20
    assert found.p_hurts == (1 + sum(each <= observed for each in gains)) / 20
    same = gain_of(ordered(score, np.zeros_like(level), positive, fold), bound, (0, 1), placebos=19)
    assert (same.p_value, same.p_hurts) == (1, 1)


def test_under_a_utility_gains_are_in_its_unit_too():
    rows = ordered(*drawn(1, 1000, True))
    found = gain_of(rows, the_constraint(gain="10", cost="2.5"), (0, 1), placebos=1)
    hits = 12.5 * rows.positive.sum()
    for of_value, of_recall in (
        (found.value_equal_alerts.value, found.equal_alerts.value),
        (found.value_equal_alerts.low, found.equal_alerts.low),
    ):
        assert of_value == pytest.approx(hits * of_recall)
    best = [
        max(10 * t - 2.5 * (n - t) for t, n in zip(c.hits.tolist(), c.alerts.tolist(), strict=True))
        for c in (rows.by_rank, rows.by_score)
    ]
    assert found.value.value == pytest.approx(best[0] - best[1])
    assert found.value.low <= found.value.value <= found.value.high
    assert gain_of(rows, the_constraint(precision="0.6"), (0, 1), placebos=1).value is None


def test_nothing_is_tested_where_the_score_alone_will_not_do():
    score, level, positive, fold = drawn(1, 300, True)
    positive[score == score[-1]] = False
    assert gain_of(ordered(score, level, positive, fold), the_constraint(precision="1"), (0, 1)) is None


@pytest.mark.parametrize("size", [1, 2, 7])
def test_few_rows_have_an_answer(size):
    score, level = np.arange(float(size)), np.zeros(size, dtype=np.int64)
    rows = ordered(score, level, score == score.max(), np.arange(size) % 5)
    found = gain_of(rows, the_constraint(precision="0.5"), (0, 1))
    assert found.p_value == 1
    assert np.isfinite([found.equal_alerts.low, found.equal_alerts.high, found.placebo]).all()
