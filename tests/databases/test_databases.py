"""Exported SQL in real databases: the same decisions as ``apply`` on a million rows, in every column type."""

import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pymysql
import pytest

from tests.cli.test_export_names import NAMES, columns_from, write_rows
from tests.cli.test_export_names import RULES as NAMED_RULES
from tests.export.reserved_words import WORDS
from uqcli.base.choices import SqlDialect
from uqcli.base.errors import UsageError
from uqcli.export.check import error_bound, made_rows
from uqcli.export.sql import to_sql
from uqcli.rules.codec import load
from uqcli.rules.expressions import (
    WHITE_SPACE,
    AllOf,
    Case,
    Column,
    Comparison,
    Constant,
    Formula,
    IsMissing,
    Output,
    TextIn,
)

ROWS = int(os.environ.get("DATABASE_ROWS", "1000000"))
INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
POSTGRES = Path(os.environ.get("POSTGRES_BIN") or (INSTALLED or ["."])[-1])
CLUSTER_PYTHON = (
    os.environ.get("UQCLI_CLUSTER_PYTHON") and Path(os.environ["UQCLI_CLUSTER_PYTHON"]).absolute()
)
"""Absolute, since each test has a working directory of its own."""

RULES = {
    "boundary": ("boundary", "fit.parquet", "--precision", "0.6"),
    "hr": ("boundary", "fit.parquet", "--precision", "0.6", "--algorithm", "hr"),
    "zones": ("boundary", "fit.parquet", "--precision", "0.6", "--review", "20%"),
    "groups": ("boundary", "fit.parquet", "--precision", "0.6", "--by", "site", "--bound", "each"),
    "grid": ("bin", "fit.parquet", "--score-bins", "50"),
    "platt": ("calibrate", "fit.parquet", "--method", "platt"),
    "beta": ("calibrate", "fit.parquet", "--method", "beta"),
    "isotonic": ("calibrate", "fit.parquet", "--method", "isotonic"),
    "tree": (
        *("calibrate", "fit.parquet", "--method", "heterogeneous", "--features", "site,number"),
        *("--partitioner", "tree", "--min-leaf", "300"),
    ),
    "many groups": ("conformal", "fit.parquet", "--score", "score", "--method", "lac", "--by", "many"),
    "partition": ("calibrate", "fit.parquet", "--method", "heterogeneous", "--partition", "many,site"),
    "classes": ("boundary", "classes.parquet", "--proba", "p_*", "--precision", "0.6"),
    "classes each": (
        "boundary",
        "classes.parquet",
        "--proba",
        "p_*",
        "--precision",
        "0.5",
        "--bound",
        "each",
    ),
    "class temperature": ("calibrate", "classes.parquet", "--proba", "p_*", "--method", "temperature"),
    "class isotonic": ("calibrate", "classes.parquet", "--proba", "p_*", "--method", "isotonic"),
    "class sets": ("conformal", "classes.parquet", "--proba", "p_*", "--method", "lac"),
}
TYPES = {"float64": pl.Float64, "float32": pl.Float32, "decimal": pl.Decimal(18, 9)}


def uqcli(*arguments, cwd):
    subprocess.run([sys.executable, "-m", "uqcli", *arguments], check=True, cwd=cwd, env=with_program())


def rows_applied(folder, rule, rows):
    """Return the rows with what ``apply`` adds to them."""
    uqcli("apply", rule, rows, "--on-invalid", "keep", "-q", "-o", "applied.parquet", cwd=folder)
    return pl.read_parquet(folder / "applied.parquet")


def with_program():
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def fit_rows(size=4000):
    random = np.random.default_rng(0)
    score, uncertainty = random.beta(2, 2, size).astype(np.float32).astype(float), random.normal(size=size)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": uncertainty,
            "label": (random.random(size) < np.where(uncertainty > 0, score**3, score)).astype(int),
            "site": random.choice(["Oslo", "O'Hare", "true", "naïve"], size),
            "number": random.integers(0, 5, size),
            "many": random.choice(
                ["true", "1", "${env:HOME}", *(f"O'{index}\\" for index in range(120))], size
            ),
        }
    )


