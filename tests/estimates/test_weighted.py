"""Tests of rates and differences of rows with sampling weights, against those row by row."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.designs import one_rule, weighted
from tests.oracles import survey as oracle
from uqcli.base.sampling_weights import WeightSums, units
from uqcli.estimates.confusion import Rate
from uqcli.estimates.design import CLEARED, FLAGGED, WeightedRows, flags
from uqcli.estimates.proportion import clopper_pearson

ROWS = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.booleans(), st.sampled_from([0.5, 1.0, 2.5, 10.0])),
    min_size=12,
    max_size=80,
)
"""Whether the first rule flags a row, whether the second does, its label, and its weight."""


def agree(found, pairs, further):
    """Whether a rate and its interval are those of (success times weight, weight) pairs."""
    present = [pair for pair in pairs if pair[1] > 0]
    if not present:
        assert (found.value, found.low, found.high) == (None, 0.0, 1.0)
        return
    weights = [weight for _, weight in present]
    assert found.value == pytest.approx(sum(hit for hit, _ in present) / sum(weights))
    if len({*weights, *further[0], *further[1]}) == 1:
        exact = clopper_pearson(sum(hit > 0 for hit, _ in present), len(present), 0.9)
        assert (found.low, found.high) == exact
    elif sum(weights) ** 2 < 3 * sum(weight**2 for weight in weights):
        assert (found.low, found.high) == (None, None)
    else:
        expected = oracle.proportion_interval(present, 0.9, clustered=False, further=further)
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


@given(ROWS)
def test_rates_and_their_intervals_are_those_of_the_rows(rows):
    design = weighted(rows, 0.9)
    precision = [(w * y, w) for first, _, y, w in rows if first]
    agree(design.precision(flags(0)), precision, (like(rows, True, True), like(rows, True, False)))
    for label in (True, False):
        pairs = [(w * first, w) for first, _, y, w in rows if y == label]
        agree(
            design.share(flags(0), positive=label), pairs, [like(rows, zone, label) for zone in (True, False)]
        )


def like(rows, flagged, label):
    """Weights of the rows that a further one could be like: of its decision, or its label if it has none."""
    drawn = any(first == flagged and y == label and w > 0 for first, _, y, w in rows)
    return [w for first, _, y, w in rows if w > 0 and (first == flagged or (y == label and not drawn))]


def test_a_row_of_a_label_that_no_flagged_row_has_weighs_as_the_others_of_its_label():
    """All positive rows and 2 % of the negative ones were drawn; at a threshold none of these is flagged."""
    rows = (
        [(True, True, True, 1.0)] * 33
        + [(False, False, True, 1.0)] * 467
        + [(False, False, False, 50.0)] * 2000
    )
    by_label = weighted(rows, 0.95)
    assert by_label.precision(flags(0)).value == 1
    assert by_label.precision(flags(0)).low < 0.2
    by_score = replace(by_label, by_score=True)
    assert by_score.precision(flags(0)).low == pytest.approx(0.025 ** (1 / 33))


MANY_ROWS = st.integers(0, 2**32 - 1).map(
    lambda seed: [
        (bool(a), bool(b), bool(y), float(w))
        for a, b, y, w in zip(
            *np.random.default_rng(seed).integers(0, 2, (3, 120)),
            np.random.default_rng(seed).choice([0.5, 2.5, 10.0], 120),
            strict=True,
        )
    ]
)


@given(st.one_of(ROWS, MANY_ROWS))
def test_differences_and_their_intervals_are_those_of_the_rows(rows):
    design = weighted(rows, 0.9)
    recall = [(w * a * y, w * y, w * b * y, w * y) for a, b, y, w in rows]
    precision = [(w * a * y, w * a, w * b * y, w * b) for a, b, y, w in rows]
    for found, sums, differing in (
        (design.difference(flags(0), flags(1), positive=True), recall, [a != b and y for a, b, y, _ in rows]),
        (design.precision_difference(flags(0), flags(1)), precision, [a != b for a, b, _, _ in rows]),
    ):
        totals = [sum(column) for column in zip(*sums, strict=True)]
        if 0 in (totals[1], totals[3]):
            assert found.value is None
            continue
        assert found.value == pytest.approx(totals[2] / totals[3] - totals[0] / totals[1])
        outcomes = [
            sum(trial > 0 and (hit > 0) == wanted for hit, trial in pairs)
            for pairs in ([row[:2] for row in sums], [row[2:] for row in sums])
            for wanted in (True, False)
        ]
        if min(outcomes) < 20 or sum(differing) < 5:
            assert (found.low, found.high) == (None, None)
            assert found.p_value == (1.0 if not any(differing) else None)
            continue
        expected = oracle.ratio_difference(sums, 0.9, differing=sum(differing))
        limited = max(-1, found.low), min(1, found.high)
        assert limited == pytest.approx(expected, abs=1e-9)


@given(ROWS, st.sampled_from([Fraction(1, 4), Fraction(7, 3)]))
def test_net_benefits_are_those_of_the_rows(rows, odds):
    design, total = weighted(rows, 0.95), math.fsum(row[3] for row in rows)
    values = [
        math.fsum(row[3] * (1 if row[2] else -float(odds)) for row in rows if row[index]) / total
        for index in (0, 1)
    ]
    found = design.net_benefit(flags(0), odds)
    assert found.value == pytest.approx(values[0], abs=1e-12)
    assert found.low - 1e-12 <= found.value <= found.high + 1e-12
    found = design.net_benefit_difference(flags(0), flags(1), odds)
    assert found.value == pytest.approx(values[1] - values[0], abs=1e-12)
    assert found.low - 1e-12 <= found.value <= found.high + 1e-12


def test_intervals_of_many_rows_of_one_weight_are_near_those_of_counts():
    random = np.random.default_rng(5)
    flagged, label = random.random((2, 20_000)) < [[0.3], [0.4]]
    weight = units(np.full(20_000, 3.0))
    sums = {
        ((zone,), positive): WeightSums.of(weight, (flagged == (zone == FLAGGED)) & (label == positive))
        for zone in (FLAGGED, CLEARED)
        for positive in (True, False)
    }
    counted = one_rule(int((flagged & label).sum()), int((flagged & ~label).sum()), 20_000, 0.95)
    expected = counted.net_benefit(flags(0), Fraction(1))
    design = WeightedRows(confidence=0.95, sums=sums)
    found = design.net_benefit(flags(0), Fraction(1))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-4)
    expected = counted.net_benefit_difference(flags(0), flags(1), Fraction(1))
    found = design.net_benefit_difference(flags(0), lambda _: False, Fraction(1))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=2e-3)


def test_sums_are_exact_for_pooled_and_single_rows():
    random = np.random.default_rng(2)
    weight = units(random.lognormal(3, 3, 5000).clip(0, 4e6))
    mask, count = random.random(5000) < 0.5, random.integers(0, 4, 5000)
    listed = [unit for unit, inside in zip(weight.tolist(), mask, strict=True) if inside and unit]
    sums = WeightSums.of(weight, mask)
    powers = [sum(unit**power for unit in listed) for power in range(4)]
    assert [sums.rows, sums.total, sums.squares, sums.cubes] == powers
    repeated = np.repeat(np.arange(5000), count)
    assert WeightSums.of(weight, mask, count) == WeightSums.of(weight[repeated], mask[repeated])
    order = random.permutation(5000)
    assert WeightSums.of(weight[order], mask[order]) == sums


@given(ROWS)
def test_a_specificity_is_tested_as_the_false_positive_rate(rows):
    bound = Fraction(1, 10)
    exact = one_rule(3, 9, 90, 0.9)
    for design in (weighted(rows, 0.9), exact):
        rate = design.bounded(Rate.FPR, 0, bound, upper=True)
        kept = design.bounded(Rate.SPECIFICITY, 0, 1 - bound, upper=False)
        assert (kept.trials, kept.successes) == (rate.trials, rate.trials - rate.successes)
        assert kept.p_value() == rate.p_value()
