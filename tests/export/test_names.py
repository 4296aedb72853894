"""Tests of names and texts in exported SQL: reserved words are columns, and texts compare as in ``apply``."""

import sqlite3
from contextlib import closing, suppress
from itertools import product

import duckdb
import polars as pl
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from tests.export.reserved_words import WORDS
from uqcli.base.choices import SqlDialect
from uqcli.base.errors import UsageError
from uqcli.engines.local.check.values import texts_of
from uqcli.export.python import to_python
from uqcli.export.sql import MAX_CHARACTERS, to_sql
from uqcli.rules.expressions import (
    WHITE_SPACE,
    Case,
    Column,
    Constant,
    Formula,
    Let,
    Name,
    Output,
    Steps,
    TextIn,
)

NAMES = st.sampled_from(WORDS) | st.text("ab_1 .'\"`[]Ä", min_size=1, max_size=6)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def in_sqlite(frame, sql, table):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE {quoted(table)} ({', '.join(map(quoted, frame.columns))})")
        marks = ", ".join("?" * frame.width)
        connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", frame.iter_rows())
        return [row[-1] for row in connection.execute(sql)]


def in_duckdb(frame, sql, table):
    with duckdb.connect() as connection:
        connection.register("given", frame.to_arrow())
        connection.execute(f"CREATE TABLE {quoted(table)} AS SELECT * FROM given")
        return [row[-1] for row in connection.execute(sql).fetchall()]


ENGINES = {SqlDialect.SQLITE: in_sqlite, SqlDialect.DUCKDB: in_duckdb}


def grouped(name, groups, score="s"):
    """Return a formula: the number of the group, from 1, of rows of the groups, and 0 of others."""
    column = Column(name=name, kind="text")
    branches = tuple(
        (TextIn(column, (group,)), Constant(float(index))) for index, group in enumerate(groups, 1)
    )
    output = Output(name="out", kind="double", value=Case(branches, Constant(0.0)))
    return Formula(inputs=(Column(name=score), column), required=(score,), outputs=(output,))


@pytest.mark.parametrize("dialect", ENGINES)
@given(number=NAMES, text=NAMES, table=st.sampled_from(WORDS))
def test_any_name_is_a_column(dialect, number, text, table):
    if number.lower() == text.lower():
        text = f"{text}_"
    frame = pl.DataFrame({number: [0.5, None, 0.5], text: ["a", "a", "b"]})
    sql = to_sql(grouped(text, ["a"], number), dialect, ["a test"], table)
    assert ENGINES[dialect](frame, sql, table) == [1.0, None, 0.0]


@pytest.mark.parametrize("dialect", SqlDialect)
@given(word=st.sampled_from(WORDS))
def test_reserved_words_are_names_in_every_dialect(dialect, word):
    sql = to_sql(grouped(word, ["a"], "s"), dialect, [], word)
    statement = sqlglot.parse_one(sql, dialect=dialect)
    names = {column.name.lower(): column.this.quoted for column in statement.find_all(sqlglot.exp.Column)}
    assert {name: quoted for name, quoted in names.items() if not name.startswith("uqcli_")} == {
        word: True,
        "s": True,
    }
    (table,) = (
        table
        for table in statement.find_all(sqlglot.exp.Table)
        if not table.name.lower().startswith("uqcli_")
    )
    assert (table.name.lower(), table.this.quoted) == (word, True)


ASCII = st.text(st.characters(max_codepoint=127, exclude_characters="\0"), min_size=1, max_size=8)


@given(number=ASCII, text=ASCII, groups=st.lists(ASCII, min_size=1, max_size=3, unique=True), table=ASCII)
def test_programs_are_plain_ascii_if_the_names_are(number, text, groups, table):
    """Whatever a client, a terminal or a version control takes for the encoding, they arrive as they are."""
    formula = grouped(f"{text}_", groups, number)
    assert to_python(formula, {"rule": text}).isascii()
    for dialect, source in product(SqlDialect, (None, table)):
        with suppress(UsageError):  # names that the database cannot have
            assert to_sql(formula, dialect, ["a test"], source).isascii()


TABLES = {
    "t": ["t"],
    "s.t": ["s", "t"],
    '"a.b".t': ["a.b", "t"],
    **{
        name: [name]
        for name in (
            "read_csv('x')",
            "t; DROP TABLE x",
            "(SELECT 1)",
            "t JOIN u",
            '"x',
            "`x",
            "t(a)",
            "{{ t }}",
            "a\nb",
        )
    },
}


@pytest.mark.parametrize("dialect", SqlDialect)
@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_a_name_whatever_it_contains(dialect, table):
    if table.startswith('"a') and dialect in (SqlDialect.BIGQUERY, SqlDialect.SPARK):
        return  # where double quotes enclose a text
    sql = to_sql(grouped("g", ["a"]), dialect, [], f"{table} /* c */" if table == "t" else table)
    statement = sqlglot.parse_one(sql, dialect=dialect)
    tables = [
        own for own in statement.find_all(sqlglot.exp.Table) if not own.name.lower().startswith("uqcli_")
    ]
    assert "/*" not in sql
    (parts,) = ([part.name for part in own.parts] for own in tables)
    assert [part.lower() for part in parts] == [part.lower() for part in TABLES[table]]
    assert all(part.quoted for own in tables for part in own.parts)