def rows_of_classes(size=4000):
    random = np.random.default_rng(0)
    probability = random.dirichlet([1, 1, 2], size)
    names = ("a", "b'\\", "c d")
    label = [names[random.choice(3, p=row)] for row in probability]
    return pl.DataFrame(
        {f"p_{name}": column for name, column in zip(names, probability.T, strict=True)}
    ).with_columns(label=pl.Series(label))


@pytest.fixture(scope="module")
def folder():
    """Make the rules, in a folder that the database's user may read."""
    folder = Path(tempfile.mkdtemp(prefix="uqcli-databases-"))
    folder.chmod(0o755)
    fit_rows().write_parquet(folder / "fit.parquet")
    rows_of_classes().write_parquet(folder / "classes.parquet")
    for name, command in RULES.items():
        uqcli(*command, "-q", "-o", f"{name}.json", cwd=folder)
    yield folder
    shutil.rmtree(folder)


def rows_of(formula, kind):
    """Draw rows: at and beside every threshold, at random, and missing; in a type that holds them."""
    made = made_rows(formula)
    random = np.random.default_rng(1)
    if formula.shares:  # which add up to 1 in a row
        return made[random.integers(0, len(made), ROWS)].with_row_index("id")
    drawn = {}
    for column in formula.inputs:
        values = made[column.name]
        taken = values.gather(random.integers(0, len(values), ROWS))
        if column.kind == "number" and column.name in ("score", "uncertainty"):
            noise = random.random(ROWS) if column.name == "score" else random.normal(size=ROWS)
            taken = pl.select(pl.when(pl.Series(random.random(ROWS) < 0.5)).then(taken).otherwise(noise))
            taken = taken.to_series().alias(column.name)
            if kind == "decimal":
                taken = taken.set(~(taken.is_finite() & (taken.abs() < 1e6)).fill_null(value=False), None)
            taken = taken.cast(TYPES[kind])
            if kind == "float32" and column.name == "score":
                taken = taken.clip(0, 1)
        drawn[column.name] = taken
    return pl.DataFrame(drawn).with_row_index("id")


def in_duckdb(frame, query, folder):
    frame.write_parquet(folder / "rows.parquet")
    sql = query("rows", SqlDialect.DUCKDB)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW rows AS SELECT * FROM '{folder}/rows.parquet'")
        return pl.from_arrow(connection.sql(sql).to_arrow_table())


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def in_sqlite(frame, query, folder):
    del folder
    numbers = frame.with_columns(pl.col(pl.Decimal).cast(pl.Float64))
    columns = ", ".join(map(quoted, frame.columns))
    marks = ", ".join("?" * len(frame.columns))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE rows ({columns})")
        connection.executemany(f"INSERT INTO rows VALUES ({marks})", numbers.iter_rows())
        cursor = connection.execute(query("rows", SqlDialect.SQLITE))
        names = [column[0] for column in cursor.description]
        return pl.DataFrame(cursor.fetchall(), schema=names, orient="row", infer_schema_length=None)


