"""Tests of the comparison of uncertainty columns: the permutation test, its verdicts and the ranking."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import uqcli
from uqcli.boundary.candidates import rank_comparisons
from uqcli.boundary.permutation import Gain, UtilityGain
from uqcli.estimates.estimate import Estimate


@pytest.fixture
def frame():
    random = np.random.default_rng(4)
    score = random.random(800).round(2)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.integers(0, 9, 800).astype(float),
            "label": random.random(800) < score,
            "w": random.integers(1, 4, 800),
        }
    )


@pytest.mark.thorough
@pytest.mark.usefixtures("few_draws")
@pytest.mark.filterwarnings("ignore:most rows repeat")
def test_order_and_repetition_of_rows_do_not_change_the_comparison(frame):
    repeated = frame.select(pl.exclude("w").repeat_by("w").explode())
    comparisons = []
    for table in (frame, frame.sample(fraction=1, shuffle=True, seed=1), repeated):
        columns = {"weight": table["w"]} if "w" in table.columns else {}
        options = {"uncertainty": table["uncertainty"], "precision": "0.6", "compare": True, **columns}
        comparisons.append(uqcli.find_boundary(table["score"], table["label"], **options).compared)
    assert comparisons[0] == comparisons[1] == comparisons[2]


def gain(value, p_value, half_width=0.01):
    estimate = Estimate(value=value, low=value - half_width, high=value + half_width)
    p_hurts = 1.01 - p_value  # for 99 permutations, none of them with the gain of the rows
    return Gain(
        equal_alerts=estimate, at_bound=estimate, placebo=0.0, p_value=p_value, p_hurts=p_hurts, least_p=0.01
    )


def test_columns_are_ranked_with_adjusted_p_values():
    gains = {"none": None, "worst": gain(-0.02, 1.0), "best": gain(0.03, 0.001), "middle": gain(0.02, 0.04)}
    results = rank_comparisons(gains)
    assert [result.uncertainty for result in results] == ["best", "middle", "none", "worst"]
    assert [result.verdict for result in results] == ["helps", "no evidence", "no evidence", "hurts"]
    p_values = [result.metrics["gain"]["p"] for result in results]
    assert p_values == [pytest.approx(0.003), pytest.approx(0.08), None, 1.0]
    assert [
        result.verdict for result in rank_comparisons({name: gains[name] for name in ("best", "middle")})
    ] == ["helps"] * 2


def test_a_negligible_gain_gives_no_verdict():
    (comparison,) = rank_comparisons({"u": gain(0.004, 0.01)})
    assert comparison.verdict == "no evidence"
    sentence = comparison.sentence()
    assert sentence.startswith("Does the uncertainty 'u' help? No evidence of it: ")
    assert sentence.endswith("below the 0.5 points that uqcli treats as worthwhile.")
    assert "p =" not in sentence


@pytest.mark.parametrize("value", [0.02, -0.02])
def test_a_verdict_needs_an_interval_without_0(value):
    for half_width, verdict in ((0.019, {True: "helps", False: "hurts"}[value > 0]), (0.021, "no evidence")):
        (comparison,) = rank_comparisons({"u": gain(value, 0.01 if value > 0 else 1.0, half_width)})
        assert comparison.verdict == verdict
    assert "The interval contains 0." in comparison.sentence()


def test_a_verdict_on_utility_needs_an_interval_of_utility_without_0():
    base = gain(0.02, 0.01, 0.01)
    for low, verdict in ((5.0, "helps"), (-5.0, "no evidence")):
        value = Estimate(value=20.0, low=low, high=45.0)
        (comparison,) = rank_comparisons(
            {"u": UtilityGain(**vars(base), value=value, value_equal_alerts=value)}
        )
        assert comparison.verdict == verdict


def test_permutations_that_tie_with_the_rows_count_on_both_sides():
    tied = Gain(
        equal_alerts=Estimate(value=-0.02, low=-0.03, high=-0.01),
        at_bound=Estimate(value=-0.02, low=-0.03, high=-0.01),
        placebo=0.0,
        p_value=0.98,
        p_hurts=0.06,
        least_p=0.02,
    )
    (comparison,) = rank_comparisons({"u": tied})
    assert (comparison.p_hurts, comparison.verdict) == (0.06, "no evidence")


@pytest.mark.parametrize(("p_value", "text"), [(0.01, "p <= 0.02"), (0.02, "p = 0.04")])
def test_the_least_p_value_that_permutations_allow_is_a_bound(p_value, text):
    estimate = Estimate(value=0.02, low=0.01, high=0.03)
    gain = Gain(
        equal_alerts=estimate, at_bound=estimate, placebo=0.0, p_value=p_value, p_hurts=0.9, least_p=0.01
    )
    other = replace(gain, p_value=0.5)
    comparison, _ = rank_comparisons({"u": gain, "v": other})
    assert f"; {text})" in comparison.sentence()
    assert comparison.cells[1] == text.removeprefix("p ").removeprefix("= ")
