"""Apply a rule on the cluster, writing a directory of Parquet parts atomically."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from uqcli.base.choices import FileFormat, OnInvalid
from uqcli.base.counts import Feature
from uqcli.base.defaults import VERSION
from uqcli.base.errors import DataError, UsageError, words
from uqcli.base.files import STDIO
from uqcli.base.options import RowOutput
from uqcli.base.rows import Rows
from uqcli.engines import refusals
from uqcli.engines.columns import require_same_columns
from uqcli.engines.inputs import format_of
from uqcli.engines.local.arrow import joined_type
from uqcli.engines.protocol import AddedColumns, StreamRequest, StreamSummary
from uqcli.engines.request import Roles
from uqcli.engines.spark import worker
from uqcli.engines.spark.check import Check
from uqcli.engines.spark.read import ClusterInput, F, Frame, only_row, opened, quoted
from uqcli.engines.spark.session import runs_functions, session_of, spark_errors

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


def stream_through(request: StreamRequest) -> StreamSummary:
    """Add a rule's columns to all rows, and write them on the cluster, as a directory of Parquet.

    A file _SUCCESS in it marks that it is complete, since object stores cannot rename.
    """
    data, added, output, only = request.data, request.added, request.output, request.only
    target, is_dropped = _target(output), data.on_invalid is OnInvalid.DROP
    session = session_of(data.spark)
    inputs, roles = opened(session, data)
    check = Check(request=data, roles=roles)
    _refuse_early(added, roles)
    replaced = added.types if output.overwrite else ()
    columns = _columns(inputs, roles, union=output.union, replaced=replaced)
    with spark_errors("check the rows"):
        frame = check.frame(inputs, kept_columns=tuple(columns), types=columns if len(inputs) > 1 else {})
        outside = F.sum(F.when(check.outside(request.ranges), 1).otherwise(0)).cast("long").alias("outside")
        unknown = F.sum(F.when(check.unknown(), 1).otherwise(0)).cast("long").alias("unknown")
        answers = only_row(frame.agg(*check.aggregations(), outside, unknown))
    check.refuse_values(answers)
    if not runs_functions(session):
        raise DataError("the cluster's workers lack numpy or pyarrow", expected="both, which apply needs")
    usable = _prepared(frame, check, len(columns), drop=is_dropped)
    with spark_errors(f"write '{target}'"):
        computed = _computed(usable, tuple(columns), check, added, overwrite=output.overwrite)
        # rows that are not written must be counted before
        counted = [] if only is None else [_count_texts(computed, added)]
        if only is not None:
            computed = computed.filter(quoted(only))
        computed.write.mode("error").parquet(target)
        # all parts have one schema, so that those of the others need not be read
        written = session.read.option("mergeSchema", "false").parquet(target)
        selected = _selected(written, added)
        (texts,) = counted or [_count_texts(written, added)]
    unusable = answers["rows"] - answers["usable"]
    dropped = unusable if is_dropped else 0
    return StreamSummary(
        rows=answers["rows"] - dropped,
        selected=selected,
        dropped=dropped,
        undecided=unusable - dropped,
        texts=texts,
        outside=answers["outside"] or 0,
        unknown=answers["unknown"] or 0,
        reasons=check.reasons(answers),
    )


def _target(output: RowOutput) -> str:
    target = output.target
    if target == STDIO:
        raise UsageError(
            "the cluster cannot write to standard output", expected=words("-o DIRECTORY with --engine spark")
        )
    if format_of(target, output.output_format) is not FileFormat.PARQUET:
        raise UsageError(f"'{target}' asks for another format", expected=words("Parquet with --engine spark"))
    return target


def _refuse_early(added: AddedColumns, roles: Roles) -> None:
    """Raise here instead of on a worker if the rule needs more than a cluster's rows have."""
    row = Rows(
        numbers={role: np.full(1, 0.5) for role in roles.all_numbers()},
        features={
            feature.name: Feature(levels=feature.levels, value=np.zeros(1)) for feature in roles.features
        },
        valid=np.zeros(1, dtype=np.bool_),
    )
    added.compute(row)


def _columns(
    inputs: Sequence[ClusterInput], roles: Roles, *, union: bool, replaced: Collection[str]
) -> dict[str, DataType]:
    """Return the columns to keep, with their types; those of columns that are replaced do not matter.

    Of CSV the columns that the rule reads become numbers.
    """
    from pyspark.sql.types import DoubleType, NullType

    numbers = set(roles.all_numbers().values())

    for source in inputs:
        if len(set(source.columns)) < len(source.columns):
            raise DataError(f"column names of {source.display_name} are not unique", remedy="rename them")
    if not union:
        require_same_columns([(source.display_name, source.columns) for source in inputs])
    kinds: dict[str, list[tuple[str, DataType]]] = {}
    for source in inputs:
        for column in source.frame.schema.fields:
            kind = DoubleType() if source.is_csv and column.name in numbers else column.dataType
            kind = NullType() if column.name in replaced else kind
            kinds.setdefault(column.name, []).append((source.display_name, kind))
    return {name: _joined(name, kinds_of_column) for name, kinds_of_column in kinds.items()}


