"""Exported SQL decides as ``apply`` on columns of any type and text, in memory and from files."""

import math
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from uqcli.base.choices import SqlDialect
from uqcli.base.running.interruption import temporary_folder
from uqcli.engines.request import DataRequest
from uqcli.export import check
from uqcli.export.sql import to_sql
from uqcli.rules.codec import load

RULES = {
    "threshold": ("boundary", "--precision", "0.6", "--algorithm", "st"),
    "groups": ("boundary", "--precision", "0.6", "--by", "site", "--bound", "each"),
    "zones": ("boundary", "--precision", "0.6", "--review", "20%", "--algorithm", "vw-dpmt"),
    "isotonic": ("calibrate", "--method", "isotonic"),
    "partition": ("calibrate", "--method", "heterogeneous", "--partition", "site,grade"),
    "tree": (
        *("calibrate", "--method", "heterogeneous", "--features", "age,site"),
        *("--partitioner", "tree", "--max-depth", "2", "--min-leaf", "20", "--bootstrap", "0"),
    ),
    "sets": ("conformal", "--method", "lac", "--by", "site"),
}
NUMBERS, TEXTS = ("score", "uncertainty", "age"), ("site", "grade")


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    """Fit each rule to rows in which all columns but scores have missing values."""
    from uqcli.cli.app import run

    folder = tmp_path_factory.mktemp("rules")
    random = np.random.default_rng(0)
    score, age = random.beta(2, 2, 1200).round(2), random.choice([30.0, 60.0, np.nan], 1200)
    likely = np.where(age == 60, np.sqrt(score), score**3)
    pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.choice([0.1, 0.5, 0.9], 1200),
            "age": age,
            "site": random.choice(["Oslo", "nan", "1.5", ""], 1200),
            "grade": random.choice([1.5, 2.5, np.nan], 1200),
            "label": random.random(1200) < likely,
        }
    ).write_parquet(folder / "fit.parquet")
    for name, (command, *options) in RULES.items():
        rule = str(folder / f"{name}.json")
        given_rows = [str(folder / "fit.parquet"), "--on-invalid", "drop"]
        assert run([command, *given_rows, *options, "-q", "-o", rule]) == 0
    loaded = {name: load(str(folder / f"{name}.json")) for name in RULES}
    return lambda name: loaded[name]  # whose representation is short, unlike that of the rules


def column(values, *types):
    """Return columns of few values, so that the statistics of a file are narrow."""
    cells = st.lists(st.sampled_from(values), min_size=1, max_size=5)
    return st.tuples(cells, st.sampled_from(types))


SPECIAL = [None, math.nan, math.nan]
FLOATS = (pl.Float64, pl.Float32)
COLUMNS = {
    "score": column([*SPECIAL, math.inf, 0.0, 0.25, 0.5, 0.75, 1.0], *FLOATS)
    | column([0, 1, None], pl.Int64),
    "uncertainty": column([*SPECIAL, -math.inf, 0.25, 0.5, 0.9], *FLOATS),
    "age": column([*SPECIAL, 30.0, 45.0, 60.0], *FLOATS) | column([None, 30, 60], pl.Int32),
    "site": column([None, "Oslo", " Oslo\t", "nan", "1.5", "", " ", "x"], pl.String, pl.Categorical)
    | column([*SPECIAL, 1.5, 2.5], pl.Float64),
    "grade": column([*SPECIAL, math.inf, 1.5, 2.5, 4.5], *FLOATS)
    | column([None, "1.5", " 2.5 ", "nan", "NaN", "inf", "", "a"], pl.String),
}
LAYOUTS = {
    "score": [
        *["0", "1", ".5", "+0.25", "5e-1", "5E-1", "0.750", "00.5", "-0"],
        "",
        " ",
        " 0.75",
        "0.5\t",
        "NaN",
        "nan",
        "inf",
        "-Infinity",
        "1e400",
    ],
    "uncertainty": ["0.1", " .5", "9e-1 ", "", "NaN", "-nan", "inf", "+inf"],
    "age": ["30", " 45.0", "60 ", "6e1", "", "  ", "nan", "NaN", "unknown", "1,5"],
    "site": ["Oslo", " Oslo", "nan", "NaN", "1.5", "", "x", "inf"],
    "grade": ["1.5", "2.5", " 1.5", "1.50", "", "nan", "a"],
}


def drawn(columns):
    """Draw rows that repeat the values of each column."""

    def frame(chosen):
        size = max(len(cells) for cells, _ in chosen)
        repeated = [(np.resize(np.arange(len(cells)), size), cells, kind) for cells, kind in chosen]
        return pl.DataFrame(
            [
                pl.Series(name, [cells[index] for index in places], dtype=kind)
                for name, (places, cells, kind) in zip(columns, repeated, strict=True)
            ]
        )

    return st.tuples(*columns.values()).map(frame)