def test_a_missing_column_is_an_error_in_sqlite():
    """In double quotes its name would be a text."""
    sql = to_sql(grouped("group", ["a"]), SqlDialect.SQLITE, [], "t")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        in_sqlite(pl.DataFrame({"s": [0.5], "grp": ["a"]}), sql, "t")


TEXTS = st.text(st.sampled_from("aB1é" + WHITE_SPACE + "\x1c\u200b"), max_size=5) | st.sampled_from(
    ["true", "TRUE", " False\r", "a\r", "\u00a0a"]
)


@pytest.mark.parametrize("dialect", ENGINES)
@given(groups=st.lists(TEXTS, min_size=1, max_size=3), texts=st.lists(TEXTS, min_size=1, max_size=6))
def test_texts_are_compared_as_in_apply(dialect, groups, texts):
    known = sorted(set(texts_of(pl.Series([*groups, "true"]), "g").drop_nulls()))
    compared = texts_of(pl.Series(texts), "g").to_list()
    expected = [float(known.index(text) + 1) if text in known else 0.0 for text in compared]
    frame = pl.DataFrame({"s": [0.5] * len(texts), "g": texts})
    formula = grouped("g", known)
    assert ENGINES[dialect](frame, to_sql(formula, dialect, [], "t"), "t") == expected
    module = {}
    exec(to_python(formula, {}), module)
    assert [module["out"](0.5, text) for text in texts] == expected


@pytest.mark.parametrize(
    ("dialect", "collation"),
    [
        ("duckdb", "NOCASE"),
        ("duckdb", "NFC"),
        ("duckdb", "NOACCENT"),
        ("sqlite", "NOCASE"),
        ("sqlite", "RTRIM"),
    ],
)
def test_texts_are_compared_without_the_collation_of_their_column(dialect, collation):
    groups = ["a", "A", "e\u0301", "\u00e9", "e", "1", "1.0", "01", "\uff21"]
    sql = to_sql(grouped("g", groups), SqlDialect(dialect), [], "t")
    connect = duckdb.connect if dialect == "duckdb" else sqlite3.connect
    with closing(connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE t (s REAL, g TEXT COLLATE {collation})")
        connection.executemany("INSERT INTO t VALUES (0.5, ?)", [(group,) for group in groups])
        assert [row[-1] for row in connection.execute(sql).fetchall()] == [*range(1, len(groups) + 1)]


@pytest.mark.parametrize("dialect", ENGINES)
def test_truth_values_are_groups(dialect):
    frame = pl.DataFrame({"s": [0.5] * 3, "g": [True, False, None]})
    for groups, expected in (
        (["true", "false"], [1, 2, 0]),
        (["false"], [0, 1, 0]),
        (["true", "x"], [1, 0, 0]),
    ):
        assert ENGINES[dialect](frame, to_sql(grouped("g", groups), dialect, [], "t"), "t") == expected


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-99, 99).map(lambda tenth: tenth / 8)


@pytest.mark.parametrize("dialect", ENGINES)
@given(number=NUMBERS)
def test_floating_groups_are_exact_or_refused(dialect, number):
    frame = pl.DataFrame({"s": [0.5], "g": [number]})
    (text,) = texts_of(frame["g"], "g")
    try:
        sql = to_sql(grouped("g", [text]), dialect, [], "t")
    except UsageError:
        assert not 0.01 < abs(number) < 1e6 or len(text) > 15
    else:
        assert ENGINES[dialect](frame, sql, "t") == [1.0]


@pytest.mark.parametrize("dialect", SqlDialect)
@pytest.mark.parametrize(
    ("text", "dialects"), [("1e-05", ()), ("1.0", ("duckdb", "sqlite", "spark")), ("12", SqlDialect)]
)
def test_which_floating_groups_are_refused(dialect, text, dialects):
    if dialect in dialects:
        assert to_sql(grouped("g", [text]), dialect, [])
    else:
        with pytest.raises(UsageError, match="in different ways"):
            to_sql(grouped("g", [text]), dialect, [])


@pytest.mark.parametrize("dialect", SqlDialect)
def test_whole_numbers_are_compared_in_both_spellings(dialect):
    texts = ("1", "1.0", "-12340000", "-12340000.0", "100000000")
    column = Column(name="g", kind="text")
    inside = Case(((TextIn(column, texts), Constant(1.0)),), Constant(0.0))
    output = Output(name="out", kind="double", value=inside)
    sql = to_sql(Formula(inputs=(Column(name="s"), column), required=("s",), outputs=(output,)), dialect, [])
    spark = ", '-1.234E7'" if dialect == "spark" else ""
    assert f"IN ('1', '1.0', '-12340000', '-12340000.0', '100000000'{spark})" in sql


def test_a_statement_that_is_too_long_is_refused_before_it_is_written():
    value = Column(name="s")
    for index in range(60):  # 2**60 times as long, written out
        name = Name(f"v{index}")
        value = Let(name.name, value, Steps(name, (0.5,), (name, name)))
    formula = Formula(
        inputs=(Column(name="s"),), required=("s",), outputs=(Output(name="out", kind="double", value=value),)
    )
    for dialect in (SqlDialect.BIGQUERY, SqlDialect.SNOWFLAKE, SqlDialect.MYSQL):
        with pytest.raises(UsageError, match=f"at most {MAX_CHARACTERS[dialect]:,} for {dialect}"):
            to_sql(formula, dialect, [])
    for dialect in set(SqlDialect) - {SqlDialect.MYSQL}:
        assert len(to_sql(formula, dialect, [], "t")) < 10_000
