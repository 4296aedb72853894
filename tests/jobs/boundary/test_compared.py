"""Whether columns of uncertainty pay: neither order nor writing out of rows has a say, several are ranked."""

import numpy as np
import polars as pl
import pytest

from uqcli.document import Estimate
from uqcli.jobs.boundary.compared import ordered_rows, ranked
from uqcli.methods.boundary.ranking.placebo import Gain
from uqcli.rows import Rows


def rows_of(frame):
    numbers = {name: frame[name].to_numpy() for name in ("score", "uncertainty")}
    weight = frame["w"].to_numpy() if "w" in frame.columns else None
    return Rows(numbers=numbers, positive=frame["label"].to_numpy(), weight=weight).pooled()


def frame_of(size=500):
    random = np.random.default_rng(4)
    score = random.random(size).round(2)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.integers(0, 9, size).astype(float),
            "label": random.random(size) < score,
            "w": random.integers(1, 4, size),
        }
    )


def test_rows_are_the_same_in_any_order_and_written_out():
    frame = frame_of()
    out = frame.select(pl.exclude("w").repeat_by("w").explode())
    found = [
        ordered_rows(rows_of(each), 0)
        for each in (frame, frame.sample(fraction=1, shuffle=True, seed=1), out)
    ]
    for rows, table in found[1:]:
        assert table == found[0][1]
        for name in ("first", "positive", "fold", "level"):
            assert (getattr(rows, name) == getattr(found[0][0], name)).all()
    other, _ = ordered_rows(rows_of(frame), 1)
    assert (other.fold != found[0][0].fold).any()
    assert np.bincount(other.fold).max() - np.bincount(other.fold).min() <= 1


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
    said = only.sentence("the bound", "Use one threshold.")
    assert said.startswith("No evidence that uncertainty 'u' helps")
    assert said.endswith("Less than 0.5 points beyond placebos count as none. Use one threshold.")


@pytest.mark.parametrize("value", [0.02, -0.02])
def test_a_verdict_needs_an_interval_without_0(value):
    for half, verdict in ((0.019, {True: "helps", False: "hurts"}[value > 0]), (0.021, "no evidence")):
        (only,) = ranked({"u": gain(value, 0.01 if value > 0 else 1.0, half)})
        assert only.verdict == verdict
    assert "the interval of the gain holds 0" in only.sentence("the bound", "")


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