TYPED = drawn(COLUMNS)
OF_TEXTS = drawn({name: column(texts, pl.String) for name, texts in LAYOUTS.items()})


@pytest.fixture(scope="module")
def in_duckdb():
    """Return a function that runs a query of a table or a view ``rows`` of a source."""
    with duckdb.connect() as connection:

        def run(query, source, kind="VIEW", frame=None):
            if frame is not None:
                connection.register(source, frame.to_arrow())
            connection.execute(f"CREATE {kind} rows AS FROM {source}")
            try:
                return connection.execute(query).fetchall()
            finally:
                connection.execute(f"DROP {kind} rows")

        yield run


def in_sqlite(query, frame, declared):
    types = {kind: declared if kind.is_numeric() else "TEXT" for kind in frame.dtypes}
    names = ", ".join(f'"{name}" {types[kind]}' for name, kind in frame.schema.items())
    plain = frame.with_columns(pl.col(pl.Categorical).cast(pl.String))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE rows ({names})")
        connection.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * frame.width)})", plain.rows())
        return connection.execute(query).fetchall()


def require_equal(rule, path, results):
    """Compare each database's rows with what ``apply --on-invalid keep`` adds."""
    formula, applied = rule.formula(), path.with_name("applied.parquet")
    check._apply(rule, DataRequest(inputs=(str(path),)), applied)
    expected = pl.read_parquet(applied)
    for place, rows in results.items():
        for index, output in enumerate(formula.outputs, -len(formula.outputs)):
            own = expected[f"{check._PREFIX}{output.name}"]
            actual = pl.Series([row[index] for row in rows]).cast(own.dtype)
            different = check._differ(output, own, actual, 1e-12)
            assert not different.any(), (place, output.name, own.to_list(), actual.to_list())


def query(rule, dialect, *, as_query):
    text = to_sql(rule.formula(), dialect, [], "rows" if as_query else None)
    return text if as_query else f"SELECT {text} FROM rows"


NAMES = st.sampled_from(list(RULES))
NAN_AMONG_NUMBERS = pl.DataFrame(
    {
        "score": [0.5] * 3,
        "uncertainty": [0.5] * 3,
        "age": [30.0, math.nan, 60.0],
        "site": ["Oslo"] * 3,
        "grade": [1.5, math.nan, 2.5],
    }
)


@pytest.mark.thorough
@settings(max_examples=60)
@given(name=NAMES, frame=TYPED, as_query=st.booleans())
@example(name="tree", frame=NAN_AMONG_NUMBERS, as_query=True)
@example(name="partition", frame=NAN_AMONG_NUMBERS, as_query=False)
def test_columns_of_all_types(rules, in_duckdb, name, frame, as_query):
    rule = rules(name)
    of_duckdb = query(rule, SqlDialect.DUCKDB, as_query=as_query)
    of_sqlite = query(rule, SqlDialect.SQLITE, as_query=as_query)
    with temporary_folder() as folder:
        paths = [folder / "pyarrow.parquet", folder / "polars.parquet"]
        pq.write_table(frame.to_arrow(), paths[0])
        frame.write_parquet(paths[1])
        results = {path.stem: in_duckdb(of_duckdb, f"'{path}'") for path in paths}
        results["memory"] = in_duckdb(of_duckdb, "given", frame=frame)
        results["table"] = in_duckdb(of_duckdb, f"'{paths[0]}'", "TABLE")
        results["SQLite"] = in_sqlite(of_sqlite, frame, "REAL")
        require_equal(rule, paths[1], results)


@settings(max_examples=60)
@given(name=NAMES, frame=OF_TEXTS, as_query=st.booleans())
def test_texts_of_numbers(rules, in_duckdb, name, frame, as_query):
    rule = rules(name)
    of_duckdb = query(rule, SqlDialect.DUCKDB, as_query=as_query)
    of_sqlite = query(rule, SqlDialect.SQLITE, as_query=as_query)
    with temporary_folder() as folder:
        path = folder / "rows.csv"
        frame.write_csv(path)
        source = f"read_csv('{path}', header = true, all_varchar = true, delim = ',')"
        results = {
            "CSV": in_duckdb(of_duckdb, source, "TABLE"),
            "memory": in_duckdb(of_duckdb, "given", frame=frame),
            **{declared: in_sqlite(of_sqlite, frame, declared) for declared in ("TEXT", "REAL", "")},
        }
        require_equal(rule, path, results)
