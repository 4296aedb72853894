"""Tests of ``shift`` on new rows that are no label shift: nothing is promised from its weights."""

import json
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

import uqcli as library
from tests.oracles.drift import drift_between_days as between_days
from uqcli.shift.rule import ShiftArtifact, ShiftParameters


def rows(seed, size, prior, move=0.0, days=40):
    random = np.random.default_rng(seed)
    label = (random.random(size) < prior).astype(int)
    score = expit(1.2 * (random.normal(size=size) * (1 + move) + 1.5 * label + move) - 1.5)
    day = np.datetime64("2026-01-01") + random.integers(0, days, size)
    return pl.DataFrame(
        {"score": score, "label": label, "day": day.astype(str), "customer": np.arange(size) // 5}
    )


@pytest.fixture
def files(tmp_path):
    rows(1, 3000, 0.3).write_csv(tmp_path / "source.csv")
    rows(2, 3000, 0.6).write_csv(tmp_path / "new.csv")
    rows(3, 3000, 0.3, 0.7).write_csv(tmp_path / "moved.csv")
    rows(3, 3000, 0.3, 0.7).drop("label").write_csv(tmp_path / "unlabelled.csv")
    return tmp_path


def weights(uqcli, target, *options, output="shift.json"):
    found = uqcli("shift", "source.csv", "--target", target, *options, "-o", output, "--json")
    assert found.code == 0, found.err
    return found.json


ESTIMATORS = {
    "bbse": (),
    "soft": ("--confusion", "soft"),
    "known": ("--estimator", "known", "--prior", "0.5,0.5"),
    "em": ("--estimator", "em"),
}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_new_rows_that_are_no_mixture_are_a_caution_and_a_doubt(uqcli, files, estimator, few_draws):
    options = ESTIMATORS[estimator]
    fine = weights(uqcli, "new.csv", *options)
    assert fine["metrics"]["mixture_p"] > 0.01
    assert "doubts" not in json.loads((files / "shift.json").read_text())
    found = uqcli("shift", "source.csv", "--target", "moved.csv", *options, "-o", "shift.json", "--json")
    assert found.json["metrics"]["mixture_p"] < 1e-6
    assert any("not a mixture of the labelled classes" in note for note in found.json["notes"])
    if found.code == 0:  # EM may find a contradiction of its own
        saved = json.loads((files / "shift.json").read_text())
        assert saved["mixture_p"] == found.json["metrics"]["mixture_p"]
        assert any("not a mixture" in doubt for doubt in saved["doubts"])
        assert uqcli("show", "shift.json", "--json").json["mixture_p"] < 1e-6
    assert uqcli(
        "shift", "source.csv", "--target", "moved.csv", *options, "--fail-if", "mixture_p < 0.01"
    ).code in (4, 6)


def test_nothing_is_promised_from_weights_that_are_refuted(uqcli, files, few_draws):
    weights(uqcli, "moved.csv")
    fit = ("boundary", "source.csv", "--precision", "0.6", "--algorithm", "st", "-q")
    assert uqcli(*fit, "-o", "rule.json").code == 0
    assert uqcli("calibrate", "source.csv", "--method", "platt", "-q", "-o", "map.json").code == 0
    assert uqcli("conformal", "source.csv", "-q", "-o", "sets.json").code == 0
    shifted = ("--shift", "shift.json")

    made = uqcli(*fit[:-1], *shifted, "-o", "target.json", "--json")
    assert made.code == 0
    assert made.json["metrics"]["target_precision"] is None
    assert made.json["metrics"]["expected"] == {"precision": None, "recall": None}
    assert any(
        "the precision on the target data is unknown: the new rows are not a mixture" in note
        for note in made.json["notes"]
    )
    saved = json.loads((files / "target.json").read_text())
    assert saved["target"]["precision"] is None
    assert saved["expected"] is None
    assert any("not a mixture" in doubt for doubt in saved["doubts"])

    tested = uqcli("evaluate", "rule.json", "new.csv", *shifted, "--json")
    assert tested.json["metrics"]["target_precision"] == {"value": None, "low": None, "high": None}
    assert any(
        "on target data is not tested: the new rows are not a mixture" in note
        for note in tested.json["notes"]
    )

    sets = uqcli("evaluate", "sets.json", "new.csv", *shifted, "--json").json
    assert sets["metrics"]["target"]["coverage"]["value"] is None
    assert sets["metrics"]["target"]["mean_set_size"] is None
    assert any("the coverage of the target data is unknown" in note for note in sets["notes"])

    watched = ("watch", "rule.json", "unlabelled.csv", "--calibrator", "map.json", *shifted)
    found = uqcli(*watched, "--json").json
    assert found["metrics"]["expected_precision"] is None
    assert found["metrics"]["expected_recall"] is None
    assert any(
        "no precision can be expected: the new rows are not a mixture" in note for note in found["notes"]
    )

    gates = {
        (*fit, *shifted, "-o", "other.json"): ("target_precision < 0.1", "expected.precision.low < 0.1"),
        ("evaluate", "rule.json", "new.csv", *shifted): (
            "target_precision < 0.1",
            "target_precision.low < 0.1",
        ),
        ("evaluate", "sets.json", "new.csv", *shifted): ("target.coverage < 0.1",),
        watched: ("expected_precision < 0.1",),
    }
    for line, checks in gates.items():
        for check in checks:
            assert uqcli(*line, "--fail-if", check).code == 6, (line, check)


def test_sets_for_label_shift_are_not_tested_with_weights_that_are_refuted(uqcli, files, few_draws):
    weights(uqcli, "moved.csv")
    fit = (
        "conformal",
        "source.csv",
        "--mode",
        "label-shift",
        "--shift",
        "shift.json",
        "-q",
        "-o",
        "sets.json",
    )
    assert uqcli(*fit).code == 0
    found = uqcli("evaluate", "sets.json", "new.csv", "--shift", "shift.json", "--json").json
    assert found["verdict"] is None
    assert any(
        "coverage of target data is not tested: the new rows are not a mixture" in note
        for note in found["notes"]
    )


def test_weights_of_a_label_shift_promise_as_before(uqcli, files, few_draws):
    weights(uqcli, "new.csv")
    fit = ("boundary", "source.csv", "--precision", "0.6", "--algorithm", "st")
    made = uqcli(*fit, "--shift", "shift.json", "-o", "target.json", "--json").json
    assert made["metrics"]["target_precision"] >= 0.6
    assert made["metrics"]["expected"]["precision"]["value"] > 0.5
    tested = uqcli("evaluate", "target.json", "source.csv", "--shift", "shift.json", "--json").json
    assert tested["metrics"]["target_precision"]["low"] is not None


def test_the_report_says_why_there_is_no_answer(uqcli, files, few_draws):
    rows(5, 3000, 0.3, days=6).write_csv(files / "week.csv")
    reasons = {
        ("--target", "week.csv", "--day", "day"): "6 days or clusters of 8 needed",
        ("--estimator", "known", "--prior", "0.5,0.5"): "there are no new rows",
    }
    rows(5, 12, 0.5).write_csv(files / "few.csv")
    reasons["--target", "few.csv"] = "cells of the score hold 5 new rows and 5 of each class, 3 are needed"
    for options, reason in reasons.items():
        found = uqcli("shift", "source.csv", *options, "-o", "shift.json", "--json").json
        assert found["metrics"]["mixture_p"] is None
        assert any(
            "Whether only class priors changed was not tested: " in note and reason in note
            for note in found["notes"]
        )
        assert json.loads((files / "shift.json").read_text())["mixture_p"] is None
    assert reason in " ".join(uqcli("shift", "source.csv", *options).out.decode().split())


def test_without_days_the_report_says_that_rows_are_independent(uqcli, files, few_draws):
    notes = " ".join(weights(uqcli, "new.csv")["notes"])
    assert (
        "assumes that rows are independent: if they are not, name the column of their days or customers "
        "(--day, --cluster)" in notes
    )
    assert "can miss a change within a class that looks like a mixture" in notes
    by_day = weights(uqcli, "new.csv", "--day", "day")
    assert "takes the rows of days as dependent (40 days or more in each file)" in " ".join(by_day["notes"])
    assert by_day["parameters"]["day"] == "day"
    by_customer = weights(uqcli, "new.csv", "--cluster", "customer")
    assert "rows of clusters as dependent (600 clusters or more" in " ".join(by_customer["notes"])
    assert json.loads((files / "shift.json").read_text())["parameters"]["cluster"] == "customer"
    plain = weights(uqcli, "new.csv")
    for found in (by_day, by_customer):
        assert found["metrics"]["weights"] == plain["metrics"]["weights"]


def test_times_of_a_day_are_one_day(uqcli, files, few_draws):
    expected = weights(uqcli, "new.csv", "--day", "day")["metrics"]
    for name in ("source.csv", "new.csv"):
        frame = pl.read_csv(files / name)
        hours = [f"{day} {index % 24:02d}:00:00" for index, day in enumerate(frame["day"])]
        frame.with_columns(day=pl.Series(hours)).write_csv(files / name)
    assert weights(uqcli, "new.csv", "--day", "day")["metrics"] == expected


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--day", "day", "--cluster", "customer"), 2, "--day and --cluster"),
        (("--day", "customer"), 3, "expected dates such as 2026-03-31"),
        (("--day", "date"), 3, "--day"),
        (("--cluster", "client"), 3, "client"),
    ],
)
def test_columns_that_are_no_days_are_refused(uqcli, files, options, code, message):
    found = uqcli("shift", "source.csv", "--target", "new.csv", *options)
    assert found.code == code
    assert message in found.err


