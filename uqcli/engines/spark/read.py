"""Read inputs on the cluster: one data frame per input, required columns checked by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from uqcli.base import defaults
from uqcli.base.choices import FileFormat
from uqcli.base.errors import DataError, Opt, UsageError, words
from uqcli.base.files import InMemory, is_stdin
from uqcli.base.records import dataclass
from uqcli.engines.columns import resolved_roles, shared_names
from uqcli.engines.inputs import (
    SIGNATURE_BYTES,
    distinct_names,
    inferred_format,
    is_partition,
    refuse_local_table,
    require_text,
)
from uqcli.engines.protocol import Columns
from uqcli.engines.request import DataRequest, ReadOptions, Roles
from uqcli.engines.spark.session import session_of, spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession, functions

    F = functions  # as everybody calls it
else:

    class _Functions:
        """Loads Spark's functions when one is first used, since its client is an optional part."""

        def __getattr__(self, name: str) -> Any:
            from pyspark.sql import functions

            return getattr(functions, name)

    F = _Functions()

Frame: TypeAlias = Any
"""Spark data frame."""

Column: TypeAlias = Any
"""Spark column expression."""


@dataclass(frozen=True, kw_only=True)
class ClusterInput:
    """An input, with the Spark type of each column in order; of a repeated name, the last.

    ``is_csv`` is whether all its columns are texts that Spark has taken from bytes.
    """

    name: str
    frame: Frame
    types: dict[str, str]
    columns: tuple[str, ...]
    is_csv: bool = False

    @property
    def display_name(self) -> str:
        """Quoted name for messages."""
        return f"'{self.name}'"

    def raw_files(self) -> Frame:
        """Return a row for each file of the input, with its ``length`` and ``content``."""
        reader = self.frame.sparkSession.read.format("binaryFile").options(**_base(self.name))
        return reader.load(_path(self.name))


Join: TypeAlias = "Callable[[SparkSession, tuple[ClusterInput, ...], DataRequest], tuple[ClusterInput, ...]]"
"""Function that adds columns to the inputs."""


def opened(
    session: SparkSession, request: DataRequest, join: Join | None = None
) -> tuple[tuple[ClusterInput, ...], Roles]:
    """Open the inputs, each with every required column; ``join`` adds the labels of a second file.

    The cluster sees neither a frame in memory nor standard input.
    """
    if any(isinstance(name, InMemory) for name in request.inputs):
        raise UsageError(
            "the cluster cannot see a data frame in memory", expected="files that the cluster can see"
        )
    if not request.inputs:
        raise UsageError("no INPUT given", expected="files or directories that the cluster can see")
    inputs = tuple(input_of(session, name, request.read) for name in distinct_names(request.inputs))
    if join is not None:
        inputs = join(session, inputs, request)
    roles = request.roles.expanded(inputs[0].columns, inputs[0].display_name)
    return inputs, resolved_roles(roles, [(source.display_name, source.columns) for source in inputs])


def columns_of(request: DataRequest) -> Columns:
    """Find the columns of all inputs by their types."""
    inputs, _ = opened(session_of(request.spark), replace(request, roles=Roles(numbers={})))
    names = shared_names([source.columns for source in inputs])
    types = inputs[0].types
    numeric = tuple(name for name in names if types[name].partition("(")[0] in _NUMERIC)
    return Columns(names=tuple(names), numeric=numeric)


_NUMERIC: Final = frozenset({"float", "double", "decimal", "byte", "short", "integer", "long"})
"""Spark types of numbers."""


def input_of(session: SparkSession, name: str, options: ReadOptions) -> ClusterInput:
    """Open an input that the cluster can read."""
    if is_stdin(name) or not name:
        raise UsageError(
            "the cluster cannot see standard input" if name else "an INPUT is an empty string",
            expected="files or directories that the cluster can see",
        )
    refuse_local_table(name)
    quoted = f"'{name}'"
    with spark_errors(f"read {quoted}"):
        frame, is_csv = _read(session, name, options)
        fields = frame.schema.fields
    if not fields:
        raise DataError(
            f"cannot read {quoted}: the cluster found nothing there",
            expected="Parquet files, or CSV with a header, at a path that the cluster can see",
        )
    return ClusterInput(
        name=name,
        frame=frame,
        types={field.name: _type_name(field.dataType) for field in fields},
        columns=tuple(field.name for field in fields),
        is_csv=is_csv,
    )


def _type_name(kind: Any) -> str:
    """Return the name of a Spark type, of decimals with their digits."""
    name: str = kind.typeName()
    return str(kind.simpleString()) if name == "decimal" else name


def _read(session: SparkSession, name: str, options: ReadOptions) -> tuple[Frame, bool]:
    """Open an input, and return whether it is CSV."""
    inferred = inferred_format(name.rstrip("/"))
    file_format = options.format_of(inferred.format) or FileFormat.PARQUET
    if file_format is FileFormat.PARQUET:
        return session.read.options(**_base(name)).parquet(_path(name)), False
    if file_format is not FileFormat.CSV:
        raise DataError(f"'{name}' is {file_format}", expected=words("Parquet or CSV with --engine spark"))
    _require_local_text(name)
    for value, default, option in (
        (options.null_values, (), "null-value"),
        (options.decimal, defaults.DECIMAL, "decimal"),
    ):
        if value != default:
            raise UsageError(
                words("{} with --engine spark", Opt(option)), expected=words("Parquet, or --engine polars")
            )
    return _read_csv(session, name, options.delimiter or inferred.delimiter), True


