"""Tests of ``uqcli watch`` on rows without labels: the precision and recall to expect, or why none."""

import json

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit


def rows(seed, positives, negatives):
    """Draw rows of each class; the laws of the scores given the class are fixed."""
    random = np.random.default_rng(seed)
    label = np.repeat([1, 0], [positives, negatives])
    score = np.concatenate([random.beta(4, 2, positives), random.beta(2, 4, negatives)]).round(3)
    frame = pl.DataFrame({"score": score, "uncertainty": random.random(len(score)).round(3), "label": label})
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


WATCH = ("watch", "rule.json")
EXPECT = ("--calibrator", "map.json", "--json")


def write_files():
    """Write a rule of one threshold, a calibrator, and new rows of the same law and of another prior."""
    rows(0, 2000, 4000).write_csv("fit.csv")
    for name, labelled in (("same", rows(1, 2000, 4000)), ("shifted", rows(2, 3000, 1500))):
        labelled.write_csv(f"{name}_labelled.csv")
        labelled.drop("label").write_csv(f"{name}.csv")
    fit("boundary fit.csv --precision 0.8 --algorithm st -o rule.json")
    fit("calibrate fit.csv -o map.json")
    fit("shift fit.csv --target shifted.csv -o shift.json")


@pytest.fixture
def files(prepared):
    prepared(write_files)


@pytest.mark.thorough
def test_labels_later_show_what_was_expected(uqcli, files):
    for name, options in (("same", ()), ("shifted", ("--shift", "shift.json"))):
        expected = uqcli(*WATCH, f"{name}.csv", *EXPECT, *options).json["metrics"]
        shown = uqcli("evaluate", "rule.json", f"{name}_labelled.csv", "--json").json["metrics"]
        for metric in ("precision", "recall"):
            found = expected[f"expected_{metric}"]
            assert found["low"] < shown[metric]["value"] < found["high"]
            assert found["high"] - found["low"] < 0.1
    unshifted = uqcli(*WATCH, "shifted.csv", *EXPECT).json["metrics"]["expected_precision"]
    assert unshifted["high"] < shown["precision"]["value"]


def test_the_report_states_both(uqcli, files):
    out = uqcli(*WATCH, "same.csv", *EXPECT[:2]).out
    assert b"precision to expect  8" in out
    assert b"recall to expect     6" in out


def test_without_a_calibrator_nothing_is_expected(uqcli, files):
    assert "expected_precision" not in uqcli(*WATCH, "same.csv", "--json").json["metrics"]


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize(
    "options", [("--uncertainty-bins", "3"), ("--by", "group", "--uncertainty-bins", "1")]
)
def test_a_rule_that_decides_by_more_than_the_score_expects_nothing(uqcli, files, tmp_path, options):
    for name in ("fit", "same"):
        frame = pl.read_csv(tmp_path / f"{name}.csv")
        group = (frame["uncertainty"] < 0.5).cast(pl.String)
        frame.with_columns(group.alias("group")).write_csv(tmp_path / f"{name}.csv")
    assert uqcli("boundary", "fit.csv", "--precision", "0.8", *options, "-q", "-o", "rule.json").code == 0
    report = uqcli(*WATCH, "same.csv", *EXPECT).json
    assert report["metrics"]["expected_precision"] is None
    assert report["metrics"]["expected_recall"] is None
    assert "no precision can be expected: the rule decides by more than the score." in report["notes"]


def test_alerts_outside_the_scores_of_the_calibration_rows_expect_nothing(uqcli, files, tmp_path):
    frame = pl.read_csv(tmp_path / "same.csv")
    frame.with_columns(pl.col("score") * 1.2).write_csv(tmp_path / "same.csv")
    report = uqcli(*WATCH, "same.csv", *EXPECT).json
    assert report["metrics"]["expected_precision"] is None
    assert any("outside the scores of the calibration rows" in note for note in report["notes"])


def test_order_and_file_splits_do_not_matter(uqcli, files, tmp_path):
    whole = pl.read_csv(tmp_path / "same.csv")
    for number, part in enumerate(whole.sample(fraction=1.0, shuffle=True, seed=5).iter_slices(2500)):
        part.write_csv(tmp_path / f"part{number}.csv")
    first = uqcli(*WATCH, "same.csv", *EXPECT).json["metrics"]
    assert uqcli(*WATCH, "part2.csv", "part0.csv", "part1.csv", *EXPECT).json["metrics"] == first


@pytest.mark.covering("thorough", every=3, also=["options1-2---calibrator with labelled rows"])
@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("same.csv", "--shift", "shift.json"), 2, "--shift is given without --calibrator"),
        (("same_labelled.csv", "--calibrator", "map.json"), 2, "--calibrator with labelled rows"),
        (("same.csv", "--calibrator", "rule.json"), 5, "kind boundary"),
        (("same.csv", "--calibrator", "none.json"), 3, "none.json"),
        (("same.csv", "--calibrator", "map.json", "--shift", "map.json"), 5, "kind calibrator"),
    ],
)
def test_options_that_do_not_fit_are_refused(uqcli, files, options, code, message):
    outcome = uqcli(*WATCH, *options)
    assert (outcome.code, message in outcome.err) == (code, True)


def test_a_calibrator_without_counts_is_refused(uqcli, files, tmp_path):
    saved = json.loads((tmp_path / "map.json").read_text())
    del saved["calibration_counts"], saved["digest"]
    (tmp_path / "map.json").write_text(json.dumps({**saved, "uqcli_version": "0.1.0"}))
    outcome = uqcli(*WATCH, "same.csv", *EXPECT)
    assert (outcome.code, "has no calibration counts" in outcome.err) == (2, True)


@pytest.mark.thorough
def test_a_calibrator_of_another_score_is_refused(uqcli, files, tmp_path):
    text = (tmp_path / "fit.csv").read_text()
    (tmp_path / "fit.csv").write_text(text.replace("score,", "points,", 1))
    assert uqcli("calibrate", "fit.csv", "--score", "points", "-q", "-o", "map.json").code == 0
    outcome = uqcli(*WATCH, "same.csv", *EXPECT)
    assert (outcome.code, "was fitted on column 'points'" in outcome.err) == (2, True)


def test_predictions_of_classes_are_compared_too(uqcli, tmp_path):
    random = np.random.default_rng(0)
    proba = random.dirichlet([1, 1, 1], 3000)
    label = [random.choice(3, p=row) for row in proba]
    names = ("a", "b", "c")
    frame = pl.DataFrame({f"p_{name}": proba[:, index] for index, name in enumerate(names)})
    frame.with_columns(pl.Series("label", [names[index] for index in label])).write_csv(tmp_path / "fit.csv")
    frame.write_csv(tmp_path / "new.csv")
    rule = ("boundary", "fit.csv", "--proba", "p_*", "--precision", "0.8", "-q", "-o", "rule.json")
    assert uqcli(*rule).code == 0
    metrics = uqcli(*WATCH, "new.csv", "--json").json["metrics"]
    applied = uqcli("apply", "rule.json", "new.csv", "-q", "-o", "out.csv", "--report", "r.json")
    assert applied.code == 0
    share = json.loads((tmp_path / "r.json").read_text())["metrics"]["selected_share"]
    assert metrics["flagged"]["value"] == share
    assert metrics["drift_p"] == 1.0