def test_orders_splits_and_engines_give_the_same_bytes(uqcli, files, few_draws):
    line = ("--target", "new.csv", "--day", "day", "--json")
    expected = uqcli("shift", "source.csv", *line).out
    frame = pl.read_csv(files / "source.csv")
    shuffled = frame.sample(fraction=1, shuffle=True, seed=4)
    shuffled.head(700).write_csv(files / "a.csv")
    shuffled.tail(-700).write_parquet(files / "b.parquet")
    assert uqcli("shift", "b.parquet", *line).code == 0
    assert uqcli("shift", "a.csv", "b.parquet", *line, "--threads", "1").out == expected


def test_the_library_gives_the_same_p_value(uqcli, files, few_draws):
    source, moved = (pl.read_csv(files / name) for name in ("source.csv", "moved.csv"))
    found = library.shift_weights(
        source["score"],
        source["label"],
        moved["score"],
        day=source["day"],
        target_day=moved["day"],
        bootstrap=0,
    )
    expected = weights(uqcli, "moved.csv", "--day", "day", "--bootstrap", "0")["metrics"]["mixture_p"]
    assert found.mixture_p_value == expected
    assert found.artifact.refuted
    with pytest.raises(library.UsageError, match="of both or of neither"):
        library.shift_weights(source["score"], source["label"], moved["score"], cluster=source["customer"])


