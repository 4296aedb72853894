"""Tests of ``uqcli calibrate --proba``: class probabilities before and after calibration."""

import json

import numpy as np
import polars as pl
import pytest

from tests.methods.calibrate.test_classes import draw_rows

NAMES = ("cat", "dog", "emu")


@pytest.fixture
def rows(tmp_path):
    probability, label, weight = draw_rows(11, 3000, 3, power=2.0)
    frame = pl.DataFrame(
        {
            **{f"p_{name}": probability[:, index] for index, name in enumerate(NAMES)},
            "label": np.array(NAMES)[label],
            "weight": weight,
        }
    )
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    frame[::-1].write_parquet(tmp_path / "turned.parquet")
    return tmp_path


def calibrate(uqcli, rows, name, *options):
    return uqcli("calibrate", rows / name, "--proba", "p_*", *options)


def test_underconfident_class_probabilities_are_sharpened(uqcli, rows):
    outcome = calibrate(uqcli, rows, "rows.csv", "--json", "-o", rows / "c.json")
    metrics, content = outcome.json["metrics"], json.loads((rows / "c.json").read_text())
    assert (outcome.code, content["method"], content["classes"]) == (0, "temperature", list(NAMES))
    assert content["calibration"]["slope"] == pytest.approx(2, rel=0.1)
    assert metrics["difference"]["brier"]["high"] < 0
    assert set(metrics["after"]) == {"log_loss", "brier", "ece", "ace", "tce"}
    assert any("helped" in note for note in outcome.json["notes"])


def test_format_and_order_of_rows_change_no_byte(uqcli, rows):
    contents = []
    for name in ("rows.csv", "rows.parquet", "turned.parquet"):
        assert calibrate(uqcli, rows, name, "--weight", "weight", "-q", "-o", rows / "c.json").code == 0
        contents.append((rows / "c.json").read_bytes())
    assert contents[0] == contents[1] == contents[2]


def test_apply_adds_a_column_per_class_and_evaluate_measures_it(uqcli, rows):
    assert calibrate(uqcli, rows, "rows.csv", "-q", "-o", rows / "c.json").code == 0
    assert uqcli("apply", rows / "c.json", rows / "rows.csv", "-q", "-o", rows / "out.parquet").code == 0
    out = pl.read_parquet(rows / "out.parquet")
    added = out.select(f"calibrated_{name}" for name in NAMES).to_numpy()
    assert added.sum(axis=1) == pytest.approx(1)
    outcome = uqcli("evaluate", rows / "c.json", rows / "rows.csv", "--json")
    label_probability = added[np.arange(len(out)), [NAMES.index(name) for name in out["label"]]]
    assert outcome.json["metrics"]["after"]["log_loss"] == pytest.approx(-np.log(label_probability).mean())
    renamed = out.rename({f"p_{name}": f"q_{name}" for name in NAMES})
    renamed.write_parquet(rows / "renamed.parquet")
    line = ("--proba", "q_*", "--json")
    assert uqcli("evaluate", rows / "c.json", rows / "renamed.parquet", *line).code == 0


def test_two_calibrators_of_classes_are_compared_on_the_same_rows(uqcli, rows):
    for name, options in (("a", ()), ("b", ("--weight", "weight"))):
        assert calibrate(uqcli, rows, "rows.csv", *options, "-q", "-o", rows / f"{name}.json").code == 0
    outcome = uqcli("evaluate", rows / "a.json", rows / "b.json", rows / "rows.csv", "--json", "--no-weight")
    assert outcome.code == 0
    assert set(outcome.json["metrics"]["difference"]) >= {"log_loss", "brier"}


def test_class_weights_correct_the_probabilities(uqcli, rows):
    prior = ("--estimator", "known", "--prior", "0.2,0.3,0.5")
    shift = ("shift", rows / "rows.csv", "--proba", "p_*", *prior, "-q", "-o", rows / "shift.json")
    assert uqcli(*shift).code == 0
    assert calibrate(uqcli, rows, "rows.csv", "-q", "-o", rows / "c.json").code == 0
    options = ("--shift", rows / "shift.json", "-q", "-o", rows / "s.json")
    assert calibrate(uqcli, rows, "rows.csv", *options).code == 0
    weights = json.loads((rows / "shift.json").read_text())["weights"]
    probabilities = []
    for name in ("c", "s"):
        output = rows / f"{name}.parquet"
        assert uqcli("apply", rows / f"{name}.json", rows / "rows.csv", "-q", "-o", output).code == 0
        probabilities.append(
            pl.read_parquet(output).select(f"calibrated_{class_name}" for class_name in NAMES).to_numpy()
        )
    expected = probabilities[0] * weights
    assert probabilities[1] == pytest.approx(expected / expected.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "isotonic"), "class probabilities with method isotonic"),
        (("--method", "all"), "--proba with --method all"),
        (("--logit",), "--logit or --undersampled beside --proba"),
        (("--undersampled", "3"), "--logit or --undersampled beside --proba"),
        (("--positive", "cat"), "--positive"),
        (("--score", "p_cat"), "--score"),
    ],
)
def test_options_of_binary_scores_are_refused(uqcli, rows, options, message):
    outcome = calibrate(uqcli, rows, "rows.csv", *options)
    assert outcome.code == 2
    assert message in outcome.err


def test_contradictory_rule_files_are_refused(uqcli, rows):
    assert calibrate(uqcli, rows, "rows.csv", "-q", "-o", rows / "c.json").code == 0
    content = json.loads((rows / "c.json").read_text())
    for change in (
        {"classes": ["cat", "dog"], "weights": [1, 1, 1]},
        {"classes": ["cat", "cat", "emu"]},
        {"calibration": {"map": "logistic", "intercept": 0.0, "slope": 1.0}},
        {"calibration": {"map": "class-temperature", "slope": -1.0}},
    ):
        broken = {name: value for name, value in (content | change).items() if name != "digest"}
        (rows / "broken.json").write_text(json.dumps(broken))
        assert uqcli("apply", rows / "broken.json", rows / "rows.csv", "-o", rows / "o.csv").code == 5


def test_the_test_set_is_read_by_the_same_columns(uqcli, rows):
    frame = pl.read_parquet(rows / "rows.parquet")
    frame.select(*reversed(frame.columns), p_fox=pl.lit(0.0)).write_parquet(rows / "more.parquet")
    first = calibrate(uqcli, rows, "rows.csv", "--test", rows / "rows.parquet", "--json")
    second = calibrate(uqcli, rows, "rows.csv", "--test", rows / "more.parquet", "--json")
    assert (first.code, second.json["metrics"]) == (0, first.json["metrics"])
    frame.drop("p_emu").write_parquet(rows / "fewer.parquet")
    missing = calibrate(uqcli, rows, "rows.csv", "--test", rows / "fewer.parquet")
    assert missing.code == 3
    assert "no column 'p_emu'" in missing.err
