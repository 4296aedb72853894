"""Tests that errors of Python name its arguments, and those of the command line its options."""

import re

import pandas as pd
import polars as pl
import pytest

from uqcli import commands as uq
from uqcli.base.errors import GateError, UqcliError, words
from uqcli.engines.refusals import FormError, joined

CLASSES = {"proba": "p_*", "label": "label"}
PAIR = {"precision": "0.5", "recall": "0.3"}

BOUNDARY = [
    {"precision": "0.5", "max_omission": "0.1"},
    {"precision": "0.5", "gain": "3", "cost": "1"},
    {"gain": "3", "cost": "1", "margin": "1"},
    {"gain": "3", "cost": "1", "certify": "0.1"},
    {"max_selected": "5", "certify": "0.1"},
    {"max_fpr": "0.1", "miss": "0.1"},
    {"precision": "0.5", "miss": "0.1", "review": "10"},
    {"precision": "0.5", "miss": "-1"},
    {"precision": "0.5", "recall": "0.3", "review": "5%"},
    {"max_fpr": "0.1", "review": "10", "by": "city"},
    {"precision": "0.5", "recall": "0.3", "certify": "0.1", "cluster": "by"},
    {"precision": "0.5", "by": "by", "cluster": "by"},
    {"precision": "0.5", "uncertainty": "nowhere"},
    {"precision": "0.5", "compare": True, "uncertainty": None},
]
OVERVIEW = [{"score": "nowhere"}, {"score": "nowhere", "weight": "nothing"}, {"label": "city"}]


def failure(function, *given, **options):
    """Return the error of a call that must fail."""
    with pytest.raises(UqcliError) as caught:
        function(*given, **options)
    return caught.value


def require_keywords(error):
    assert re.search(r"(?<![\w-])--[a-z]", error.message), error.message
    assert not re.search(r"(?<![\w-])--", str(error)), str(error)


@pytest.fixture(scope="module")
def rules(rows, classes):
    """Fit a rule of each kind that names options in its refusals."""
    return {
        "boundary": uq.boundary(rows, precision="0.5").rule,
        "score": uq.boundary(rows, precision="0.5", algorithm="st").rule,
        "calibrator": uq.calibrate(rows, method="platt", bootstrap=0).rule,
        "sets": uq.conformal(classes, **CLASSES).rule,
        "grid": uq.bin(rows, score_bins=5).rule,
    }


@pytest.mark.parametrize("options", BOUNDARY, ids=str)
def test_a_boundary_that_is_refused_names_arguments(rows, options):
    if "uncertainty" in options and options["uncertainty"] is None:
        rows = {name: values for name, values in rows.items() if name != "uncertainty"}
    require_keywords(failure(uq.boundary, rows, **options))


@pytest.mark.parametrize("options", OVERVIEW, ids=str)
def test_a_first_look_that_fails_names_arguments(rows, options):
    require_keywords(failure(uq.overview, rows, **options))


def test_a_first_look_at_missing_values_and_at_probabilities_of_classes_names_arguments(rows, classes):
    holes = pl.DataFrame(rows).with_columns(score=pl.when(pl.col("score") > 0.5).then("score"))
    require_keywords(failure(uq.overview, holes))
    error = failure(uq.overview, classes)
    assert "uqcli tce with proba" in str(error)
    assert "uqcli tce with --proba" in error.message


def test_options_that_a_rule_cannot_use_are_named_as_arguments(rows, classes, rules):
    for error in (
        failure(uq.evaluate, rules["score"], rows, uncertainty="age"),
        failure(uq.evaluate, rules["boundary"], rows, seed=1),
        failure(uq.evaluate, rules["boundary"], rows, proba="p_*"),
        failure(uq.evaluate, rules["calibrator"], rows, cluster="by", sampling_weight="weight"),
        failure(uq.apply, rules["boundary"], rows, no_empty=True),
        failure(uq.apply, rules["sets"], classes, score="p_a"),
        failure(uq.bin, rows, edges=rules["grid"], n_min=5),
        failure(uq.backtest, rows, day="by", precision="0.5,0.6"),
    ):
        require_keywords(error)


def test_a_state_of_other_options_is_refused_by_arguments(rows, rules, tmp_path):
    state = tmp_path / "state.json"
    uq.watch(rules["score"], rows, state=state)
    for error in (
        failure(uq.watch, rules["score"], rows, state=state, delta="0.05"),
        failure(uq.watch, rules["boundary"], rows, state=state),
    ):
        require_keywords(error)