def test_rule_files_of_earlier_versions_promise_as_they_did(uqcli, files, few_draws):
    weights(uqcli, "moved.csv")
    old = json.loads((files / "shift.json").read_text())
    for key in ("mixture_p", "doubts", "digest"):
        del old[key]
    (files / "old.json").write_text(json.dumps({**old, "uqcli_version": "0.2.0"}))
    fit = (
        "boundary",
        "source.csv",
        "--precision",
        "0.6",
        "--algorithm",
        "st",
        "--shift",
        "old.json",
        "--json",
    )
    assert uqcli(*fit).json["metrics"]["target_precision"] is not None
    assert "mixture_p" not in uqcli("show", "old.json", "--json").json


@pytest.mark.parametrize(("size", "is_known"), [(15, False), (60, False), (3000, True)])
def test_where_nothing_is_known_of_the_classes_the_report_does_not_advise_to_change_nothing(
    uqcli, tmp_path, few_draws, size, is_known
):
    """Scores from 0.4 to 0.6 hardly tell the classes apart, except in many rows."""
    random = np.random.default_rng(0)
    for name, number in (("source", max(size, 200)), ("new", size)):
        score = random.random(number) * 0.2 + 0.4
        label = (random.random(number) < score).astype(int)
        pl.DataFrame({"score": score, "label": label}).write_csv(tmp_path / f"{name}.csv")
    shown = uqcli("shift", "source.csv", "--target", "new.csv").out.decode()
    assert ("Nothing needs to change" in shown) == is_known
    assert ("these do not show how frequent the classes are" in shown) != is_known


