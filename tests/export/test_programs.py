"""Tests of exported maps: within the stated bound of the maps themselves, and in order."""

import math
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from uqcli.base.choices import SqlDialect
from uqcli.calibrate.maps import BetaMap, LogisticMap
from uqcli.calibrate.maps.isotonic import interpolated
from uqcli.calibrate.scale import Scale
from uqcli.export.check import _duckdb, error_bound, made_rows
from uqcli.export.python import to_python
from uqcli.export.sql import to_sql
from uqcli.rules.expressions import Column, Constant, Formula, Output, Steps

SCORE = Column(name="score")
SCORES = st.floats(0, 1) | st.sampled_from([0.0, 5e-324, 1e-13, 1e-12, 0.5, 1 - 2**-53, 1 - 1e-12, 1.0])
COEFFICIENTS = st.floats(0, 60) | st.sampled_from([0.0, 1e-3, 1.0, 1000.0])


def formula_of(value, **more):
    output = Output(name="calibrated", kind="double", value=value)
    return Formula(inputs=(SCORE,), required=("score",), outputs=(output,), **more)


def program(formula):
    module = {}
    exec(to_python(formula, {"kind": "a test"}), module)
    return module["calibrated"]


MAPS = st.one_of(
    st.builds(LogisticMap, intercept=st.floats(-900, 900), slope=COEFFICIENTS),
    st.builds(BetaMap, a=COEFFICIENTS, b=COEFFICIENTS, c=st.floats(-50, 50)),
)


@settings(max_examples=300)
@given(MAPS, st.sampled_from([1.0, 20.0]), st.lists(SCORES, min_size=1, max_size=20))
def test_probabilities_are_within_the_bound_and_in_order(fitted, undersampled, scores):
    scale, scores = Scale(undersampled=undersampled), sorted(scores)
    value = fitted.exported(scale.exported_corrected(SCORE), scale)
    formula = formula_of(value, terms=fitted.terms)
    exported = [program(formula)(score) for score in scores]
    expected = fitted.probability(scale.corrected(np.array(scores)), scale).tolist()
    bound = error_bound(formula, 27.64)
    for ours, its in zip(exported, expected, strict=True):
        assert abs(ours - its) <= bound * its + 1e-300
    assert exported == sorted(exported)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30),
    st.lists(SCORES, min_size=1, max_size=20),
)
def test_interpolation_is_that_of_numpy(points, scores):
    x, y = (sorted(axis) for axis in zip(*points, strict=True))
    with np.errstate(all="ignore"):
        slope = np.diff(y) / np.where(np.diff(x) == 0, 1, np.diff(x))
    assume((np.isfinite(slope) & ((slope == 0) | (slope > 1e-300))).all())
    scores = [*scores, *x, *np.nextafter(x, 2).tolist(), *np.nextafter(x, -1).tolist()]
    run = program(formula_of(interpolated(SCORE, x, y)))
    end = np.append(y, y[-1])[np.searchsorted(x, scores, side="right")]  # numpy may round beyond it
    assert [run(score) for score in scores] == np.minimum(np.interp(scores, x, y), end).tolist()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40, unique=True))
def test_steps_count_the_edges_at_or_below(edges):
    edges = sorted(edges)
    run = program(formula_of(Steps(SCORE, tuple(edges), tuple(map(Constant, range(len(edges) + 1))))))
    for edge in edges:
        for value in (edge, math.nextafter(edge, -math.inf), math.nextafter(edge, math.inf)):
            if math.isfinite(value):
                assert run(value) == sum(other <= value for other in edges)


@settings(max_examples=300)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_sqlite_reads_the_same_double(value):
    """Its reader of decimal numbers rounds wrongly, so that long ones are written as fractions."""
    text = to_sql(formula_of(Constant(value)), SqlDialect.SQLITE, [])
    literal = text[text.rindex("THEN CAST(") + 10 : text.rindex(" AS REAL")]
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(f"SELECT {literal}").fetchone()[0] == value


@pytest.mark.parametrize("dialect", [dialect for dialect in SqlDialect if dialect is not SqlDialect.SQLITE])
@given(st.floats(0, 1e300))
def test_other_dialects_have_the_shortest_digits(dialect, value):
    text = to_sql(formula_of(Constant(value)), dialect, [])
    assert f"{value!r}" in text


def test_made_rows_are_at_and_beside_every_number():
    formula = formula_of(Steps(SCORE, (0.25, 0.5), (Constant(0.1), Constant(0.2), Constant(0.3))))
    values = set(made_rows(formula)["score"].drop_nulls().to_list())
    assert {0.25, math.nextafter(0.25, 0), math.nextafter(0.25, 1), 0.5, math.inf} <= values
    assert made_rows(formula)["score"].null_count() > 0
    assert made_rows(formula).equals(made_rows(formula))


def test_a_slow_query_draws_nothing_into_a_report():
    # a worker of pytest-xdist is a Python without a script file, for which DuckDB draws
    with _duckdb() as connection:
        assert connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() == (False,)
