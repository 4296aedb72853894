"""Compare an exported program with its rule, on given rows and beside every number that the rule compares."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from uqcli.base.choices import ExportTarget, FileFormat, OnInvalid, SqlDialect
from uqcli.base.defaults import DECIMAL
from uqcli.base.draws import Purpose, generator
from uqcli.base.errors import GateError, words
from uqcli.base.files import InMemory
from uqcli.base.options import RowOutput
from uqcli.base.running.interruption import temporary_folder
from uqcli.base.wording import printable
from uqcli.engines.inputs import InputFile, resolve_inputs
from uqcli.engines.request import DataRequest
from uqcli.export.report import Differences
from uqcli.rules.columns import ColumnOverrides, NewColumns
from uqcli.rules.expressions import Column, Formula, Output, compared_numbers, compared_texts
from uqcli.rules.result import stream
from uqcli.rules.saved import Saved

if TYPE_CHECKING:
    import duckdb

_ROWS_PER_BATCH: Final = 1 << 16
_MADE_ROWS: Final = 20_000
_SPECIAL: Final = (None, float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 0.5, 1.0)
_TINY: Final = 1e-300
"""Difference of probabilities that is none: beyond, log-odds are clipped."""

Program = Callable[[pl.DataFrame], Mapping[str, pl.Series]]
"""Function from rows to the outputs by name."""


def compare(
    rule: Saved,
    formula: Formula,
    program: bytes,
    target: ExportTarget,
    data: DataRequest,
    *,
    dialect: SqlDialect = SqlDialect.DUCKDB,
    table_of: SqlDialect | None = None,
) -> Differences:
    """Run the program and the rule on rows, and on made rows, and count the rows in which they differ.

    ``table_of`` is the dialect of a query of a table in which no column has the name of one that it adds.
    A program is SQL of one of ``RUN_DIALECTS``, as expressions or as a query of ``TABLE``, a Python module,
    or an ONNX model. A database that refuses it is a GateError. It also has a single file as it is.
    """
    is_sql = target is ExportTarget.SQL
    runner = (RUN_DIALECTS[dialect] if is_sql else _RUNNERS[target])(formula, program)
    files = _plain_files(data) if is_sql else ()
    differences = Differences(rows=0, compared=0, made=0, missing=_missing(rule, formula))
    with temporary_folder() as folder:
        made = folder / "made.parquet"
        made_rows(formula).write_parquet(made)
        own = DataRequest(inputs=(str(made),))
        for source, is_made in ((data, False), (own, True)):
            path = folder / f"applied{is_made}.parquet"
            _apply(rule, source, path)
            if table_of is not None:
                _refuse_added(formula, pq.read_schema(path).names, table_of)
            runners = [runner]
            for file in () if is_made else files:
                runners += _ON_FILE[dialect](formula, program, file, pq.read_metadata(path).num_rows)
            for batch in _batches(path):
                by_runner = [_different(formula, batch, run, data.read.decimal) for run in runners]
                different = np.any(by_runner, axis=0)
                first = differences.example
                if not first and different.any():
                    first = _example(formula, batch, int(np.argmax(different)))
                differences = replace(
                    differences,
                    rows=differences.rows + int(different.sum()),
                    compared=differences.compared + len(batch),
                    made=differences.made + (len(batch) if is_made else 0),
                    example=first,
                )
    return differences


def _refuse_added(formula: Formula, columns: Sequence[str], dialect: SqlDialect) -> None:
    """Refuse a table with a column of the name of one that the query adds beside all of the table."""
    from uqcli.export.sql import folded

    there = {folded(column, dialect): column for column in columns}
    for output in formula.outputs:
        if column := there.get(folded(output.name, dialect)):
            raise GateError(
                [
                    words(
                        "check failed: the rows have a column '{}', and the query adds one of that name, so "
                        "that {} returns two of them or refuses it; expected a table without it; leave it "
                        "out, or write the expression alone, without --table",
                        printable(column),
                        dialect,
                    )
                ]
            )


_PREFIX: Final = "uqcli_applied_"
"""Prefix of the rule's own columns among the rows."""


