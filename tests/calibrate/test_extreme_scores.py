"""Every map is finite, in [0, 1] and monotone for every finite score, also in every exported form."""

import math
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.calibration_rows import scored
from uqcli.base.choices import OF_UNCERTAINTY, CalibrationMethod, LeafMethod, SqlDialect
from uqcli.base.counts import Feature
from uqcli.calibrate.fit import SCORE_FITS, fit
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.maps import IsotonicMap, OneVsRestMap
from uqcli.calibrate.scale import Scale
from uqcli.export.onnx import to_onnx
from uqcli.export.python import to_python
from uqcli.export.sql import to_sql
from uqcli.rules.expressions import Column, Formula, NamedValues, Output

NEIGHBOURS = [math.nextafter(0.3, 0), 0.3, math.nextafter(0.3, 1), math.nextafter(1, 0), 1.0]
TINY = [0.0, 5e-324, 4e-320, 4e-314, 2.3e-308, 1e-300, 1e-12]
HUGE = [math.nextafter(1, 2), 30.0, 1e16, 1e101, 1e300, 1e308, 1.7976931348623157e308]
SPECIAL = {
    False: [*TINY, *NEIGHBOURS],
    True: [*(sign * x for x in TINY + NEIGHBOURS + HUGE for sign in (-1, 1))],
}
FINITE = {False: st.floats(0, 1), True: st.floats(allow_nan=False, allow_infinity=False)}


def of_usual_size(score):
    """Whether slopes stay within 1e100: they are as steep as scores are near to each other."""
    return score == 0 or 1e-16 < abs(score) < 1e16


EXACT = {CalibrationMethod.ISOTONIC, CalibrationMethod.MIST, CalibrationMethod.VENN_ABERS}
"""Methods whose maps have no logarithm and no exponential function, and are monotone to the last bit."""

CASES = [
    *((method, None) for method in [*SCORE_FITS, *OF_UNCERTAINTY]),
    *((CalibrationMethod.HETEROGENEOUS, leaf) for leaf in LeafMethod),
]
FALLING = {CalibrationMethod.PLATT, CalibrationMethod.HISTOGRAM, CalibrationMethod.SURFACE}
"""Methods that may fit a falling map."""


def exported(formula, rows):
    """Return the probability of each row in Python, SQLite, DuckDB and ONNX, by name."""
    names = [column.name for column in formula.inputs]
    module = {}
    exec(to_python(formula, []), module)
    yield "python", [module["calibrated"](**row) for row in rows]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(names)})")
        marks = ", ".join("?" * len(names))
        connection.executemany(f"INSERT INTO t VALUES ({marks})", [list(row.values()) for row in rows])
        sql = to_sql(formula, SqlDialect.SQLITE, [])
        yield "sqlite", [value for (value,) in connection.execute(f"SELECT {sql} FROM t ORDER BY rowid")]
    with duckdb.connect() as connection:
        types = ("DOUBLE" if column.kind == "number" else "VARCHAR" for column in formula.inputs)
        connection.execute(f"CREATE TABLE t ({', '.join(map(' '.join, zip(names, types, strict=True)))})")
        connection.executemany(f"INSERT INTO t VALUES ({marks})", [list(row.values()) for row in rows])
        sql = to_sql(formula, SqlDialect.DUCKDB, [])
        yield "duckdb", [value for (value,) in connection.sql(f"SELECT {sql} FROM t").fetchall()]
    model = onnxruntime.InferenceSession(to_onnx(formula, {}), providers=["CPUExecutionProvider"])
    tensors = {name: np.array([row[name] for row in rows]) for name in names}
    texts = [column.name for column in formula.inputs if column.kind == "text"]
    tensors |= {name: tensors[name].astype(object) for name in texts}
    yield "onnx", model.run(["calibrated"], tensors)[0].tolist()