def test_remedies_name_arguments(rows, classes, rules, tmp_path):
    far = {**rows, "score": rows["score"] * 3}
    half = {**classes, "p_d": classes["p_d"] / 3}
    rules["boundary"].save(tmp_path / "rows.xyz")
    pl.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    for error in (
        failure(uq.sample, rules["boundary"], far, for_="recall", budget=5),
        failure(uq.conformal, half, **CLASSES),
        failure(uq.shift, classes, target=classes, estimator="known", prior="0.5,0.5", **CLASSES),
        failure(uq.tce, tmp_path / "rows.xyz"),
        failure(uq.tce, tmp_path / "rows.parquet", format="csv"),
    ):
        require_keywords(error)


def test_errors_that_are_joined_keep_their_options():
    error = joined(
        [
            FormError(words("{} is odd", "a --label"), expected="0/1", remedy=words("give --positive VALUE")),
            FormError("b is no date", expected="0/1", remedy=words("or --cluster")),
        ]
    )
    assert str(error) == ("a --label is odd, and b is no date; expected 0/1; give positive VALUE; or cluster")
    assert error.message.endswith("give --positive VALUE; or --cluster")


def test_a_failed_check_names_arguments():
    error = GateError([words("leave out --table"), "gate: 'a --b' > 1"])
    assert error.message == "leave out --table\ngate: 'a --b' > 1"
    assert str(error) == "leave out table\ngate: 'a --b' > 1"


def test_rows_in_place_of_a_rule_and_a_rule_in_place_of_rows_are_refused(rows, rules):
    rule, frame = rules["boundary"], pl.DataFrame(rows)
    for function, given, options in (
        (uq.apply, (rows, rule), {}),
        (uq.watch, (frame, frame), {}),
        (uq.show, (frame,), {}),
        (uq.export, (rows,), {"to": "sql"}),
        (uq.bin, (rows,), {"edges": frame}),
        (uq.boundary, (rows,), {"precision": "0.5", "shift": frame}),
    ):
        error = failure(function, *given, **options)
        assert (error.exit_code, "holds rows, not a rule" in str(error)) == (5, True), (function, error)
    for function, given, options in (
        (uq.tce, (rule,), {}),
        (uq.tce, (rows,), {"labels": rule, "on": "age"}),
        (uq.calibrate, (rows,), {"test": rule}),
        (uq.shift, (rows,), {"target": rule}),
    ):
        error = failure(function, *given, **options)
        assert (error.exit_code, "is a rule, not rows" in str(error)) == (3, True), (function, error)


def test_what_is_written_is_a_path_and_a_name_is_a_text(rows, rules):
    frame = pl.DataFrame(rows)
    for function, given, options in (
        (uq.apply, (rules["boundary"], rows), {"output": frame}),
        (uq.boundary, (rows,), {"precision": "0.5", "output": rules["boundary"]}),
        (uq.watch, (rules["boundary"], rows), {"state": frame}),
        (uq.tce, (rows,), {"plot": frame}),
        (uq.tce, (rows,), {"score": frame}),
        (uq.tce, (rows,), {"title": object()}),
    ):
        error = failure(function, *given, **options)
        assert (error.exit_code, " is of type " in str(error)) == (2, True), (function, error)


def test_nothing_given_is_said_in_words_of_python(rows, rules):
    for error in (
        failure(uq.tce),
        failure(uq.apply, rules["boundary"]),
        failure(uq.watch, rules["boundary"]),
    ):
        assert str(error).startswith("no rows given; expected a data frame")
        assert error.message.startswith("no INPUT")
    assert str(failure(uq.tce, {})).startswith(
        "no columns 'score' and 'label' in 'rows', which has no columns;"
    )


def test_rows_that_are_given_are_not_also_others(rows):
    error = failure(uq.calibrate, rows, test=rows)
    assert (error.exit_code, "and test; expected other rows there" in str(error)) == (2, True)


def test_columns_of_several_kinds_are_only_refused_if_they_are_read(rows, rules):
    size = len(rows["score"])
    frame = pd.DataFrame({name: rows[name] for name in ("score", "label")})
    mixed = frame.assign(note=[1 if index % 2 else "a" for index in range(size)])
    assert uq.tce(mixed).json() == uq.tce(frame).json()
    assert "'note'" in str(failure(uq.apply, rules["score"], mixed))
    labels = [1 if label else "0" for label in rows["label"]]
    assert "'label'" in str(failure(uq.tce, frame.assign(label=labels)))
    sparse = frame.assign(label=pd.arrays.SparseArray(rows["label"]))
    assert uq.tce(sparse).json() == uq.tce(frame).json()


def test_a_prefix_does_not_hide_what_a_rule_decides(rows, rules):
    assert (rules["score"].decide(rows, prefix="new_") == rules["score"].decide(rows)).all()