def class_rows(seed, size, prior, days=30):
    """Draw rows of several classes, those of one day alike."""
    random = np.random.default_rng(seed)
    label = random.choice(len(prior), size, p=prior)
    values = random.normal(size=(size, len(prior)))
    values[np.arange(size), label] += 2.5
    probability = np.exp(2 * values) / np.exp(2 * values).sum(axis=1, keepdims=True)
    columns = {f"p_{index}": column for index, column in enumerate(probability.T)}
    return pl.DataFrame({**columns, "label": label, "day": random.integers(0, days, size)})


def p_values_by_definition(weights, interval, confidence=0.95):
    """Return the p-value of each weight being 1, adjusted after Holm, step by step."""
    normal = NormalDist()
    quantile, alone = normal.inv_cdf((1 + confidence) / 2), []
    for weight, (low, high) in zip(weights, interval, strict=True):
        if not low <= weight <= high or weight == 1:
            alone.append(1.0)
        elif weight > 1:
            alone.append(2 * normal.cdf(-quantile * (weight - 1) / (weight - low)))
        else:
            alone.append(2 * normal.cdf(-quantile * (1 - weight) / (high - weight)))
    adjusted, largest = [0.0] * len(alone), 0.0
    for place, index in enumerate(sorted(range(len(alone)), key=alone.__getitem__)):
        largest = max(largest, min(1.0, (len(alone) - place) * alone[index]))
        adjusted[index] = largest
    return adjusted


@pytest.mark.parametrize("confidence", ["0.95", "0.8"])
def test_a_class_is_named_if_both_tests_show_its_change(uqcli, files, confidence):
    class_rows(11, 2000, [0.25] * 4).write_csv(files / "classes.csv")
    class_rows(12, 2000, [0.4, 0.2, 0.2, 0.2]).write_csv(files / "moved.csv")
    line = ("shift", "classes.csv", "--target", "moved.csv", "--proba", "p_*", "--confidence", confidence)
    found = uqcli(*line, "-o", "shift.json", "--json").json
    saved = json.loads((files / "shift.json").read_text())
    expected = p_values_by_definition(saved["weights"], saved["interval"], float(confidence))
    assert list(found["metrics"]["weights_p"].values()) == pytest.approx(expected, abs=1e-12)
    assert found["changed"] == "0"
    assert "Class 0 is 1.6 times as frequent" in uqcli(*line, "-o", "other.json").out.decode()
    assert uqcli(*line, "--fail-if", "weights_p.0 < 0.05", "-q").code == 6