def _missing(rule: Saved, formula: Formula) -> tuple[str, ...]:
    """Return the columns that the rule adds and the program does not compute."""
    added = rule.adds(rule.reads(ColumnOverrides()), NewColumns(prefix="", lists=False))
    return tuple(sorted(set(added.types) - {output.name for output in formula.outputs}))


def _apply(rule: Saved, data: DataRequest, path: Path) -> None:
    """Apply the rule; unusable rows are kept, with nulls."""
    roles = rule.reads(ColumnOverrides())
    added = rule.adds(roles, NewColumns(prefix=_PREFIX, lists=False))
    output = RowOutput(output=str(path), output_format=FileFormat.PARQUET, prefix=_PREFIX, overwrite=True)
    stream(replace(data, roles=roles, on_invalid=OnInvalid.KEEP), added, output)


def _batches(path: Path) -> Iterator[pl.DataFrame]:
    for batch in pq.ParquetFile(path).iter_batches(_ROWS_PER_BATCH):
        frame = pl.from_arrow(batch)
        assert isinstance(frame, pl.DataFrame)  # a batch has columns
        yield frame


def _different(formula: Formula, batch: pl.DataFrame, run: Program, decimal: str) -> np.ndarray:
    """Return the mask of rows in which an output differs."""
    inputs = batch.select(_pointed(batch[column.name], column, decimal) for column in formula.inputs)
    outputs = run(inputs)
    different = np.zeros(len(batch), dtype=np.bool_)
    largest = _largest_log_odds(formula, inputs)
    for output in formula.outputs:
        expected, actual = batch[f"{_PREFIX}{output.name}"], outputs[output.name]
        different |= _differ(output, expected, actual, error_bound(formula, largest))
    return different


def _pointed(series: pl.Series, column: Column, decimal: str) -> pl.Series:
    """Return a column as its file has it, with a decimal point in numbers."""
    is_pointed = column.kind == "text" or series.dtype != pl.String or decimal == DECIMAL
    return series if is_pointed else series.str.replace_many([",", "."], [".", ","]).alias(series.name)


def _parsed(series: pl.Series) -> pl.Series:
    """Return a column of numbers as doubles, though its file holds texts."""
    if series.dtype == pl.String:
        series = series.str.strip_chars()
    return series.cast(pl.Float64, strict=False)


def error_bound(formula: Formula, largest: float) -> float:
    """Return the relative error up to which probabilities are equal: ``4 (1 + S) 2^-52``."""
    constant, factor = formula.terms
    return 4 * (1 + constant + factor * largest) * 2.0**-52


_CLIPPED: Final = 27.64
"""Log-odds of a probability clipped to 1e-12."""


def _largest_log_odds(formula: Formula, inputs: pl.DataFrame) -> float:
    """Return the largest absolute log-odds of rows; scores that are no probabilities are log-odds."""
    score = formula.inputs[0]
    if formula.outputs[0].kind != "double" or score.name in formula.ranges or formula.shares:
        return _CLIPPED
    values = _parsed(inputs[score.name]).fill_nan(None)
    finite = values.filter(values.is_finite()).abs().max()
    return max(_CLIPPED, float(finite or 0.0))  # type: ignore[arg-type]  # a number


def _differ(output: Output, expected: pl.Series, actual: pl.Series, bound: float) -> np.ndarray:
    if output.kind != "double":
        same = expected.eq_missing(actual.cast(expected.dtype))
        unequal: np.ndarray = ~same.to_numpy()
        return unequal
    missing = expected.is_null().to_numpy(), actual.is_null().to_numpy()
    values = expected.fill_null(0.0).to_numpy(), actual.fill_null(0.0).to_numpy()
    distance = np.abs(values[0] - values[1])
    different: np.ndarray = ~(distance <= bound * np.abs(values[0]) + _TINY)
    different |= missing[0] != missing[1]
    return different


