"""What a rule of several bounds promises is tested at a part of the level, which decides close cases."""

import json

import polars as pl
import pytest
from scipy.stats import binom

FLAGGED, OTHERS = 300, 400


@pytest.fixture
def rule(uqcli, tmp_path):
    """Return a function from options to the file of a rule that flags a score of 1 and not of 0."""
    scores = [0.2] * 300 + [0.9] * 300
    labels = [i % 10 == 0 for i in range(300)] + [i % 10 < 8 for i in range(300)]
    pl.DataFrame({"score": scores, "label": labels}).write_csv(tmp_path / "fit.csv")

    def fit(*options):
        outcome = uqcli("boundary", "fit.csv", *options, "--algorithm", "st", "-q", "-o", "rule.json")
        assert outcome.code == 0, outcome.err
        return "rule.json"

    return fit


def evaluated(uqcli, path, rule, right):
    """Evaluate flagged rows of which so many are positive; no other row is."""
    scores = [1.0] * FLAGGED + [0.0] * OTHERS
    labels = [i < right for i in range(FLAGGED)] + [False] * OTHERS
    pl.DataFrame({"score": scores, "label": labels}).write_csv(path / "test.csv")
    outcome = uqcli("evaluate", "test.csv", rule, "--json")
    return json.loads(outcome.out)["metrics"]["promise_broken"]


def last_with_tail_at_most(level, bound):
    """Return the most positives that reject; it is another for one, two and three parts of the level."""
    return max(k for k in range(FLAGGED) if binom.cdf(k, FLAGGED, bound) <= level)


@pytest.mark.parametrize(
    ("options", "promises"), [(["--precision", "0.6"], 1), (["--precision", "0.6", "--recall", "0.3"], 2)]
)
def test_a_certificate_is_tested_at_the_level_divided_by_its_promises(
    uqcli, tmp_path, rule, options, promises
):
    path = rule(*options, "--certify", "0.1")
    most = last_with_tail_at_most(0.05 / promises, 0.6)
    assert evaluated(uqcli, tmp_path, path, most) == 1
    assert evaluated(uqcli, tmp_path, path, most + 1) == 0


@pytest.mark.parametrize(
    ("options", "bounds"),
    [
        (["--precision", "0.6", "--recall", "0.3"], 2),
        (["--precision", "0.6", "--recall", "0.3", "--max-fpr", "0.3"], 3),
    ],
)
def test_of_three_bounds_each_has_a_third_of_the_error_of_both_sides(uqcli, tmp_path, rule, options, bounds):
    path = rule(*options)
    most = last_with_tail_at_most(0.05 / bounds, 0.6)
    assert most != last_with_tail_at_most(0.05 / (bounds - 1), 0.6)
    assert evaluated(uqcli, tmp_path, path, most) == 1
    assert evaluated(uqcli, tmp_path, path, most + 1) == 0
