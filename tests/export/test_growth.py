"""Programs of many groups and classes grow linearly, in size and in steps of the writer, or are refused."""

import sys

import numpy as np
import polars as pl
import pytest

from tests.export.test_names import ENGINES
from uqcli.base.choices import SqlDialect
from uqcli.base.errors import UsageError
from uqcli.calibrate.maps import LogisticMap
from uqcli.calibrate.maps.base import FeatureColumn, Node
from uqcli.calibrate.maps.classes import ClassTemperatureMap
from uqcli.calibrate.maps.heterogeneous import Leaf, Tree, TreesMap
from uqcli.calibrate.maps.isotonic import interpolated
from uqcli.calibrate.scale import Scale
from uqcli.export import sql
from uqcli.export.check import made_rows
from uqcli.export.onnx import to_onnx
from uqcli.export.python import to_python
from uqcli.export.sql import to_sql
from uqcli.rules.expressions import (
    AllOf,
    Arithmetic,
    Case,
    Column,
    Comparison,
    Constant,
    Formula,
    Lookup,
    Maximum,
    Name,
    NamedValues,
    Output,
    Steps,
    TextIn,
    lookup,
)

SCORE, UNCERTAINTY, GROUP = Column(name="score"), Column(name="u"), Column(name="g", kind="text")
GROWTH = 2.4
"""More than twice the size: numbers have more digits."""


def formula_of(value, kind="double", inputs=(SCORE,), **more):
    more.setdefault("required", tuple(column.name for column in inputs if column.kind == "number"))
    return Formula(inputs=inputs, outputs=(Output(name="out", kind=kind, value=value),), **more)


def thresholds_by_group(size):
    tables = [Steps(UNCERTAINTY, (0.1, 0.2 + index), (Constant(0.3),) * 3) for index in range(size)]
    values = [Comparison(">=", SCORE, table) for table in tables]
    groups = [((f"g{index}",),) for index in range(size)]
    return formula_of(lookup((GROUP,), groups, values, values[0]), "bool", (SCORE, UNCERTAINTY, GROUP))


def maps_by_group(size):
    values = [
        LogisticMap(intercept=index / 8, slope=1 + index / 8).exported(SCORE, Scale())
        for index in range(size)
    ]
    groups = [((f"g{index}",),) for index in range(size)]
    return formula_of(lookup((GROUP,), groups, values, values[0]), "double", (SCORE, GROUP))


def different_maps_by_group(size):
    values = [interpolated(SCORE, [0.0, 0.5, 1.0], [0.0, 1 / (2 + index % 7), 1.0]) for index in range(size)]
    groups = [((f"g{index}",),) for index in range(size)]
    return formula_of(lookup((GROUP,), groups, values, SCORE), "double", (SCORE, GROUP))


def long_sum(size):
    value = SCORE
    for _ in range(size):
        value = Arithmetic("+", value, Case(((Comparison("<", SCORE, Constant(0.5)), Constant(0.1)),), SCORE))
    return formula_of(value)


def predicted_class(size):
    columns = tuple(Column(name=f"p{index}") for index in range(size))
    reached = [Comparison(">=", column, Name("largest")) for column in columns]
    branches = tuple((test, Constant(f"c{index}")) for index, test in enumerate(reached))
    value = Case(branches, Constant(None))
    return formula_of(value, "text", columns, named=(("largest", Maximum(columns)),))


def calibrated_classes(size):
    columns = tuple(Column(name=f"p{index}") for index in range(size))
    named = NamedValues()
    values = ClassTemperatureMap(slope=1.5).exported(columns, [1.0] * size, named)
    return Formula(
        inputs=columns,
        required=tuple(column.name for column in columns),
        named=tuple(named.values),
        outputs=tuple(
            Output(name=f"c{index}", kind="double", value=value) for index, value in enumerate(values)
        ),
    )


SIZES = {
    thresholds_by_group: 200,
    maps_by_group: 100,
    different_maps_by_group: 100,
    long_sum: 200,
    predicted_class: 100,
    calibrated_classes: 60,
}
TARGETS = {
    "python": lambda formula: to_python(formula, {}),
    "onnx": lambda formula: to_onnx(formula, {}),
    **{
        f"{dialect} {table}": lambda formula, dialect=dialect, table=table: to_sql(
            formula, dialect, [], table
        )
        for dialect in SqlDialect
        for table in (None, "t")
    },
}
WRITTEN_OUT = ["bigquery None", "snowflake None", "mysql None", "mysql t"]
REPEATED = {
    **dict.fromkeys(SIZES, ()),
    predicted_class: WRITTEN_OUT,
    calibrated_classes: [*(f"{dialect} None" for dialect in SqlDialect), "sqlite t", "mysql t"],
}
"""Statements that write again what is used again: in a dialect without names, or in each of many outputs."""