def _example(formula: Formula, batch: pl.DataFrame, row: int) -> str:
    return ", ".join(f"{column.name} = {batch[column.name][row]!r}" for column in formula.inputs)


def made_rows(formula: Formula) -> pl.DataFrame:
    """Make rows at every number that the formula compares, an ulp beside it, and unusable ones.

    Probabilities of classes add up to 1.
    """
    values: dict[str, list[Any]] = {}
    compared, texts_of = compared_numbers(formula), compared_texts(formula)
    for column in formula.inputs:
        if column.kind == "text":
            texts = [*texts_of[column.name], "another text", "", None]
            values[column.name] = [*texts, *(f"\u2003 {text}\t\r" for text in texts[:2] if text)]
            continue
        numbers = compared[column.name]
        with np.errstate(over="ignore"):  # beside the largest double is infinity
            neighbours = [np.nextafter(numbers, end) for end in (-np.inf, np.inf)]
        beside = np.array([numbers, *neighbours]).ravel()
        low, high = formula.ranges.get(column.name, (-np.inf, np.inf))
        listed = [value for value in beside.tolist() if low <= value <= high]
        values[column.name] = [*listed, *_SPECIAL]
    classes = [column.name for column in formula.inputs if column.name in formula.shares]
    random = generator(0, Purpose.CHECK)
    size = max([_MADE_ROWS, *(2 * len(listed) for listed in values.values())])
    columns = []
    for column in formula.inputs:
        listed = values[column.name]
        index = np.concatenate([np.arange(len(listed)), random.integers(0, len(listed), size - len(listed))])
        dtype = pl.String if column.kind == "text" else pl.Float64
        columns.append(pl.Series(column.name, listed, dtype=dtype).gather(random.permutation(index)))
    frame = pl.DataFrame(columns)
    return _adding_up(frame, classes) if classes else frame


def _adding_up(frame: pl.DataFrame, classes: Sequence[str]) -> pl.DataFrame:
    """Give one class of each row its number, and the others equal shares of the rest."""
    chosen = np.arange(len(frame)) % len(classes)
    columns = []
    drawn = [frame[name].to_numpy() for name in classes]
    own = np.choose(chosen, drawn) if len(classes) <= 32 else np.stack(drawn)[chosen, np.arange(len(frame))]
    usable = np.isfinite(own)
    own = np.where(usable, np.clip(own, 0, 1), own)
    rest = (1 - own) / (len(classes) - 1)
    for index, name in enumerate(classes):
        columns.append(pl.Series(name, np.where(chosen == index, own, rest)))
    return frame.with_columns(columns)


TABLE: Final = "uqcli_batch"
"""Table of the rows that are compared."""


def _query(program: bytes) -> str:
    """Return the query of a program that is one, or expressions for it."""
    text = program.decode()
    first = next(line for line in text.splitlines() if not line.startswith("--"))
    return text if first.startswith(("SELECT", "WITH")) else f"SELECT {text} FROM {TABLE}"


def _duckdb() -> duckdb.DuckDBPyConnection:
    """Return a connection that never draws.

    DuckDB takes a Python without a script file (``python -c``, a worker of another program) for a
    person's, and draws the progress of a slow query on standard output, in the middle of a report.
    """
    import duckdb

    connection = duckdb.connect()
    # no option of the whole database: connect() refuses it
    connection.execute("SET enable_progress_bar = false")
    return connection


def _in_duckdb(formula: Formula, program: bytes) -> Program:
    import duckdb

    query = _query(program)

    def run(batch: pl.DataFrame) -> Mapping[str, pl.Series]:
        with _duckdb() as connection:
            connection.register(TABLE, batch.to_arrow())
            try:
                result: Any = connection.sql(query).to_arrow_table()
            except duckdb.Error as error:
                raise _refused("DuckDB", error) from error
        return {
            output.name: pl.Series(column.to_pylist(), dtype=_DTYPES[output.kind])
            for output, column in zip(formula.outputs, result.columns[-len(formula.outputs) :], strict=True)
        }

    return run


