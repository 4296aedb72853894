"""Cautions appear from their threshold on, and not before it."""

import json

import numpy as np
import polars as pl
import pytest

from uqcli.estimates.proportion import flagged_interval
from uqcli.rules.codec import digest_of

ROWS, NEW = 400, 1000
LARGEST = 0.9


@pytest.fixture
def rule(uqcli, tmp_path):
    """Fit a rule by the score alone, on scores of at most ``LARGEST``."""
    random = np.random.default_rng(3)
    score = (random.random(ROWS) * LARGEST).round(3)
    score[0] = LARGEST
    label = random.random(ROWS) < score
    pl.DataFrame({"score": score, "label": label}).write_csv("fit.csv")
    assert uqcli("boundary", "fit.csv", "--precision", "0.6", "-q", "-o", "rule.json").code == 0
    return "rule.json"


@pytest.mark.parametrize("beyond", [0, 1])
def test_rows_outside_the_calibration_range_are_a_caution_beyond_chance(uqcli, rule, beyond):
    # the range of one number leaves out its two ends, and one row of them may be seen again by chance
    most = flagged_interval(1, ROWS, NEW, 0.999)[1]
    outside = most + beyond
    score = np.full(NEW, 0.5)
    score[:outside] = LARGEST + 0.05
    pl.DataFrame({"score": score}).write_csv("new.csv")
    outcome = uqcli("apply", rule, "new.csv", "-o", "out.csv", "--json")
    report = outcome.json
    said = [*report.get("cautions", ()), *report.get("notes", ())]
    cautions = [text for text in said if "outside the range" in text]
    assert outside > NEW / 100  # so that the share alone would be enough
    assert bool(cautions) == bool(beyond)


def test_a_review_above_the_flagged_rows_is_refused(uqcli, rule, tmp_path):
    line = ("boundary", "fit.csv", "--precision", "0.6", "--review", "10%", "-q", "-o", "zones.json")
    assert uqcli(*line).code == 0
    content = json.loads((tmp_path / "zones.json").read_text())
    for step, code in ((0.0, 0), (0.001, 5)):
        content["review_thresholds"][0] = content["thresholds"][0] + step
        content["digest"] = digest_of({key: value for key, value in content.items() if key != "digest"})
        (tmp_path / "changed.json").write_text(json.dumps(content))
        outcome = uqcli("apply", "changed.json", "fit.csv", "-q", "-o", "out.csv")
        assert outcome.code == code, outcome.err


@pytest.mark.parametrize("unflagged", [99, 100])
def test_weighted_rows_show_recall_from_a_hundred_rows_on_that_are_not_flagged(
    uqcli, rule, tmp_path, unflagged
):
    threshold = json.loads((tmp_path / rule).read_text())["thresholds"][0]
    flagged, random = 300, np.random.default_rng(4)
    score = np.append(np.full(flagged, threshold), np.full(unflagged, 0.01))
    label = np.append(random.random(flagged) < 0.7, np.arange(unflagged) < 12).astype(int)
    weight = np.append(np.ones(flagged), np.full(unflagged, 5.0))
    pl.DataFrame({"score": score, "label": label, "drawn": weight}).write_csv("new.csv")
    outcome = uqcli("evaluate", rule, "new.csv", "--sampling-weight", "drawn", "--json")
    recall = outcome.json["metrics"]["recall"]
    assert (recall["low"] is None) == (unflagged < 100)