def steps_of(function, *arguments):
    """Count the calls of functions."""
    count = 0

    def called(frame, event, argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(called)
    try:
        result = function(*arguments)
    finally:
        sys.setprofile(None)
    return len(result), count


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("make", SIZES)
def test_a_program_grows_linearly(make, target):
    if target in REPEATED[make]:
        return  # refused beyond a limit, as below
    size = SIZES[make]
    small, large = (np.array(steps_of(TARGETS[target], make(size * factor))) for factor in (1, 2))
    assert (large < GROWTH * small).all(), (small, large)


def test_outputs_that_compute_the_same_values_again_are_refused_beyond_a_limit():
    formula = calibrated_classes(1000)
    for dialect in SqlDialect:
        with pytest.raises(UsageError, match=r"characters of SQL; expected at most|as in (sqlite|postgres)"):
            to_sql(formula, dialect, [])
    for dialect in (SqlDialect.SQLITE, SqlDialect.POSTGRES):
        with pytest.raises(UsageError, match=r"characters of SQL; expected at most|at most 1,600 together"):
            to_sql(formula, dialect, [], "t")


def branches_with_maps(size):
    """Return a tree whose leaves have maps that name their values."""
    leaves = [LogisticMap(intercept=index, slope=1.0).exported(SCORE, Scale()) for index in range(size)]
    leaves = [*leaves[:-1], Constant(0.5)]  # of another form, so that they are not merged
    branches = [
        (AllOf((TextIn(GROUP, (f"g{index}",)), Comparison("<", UNCERTAINTY, Constant(0.5)))), leaf)
        for index, leaf in enumerate(leaves)
    ]
    return formula_of(Case(tuple(branches), SCORE), "double", (SCORE, UNCERTAINTY, GROUP))


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("table", [None, "t"])
@pytest.mark.parametrize("dialect", SqlDialect)
@pytest.mark.parametrize("make", [*SIZES, branches_with_maps])
def test_the_length_is_known_before_a_statement_is_written(monkeypatch, make, dialect, table):
    formula = make(10)
    length = len(to_sql(formula, dialect, [], table))
    least = sql._least_characters(formula, sql._Quoting(dialect), is_query=table is not None)
    assert length / 5 < least <= length
    monkeypatch.setitem(sql.MAX_CHARACTERS, dialect, least - 1)
    monkeypatch.setattr(sql._Writer, "_step", None)  # nothing is written
    is_shortest = table is not None or dialect in (SqlDialect.SQLITE, SqlDialect.MYSQL)
    remedy = "export it" if is_shortest else "write a query"
    with pytest.raises(UsageError, match=f"expected at most {least - 1:,} for {dialect}; {remedy}"):
        to_sql(formula, dialect, [], table)


@pytest.mark.parametrize("size", [100, 101, 150])
def test_many_groups_are_found_as_few_are(size):
    """Many are divided by the texts of their first column."""
    columns = Column(name="g", kind="text"), Column(name="h", kind="text")
    texts = [*(f"g{index}" for index in range(size - 3)), "true", "1"]
    one = {(text,): None for text in [*texts, None]}
    two = {(text, other): None for text in [*texts[-40:], None] for other in ("a", "true", None)}
    for known in (one, two):
        groups = [tuple(None if text is None else (text,) for text in group) for group in known]
        own = columns[: len(groups[0])]
        value = lookup(own, groups, [Constant(index) for index in range(len(groups))], Constant(-1))
        formula = formula_of(value, "integer", (SCORE, *own))
        rows = [(0.5, *group) for group in (*known, *([("other", "a")] if len(own) > 1 else [("other",)]))]
        rows += [(0.5, f" {row[1]} ".upper(), *row[2:]) for row in rows[size - 8 :] if row[1]]
        module = {}
        exec(to_python(formula, {}), module)
        expected = [module["out"](*row) for row in rows]
        assert set(expected) >= {*range(len(groups)), -1}
        frame = pl.DataFrame(rows, schema=[column.name for column in formula.inputs], orient="row")
        for dialect, run in ENGINES.items():
            assert run(frame, to_sql(formula, dialect, [], "t"), "t") == expected
            divided = size > 100 or len(groups) > 100
            text = to_sql(formula, dialect, [], "t").replace(" NOT IN (", "")
            assert (" IN (" in text) == divided


def test_a_row_meets_few_of_many_conditions():
    """Databases try one condition after the other."""

    def most_tried(size):
        groups = [((f"g{index}",),) for index in range(size)]
        values = tuple(map(Constant, range(size)))
        case = sql._as_case(Lookup((GROUP,), tuple(groups), values, Constant(-1)))
        inner = [sql._as_case(value) for _, value in case.branches if isinstance(value, Lookup)]
        return len(case.branches) + max(len(value.branches) for value in inner)

    assert most_tried(10_000) <= 210
    assert most_tried(40_000) <= 410


def tree(depth):
    """Return a tree that asks for a column which may be missing, and for one of texts."""
    size = 2**depth
    questions = [
        Node(
            feature="x",
            threshold=index / size,
            left=2 * index + 1,
            right=2 * index + 2,
            missing_left=index % 2 > 0,
        )
        if index % 3
        else Node(
            feature="g",
            levels=[f"g{index}"],
            left=2 * index + 1,
            right=2 * index + 2,
            other_left=index % 2 > 0,
        )
        for index in range(size - 1)
    ]
    leaves = [
        Leaf(
            rule="", rows=1, positives=1, own=True, calibration=LogisticMap(intercept=index / size, slope=1.0)
        )
        for index in range(size)
    ]
    levels = [f"g{index}" for index in range(0, size - 1, 3)]
    features = [FeatureColumn(name="x"), FeatureColumn(name="g", levels=levels)]
    own = Tree(nodes=[*questions, *(Node(leaf=index) for index in range(size))], leaves=leaves)
    fitted = TreesMap(features=features, combine="mean", trees=[own])
    assert not fitted.contradiction()
    return formula_of(
        fitted.exported(SCORE, Scale()), "double", (SCORE, Column(name="x"), GROUP), required=("score",)
    )


@pytest.mark.parametrize("target", [target for target in TARGETS if target not in WRITTEN_OUT])
def test_a_tree_grows_with_its_leaves(target):
    small, large = (np.array(steps_of(TARGETS[target], tree(depth))) for depth in (5, 6))
    assert (large < GROWTH * small).all(), (small, large)


@pytest.mark.parametrize("depth", [8, pytest.param(12, marks=pytest.mark.thorough)])  # 12 is the deepest
def test_the_deepest_tree_runs_in_databases(depth):
    frame = pl.DataFrame({"score": [0.5, 0.5], "x": [0.3, None], "g": ["g0", "other"]})
    formula = tree(depth)
    module = {}
    exec(to_python(formula, {}), module)
    for dialect, run in ENGINES.items():
        values = run(frame, to_sql(formula, dialect, [], "t"), "t")
        assert np.allclose(values, [module["out"](*row) for row in frame.iter_rows()], rtol=1e-12, atol=0)


def test_rows_are_made_in_steps_that_grow_linearly():
    steps = [steps_of(made_rows, calibrated_classes(size))[1] for size in (100, 200)]
    assert steps[1] < GROWTH * steps[0]


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("make", "size"), [(thresholds_by_group, 10_000), (predicted_class, 1000)])
def test_many_groups_and_classes_have_programs(make, size, target):
    try:
        program = TARGETS[target](make(size))
    except UsageError as error:
        assert "expected at most 1,000,000 for" in str(error)  # noqa: PT017
        assert target.startswith(("bigquery", "snowflake", "mysql"))
    else:
        assert len(program) < 400 * size


def test_the_logistic_map_has_at_most_25_lines():
    value = LogisticMap(intercept=0.123456789012345, slope=1.2345678901234567).exported(SCORE, Scale())
    formula = formula_of(value, ranges={"score": (0.0, 1.0)}, roles={"score": "score"})
    for dialect in set(SqlDialect) - {SqlDialect.MYSQL}:  # where it is written out
        text = to_sql(formula, dialect, ["kind, version and digest", "what is null"], "scored")
        assert len(text.splitlines()) <= 25
        assert text.count("AS uqcli_log_odds") == 1
