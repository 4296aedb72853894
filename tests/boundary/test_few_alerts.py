"""Tests that rates of few flagged rows are told as counts, and that one rule expects one thing."""

import re
from dataclasses import astuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uqcli.boundary.expected import Expected, agreed
from uqcli.boundary.rule_words import Holes, answer
from uqcli.estimates.confusion import Confusion
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate
from uqcli.estimates.proportion import clopper_pearson


@given(flagged=st.integers(1, 60), right=st.integers(0, 60), rest=st.integers(0, 100))
def test_a_rate_of_few_flagged_rows_is_a_count_with_its_range(flagged, right, rest):
    right = min(right, flagged)
    fit = Confusion(rows=500, positives=right + rest + 1, selected=flagged, true_positives=right)
    sentence = answer(fit, Holes(flagged=(fit.selected, fit.rows)))
    is_count = f": {right} of {flagged} right (95 % interval " in sentence
    assert is_count == (flagged < FEWEST_FLAGGED)
    assert ("of them are positive" in sentence) == (not is_count)
    if is_count:
        low, high = clopper_pearson(right, flagged, 0.95)
        shown = re.search(r"interval ([\d.]+) to ([\d.]+) %", sentence).groups()
        assert float(shown[0]) == pytest.approx(100 * low, abs=0.51)
        assert float(shown[1]) == pytest.approx(100 * high, abs=0.51)
    assert "interval" not in answer(fit, Holes(flagged=(fit.selected, fit.rows)), independent=False)


def estimates():
    ends = st.tuples(st.floats(0, 1), st.floats(0.001, 0.3), st.floats(0.001, 0.3))
    return ends.map(lambda e: Estimate(value=e[0], low=e[0] - e[1], high=e[0] + e[2]))


@settings(max_examples=300)
@given(st.lists(st.tuples(st.none() | st.tuples(estimates(), estimates()), st.integers(0, 2)), max_size=6))
def test_equal_rules_expect_the_same_up_to_a_fifth_of_half_a_range(targets):
    expected = [None if pair is None else Expected(precision=pair[0], recall=pair[1]) for pair, _ in targets]
    rules = [rule for _, rule in targets]
    shown = agreed(expected, rules)
    assert [one is None for one in shown] == [one is None for one in expected]
    for rule in set(rules):
        alike = [one for one, other in zip(shown, rules, strict=True) if other == rule and one is not None]
        of_rule = [
            one for one, other in zip(expected, rules, strict=True) if other == rule and one is not None
        ]
        for name in ("precision", "recall"):
            values = [getattr(one, name).value for one in alike]
            ranges = [getattr(one, name) for one in alike]
            half = max((one.high - one.low for one in ranges), default=0.0) / 2
            assert not values or max(values) - min(values) <= 0.2 * half + 1e-12
            assert {astuple(one)[:3] for one in ranges} <= {
                astuple(getattr(one, name))[:3] for one in of_rule
            }
