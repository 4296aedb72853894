"""Tests of the columns and options that the Python API accepts and refuses."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import uqcli
from uqcli import (
    Calibrator,
    DataError,
    InfeasibleError,
    UsageError,
    bin_counts,
    calibration_error,
    find_boundary,
)

COLUMN_TYPES = {
    "list": list,
    "numpy": np.asarray,
    "numpy float32": lambda values: np.asarray(values, dtype=np.float32),
    "polars": pl.Series,
    "pandas": pd.Series,
    "pyarrow": pa.array,
    "pyarrow chunked": lambda values: pa.chunked_array([values[:3], values[3:]]),
}
SCORE, LABEL = [0.125, 0.25, 0.5, 0.625, 0.75, 0.875], [0, 0, 1, 0, 1, 1]


@pytest.mark.parametrize("column_type", COLUMN_TYPES)
def test_every_type_of_column_gives_the_same_boundary(column_type):
    as_column = COLUMN_TYPES[column_type]
    label = LABEL if "float" in column_type else as_column(LABEL)
    boundary = find_boundary(as_column(SCORE), label, precision="0.75", score_bins="all")
    assert boundary.artifact == find_boundary(SCORE, LABEL, precision="0.75", score_bins="all").artifact
    assert boundary.decide(as_column(SCORE)).tolist() == [False, False, True, True, True, True]


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame, pa.table])
def test_every_type_of_frame_gives_the_same_prediction_sets(frame):
    random = np.random.default_rng(0)
    probability = random.dirichlet(np.ones(3), 200)
    label = random.integers(0, 3, 200)
    columns = {str(index): probability[:, index] for index in range(3)}
    from_frame = uqcli.conformal_sets(frame(columns), label)
    from_array = uqcli.conformal_sets(probability, label)
    assert from_frame.classes == from_array.classes == ("0", "1", "2")
    np.testing.assert_array_equal(from_frame.thresholds, from_array.thresholds)
    np.testing.assert_array_equal(from_frame.sets(frame(columns)), from_array.sets(probability))


def test_column_names_that_are_numbers_become_texts():
    random = np.random.default_rng(0)
    probability = random.dirichlet(np.ones(3), 200)
    label = random.integers(0, 3, 200)
    frame = pd.DataFrame(probability)
    assert list(frame.columns) == [0, 1, 2]
    from_frame, from_array = uqcli.conformal_sets(frame, label), uqcli.conformal_sets(probability, label)
    np.testing.assert_array_equal(from_frame.sets(frame), from_array.sets(probability))
    options = {"method": "heterogeneous", "max_depth": 1}
    score, features = random.random(200), pd.DataFrame(random.random((200, 2)))
    with_number_names = Calibrator.fit(score, label > 0, features=features, **options)
    with_text_names = Calibrator.fit(score, label > 0, features=features.rename(columns=str), **options)
    assert with_number_names.artifact == with_text_names.artifact
    np.testing.assert_array_equal(
        with_number_names.predict(score, features=features), with_text_names.predict(score, features=features)
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda p, y: uqcli.conformal_sets(pd.DataFrame({0: p, "0": 1 - p}), y),
        lambda p, y: uqcli.conformal_sets(pd.DataFrame({"label": p, "b": 1 - p}), y),
        lambda p, y: uqcli.conformal_sets(pd.DataFrame(np.c_[p, 1 - p], columns=["a", "a"]), y),
        lambda p, y: Calibrator.fit(p, y, method="heterogeneous", features={"label": p}),
    ],
)
def test_two_columns_of_one_name_are_refused(call):
    with pytest.raises(DataError):
        call(np.array(SCORE), np.array(LABEL))


@pytest.mark.parametrize(
    ("bound", "text"),
    [(0.7, "0.7"), ("0.70", "0.70"), (Fraction(7, 10), "0.7"), (Fraction(1, 8), "0.125"), (1, "1")],
)
def test_decimals_are_read_as_they_are_written(bound, text):
    boundary = find_boundary(SCORE, LABEL, precision=bound, score_bins="all")
    assert boundary.artifact.constraint.value == text


def test_fractions_that_are_no_decimals_are_refused():
    with pytest.raises(UsageError, match="2/3 is no decimal"):
        find_boundary(SCORE, LABEL, precision=Fraction(2, 3))


def test_constraints_exclude_each_other():
    for bounds in ({}, {"precision": 0.5, "gain": 2, "cost": 1}, {"gain": 1}):
        with pytest.raises(UsageError):
            find_boundary(SCORE, LABEL, **bounds)
    with pytest.raises(InfeasibleError, match="no row is positive"):
        find_boundary([0.9, 0.1], [0, 0], precision="0.5")
    with pytest.raises(InfeasibleError, match="no boundary reaches"):
        find_boundary([0.9, 0.1], [0, 1], precision="0.9", score_bins=1)


@pytest.mark.parametrize(
    ("score", "label", "message"),
    [
        ([0.5, float("nan")], [0, 1], "'score'"),
        ([0.5, None], [0, 1], "'score'"),
        ([0.5, float("inf")], [0, 1], "'score'"),
        ([0.5, 0.2], [0, 2], "'label'"),
        ([0.5, 0.2], [0, 1, 1], "label has 3 values; expected 2, as score has"),
        ([[0.5], [0.2]], [0, 1], "score has shape"),
        ([0.5, "x"], [0, 1], "score cannot be read"),
        ([], [], "no rows to work on"),
        (["a", "b"], [0, 1], "'score'"),
        (np.array([1 + 1j, 2]), [0, 1], "score"),
        (7.0, [0, 1], "score has shape"),
    ],
)
def test_unusable_columns_are_named(score, label, message):
    with pytest.raises(DataError) as raised:
        find_boundary(score, label, precision="0.5")
    assert message in str(raised.value)


@pytest.mark.thorough
def test_unusable_rows_of_a_calibrator_are_named(rows):
    with pytest.raises(DataError, match="between 0 and 1"):
        Calibrator.fit([1.5, 0.2], [0, 1])
    with pytest.raises(UsageError, match="without uncertainty"):
        Calibrator.fit([0.5, 0.2], [0, 1], method="mist")
    with pytest.raises(UsageError, match="needs columns"):
        Calibrator.fit([0.5, 0.2], [0, 1], method="heterogeneous")
    with pytest.raises(UsageError, match="one of them"):
        Calibrator.fit([0.5, 0.2], [0, 1], options=uqcli.CalibrationOptions(), method="beta")
    fitted = Calibrator.fit(
        rows["score"], rows["label"], features={"city": rows["city"]}, method="heterogeneous", min_leaf=40
    )
    with pytest.raises(DataError, match="no city given"):
        fitted.predict([0.5])
    assert 0 < fitted.predict([0.5], features={"city": ["never seen"]})[0] < 1
    with pytest.raises(DataError, match="city has 2 values; expected 1, as score has"):
        fitted.predict([0.5], features={"city": ["A", "B"]})
    aged = Calibrator.fit(
        rows["score"], rows["label"], features={"age": rows["age"]}, method="heterogeneous", min_leaf=40
    )
    assert 0 < aged.predict([0.5], features={"age": ["old"]})[0] < 1
    with pytest.raises(DataError, match="infinite"):
        aged.predict([0.5], features={"age": [np.inf]})


def test_a_rule_file_with_other_column_names_takes_plain_arguments(tmp_path, rows, all_draws):
    """A rule that a command fitted to other column names is used without these names."""
    from uqcli.cli.app import run

    frame = pl.DataFrame({"s": rows["score"], "u": rows["uncertainty"], "y": rows["label"]})
    frame.write_csv(tmp_path / "rows.csv")
    line = "boundary rows.csv --score s --uncertainty u --label y --precision 0.6 -q -o m.json"
    assert run(line.split()) == 0
    expected = find_boundary(rows["score"], rows["label"], uncertainty=rows["uncertainty"], precision="0.6")
    boundary = uqcli.Boundary.load("m.json")
    assert repr(boundary) == "<Boundary (smooth) for target precision >= 60 %>"
    np.testing.assert_array_equal(
        boundary.decide(rows["score"], rows["uncertainty"]),
        expected.decide(rows["score"], rows["uncertainty"]),
    )
    with pytest.raises(DataError, match="no u given"):
        boundary.decide(rows["score"])
    with pytest.raises(uqcli.ArtifactError, match="is a rule file of kind boundary"):
        uqcli.Grid.load("m.json")


def test_unknown_options_are_named():
    for call, message in (
        (
            lambda: find_boundary(SCORE, LABEL, precision="0.5", algorithm="best"),
            "algorithm is 'best'; expected one",
        ),
        (lambda: Calibrator.fit(SCORE, LABEL, method="plat"), "method 'plat'; expected one of platt"),
        (lambda: Calibrator.fit(SCORE, LABEL, n_bin=3), "unknown option 'n_bin'; expected one of n_bins"),
        (lambda: uqcli.calibration_error(SCORE, LABEL, binning="equi-weight"), "binning is 'equi-weight'"),
        (
            lambda: uqcli.bin_counts(SCORE, LABEL, binning="pava-bc", n_min=3, n_max=2),
            "n_max 2 is below n_min 3",
        ),
    ):
        with pytest.raises(UsageError) as raised:
            call()
        assert message in str(raised.value)


def test_prediction_sets_accept_groups_and_target_data(classes, probability):
    grouped = uqcli.conformal_sets(
        probability, classes["label"], classes=list("abcd"), group=classes["group"]
    )
    with pytest.raises(DataError, match="no group given"):
        grouped.sets(probability)
    assert grouped.sets(probability, group=classes["group"]).shape == probability.shape
    estimated = uqcli.conformal_sets(
        probability, classes["label"], classes=list("abcd"), mode="label-shift", target=probability[:200]
    )
    weights = uqcli.shift_weights(
        probability, classes["label"], probability[:200], classes=list("abcd"), bootstrap=0
    )
    from_weights = uqcli.conformal_sets(
        probability, classes["label"], classes=list("abcd"), mode="label-shift", shift=weights
    )
    assert estimated.artifact == from_weights.artifact


def test_all_public_names_exist():
    assert set(uqcli.__all__) == set(dir(uqcli))
    for name in uqcli.__all__:
        assert getattr(uqcli, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = uqcli.nothing


def test_dir_loads_no_heavy_package():
    code = "import sys, uqcli; dir(uqcli); print(sorted({'numpy', 'polars', 'narwhals'} & set(sys.modules)))"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout == "[]\n"


def test_ensemble_members_are_columns_or_one_array():
    members = np.random.default_rng(0).random((50, 4))
    from_array, from_columns = (
        uqcli.uncertainty_of(members=argument) for argument in (members, list(members.T))
    )
    assert (from_array.score == from_columns.score).all()
    assert from_array.score == pytest.approx(members.mean(axis=1))


def test_classes_of_a_frame_are_matched_by_name():
    likely, rest = [0.9, 0.8, 0.2, 0.1] * 50, [0.1, 0.2, 0.8, 0.9] * 50
    label = ["cat", "cat", "dog", "dog"] * 50
    frame = pl.DataFrame({"cat": likely, "dog": rest})
    sets = uqcli.conformal_sets(frame, label, alpha="0.1", method="lac")
    expected = sets.sets(frame)
    for renamed in (frame.select("dog", "cat"), frame.select("dog", "cat").rename(lambda name: f"p_{name}")):
        np.testing.assert_array_equal(sets.sets(renamed), expected)
        assert (
            sets.evaluate(renamed, label).metrics["coverage"]
            == sets.evaluate(frame, label).metrics["coverage"]
        )
    np.testing.assert_array_equal(sets.sets(frame.to_numpy()), expected)
    for wrong_frame in (frame.rename({"cat": "x"}), frame.with_columns(bird=0.0), frame.select("cat")):
        with pytest.raises(DataError, match="in any order"):
            sets.sets(wrong_frame)


def test_masked_values_are_missing():
    masked = np.ma.array([*SCORE[:-1], 0.9], mask=[0, 0, 0, 0, 0, 1])
    for call in (
        lambda: find_boundary(masked, LABEL, precision="0.75", score_bins="all"),
        lambda: uqcli.bin_counts(masked, LABEL),
        lambda: uqcli.calibration_error(masked, LABEL),
        lambda: uqcli.conformal_sets(np.ma.array(np.c_[SCORE, SCORE], mask=np.c_[LABEL, LABEL]), LABEL),
        lambda: uqcli.uncertainty_of(members=np.ma.array(np.c_[SCORE, SCORE], mask=np.c_[LABEL, LABEL])),
    ):
        with pytest.raises(DataError):
            call()
    unmasked = np.ma.array(SCORE)
    boundary = find_boundary(unmasked, LABEL, precision="0.75", score_bins="all")
    assert boundary.artifact == find_boundary(SCORE, LABEL, precision="0.75", score_bins="all").artifact


def test_a_feature_may_have_the_name_of_the_weight():
    random = np.random.default_rng(1)
    score, feature = random.random(400), random.integers(0, 2, 400).astype(float)
    label = random.random(400) < np.where(feature > 0, score, 1 - score)
    options = {"method": "heterogeneous", "min_leaf": 50}
    metrics = []
    for name in ("weight", "part"):
        fitted = Calibrator.fit(score, label, partition={name: feature}, **options)
        report = fitted.evaluate(score, label, features={name: feature}, weight=np.ones(400, dtype=int))
        metrics.append(
            report.metrics["after.brier"] if "after.brier" in report.metrics else dict(report.metrics)
        )
    assert metrics[0] == metrics[1]


def test_one_column_can_be_score_and_uncertainty(tmp_path, rows):
    pl.DataFrame({"score": SCORE * 20, "label": LABEL * 20}).write_csv(tmp_path / "d.csv")
    from uqcli.cli.app import run

    rule_file = str(tmp_path / "s.json")
    line = ["boundary", str(tmp_path / "d.csv"), "--precision", "0.7", "--uncertainty", "score"]
    assert run([*line, "--algorithm", "mist", "-q", "-o", rule_file]) == 0
    boundary = uqcli.load(rule_file)
    assert boundary.decide(SCORE).tolist() == boundary.decide(SCORE, None).tolist()
    with pytest.raises(DataError, match="two columns"):
        boundary.decide(SCORE, LABEL)


@pytest.mark.parametrize("name", ["a,b", "a*", " a"])
def test_class_names_that_lists_cannot_contain_are_refused(name):
    with pytest.raises(DataError, match="rename"):
        uqcli.conformal_sets(pd.DataFrame({name: SCORE, "c": SCORE}), LABEL)


def test_groups_of_an_evaluation_are_one_column_of_texts(rows):
    boundary = find_boundary(rows["score"], rows["label"], precision="0.6")
    columns = rows["score"], rows["label"]
    expected = boundary.evaluate(*columns, by=rows["by"]).groups
    assert [group.name for group in expected] == ["10", "9", "é"]
    assert sum(group.rows for group in expected) == len(rows["score"])
    for column_type in (list, pl.Series, pd.Series, pa.array):
        assert boundary.evaluate(*columns, by=column_type(rows["by"])).groups == expected
    numbers = boundary.evaluate(*columns, by=rows["age"].astype(int) // 40).groups
    assert [group.name for group in numbers] == ["0", "1"]
    assert boundary.evaluate(*columns).groups == ()
    with pytest.raises(DataError, match=f"by has 3 values; expected {len(rows['score'])}, as score has"):
        boundary.evaluate(*columns, by=["a", "b", "c"])
    with pytest.raises(DataError, match="column 'by' has 1 null, NaN or empty"):
        boundary.evaluate(*columns, by=[None, *rows["by"][1:]])
    with pytest.raises(DataError, match=r"by has shape \(900, 1\)"):
        boundary.evaluate(*columns, by=rows["by"][:, None])


def test_a_feature_may_have_the_name_of_the_groups(rows):
    fitted = Calibrator.fit(
        rows["score"], rows["label"], features={"by": rows["age"]}, method="heterogeneous", min_leaf=80
    )
    evaluation = fitted.evaluate(rows["score"], rows["label"], features={"by": rows["age"]}, by=rows["city"])
    assert [group.name for group in evaluation.groups] == ["A", "B", "é"]
    assert all(group.p_value is None for group in evaluation.groups)


def test_results_are_shown_by_their_answer():
    score, label = np.linspace(0, 1, 100), np.repeat([0, 1], 50)
    boundary = find_boundary(score, label, precision=0.6)
    assert repr(boundary.evaluate(score, label)).startswith("<Precision is ")
    assert repr(calibration_error(score, label)).startswith("<Not calibrated (p = 0.002). ")


def test_errors_name_no_option_that_python_lacks():
    with pytest.raises(
        DataError, match=r"expected a number; if 'a' means a missing value, add it with null_value$"
    ):
        find_boundary(["a", "b"], [0, 1], precision=0.6)


@pytest.mark.parametrize("unit", ["D", "h", "s", "ms", "us", "ns"])
def test_days_are_also_times_of_numpy(rows, unit):
    days = np.datetime64("2026-03-01") + np.arange(len(rows["score"])) // 20
    options = {"precision": "0.7", "score_bins": 50}
    as_texts = find_boundary(rows["score"], rows["label"], day=days.astype(str), **options)
    as_times = find_boundary(rows["score"], rows["label"], day=days.astype(f"datetime64[{unit}]"), **options)
    assert as_times.artifact == as_texts.artifact


def test_numbers_of_numpy_are_read_as_those_of_python(rows, tmp_path):
    score, label, city = (rows[name] for name in ("score", "label", "city"))
    numbers = {"seed": 2, "min_group": 30, "uncertainty_bins": 1, "score_bins": 50}
    of_numpy = {name: np.int64(value) for name, value in numbers.items()}
    bounds = {"precision": "0.5", "certify": "0.3"}
    assert (
        find_boundary(score, label, **bounds, **of_numpy).artifact
        == find_boundary(score, label, **bounds, **numbers).artifact
    )
    Calibrator.fit(score, label, method="histogram", n_bins=np.int64(4), seed=np.int64(1)).save(
        str(tmp_path / "calibrator.json")
    )
    measured = calibration_error(
        score, label, group=city, bootstrap=np.int64(5), seed=np.int64(1), confidence=np.float32(0.9)
    )
    plain = calibration_error(score, label, group=city, bootstrap=5, seed=1, confidence=0.9)
    assert measured.report.payload() == plain.report.payload()


@pytest.mark.parametrize("size", ["alll", 2.5, True, 0, -3])
def test_a_number_of_bins_is_a_whole_number(rows, size):
    score, label = rows["score"], rows["label"]
    for name in ("score_bins", "uncertainty_bins"):
        with pytest.raises(UsageError, match=f"^{name} is "):
            find_boundary(score, label, uncertainty=score, precision="0.5", **{name: size})
        with pytest.raises(UsageError, match=f"^{name} is "):
            bin_counts(score, label, uncertainty=score, **{name: size})


def test_columns_to_audit_have_names(rows):
    score, label = rows["score"], rows["label"]
    rule = find_boundary(score, label, precision="0.5")
    with pytest.raises(DataError, match="columns without names"):
        rule.evaluate(score, label, audit=[rows["city"]])


def test_classes_are_named_as_scikit_learn_names_them():
    random = np.random.default_rng(0)
    probability = random.dirichlet(np.ones(3), 200)
    label = random.integers(0, 3, 200)
    plain = uqcli.conformal_sets(probability, label)
    for names in (np.arange(3), [0, 1, 2]):
        assert uqcli.conformal_sets(probability, label, classes=names).artifact == plain.artifact
    texts = np.array(["a", "b", "c"])
    sets = uqcli.conformal_sets(
        probability, texts[label], classes=texts, mode="label-conditional", alpha_by_class={"a": 0.2}
    )
    assert sets.classes == ("a", "b", "c")


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_ensemble_members_may_be_a_data_frame(frame):
    members = {"first": [0.25, 0.5], "second": [0.5, 0.75]}
    from_frame = uqcli.uncertainty_of(members=frame(members))
    np.testing.assert_array_equal(
        from_frame.score, uqcli.uncertainty_of(members=list(members.values())).score
    )


def test_a_group_of_periods_is_refused(rows):
    periods = pd.Series(pd.period_range("2026-01-01", periods=len(rows["score"])))
    with pytest.raises(DataError, match=r"holds Extension\('pandas.period'.*expected texts or numbers"):
        calibration_error(rows["score"], rows["label"], group=periods)