@pytest.fixture(scope="module")
def postgres(folder):
    """Start a server of PostgreSQL as its own user, on a socket in a folder."""
    if not (POSTGRES / "initdb").exists():
        pytest.fail(f"no PostgreSQL in {POSTGRES}: apt-get install postgresql, or set POSTGRES_BIN")
    data, sockets = folder / "postgres", folder / "sockets"
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    for path in (data, sockets):
        path.mkdir()
        if user:
            shutil.chown(path, "postgres")

    def quietly(*command):
        subprocess.run([*user, *command], check=True, stdout=subprocess.DEVNULL, cwd=folder)

    quietly(POSTGRES / "initdb", "-D", data, "-A", "trust", "-E", "UTF8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = f"-c listen_addresses= -c unix_socket_directories={sockets} -p {port} -c fsync=off"
    quietly(POSTGRES / "pg_ctl", "-D", data, "-w", "-l", data / "log", "-o", options, "start")
    psql = [*user, "psql", "-h", sockets, "-p", str(port), "-d", "postgres", "-q", "-v", "ON_ERROR_STOP=1"]
    yield psql
    quietly(POSTGRES / "pg_ctl", "-D", data, "-m", "fast", "stop")


def in_postgres(psql):
    names = {
        pl.Float64: "float8",
        pl.Float32: "float4",
        pl.String: "text",
        pl.Int64: "int8",
        pl.UInt32: "int8",
    }

    def run(frame, query, folder):
        types = [
            names.get(kind.base_type() if hasattr(kind, "base_type") else kind, "numeric(18, 9)")
            for kind in frame.dtypes
        ]
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(frame.columns, types, strict=True))
        floats = [name for name, kind in frame.schema.items() if kind.is_float()]
        texts = {
            name: pl.col(name).cast(pl.String).replace({"inf": "Infinity", "-inf": "-Infinity"})
            for name in floats
        }
        frame.with_columns(**texts).write_csv(folder / "rows.csv", null_value="\\N", quote_style="necessary")
        (folder / "rows.csv").chmod(0o644)
        sql = query("rows", SqlDialect.POSTGRES)
        statements = "\n".join(
            [
                "SET extra_float_digits = 3;",
                f"DROP TABLE IF EXISTS rows; CREATE TABLE rows ({columns});",
                f"\\copy rows FROM '{folder}/rows.csv' WITH (FORMAT csv, HEADER, NULL '\\N')",
                f"CREATE VIEW result AS {sql};",
                "COPY (SELECT * FROM result ORDER BY id) TO STDOUT WITH (FORMAT csv, HEADER, NULL '\\N');",
                "DROP VIEW result;",
            ]
        )
        done = subprocess.run(psql, check=True, capture_output=True, input=statements.encode(), cwd=folder)
        return pl.read_csv(done.stdout, null_values=["\\N"], infer_schema=False)

    return run


def test_texts_are_trimmed_in_a_database_of_another_encoding(folder, postgres):
    formula = load(str(folder / "groups.json")).formula()
    query = to_sql(formula, SqlDialect.POSTGRES, [], "rows").rstrip().rstrip(";")
    create = "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;"
    subprocess.run(postgres, check=True, input=create.encode(), cwd=folder)
    psql = [word if word != "postgres" else "latin" for word in postgres[4:]]
    rows = "SELECT 0.999::float8 AS score, 0::float8 AS uncertainty, CHR(160) || 'Oslo' || CHR(133) AS site"
    statements = (
        f"CREATE TABLE rows AS {rows};\nCOPY (SELECT decision FROM ({query}) AS decided) TO STDOUT;\n"
    )
    done = subprocess.run(
        [*postgres[:4], *psql], check=True, capture_output=True, input=statements.encode(), cwd=folder,
        env={**os.environ, "PGCLIENTENCODING": "LATIN1"},
    )  # fmt: skip
    assert done.stdout == b"t\n"