def _plain_files(data: DataRequest) -> tuple[InputFile, ...]:
    """Return the file of the rows if it is one, on this machine, that a database reads without options."""
    if len(data.inputs) != 1 or isinstance(data.inputs[0], InMemory) or not Path(data.inputs[0]).is_file():
        return ()
    (file,) = resolve_inputs(data.inputs, data.read)
    assert isinstance(file, InputFile)
    is_csv = file.format is FileFormat.CSV and data.read.decimal == DECIMAL and not data.read.null_values
    return (file,) if not file.compression and (is_csv or file.format is FileFormat.PARQUET) else ()


def _duckdb_on_file(formula: Formula, program: bytes, file: InputFile, rows: int) -> list[Program]:
    """Return a function to the outputs of the next rows of a file; none if DuckDB finds other rows in it.

    From a file DuckDB may answer by column statistics, and give another result than from memory.
    """
    import duckdb

    path = str(Path(file.name).absolute())
    if set(path) & set("*?["):  # which make it a pattern
        return []
    name, delimiter = _quoted(path, "'"), _quoted(file.delimiter, "'")
    kind, source = "VIEW", f"read_parquet({name}, hive_partitioning = false)"
    if file.format is FileFormat.CSV:
        layout = f"header = true, all_varchar = true, delim = {delimiter}, quote = '\"', escape = '\"'"
        kind = "TABLE"  # a view would have the numbers that the program makes of its texts
        source = f"read_csv({name}, hive_partitioning = false, {layout})"
    connection = _duckdb()
    columns = ", ".join(_quoted(column.name, '"') for column in formula.inputs)
    try:
        connection.execute(f"CREATE {kind} {TABLE} AS SELECT {columns} FROM {source}")
        found = connection.execute(f"SELECT COUNT(*) FROM {TABLE}").fetchall()
    except duckdb.Error:
        return []
    if found != [(rows,)]:
        return []
    try:
        result = connection.execute(_query(program))
    except duckdb.Error as error:
        raise _refused("DuckDB", error) from error

    def run(batch: pl.DataFrame) -> Mapping[str, pl.Series]:
        try:
            fetched = result.fetchmany(len(batch))
        except duckdb.Error as error:
            raise _refused("DuckDB", error) from error
        return {
            output.name: pl.Series([row[index] for row in fetched], dtype=_DTYPES[output.kind])
            for index, output in enumerate(formula.outputs, -len(formula.outputs))
        }

    return [run]


def _sqlite_on_file(formula: Formula, program: bytes, file: InputFile, rows: int) -> list[Program]:
    """Return a function to the outputs of the next rows of a CSV file, as texts; none for other rows."""
    if file.format is not FileFormat.CSV:
        return []
    names = [column.name for column in formula.inputs]
    try:
        texts = pl.read_csv(file.name, columns=names, separator=file.delimiter, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError):
        return []
    if len(texts) != rows:
        return []
    run, start = _in_sqlite(formula, program), 0

    def run_on_texts(batch: pl.DataFrame) -> Mapping[str, pl.Series]:
        nonlocal start
        start += len(batch)
        return run(texts[start - len(batch) : start].select(names).fill_null(""))

    return [run_on_texts]


def _quoted(text: str, mark: str) -> str:
    return f"{mark}{text.replace(mark, mark * 2)}{mark}"


