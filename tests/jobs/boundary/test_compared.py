"""Whether columns of uncertainty pay: neither order nor writing out of rows has a say, several are ranked."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import uqcli
from uqcli.document import Estimate
from uqcli.jobs.boundary.compared import ranked
from uqcli.methods.boundary.ranking.permutation import Gain


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


def test_rows_are_compared_alike_in_any_order_and_written_out(frame):
    out = frame.select(pl.exclude("w").repeat_by("w").explode())
    found = []
    for each in (frame, frame.sample(fraction=1, shuffle=True, seed=1), out):
        columns = {"weight": each["w"]} if "w" in each.columns else {}
        given = {"uncertainty": each["uncertainty"], "precision": "0.6", "compare": True, **columns}
        found.append(uqcli.find_boundary(each["score"], each["label"], **given).compared)
    assert found[0] == found[1] == found[2]


def gain(value, p_value, half=0.01):
    estimate = Estimate(value=value, low=value - half, high=value + half)
    below = 1.01 - p_value  # of 99 placebos that all differ from the rows
    return Gain(equal_alerts=estimate, at_bound=estimate, placebo=0.0, p_value=p_value, p_hurts=below)


def test_columns_are_ranked_and_judged_together():
    gains = {"none": None, "worst": gain(-0.02, 1.0), "best": gain(0.03, 0.001), "middle": gain(0.02, 0.04)}
    found = ranked(gains)
    assert [each.uncertainty for each in found] == ["best", "middle", "none", "worst"]
    assert [each.verdict for each in found] == ["helps", "no evidence", "no evidence", "hurts"]
    assert [each.p_value for each in found] == [pytest.approx(0.003), pytest.approx(0.08), None, 1.0]
    assert [each.verdict for each in ranked({name: gains[name] for name in ("best", "middle")})] == [
        "helps"
    ] * 2


def test_a_gain_that_nobody_would_notice_is_no_verdict():
    (only,) = ranked({"u": gain(0.004, 0.01)})
    assert only.verdict == "no evidence"
    said = only.sentence()
    assert said.startswith("No evidence that 'u' helps")
    assert said.endswith("A change of less than 0.5 points does not count.")


@pytest.mark.parametrize("value", [0.02, -0.02])
def test_a_verdict_needs_an_interval_without_0(value):
    for half, verdict in ((0.019, {True: "helps", False: "hurts"}[value > 0]), (0.021, "no evidence")):
        (only,) = ranked({"u": gain(value, 0.01 if value > 0 else 1.0, half)})
        assert only.verdict == verdict
    assert "The interval contains 0." in only.sentence()


def test_a_verdict_in_money_needs_an_interval_of_money_without_0():
    found = gain(0.02, 0.01, 0.01)
    for low, verdict in ((5.0, "helps"), (-5.0, "no evidence")):
        value = Estimate(value=20.0, low=low, high=45.0)
        (only,) = ranked({"u": replace(found, value=value, value_equal_alerts=value)})
        assert only.verdict == verdict


def test_placebos_that_tie_with_the_rows_count_on_both_sides():
    tied = Gain(
        equal_alerts=Estimate(value=-0.02, low=-0.03, high=-0.01),
        at_bound=Estimate(value=-0.02, low=-0.03, high=-0.01),
        placebo=0.0,
        p_value=0.98,
        p_hurts=0.06,
    )
    (only,) = ranked({"u": tied})
    assert (only.p_hurts, only.verdict) == (0.06, "no evidence")
