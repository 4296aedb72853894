"""Tests that no next step advises what the report found to hurt, and that a reversed score is said."""

import numpy as np
import polars as pl
import pytest

REVERSED = "low scores are more often positive than high ones"


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Write calibrated scores, overconfident ones for a test, and scores that rank the wrong way."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    score = random.beta(1, 3, 4000).round(4)
    label = (random.random(4000) < score).astype(int)
    pl.DataFrame({"score": score, "label": label}).write_csv("calibrated.csv")
    bent = (random.random(4000) < np.clip(score**0.3, 0, 1)).astype(int)
    pl.DataFrame({"score": score, "label": bent}).write_csv("bent.csv")
    pl.DataFrame({"score": (1 - score).round(4), "label": label}).write_csv("reversed.csv")


def test_scores_that_need_no_map_stay_as_they_are(uqcli, rows, tmp_path):
    found = uqcli("calibrate", "calibrated.csv", "-o", "map.json")
    first, *_, last = found.out.decode().splitlines()
    assert first.startswith("The scores stay as they are (method identity): ")
    assert last == "Wrote map.json."  # and no next step
    assert uqcli("apply", "map.json", "calibrated.csv", "-o", "out.csv").code == 0
    added = pl.read_csv(tmp_path / "out.csv")
    assert added["calibrated"].to_list() == added["score"].to_list()
    assert uqcli("calibrate", "bent.csv", "-o", "bent.json").out.decode().count("method identity") == 0
    assert uqcli("calibrate", "calibrated.csv", "--method", "identity", "--logit").code == 2
    everything = uqcli("calibrate", "calibrated.csv", "--method", "all").out.decode()
    assert "No map lowers the log loss" in everything.splitlines()[0]


def test_a_map_that_hurts_is_not_advised(uqcli, rows, tmp_path):
    """A map of bent scores hurts calibrated ones."""
    line = ("calibrate", "bent.csv", "--method", "platt", "--test", "calibrated.csv", "-o", "bad.json")
    shown = uqcli(*line, "--report", "page.html").out.decode()
    assert shown.startswith("Calibration hurt")
    assert "Next:" not in shown
    assert "uqcli apply" not in (tmp_path / "page.html").read_text()
    again = uqcli("evaluate", "bad.json", "calibrated.csv").out.decode()
    assert "harm" in again.splitlines()[0]
    assert "uqcli apply" not in again


@pytest.mark.parametrize(
    "line",
    [
        "overview {}",
        "boundary {}",
        "boundary {} --max-selected 20% --uncertainty-bins 1",
        "boundary {} --precision 0.8 --uncertainty-bins 1",
        "tce {}",
        "calibrate {} -o map.json",
    ],
)
def test_a_reversed_score_is_said_and_no_other(uqcli, rows, line):
    for name, is_reversed in (("reversed.csv", True), ("calibrated.csv", False)):
        outcome = uqcli(*line.format(name).split())
        shown = " ".join((outcome.out.decode() + outcome.err).lower().split())
        assert (REVERSED in shown) == is_reversed, shown