def _in_sqlite(formula: Formula, program: bytes) -> Program:
    query = _query(program)

    def run(batch: pl.DataFrame) -> Mapping[str, pl.Series]:
        stored = batch.select(_as_stored(batch[column.name], column) for column in formula.inputs)
        columns = ", ".join(_quoted(name, '"') for name in stored.columns)
        marks = ", ".join("?" * stored.width)
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute(f"CREATE TABLE {TABLE} ({columns})")
            connection.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", stored.iter_rows())
            try:
                rows = connection.execute(query).fetchall()
            except sqlite3.Error as error:
                raise _refused("SQLite", error) from error
        return {
            output.name: pl.Series([row[index] for row in rows]).cast(_DTYPES[output.kind])
            for index, output in enumerate(formula.outputs, -len(formula.outputs))
        }

    return run


def _as_stored(series: pl.Series, column: Column) -> pl.Series:
    """Return a column as SQLite stores it, without times, decimals and large integers."""
    kind = series.dtype
    if kind.is_float() or kind == pl.Boolean or (kind.is_integer() and kind not in _LARGE):
        return series
    return series.cast(pl.Float64 if column.kind == "number" and kind.is_numeric() else pl.String)


_LARGE: Final = (pl.UInt64, pl.Int128, pl.UInt128)


def _refused(database: str, error: Exception) -> GateError:
    reason = str(error).strip().splitlines()[0]
    return GateError([f"check failed: {database} refuses the program ({reason})"])


def _in_python(formula: Formula, program: bytes) -> Program:
    from uqcli.export.python import python_names

    module: dict[str, Any] = {}
    public = python_names(formula)
    exec(compile(program, "exported.py", "exec"), module)  # our own program

    def run(batch: pl.DataFrame) -> Mapping[str, pl.Series]:
        numbers = [_parsed(batch[column.name]) for column in formula.inputs if column.kind == "number"]
        batch = batch.with_columns(numbers)
        # by position: Python takes the square of the number of arguments to find them by name
        rows = [(row[0], None, *row[1:]) if public.unused else row for row in batch.iter_rows()]
        if public.together:
            computed = [module[public.together](*row) for row in rows]
            values = {name: [row[name] for row in computed] for name in public.functions}
        else:
            values = {
                name: [module[function](*row) for row in rows] for name, function in public.functions.items()
            }
        return {
            output.name: pl.Series(values[output.name], dtype=_DTYPES[output.kind])
            for output in formula.outputs
        }

    return run


_DTYPES: Final = {"bool": pl.Boolean, "double": pl.Float64, "integer": pl.Int64, "text": pl.String}


def _in_onnx(formula: Formula, program: bytes) -> Program:
    import onnxruntime

    session = onnxruntime.InferenceSession(program, providers=["CPUExecutionProvider"])

    def run(batch: pl.DataFrame) -> Mapping[str, pl.Series]:
        names = [output.name for output in formula.outputs]
        *values, valid = session.run(
            [*names, "valid"], {c.name: tensor(batch[c.name], c) for c in formula.inputs}
        )
        return {
            name: pl.Series(value.tolist()).set(pl.Series(~valid | (value == "")), None)
            if value.dtype == object
            else pl.Series(value).set(pl.Series(~valid), None)
            for name, value in zip(names, values, strict=True)
        }

    return run


def tensor(series: pl.Series, column: Column) -> np.ndarray:
    """Convert a column to the tensor that an exported model reads."""
    if column.kind == "number":
        return _parsed(series).fill_null(float("nan")).to_numpy()
    text = series.cast(pl.String).str.strip_chars().fill_null("")
    return text.to_numpy().astype(object)


RUN_DIALECTS: Final[Mapping[SqlDialect, Callable[[Formula, bytes], Program]]] = {
    SqlDialect.DUCKDB: _in_duckdb,
    SqlDialect.SQLITE: _in_sqlite,
}
"""Functions that run a program, by the dialects of the databases that are at hand."""

_ON_FILE: Final = {SqlDialect.DUCKDB: _duckdb_on_file, SqlDialect.SQLITE: _sqlite_on_file}

_RUNNERS: Final[Mapping[ExportTarget, Callable[[Formula, bytes], Program]]] = {
    ExportTarget.PYTHON: _in_python,
    ExportTarget.ONNX: _in_onnx,
}