def drawn_labels(score, seed):
    rank = np.searchsorted(np.unique(score), score)
    return np.random.default_rng(seed).random(len(score)) < (rank + 1) / (rank.max() + 2)


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize("real", [False, True], ids=["probability", "real"])
@pytest.mark.parametrize(("method", "leaf_method"), CASES)
@settings(max_examples=10)
@given(data=st.data())
def test_maps_are_finite_probabilities_in_order(method, leaf_method, real, data):
    usual = method not in EXACT and leaf_method is not LeafMethod.ISOTONIC
    scores = st.sampled_from(SPECIAL[real]) | FINITE[real]
    calibration = scores.filter(of_usual_size) if usual else scores
    ends = [] if usual else [min(SPECIAL[real]), max(SPECIAL[real])]
    knots = [
        *data.draw(st.lists(calibration, min_size=2, max_size=12)),
        *data.draw(st.sampled_from([ends, []])),
    ]
    score = np.repeat(np.array(knots) + 0.0, 8)
    label = drawn_labels(score, data.draw(st.integers(0, 9)))
    scale, options = Scale(real=real), {} if leaf_method is None else {"leaf_method": leaf_method}
    options = CalibrationOptions(
        method=method, scale=scale, uncertainty_bins=2, trees=False, min_leaf=1, **options
    )
    fitted = fit(with_more_columns(score, label), options)
    assert not fitted.map.contradiction()

    new = np.unique([*SPECIAL[real], *score, *data.draw(st.lists(scores, max_size=8))]) + 0.0
    probability = fitted.predict(with_more_columns(new, np.zeros(len(new)), alike=True)).probability.tolist()
    inputs = (Column(name="score"), Column(name="uncertainty"), Column(name="kind", kind="text"))
    value = fitted.map.exported(inputs[0], scale, inputs[1])
    output = Output(name="calibrated", kind="double", value=value)
    formula = Formula(inputs=inputs, required=("score", "uncertainty"), outputs=(output,))
    rows = [{"score": x, "uncertainty": 0.0, "kind": "a"} for x in new.tolist()]
    rounding = 1e-15 if usual else 0.0
    for place, values in [("rows", probability), *exported(formula, rows)]:
        assert all(value is not None and math.isfinite(value) and 0 <= value <= 1 for value in values), place
        rises = np.diff(values) >= -rounding
        assert rises.all() or method in FALLING or leaf_method is LeafMethod.PLATT, place
        assert usual or values == probability, place


def with_more_columns(score, label, *, alike=False):
    """Return rows of three uncertainties and two kinds, or all of the first ones."""
    index = np.zeros(len(score), dtype=int) if alike else np.arange(len(score))
    kind = Feature(levels=("a", "b"), value=index % 2.0)
    return scored(score, label, uncertainty=index % 3.0, features={"kind": kind})


@settings(max_examples=50)
@given(st.data())
def test_maps_of_one_class_against_the_rest_add_up_to_1(data):
    """A row in which every map is 0 keeps its probabilities; fits have no such map, saved rules may."""
    knots = st.lists(st.sampled_from(SPECIAL[False]), min_size=2, max_size=5, unique=True).map(sorted)
    x = data.draw(knots)
    maps = [IsotonicMap(x=x, y=[0.0, *np.linspace(0.1, 1, len(x) - 1).tolist()]) for _ in range(3)]
    own = np.array([*SPECIAL[False], *data.draw(st.lists(st.floats(0, 1), max_size=5))])
    probability = np.stack([own, (1 - own) / 2, (1 - own) / 2], axis=1)
    fitted = OneVsRestMap(maps=maps)
    expected = fitted.probabilities(probability)
    assert expected.sum(axis=1) == pytest.approx(1)
    inputs = tuple(Column(name=f"p_{index}") for index in range(3))
    named = NamedValues()
    first = fitted.exported(inputs, [1.0, 1.0, 1.0], named)[0]
    output = Output(name="calibrated", kind="double", value=first)
    formula = Formula(
        inputs=inputs, required=("p_0", "p_1", "p_2"), outputs=(output,), named=tuple(named.values)
    )
    rows = [dict(zip(formula.required, row, strict=True)) for row in probability.tolist()]
    for place, values in exported(formula, rows):
        assert values == pytest.approx(expected[:, 0], rel=1e-14), place
