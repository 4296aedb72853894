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
from uqcli.base.errors import DataError, UsageError
from uqcli.base.files import is_stdin
from uqcli.base.records import dataclass
from uqcli.engines.columns import resolved_roles, shared_names
from uqcli.engines.inputs import (
    SIGNATURE_BYTES,
    distinct_names,
    inferred_format,
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


_INFERENCE: Final = "spark.sql.sources.partitionColumnTypeInference.enabled"
"""Disabled so that partition values stay text: shop 01 is not shop 1."""


@dataclass(frozen=True, kw_only=True)
class ClusterInput:
    """An input, with the Spark type of each column in order; of a repeated name, the last."""

    name: str
    frame: Frame
    types: dict[str, str]
    columns: tuple[str, ...]

    @property
    def display_name(self) -> str:
        """Quoted name for messages."""
        return f"'{self.name}'"


Join: TypeAlias = "Callable[[SparkSession, tuple[ClusterInput, ...], DataRequest], tuple[ClusterInput, ...]]"
"""Function that adds columns to the inputs."""


def opened(
    session: SparkSession, request: DataRequest, join: Join | None = None
) -> tuple[tuple[ClusterInput, ...], Roles]:
    """Open the inputs, each with every required column; ``join`` adds the labels of a second file.

    The cluster sees neither a frame in memory nor standard input.
    """
    if request.frame is not None:
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
    return Columns(names=tuple(names), numeric=tuple(name for name in names if types[name] in _NUMERIC))


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
        frame = _read(session, name, options)
        fields = frame.schema.fields
    if not fields:
        raise DataError(
            f"cannot read {quoted}: the cluster found nothing there",
            expected="Parquet files, or CSV with a header, at a path that the cluster can see",
        )
    header = fields[0].name
    if re.fullmatch(r"sep=.?", header, re.IGNORECASE):
        raise DataError(
            f"the first line of {quoted} is '{header}'",
            expected="a line of column names with --engine spark",
            remedy="remove the line and give --delimiter, or use --engine polars",
        )
    return ClusterInput(
        name=name,
        frame=frame,
        types={field.name: field.dataType.typeName() for field in fields},
        columns=tuple(field.name for field in fields),
    )


def _read(session: SparkSession, name: str, options: ReadOptions) -> Frame:
    session.conf.set(_INFERENCE, "false")
    inferred = inferred_format(name.rstrip("/"))
    file_format = options.format_of(inferred.format) or FileFormat.PARQUET
    if file_format is FileFormat.PARQUET:
        return session.read.parquet(name)
    if file_format is FileFormat.CSV:
        _require_local_text(name)
        if options.null_values:
            raise UsageError("--null-value with --engine spark", expected="Parquet, or --engine polars")
        if options.decimal != defaults.DECIMAL:
            raise UsageError("--decimal with --engine spark", expected="Parquet, or --engine polars")
        delimiter = options.delimiter or inferred.delimiter
        return (
            session.read.option("header", "true")
            .option("inferSchema", "false")
            .option("sep", delimiter)
            .csv(name)
        )
    raise DataError(f"'{name}' is {file_format}", expected="Parquet or CSV with --engine spark")


def _require_local_text(name: str) -> None:
    """Refuse binary content of a file of this machine; the cluster would read it as one column."""
    head = b""
    with suppress(OSError, ValueError):  # the cluster says why it cannot read such a name
        if Path(name).is_file() and inferred_format(name).compression is None:
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