def _read_csv(session: SparkSession, name: str, delimiter: str) -> Frame:
    """Read CSV as the local engine does; files whose columns differ, and ragged records, are errors."""
    reader = session.read.options(
        sep=delimiter,
        quote='"',
        escape='"',  # a quote in quotes is doubled
        unescapedQuoteHandling="RAISE_ERROR",
        multiLine="true",
        encoding="UTF-8",
        nullValue=_NO_TEXT,
        emptyValue="",
        mode="FAILFAST",
        enforceSchema="false",  # the header of each file is compared
        maxColumns=str(_MAX_COLUMNS),
        **_base(name),
    )
    path = _path(name)
    first = reader.option("header", "false").csv(path).limit(1).toArrow().to_pylist()
    if not first:
        raise DataError(f"'{name}' is empty or has no header", expected="a line of column names")
    header = [text for key, text in first[0].items() if re.fullmatch(r"_c\d+", key)]
    keys = [key for key in first[0] if not re.fullmatch(r"_c\d+", key)]
    columns = [(text or "").removeprefix("\ufeff") for text in header]
    if re.fullmatch(r"sep=.?", columns[0], re.IGNORECASE):
        raise DataError(
            f"the first line of '{name}' is '{columns[0]}'",
            expected=words("a line of column names with --engine spark"),
            remedy=words("remove the line and give --delimiter, or use --engine polars"),
        )
    if any("\ufffd" in column for column in columns):
        raise DataError(f"the header of '{name}' has bytes that are not UTF-8", expected="text in UTF-8")
    repeated = [column for column in columns if columns.count(column) > 1]
    if repeated:
        raise DataError(
            f"column '{repeated[0]}' appears {columns.count(repeated[0])} times in '{name}'",
            expected=words("unique names with --engine spark"),
            remedy="rename one of these columns",
        )
    _refuse_lines(session, name, path, blank=len(columns) == 1)
    schema = ", ".join(f"{quoted(column)} string" for column in [*columns, *keys])
    return reader.option("header", "true").schema(schema).csv(path)


def _refuse_lines(session: SparkSession, name: str, path: str, *, blank: bool) -> None:
    """Refuse a quote that is not closed, which takes the rest of a file, and blank lines that are rows."""
    lines = session.read.options(**_base(name)).text(path)
    quotes = F.sum(F.length("value") - F.length(F.replace("value", F.lit('"'), F.lit("")))) % 2
    blanks = F.sum(F.when(F.col("value").isin("", "\r"), 1).otherwise(0))
    by_file = lines.groupBy(F.input_file_name()).agg(quotes.alias("quotes"), blanks.alias("blanks"))
    found = only_row(by_file.agg(F.max("quotes").alias("quotes"), F.max("blanks").alias("blanks")))
    if found["quotes"]:
        raise DataError(
            f"'{name}' has a quote that is not closed", remedy="check that the file was written completely"
        )
    if blank and found["blanks"]:
        raise DataError(
            f"'{name}' has one column and blank lines",
            expected=words("a value in each line with --engine spark"),
            remedy=words('write "" for a missing value, or use --engine polars'),
        )


_NO_TEXT: Final = "\0null"
"""Text that no field has: what is empty between delimiters is null, and empty in quotes is not."""

_MAX_COLUMNS: Final = 1 << 20


def _path(name: str) -> str:
    """Escape what Spark would take for a pattern, and the local engine does not."""
    return re.sub(r"([{}\\])", r"\\\1", name)


def _base(name: str) -> dict[str, str]:
    """Return the folder above the first ``key=value`` folder, from where on these are columns."""
    parts = name.rstrip("/").split("/")
    folders = parts if inferred_format(parts[-1]).format is None else parts[:-1]
    keyed = [index for index, folder in enumerate(folders) if is_partition(folder)]
    return {"basePath": _path("/".join(parts[: keyed[0]]) or "/")} if keyed else {}


def _require_local_text(name: str) -> None:
    """Refuse binary content of a file of this machine; the cluster would read it as one column."""
    head = b""
    with suppress(OSError, ValueError):  # the cluster says why it cannot read such a name
        if Path(name).is_file() and not inferred_format(name).compression:
            with Path(name).open("rb") as stream:
                head = stream.read(SIGNATURE_BYTES)
    require_text(head, name)


def only_row(frame: Frame) -> dict[str, Any]:
    """Collect the only row of an aggregation."""
    row: dict[str, Any] = frame.toArrow().to_pylist()[0]
    return row


def quoted(name: str) -> str:
    """Quote a column name for expressions."""
    return "`" + name.replace("`", "``") + "`"


def together(frames: Sequence[Frame]) -> Frame:
    """Concatenate frames with the same columns."""
    first, *other_frames = frames
    for frame in other_frames:
        first = first.unionAll(frame)
    return first


def pairwise(operation: Callable[[Column, Column], Column], columns: Sequence[Column]) -> Column:
    """Combine at least one column by an associative operation.

    The expression nests little, since messages and query planners limit its depth.

    Examples
    --------
    >>> pairwise(lambda left, right: f"({left} {right})", ["a", "b", "c"])
    '((a b) c)'
    """
    while len(columns) > 1:
        pairs = [columns[index : index + 2] for index in range(0, len(columns), 2)]
        columns = [operation(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return columns[0]