def test_the_p_value_of_a_weight_is_that_of_its_interval():
    """1.96 * .5 / .4 = 2.45: .014287; 1.96 * .2 / .3 = 1.31: .19133; the third is outside its interval."""
    artifact = ShiftArtifact(
        kind="shift",
        source=None,
        parameters=ShiftParameters(
            estimator="bbse",
            confusion="hard",
            prior=None,
            bootstrap=200,
            confidence=0.95,
            seed=0,
            on_invalid="error",
            positive=None,
        ),
        estimator="bbse",
        classes=["a", "b", "c"],
        weights=[1.5, 0.8, 1.1],
        source_prior=[0.3, 0.3, 0.4],
        target_prior=[0.45, 0.24, 0.31],
        interval=[[1.1, 2.5], [0.2, 1.1], [0.7, 1.05]],
        shift_p=0.01,
    )
    expected = {"a": 3 * 0.014287407697654797, "b": 2 * 0.191334102340461, "c": 1.0}
    assert artifact.p_values() == pytest.approx(expected, rel=1e-6)


def test_no_class_is_named_where_the_predicted_classes_do_not_differ(uqcli, files, few_draws):
    """The interval of one of twelve weights is above 1 by chance; nothing else changed."""
    class_rows(11, 2000, [1 / 12] * 12).write_csv(files / "classes.csv")
    class_rows(118, 1000, [1 / 12] * 12).write_csv(files / "same.csv")
    line = ("shift", "classes.csv", "--target", "same.csv", "--proba", "p_*", "-o", "shift.json")
    found = uqcli(*line, "--json").json
    weights = found["metrics"]["weights"].values()
    assert any(weight["low"] > 1 or weight["high"] < 1 for weight in weights)
    assert found["metrics"]["shift_p"] > 0.05
    assert found["changed"] is None
    assert "No significant change in how frequent the classes are" in uqcli(*line).out.decode()


def day_effects(seed, days, rows=60):
    random = np.random.default_rng(seed)
    parts = []
    for day in range(days):
        score = np.exp(0.8 * random.normal(size=3))
        parts.append(
            class_rows([seed, day], rows, score / score.sum(), 1).with_columns(
                day=pl.lit(f"2026-03-{day + 1:02}")
            )
        )
    return pl.concat(parts)


def test_by_day_the_predicted_classes_are_compared_between_days(uqcli, files, few_draws):
    source, target = day_effects(21, 30), day_effects(22, 25)
    source.write_csv(files / "a.csv")
    target.write_csv(files / "b.csv")
    line = ("shift", "a.csv", "--target", "b.csv", "--proba", "p_*", "-o", "shift.json", "--json")
    by_rows, by_day = uqcli(*line).json, uqcli(*line, "--day", "day").json
    tables = []
    for frame in (source, target):
        predicted = frame.select(pl.concat_list("p_0", "p_1", "p_2").list.arg_max()).to_series().to_numpy()
        days = [frame["day"] == day for day in frame["day"].unique()]
        tables.append(np.stack([np.bincount(predicted[rows], minlength=3) for rows in days]))
    assert by_rows["metrics"]["shift_p"] < 0.05 < by_day["metrics"]["shift_p"]
    assert by_day["metrics"]["shift_p"] == pytest.approx(between_days(*tables), rel=1e-9)
    assert json.loads((files / "shift.json").read_text())["shift_p"] == by_day["metrics"]["shift_p"]
    assert any("take rows as independent" in note for note in by_day["notes"])
    assert not any("take rows as independent, so" in note for note in by_rows["notes"])
    text = " ".join(uqcli(*line[:-1], "--day", "day").out.decode().split())
    assert "test between days)" in text


def test_too_few_days_leave_open_whether_the_classes_differ(uqcli, files, few_draws):
    day_effects(21, 5).write_csv(files / "a.csv")
    line = ("shift", "a.csv", "--target", "a.csv", "--proba", "p_*", "--day", "day", "-o", "shift.json")
    found = uqcli(*line, "--json").json
    assert (found["metrics"]["shift_p"], found["changed"]) == (None, None)
    assert "Whether the classes differ in frequency was not tested: 5 days" in uqcli(*line).out.decode()
    assert uqcli(*line, "--fail-if", "shift_p > 0.5").code == 6