def _joined(name: str, kinds: Sequence[tuple[str, DataType]]) -> DataType:
    """Return the type that holds the values of all types of a column; equal ones stay as they are."""
    from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type

    first = kinds[0][1]
    if all(kind == first for _, kind in kinds):
        return first
    of_arrow = [(source, to_arrow_type(kind, timezone="UTC")) for source, kind in kinds]
    return from_arrow_type(joined_type(name, of_arrow))


def _prepared(frame: Frame, check: Check, kept_columns: int, *, drop: bool) -> Frame:
    """Select kept columns, numbers, and whether a row is usable."""
    columns = [F.col(f"c{index}") for index in range(kept_columns)]
    prepared = frame.select(*columns, *check.clipped(), *check.features.values(), "ok")
    return prepared.filter("ok") if drop else prepared


def _computed(
    frame: Frame, columns: Sequence[str], check: Check, added: AddedColumns, *, overwrite: bool
) -> Frame:
    """Add the rule's columns, and rename all to their final names."""
    existing = [name for name in added.types if name in columns]
    if existing and not overwrite:
        raise refusals.existing_column(existing[0])
    work = worker.columns_added(
        (function_bytes(added.compute), package_bytes(), VERSION),
        roles=dict(check.names),
        features={
            feature.name: (check.features[feature.name], feature.levels or ())
            for feature in check.roles.features
        },
        added={name: (kind, _texts(added, name)) for name, kind in added.types.items()},
        kept_columns=len(columns),
    )
    computed = frame.mapInArrow(work, _schema(frame, len(columns), added))
    temporary_names: dict[str, Any] = {name: f"c{index}" for index, name in enumerate(columns)}
    temporary_names |= {name: f"a{index}" for index, name in enumerate(added.types)}
    return computed.select(*(F.col(column).alias(name) for name, column in temporary_names.items()))


def _texts(added: AddedColumns, name: str) -> tuple[str, ...]:
    """Return the texts that a column may hold, alone or in lists."""
    return added.labels if added.types[name] == "labels" else added.texts.get(name, ())


def _schema(frame: Frame, kept_columns: int, added: AddedColumns) -> StructType:
    from pyspark.sql import types as T  # noqa: N812

    kinds: Mapping[str, T.DataType] = {
        "bool": T.BooleanType(),
        "int64": T.LongType(),
        "float64": T.DoubleType(),
        "labels": T.ArrayType(T.StringType()),
        "text": T.StringType(),
    }
    added_fields = [
        T.StructField(f"a{index}", kinds[kind]) for index, kind in enumerate(added.types.values())
    ]
    return T.StructType([*frame.schema.fields[:kept_columns], *added_fields])


def _selected(frame: Frame, added: AddedColumns) -> int:
    """Count true values among the added columns, as written."""
    truths = [name for name, kind in added.types.items() if kind == "bool"]
    if not truths:
        return 0
    sums = [F.sum(F.col(quoted(name)).cast("long")).alias(f"s{index}") for index, name in enumerate(truths)]
    return sum(count or 0 for count in only_row(frame.agg(*sums)).values())


def _count_texts(frame: Frame, added: AddedColumns) -> dict[str, int]:
    """Count the added texts, as written."""
    texts: dict[str, int] = {}
    for name in (name for name, kind in added.types.items() if kind == "text"):
        counts = frame.groupBy(F.col(quoted(name)).alias("text")).count().toArrow().to_pylist()
        texts |= {row["text"]: row["count"] for row in counts if row["text"] is not None}
    return texts


_PACKAGE: Final = Path(__file__).parents[2]


@cache
def package_bytes() -> bytes:
    """Return the zip archive of the package's sources, with reproducible bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(_PACKAGE.rglob("*.py")):
            archive.writestr(zipfile.ZipInfo(str(path.relative_to(_PACKAGE.parent))), path.read_bytes())
    return buffer.getvalue()


def function_bytes(function: Callable[..., Any]) -> bytes:
    """Pickle a function, possibly nested; module-level names are pickled by reference."""
    from pyspark import cloudpickle

    pickled: bytes = cloudpickle.dumps(function)  # type: ignore[no-untyped-call]
    return pickled