@pytest.fixture(scope="module")
def mariadb(folder):
    """Start a server of MariaDB as its own user, on a socket in a folder, and connect to it."""
    if shutil.which("mariadbd") is None:
        pytest.fail("no MariaDB: apt-get install mariadb-server")
    data = folder / "mariadb"
    data.mkdir()
    shutil.chown(data, "mysql") if os.geteuid() == 0 else None
    place = ("--no-defaults", f"--datadir={data / 'data'}", *(["--user=mysql"] if os.geteuid() == 0 else []))
    subprocess.run(
        ["mariadb-install-db", *place, "--auth-root-authentication-method=normal", "--skip-test-db"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    server = subprocess.Popen(
        ["mariadbd", *place, f"--socket={data / 'socket'}", "--skip-networking", "--skip-grant-tables"],
        stderr=subprocess.DEVNULL,
    )
    connection = connected(data / "socket", server)
    yield connection
    connection.close()
    server.terminate()
    server.wait()


def connected(socket_path, server):
    """Connect as soon as the server listens."""
    for _ in range(300):
        with closing(socket.socket(socket.AF_UNIX)) as trial, suppress(OSError):
            trial.connect(str(socket_path))
            break
        assert server.poll() is None
        time.sleep(0.1)
    connection = pymysql.connect(unix_socket=str(socket_path), charset="utf8mb4", autocommit=True)
    connection.cursor().execute("CREATE DATABASE uqcli")
    connection.select_db("uqcli")
    return connection


def in_mariadb(connection):
    """Return a function that runs a query; NaN is null there, and infinity the largest double."""
    names = {
        pl.Float64: "DOUBLE",
        pl.Float32: "FLOAT",
        pl.String: "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        pl.Int64: "BIGINT",
        pl.UInt32: "BIGINT",
    }

    def run(frame, query, folder):
        del folder
        largest = sys.float_info.max
        stored = frame.with_columns(
            pl.col(pl.Float64).fill_nan(None).clip(-largest, largest),
            pl.when(pl.col(pl.Float32).is_finite()).then(pl.col(pl.Float32)),
        )
        types = [names.get(kind.base_type(), "DECIMAL(18, 9)") for kind in frame.dtypes]
        columns = ", ".join(
            f"{in_backticks(name)} {kind}" for name, kind in zip(frame.columns, types, strict=True)
        )
        cursor = connection.cursor()
        cursor.execute("DROP TABLE IF EXISTS `rows`")
        cursor.execute(f"CREATE TABLE `rows` ({columns})")
        marks = ", ".join(["%s"] * frame.width)
        cursor.executemany(f"INSERT INTO `rows` VALUES ({marks})", list(stored.iter_rows()))
        # the statement has '%' only where a name has one
        cursor.execute(f"SELECT * FROM ({query('rows', SqlDialect.MYSQL).rstrip()}) AS decided ORDER BY id")
        found = [column[0] for column in cursor.description]
        return pl.DataFrame(cursor.fetchall(), schema=found, orient="row", infer_schema_length=None)

    run.__name__ = in_mariadb.__name__
    return run


def in_backticks(name):
    return f"`{name.replace('`', '``')}`"


SPARK_JOBS = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
for line in sys.stdin:
    rows, query, result = line.rstrip("\\n").split("\\t")
    spark.read.parquet(rows).createOrReplaceTempView("rows")
    spark.sql(open(query).read()).write.mode("overwrite").parquet(result)
    print("done", flush=True)
"""


@pytest.fixture(scope="module")
def spark(folder):
    """Start Spark in a process that runs one query after the other."""
    if not CLUSTER_PYTHON:
        pytest.fail("UQCLI_CLUSTER_PYTHON names no Python with pyspark: use make databases")
    with (
        (folder / "spark.log").open("w") as log,
        subprocess.Popen(
            [CLUSTER_PYTHON, "-c", SPARK_JOBS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        ) as process,
    ):
        yield process
        process.stdin.close()


def in_spark(process):
    def run(frame, query, folder):
        frame.with_columns(pl.col("id").cast(pl.Int64)).write_parquet(folder / "rows.parquet")
        (folder / "query.sql").write_text(query("rows", SqlDialect.SPARK))
        names = [str(folder / name) for name in ("rows.parquet", "query.sql", "result")]
        process.stdin.write("\t".join(names) + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n", (folder / "spark.log").read_text()[-2000:]
        return pl.read_parquet(folder / "result" / "*.parquet").sort("id")

    return run


@pytest.fixture(params=["duckdb", "sqlite", "postgres", "spark", "mariadb"])
def database(request):
    """Return a function that runs a query on rows."""
    if request.param == "postgres":
        return in_postgres(request.getfixturevalue("postgres"))
    if request.param == "mariadb":
        return in_mariadb(request.getfixturevalue("mariadb"))
    if request.param == "spark":
        return in_spark(request.getfixturevalue("spark"))
    return {"duckdb": in_duckdb, "sqlite": in_sqlite}[request.param]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", RULES)
def test_a_database_decides_as_apply_does(folder, database, name, kind):
    formula = load(str(folder / f"{name}.json")).formula()
    if formula.shares and kind != "float64":
        return  # rounded, they add up to 1 no longer
    frame = rows_of(formula, kind)
    frame.write_parquet(folder / "given.parquet")
    expected = rows_applied(folder, f"{name}.json", "given.parquet")
    if "set" in expected.columns:  # a list, where programs have a column for each class
        classes = [output.name for output in formula.outputs if output.kind == "bool"]
        inside = [pl.col("set").list.contains(name.removeprefix("in_")).alias(name) for name in classes]
        expected = expected.with_columns(inside)
    result = database(
        frame, lambda table, dialect: to_sql(formula, dialect, ["made for a test"], table), folder
    )
    assert len(result) == len(expected) == ROWS
    assert expected.select(output.name for output in formula.outputs).null_count().row(0)[0] > 0
    for output in formula.outputs:
        computed, applied = result[output.name], expected[output.name]
        if output.kind == "double":
            computed = computed.cast(pl.Float64)
            assert computed.is_null().to_list() == applied.is_null().to_list()
            distance = (computed - applied).abs() / pl.select(pl.max_horizontal(applied, 1e-290)).to_series()
            assert distance.max() <= error_bound(formula, 27.64)
            continue
        if computed.dtype == pl.String and output.kind == "bool":  # a CSV file of PostgreSQL
            computed = computed == "t"
        assert computed.cast(applied.dtype).equals(applied), output.name


@pytest.mark.parametrize("name", ["groups", "platt", "tree"])
def test_an_expression_decides_as_the_query_does(folder, database, name):
    """Without a table, values are named in a subquery of the row, or in functions of lists."""
    formula = load(str(folder / f"{name}.json")).formula()
    (output,) = [output for output in formula.outputs if output.name != "leaf"]
    formula = replace(formula, outputs=(output,))
    frame = rows_of(formula, "float64").head(2000)

    def expression(table, dialect):
        quote = "`" if dialect in (SqlDialect.SPARK, SqlDialect.MYSQL) else '"'
        text = to_sql(formula, dialect, [])
        return f"SELECT *, {text} AS {quote}{output.name}{quote} FROM {quote}{table}{quote}"

    def query(table, dialect):
        return to_sql(formula, dialect, [], table)

    first, second = (database(frame, made, folder) for made in (expression, query))
    assert first.sort("id").equals(second.sort("id"))
    assert first[output.name].null_count() < len(first)


def test_probabilities_never_fall_as_scores_rise(folder, database):
    """Neighbours among doubles keep their order under a map that rises."""
    start = np.random.default_rng(2).random(20_000)
    score = np.unique(np.concatenate([start, np.nextafter(start, 0), np.nextafter(start, 1)]))
    for name in ("platt", "beta", "isotonic"):
        formula = load(str(folder / f"{name}.json")).formula()
        frame = pl.DataFrame({"score": score}).with_row_index("id")
        result = database(frame, lambda table, dialect: to_sql(formula, dialect, [], table), folder)  # noqa: B023
        values = result["calibrated"].cast(pl.Float64).to_numpy()
        assert (np.diff(values) >= 0).all()


def test_reserved_words_are_names(folder, database):
    words = [word for word in WORDS if word != "select"]
    columns = tuple(Column(name=word) for word in words)
    conditions = [
        Comparison(operator, column, Constant(float(index)))
        for index, column in enumerate(columns)
        for operator in (">=", "<=")
    ]
    output = Output(name="select", kind="bool", value=AllOf(tuple(conditions)))
    formula = Formula(inputs=columns, required=tuple(words), outputs=(output,))
    rows = pl.DataFrame({word: [float(index), -1.0] for index, word in enumerate(words)})
    frame = rows.with_row_index("id")
    result = database(frame, lambda table, dialect: to_sql(formula, dialect, [], table), folder)
    assert [str(value).lower()[0] for value in result["select"]] in (["t", "f"], ["1", "0"])


def test_texts_are_compared_as_in_apply(folder, database):
    texts = [f"{character}a{character}" for character in WHITE_SPACE] + [
        "A",
        "a b",
        "\u200ba",
        "TRUE\r",
        "true",
        "${env:HOME}",
    ]
    column = Column(name="user", kind="text")
    groups = ("a", "true", "${env:HOME}")
    branches = [(TextIn(column, (text,)), Constant(float(index))) for index, text in enumerate(groups, 1)]
    value = Case(tuple(branches), Constant(0.0))
    output = Output(name="out", kind="double", value=value)
    formula = Formula(inputs=(Column(name="s"), column), required=("s",), outputs=(output,))
    frame = pl.DataFrame({"s": [0.5] * len(texts), "user": texts}).with_row_index("id")
    result = database(frame, lambda table, dialect: to_sql(formula, dialect, [], table), folder)
    assert list(map(float, result["out"])) == [*[1.0] * len(WHITE_SPACE), 0, 0, 0, 2, 2, 3]


def test_special_numbers_are_missing_groups(folder, database):
    column = Column(name="g", kind="text")
    branches = [(IsMissing(column), Constant(1.0)), (TextIn(column, ("1.5",)), Constant(2.0))]
    output = Output(name="out", kind="double", value=Case(tuple(branches), Constant(0.0)))
    formula = Formula(inputs=(Column(name="s"), column), required=("s",), outputs=(output,))
    infinity = float("inf")
    groups = [1.5, float("nan"), 2.5, None, infinity, -infinity]
    frame = pl.DataFrame({"s": [0.5] * len(groups), "g": groups}).with_row_index("id")
    result = database(frame, lambda table, dialect: to_sql(formula, dialect, [], table), folder)
    known = 4 if database.__name__ == in_mariadb.__name__ else 6  # where there is no infinity
    assert list(map(float, result["out"]))[:known] == [2, 1, 0, 1, 1, 1][:known]


def test_postgres_compares_texts_without_the_collation_of_their_column(postgres):
    column = Column(name="g", kind="text")
    branches = [(TextIn(column, (text,)), Constant(float(index))) for index, text in enumerate("aA", 1)]
    output = Output(name="out", kind="double", value=Case(tuple(branches), Constant(0.0)))
    formula = Formula(inputs=(Column(name="s"), column), required=("s",), outputs=(output,))
    sql = to_sql(formula, SqlDialect.POSTGRES, [], "folded")
    statements = f"""
        CREATE COLLATION without_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE folded (s float8, g text COLLATE without_case);
        INSERT INTO folded VALUES (0.5, 'a'), (0.5, 'A'), (0.5, 'b');
        COPY (SELECT out FROM ({sql}) AS decided ORDER BY out) TO STDOUT;
    """
    done = subprocess.run(postgres, check=True, capture_output=True, input=statements.encode())
    assert done.stdout.split() == [b"0", b"1", b"2"]


@pytest.mark.parametrize("offset", range(0, len(NAMES), 6))
def test_whatever_the_names_a_database_decides_as_apply_does(folder, database, offset):
    names = dict(zip(("score", "uncertainty", "group", "other"), columns_from(offset), strict=True))
    write_rows(folder / "named.parquet", offset, classes=False)
    frame = pl.read_parquet(folder / "named.parquet").with_row_index("id")
    frame = frame.filter(~pl.col(names["group"]).str.contains("\0", literal=True))  # no database has it
    frame.write_parquet(folder / "named.parquet")
    words = [word.format(**names) for word in NAMED_RULES["groups"][1:]]
    uqcli("boundary", "named.parquet", *words, "-q", "-o", "named.json", cwd=folder)
    expected = rows_applied(folder, "named.json", "named.parquet")
    formula = load(str(folder / "named.json")).formula()
    try:
        result = database(frame, lambda table, dialect: to_sql(formula, dialect, [], table), folder)
    except UsageError as error:  # a name that the database cannot have, as the message says
        if not re.search("name|case|variable", error.found):
            raise
        return
    decided = result["decision"]
    if decided.dtype == pl.String:
        decided = decided.replace_strict({"t": True, "f": False, "true": True, "false": False}, default=None)
    assert decided.cast(pl.Boolean).to_list() == expected["decision"].to_list()
