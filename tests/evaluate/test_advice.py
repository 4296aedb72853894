"""Tests of the advice between two calibrators: it follows from the intervals of their differences."""

import pytest

from uqcli.comparison.report import Comparison, verdict
from uqcli.estimates.estimate import Estimate
from uqcli.evaluate.calibrators import CalibratorDifference

LOWER = Estimate(value=-0.02, low=-0.03, high=-0.01)
HIGHER = Estimate(value=0.02, low=0.01, high=0.03)
NOT_SIGNIFICANT = Estimate(value=0.01, low=-0.01, high=0.03)
NO_INTERVAL = Estimate(value=0.01, low=None, high=None)


def advice(log_loss, brier, *, paired=True, resampled=True):
    compared = Comparison(before={}, after={}, difference={"log_loss": log_loss, "brier": brier})
    difference = CalibratorDifference(names="ab", compared=compared, paired=paired, resampled=resampled)
    return difference.advice()


@pytest.mark.parametrize(
    ("log_loss", "brier", "expected"),
    [
        (LOWER, LOWER, "Use b: it has the lower log loss and Brier score (significant)."),
        (HIGHER, NOT_SIGNIFICANT, "Use a: it has the lower log loss (significant)."),
        (NO_INTERVAL, LOWER, "Use b: it has the lower Brier score (significant)."),
        (NOT_SIGNIFICANT, NO_INTERVAL, "The two do not differ significantly"),
        (HIGHER, LOWER, "a has the lower log loss, b has the lower Brier score;"),
    ],
    ids=["both lower", "one lower", "one without interval", "neither lower", "contradictory"],
)
def test_advice_follows_from_the_intervals(log_loss, brier, expected):
    (sentence,) = advice(log_loss, brier)
    assert sentence.startswith(expected)


@pytest.mark.parametrize("missing", ["paired", "resampled"])
def test_there_is_no_advice_without_intervals(missing):
    assert advice(LOWER, LOWER, **{missing: False}) == []


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [(0.49281, 0.49289, "rises from 0.4928 to 0.4929"), (0.5011, 0.4, "falls from 0.501 to 0.400")],
)
def test_a_change_is_stated_with_the_digits_that_show_it(before, after, change):
    compared = Comparison(
        before={"log_loss": before},
        after={"log_loss": after},
        difference={"log_loss": after - before, "brier": 0.0},
    )
    assert f"the log loss {change};" in verdict(compared)
