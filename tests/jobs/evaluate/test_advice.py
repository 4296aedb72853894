"""Which of two calibrators is advised follows from the intervals of what tells them apart."""

import pytest

from uqcli.document import Estimate
from uqcli.reports.comparison import Comparison
from uqcli.reports.evaluate.difference import CalibratorDifference

LOWER = Estimate(value=-0.02, low=-0.03, high=-0.01)
HIGHER = Estimate(value=0.02, low=0.01, high=0.03)
OPEN = Estimate(value=0.01, low=-0.01, high=0.03)
NONE = Estimate(value=0.01, low=None, high=None)


def advice(log_loss, brier, *, paired=True, resampled=True):
    compared = Comparison(before={}, after={}, difference={"log_loss": log_loss, "brier": brier})
    return CalibratorDifference(compared=compared, paired=paired, resampled=resampled).advice(["a", "b"])


@pytest.mark.parametrize(
    ("log_loss", "brier", "said"),
    [
        (LOWER, LOWER, "Use b: its log loss and Brier score are lower by more than chance explains."),
        (HIGHER, OPEN, "Use a: its log loss is lower by more than chance explains; the Brier score does not"),
        (NONE, LOWER, "Use b: its Brier score is lower by more than chance explains; the log loss does not"),
        (OPEN, NONE, "Nothing here tells the two apart"),
        (HIGHER, LOWER, "a by the log loss, b by the Brier score, each by more than chance explains"),
    ],
    ids=["both", "one", "one without interval", "neither", "against each other"],
)
def test_advice_follows_from_the_intervals(log_loss, brier, said):
    (sentence,) = advice(log_loss, brier)
    assert sentence.startswith(said)


@pytest.mark.parametrize("missing", ["paired", "resampled"])
def test_nothing_is_advised_without_intervals(missing):
    assert advice(LOWER, LOWER, **{missing: False}) == []
