"""Tests of ``watch`` on rows without labels, whose scores depend on each other by day."""

import json

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from tests.oracles.drift import drift_between_days

FIT = ("--precision", "0.6", "--algorithm", "st", "-q", "-o", "rule.json")


def rows(seed, days, start, move=0.0):
    random = np.random.default_rng(seed)
    day = np.repeat(np.arange(days), 80)
    values = random.normal(size=len(day)) + 0.7 * random.normal(size=days)[day] + move
    score = expit(1.5 * values - 1).round(3)
    label = (random.random(len(day)) < score).astype(int)
    texts = (np.datetime64(start) + day).astype(str)
    return pl.DataFrame({"score": score, "label": label, "day": texts})


@pytest.fixture
def files(tmp_path):
    rows(1, 40, "2026-01-01").write_csv(tmp_path / "fit.csv")
    rows(8, 30, "2026-04-01").drop("label").write_csv(tmp_path / "new.csv")
    rows(3, 30, "2026-06-01", 1.0).drop("label").write_csv(tmp_path / "moved.csv")
    return tmp_path


def by_cell(path, edges):
    frame = pl.read_csv(path)
    cell = np.searchsorted(edges, frame["score"], side="right") // 2
    _, day = np.unique(frame["day"], return_inverse=True)
    table = np.zeros((day.max() + 1, 5), dtype=int)
    np.add.at(table, (day, cell), 1)
    return table


def test_scores_of_days_are_compared_by_the_covariance_between_days(uqcli, files, few_draws):
    assert uqcli("boundary", "fit.csv", *FIT, "--cluster", "day").code == 0
    reference = json.loads((files / "rule.json").read_text())["reference"]
    assert reference["between"]["units"] == 40
    old = by_cell(files / "fit.csv", reference["score_edges"][0])
    for name, is_like in (("new.csv", True), ("moved.csv", False)):
        by_rows = uqcli("watch", "rule.json", name, "--json").json
        assert by_rows["metrics"]["drift_p"] < 1e-3  # rows of a day are not independent
        assert any(
            "take rows as independent. Rows of one day seldom are" in note for note in by_rows["notes"]
        )
        found = uqcli("watch", "rule.json", name, "--day", "day", "--json").json
        expected = drift_between_days(old, by_cell(files / name, reference["score_edges"][0]))
        assert found["metrics"]["drift_p"] == pytest.approx(expected, rel=1e-9)
        assert (expected > 0.01) == is_like
        flagged = found["metrics"]["flagged"]
        assert (flagged["low"], flagged["high"]) == (None, None)
        assert flagged["value"] == by_rows["metrics"]["flagged"]["value"]
        assert not any("does not explain" in note for note in found["notes"])
        assert found["parameters"]["day"] == "day"
    text = " ".join(uqcli("watch", "rule.json", "new.csv", "--day", "day").out.decode().split())
    assert "only labels show the precision" in text


def test_a_rule_that_knows_no_days_has_no_test_by_days(uqcli, files, few_draws):
    assert uqcli("boundary", "fit.csv", *FIT).code == 0
    line = ("watch", "rule.json", "new.csv", "--day", "day")
    found = uqcli(*line, "--json").json
    assert found["metrics"]["drift_p"] is None
    assert any("vary between days is unknown; fit it with --day day" in note for note in found["notes"])
    assert "Drift of the scores is not tested" in " ".join(uqcli(*line).out.decode().split())
    assert uqcli(*line, "--fail-if", "drift_p < 0.01").code == 6


def test_few_days_and_columns_that_are_no_days_have_no_test(uqcli, files, few_draws):
    assert uqcli("boundary", "fit.csv", *FIT, "--cluster", "day").code == 0
    rows(4, 6, "2026-04-01").drop("label").write_csv(files / "week.csv")
    found = uqcli("watch", "rule.json", "week.csv", "--day", "day", "--json").json
    assert found["metrics"]["drift_p"] is None
    assert any("6 days or clusters of" in note for note in found["notes"])
    assert "--day" in uqcli("watch", "rule.json", "week.csv", "--day", "date").err
    hours = pl.read_csv(files / "new.csv")
    times = [f"{day} {index % 24:02d}:00" for index, day in enumerate(hours["day"])]
    hours.with_columns(day=pl.Series(times)).write_csv(files / "hours.csv")
    found = uqcli("watch", "rule.json", "hours.csv", "--day", "day", "--json").json
    assert any("texts on 30 days, while its clusters are texts" in note for note in found["notes"])


def test_orders_and_uncertainty_bins_give_the_same_bytes(uqcli, files, few_draws):
    frame = pl.read_csv(files / "fit.csv").with_columns(uncertainty=pl.col("score") * 7 % 1)
    new = pl.read_csv(files / "new.csv").with_columns(uncertainty=pl.col("score") * 5 % 1)
    frame.write_csv(files / "fit.csv")
    new.write_csv(files / "new.csv")
    fit = ("--precision", "0.6", "--uncertainty-bins", "4", "--cluster", "day", "-q")
    assert uqcli("boundary", "fit.csv", *fit, "-o", "rule.json").code == 0
    covariance = json.loads((files / "rule.json").read_text())["reference"]["between"]["covariance"]
    assert np.array(covariance).shape == (6, 6)
    frame.sample(fraction=1, shuffle=True, seed=1).write_parquet(files / "fit.parquet")
    assert uqcli("boundary", "fit.parquet", *fit, "-o", "other.json").code == 0
    assert (files / "other.json").read_bytes() == (files / "rule.json").read_bytes()
    new.sample(fraction=1, shuffle=True, seed=1).write_parquet(files / "new.parquet")
    outputs = {
        uqcli("watch", "rule.json", f"new.{form}", "--day", "day", "--json").out
        for form in ("csv", "parquet")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize("change", [{"units": 1}, {"covariance": [[0.0]]}, {"covariance": [[0.1] * 5] * 4}])
def test_a_reference_that_contradicts_itself_is_refused(uqcli, files, few_draws, change):
    assert uqcli("boundary", "fit.csv", *FIT, "--cluster", "day").code == 0
    saved = json.loads((files / "rule.json").read_text())
    saved["reference"]["between"] |= change
    del saved["digest"]
    (files / "rule.json").write_text(json.dumps(saved))
    assert uqcli("show", "rule.json").code == 5
