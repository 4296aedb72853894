"""What the library reads as columns, and what it refuses."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import uqcli
from uqcli import Calibrator, DataError, InfeasibleError, UsageError, find_boundary

HOLDERS = {
    "list": list,
    "numpy": np.asarray,
    "numpy float32": lambda values: np.asarray(values, dtype=np.float32),
    "polars": pl.Series,
    "pandas": pd.Series,
    "pyarrow": pa.array,
    "pyarrow chunked": lambda values: pa.chunked_array([values[:3], values[3:]]),
}
SCORE, LABEL = [0.125, 0.25, 0.5, 0.625, 0.75, 0.875], [0, 0, 1, 0, 1, 1]


@pytest.mark.parametrize("holder", HOLDERS)
def test_every_kind_of_column_gives_the_same(holder):
    held = HOLDERS[holder]
    label = LABEL if "float" in holder else held(LABEL)
    found = find_boundary(held(SCORE), label, precision="0.75", score_bins="all")
    assert found.artifact == find_boundary(SCORE, LABEL, precision="0.75", score_bins="all").artifact
    assert found.decide(held(SCORE)).tolist() == [False, False, True, True, True, True]


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame, pa.table])
def test_every_kind_of_frame_of_classes_gives_the_same(frame):
    random = np.random.default_rng(0)
    probability = random.dirichlet(np.ones(3), 200)
    label = random.integers(0, 3, 200)
    columns = {str(at): probability[:, at] for at in range(3)}
    ours = uqcli.conformal_sets(frame(columns), label)
    plain = uqcli.conformal_sets(probability, label)
    assert ours.classes == plain.classes == ("0", "1", "2")
    np.testing.assert_array_equal(ours.thresholds, plain.thresholds)
    np.testing.assert_array_equal(ours.sets(frame(columns)), plain.sets(probability))


def test_columns_that_are_numbers_are_named_by_their_texts():
    random = np.random.default_rng(0)
    probability = random.dirichlet(np.ones(3), 200)
    label = random.integers(0, 3, 200)
    frame = pd.DataFrame(probability)
    assert list(frame.columns) == [0, 1, 2]
    ours, plain = uqcli.conformal_sets(frame, label), uqcli.conformal_sets(probability, label)
    np.testing.assert_array_equal(ours.sets(frame), plain.sets(probability))
    options = {"method": "heterogeneous", "max_depth": 1}
    score, features = random.random(200), pd.DataFrame(random.random((200, 2)))
    numbered = Calibrator.fit(score, label > 0, features=features, **options)
    named = Calibrator.fit(score, label > 0, features=features.rename(columns=str), **options)
    assert numbered.artifact == named.artifact
    np.testing.assert_array_equal(
        numbered.predict(score, features=features), named.predict(score, features=features)
    )


@pytest.mark.parametrize(
    "work",
    [
        lambda p, y: uqcli.conformal_sets(pd.DataFrame({0: p, "0": 1 - p}), y),
        lambda p, y: uqcli.conformal_sets(pd.DataFrame({"label": p, "b": 1 - p}), y),
        lambda p, y: uqcli.conformal_sets(pd.DataFrame(np.c_[p, 1 - p], columns=["a", "a"]), y),
        lambda p, y: Calibrator.fit(p, y, method="heterogeneous", features={"label": p}),
    ],
)
def test_one_name_is_one_column(work):
    with pytest.raises(DataError):
        work(np.array(SCORE), np.array(LABEL))


@pytest.mark.parametrize(
    ("bound", "text"),
    [(0.7, "0.7"), ("0.70", "0.70"), (Fraction(7, 10), "0.7"), (Fraction(1, 8), "0.125"), (1, "1")],
)
def test_decimals_are_read_as_they_are_written(bound, text):
    found = find_boundary(SCORE, LABEL, precision=bound, score_bins="all")
    assert found.artifact.constraint.value == text


def test_fractions_that_are_no_decimals_are_refused():
    with pytest.raises(UsageError, match="2/3 is no decimal"):
        find_boundary(SCORE, LABEL, precision=Fraction(2, 3))


def test_constraints_exclude_each_other():
    for bounds in ({}, {"precision": 0.5, "recall": 0.5}, {"gain": 1}):
        with pytest.raises(UsageError):
            find_boundary(SCORE, LABEL, **bounds)
    with pytest.raises(InfeasibleError, match="no row is positive"):
        find_boundary([0.9, 0.1], [0, 0], precision="0.5")
    with pytest.raises(InfeasibleError, match="no boundary reaches"):
        find_boundary([0.9, 0.1], [0, 1], precision="0.9", score_bins=1)


@pytest.mark.parametrize(
    ("score", "label", "said"),
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
def test_unusable_columns_are_named(score, label, said):
    with pytest.raises(DataError) as raised:
        find_boundary(score, label, precision="0.5")
    assert said in str(raised.value)


def test_unusable_rows_of_a_calibrator(rows):
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
    with pytest.raises(DataError, match="'age'"):
        aged.predict([0.5], features={"age": ["old"]})


def test_a_model_of_other_columns_takes_plain_arguments(tmp_path, rows):
    """A model that a command fitted to columns of other names is used without knowing these."""
    from uqcli.cli.app import run

    frame = pl.DataFrame({"s": rows["score"], "u": rows["uncertainty"], "y": rows["label"]})
    frame.write_csv(tmp_path / "rows.csv")
    line = "boundary rows.csv --score s --uncertainty u --label y --precision 0.6 -q -o m.json"
    assert run(line.split()) == 0
    ours = find_boundary(rows["score"], rows["label"], uncertainty=rows["uncertainty"], precision="0.6")
    model = uqcli.Boundary.load("m.json")
    assert repr(model) == "<Boundary (smooth) for target precision >= 0.6>"
    np.testing.assert_array_equal(
        model.decide(rows["score"], rows["uncertainty"]), ours.decide(rows["score"], rows["uncertainty"])
    )
    with pytest.raises(DataError, match="no u given"):
        model.decide(rows["score"])
    with pytest.raises(uqcli.ArtifactError, match="is a rule file of kind boundary"):
        uqcli.Grid.load("m.json")


def test_options_that_do_not_exist_are_named():
    for call, said in (
        (
            lambda: find_boundary(SCORE, LABEL, precision="0.5", algorithm="best"),
            "algorithm 'best'; expected one",
        ),
        (lambda: Calibrator.fit(SCORE, LABEL, method="plat"), "method 'plat'; expected one of platt"),
        (lambda: Calibrator.fit(SCORE, LABEL, n_bin=3), "unknown option 'n_bin'; expected one of n_bins"),
        (lambda: uqcli.calibration_error(SCORE, LABEL, binning="equi-weight"), "binning 'equi-weight'"),
        (lambda: uqcli.simulate("posterior", 5, prevalence=0.2), "unknown option 'prevalence'"),
        (
            lambda: uqcli.bin_counts(SCORE, LABEL, binning="pava-bc", n_min=3, n_max=2),
            "n_max 2 is below n_min 3",
        ),
    ):
        with pytest.raises(UsageError) as raised:
            call()
        assert said in str(raised.value)


def test_groups_and_target_of_conformal_sets(classes, probability):
    by = uqcli.conformal_sets(probability, classes["label"], classes=list("abcd"), group=classes["group"])
    with pytest.raises(DataError, match="no group given"):
        by.sets(probability)
    assert by.sets(probability, group=classes["group"]).shape == probability.shape
    moved = uqcli.conformal_sets(
        probability, classes["label"], classes=list("abcd"), mode="label-shift", target=probability[:200]
    )
    weights = uqcli.shift_weights(
        probability, classes["label"], probability[:200], classes=list("abcd"), bootstrap=0
    )
    given = uqcli.conformal_sets(
        probability, classes["label"], classes=list("abcd"), mode="label-shift", shift=weights
    )
    assert moved.artifact == given.artifact


def test_what_there_is():
    assert set(uqcli.__all__) == set(dir(uqcli))
    for name in uqcli.__all__:
        assert getattr(uqcli, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = uqcli.nothing


def test_looking_around_loads_nothing():
    code = "import sys, uqcli; dir(uqcli); print(sorted({'numpy', 'polars', 'narwhals'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_members_are_columns_or_one_array():
    members = np.random.default_rng(0).random((50, 4))
    one, apart = (uqcli.uncertainty_of(members=each) for each in (members, list(members.T)))
    assert (one.score == apart.score).all()
    assert one.score == pytest.approx(members.mean(axis=1))


def test_classes_of_a_frame_are_known_by_name():
    likely, rest = [0.9, 0.8, 0.2, 0.1] * 50, [0.1, 0.2, 0.8, 0.9] * 50
    label = ["cat", "cat", "dog", "dog"] * 50
    frame = pl.DataFrame({"cat": likely, "dog": rest})
    sets = uqcli.conformal_sets(frame, label, alpha="0.1", method="lac")
    expected = sets.sets(frame)
    for other in (frame.select("dog", "cat"), frame.select("dog", "cat").rename(lambda name: f"p_{name}")):
        np.testing.assert_array_equal(sets.sets(other), expected)
        assert (
            sets.evaluate(other, label).metrics["coverage"] == sets.evaluate(frame, label).metrics["coverage"]
        )
    np.testing.assert_array_equal(sets.sets(frame.to_numpy()), expected)
    for foreign in (frame.rename({"cat": "x"}), frame.with_columns(bird=0.0), frame.select("cat")):
        with pytest.raises(DataError, match="in any order"):
            sets.sets(foreign)


def test_masked_values_are_missing():
    masked = np.ma.array([*SCORE[:-1], 0.9], mask=[0, 0, 0, 0, 0, 1])
    for work in (
        lambda: find_boundary(masked, LABEL, precision="0.75", score_bins="all"),
        lambda: uqcli.bin_counts(masked, LABEL),
        lambda: uqcli.calibration_error(masked, LABEL),
        lambda: uqcli.conformal_sets(np.ma.array(np.c_[SCORE, SCORE], mask=np.c_[LABEL, LABEL]), LABEL),
        lambda: uqcli.uncertainty_of(members=np.ma.array(np.c_[SCORE, SCORE], mask=np.c_[LABEL, LABEL])),
    ):
        with pytest.raises(DataError):
            work()
    plain = np.ma.array(SCORE)
    found = find_boundary(plain, LABEL, precision="0.75", score_bins="all")
    assert found.artifact == find_boundary(SCORE, LABEL, precision="0.75", score_bins="all").artifact


def test_a_feature_may_have_the_name_of_the_weight():
    random = np.random.default_rng(1)
    score, part = random.random(400), random.integers(0, 2, 400).astype(float)
    label = random.random(400) < np.where(part > 0, score, 1 - score)
    options = {"method": "heterogeneous", "min_leaf": 50}
    found = []
    for name in ("weight", "part"):
        fitted = Calibrator.fit(score, label, partition={name: part}, **options)
        measured = fitted.evaluate(score, label, features={name: part}, weight=np.ones(400, dtype=int))
        found.append(
            measured.metrics["after.brier"] if "after.brier" in measured.metrics else dict(measured.metrics)
        )
    assert found[0] == found[1]


def test_one_column_that_is_score_and_uncertainty(tmp_path, rows):
    pl.DataFrame({"score": SCORE * 20, "label": LABEL * 20}).write_csv(tmp_path / "d.csv")
    from uqcli.cli.app import run

    saved = str(tmp_path / "s.json")
    line = ["boundary", str(tmp_path / "d.csv"), "--precision", "0.7", "--uncertainty", "score"]
    assert run([*line, "--algorithm", "mist", "-q", "-o", saved]) == 0
    found = uqcli.load(saved)
    assert found.decide(SCORE).tolist() == found.decide(SCORE, None).tolist()
    with pytest.raises(DataError, match="two columns"):
        found.decide(SCORE, LABEL)


@pytest.mark.parametrize("name", ["a,b", "a*", " a"])
def test_names_of_classes_that_lists_cannot_hold(name):
    with pytest.raises(DataError, match="rename"):
        uqcli.conformal_sets(pd.DataFrame({name: SCORE, "c": SCORE}), LABEL)
