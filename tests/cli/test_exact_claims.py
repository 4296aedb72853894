"""What a rule of several bounds promises is tested at a part of the level, which decides close cases."""

import json
import re

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


def test_rows_are_counted_once_whatever_they_weigh_and_however_alike(uqcli, tmp_path, rule):
    path = rule("--precision", "0.6")
    day = pl.DataFrame({"score": [1.0] * 30 + [0.0] * 10, "label": [True] * 25 + [False] * 15, "day": 1})
    weighed = day.with_columns(w=3, customer=pl.lit("a"))
    weighed.write_csv(tmp_path / "new.csv")
    for options in (["--weight", "w"], ["--cluster", "customer"], []):
        line = ("watch", path, "new.csv", "--day", "day", *options, "--state", "state.json", "-q")
        assert uqcli(*line).code == 0
        state = json.loads((tmp_path / "state.json").read_text())
        assert state["batches"][0]["rows"] == 40
        (tmp_path / "state.json").unlink()


def test_customers_needed_for_a_certificate_include_those_of_the_pilot(uqcli, tmp_path):
    """At a risk just below the p-value of the test, little more than the customers there are is enough."""
    customer = [i // 2 for i in range(600)]
    label = [(i // 2) % 10 < 7 for i in range(600)]
    frame = pl.DataFrame({"score": [0.9] * 600, "label": label, "customer": customer})
    low = pl.DataFrame({"score": [0.1] * 600, "label": [False] * 600, "customer": customer})
    pl.concat([frame, low]).write_csv(tmp_path / "fit.csv")
    line = ("boundary", "fit.csv", "--precision", "0.65", "--cluster", "customer", "-o", "r.json")
    outcome = uqcli(*line, "--certify", "0.043")
    assert outcome.code == 4
    assert "p = 0.044 on the clusters kept aside" in outcome.err
    needed = re.search(r"use about ([\d,]+) labelled clusters", outcome.err).group(1)
    assert 300 <= int(needed.replace(",", "")) <= 330
