"""Parse columns as numbers or labels by Spark expressions, with the same result as engines/local/check.

Labels of a second file are joined to the rows of the inputs by the text of an id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import or_
from typing import TYPE_CHECKING, Final, TypeAlias

import polars as pl

from uqcli.base.counts import FLOATING_WHOLE
from uqcli.base.errors import DataError, words
from uqcli.base.running.messages import caution
from uqcli.engines import refusals
from uqcli.engines.columns import require_id, require_no_label
from uqcli.engines.notation import BLANKS, HUNDREDFOLD, NULLS, PERCENT
from uqcli.engines.probabilities import class_spellings, positive_spellings
from uqcli.engines.refusals import no_match, repeated_ids, unused_labels
from uqcli.engines.request import INPUT, DataRequest
from uqcli.engines.spark.read import ClusterInput, Column, F, input_of, only_row, pairwise, quoted, together
from uqcli.engines.spark.session import spark_errors
from uqcli.engines.spark.times import TIMES, text_of_time

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TEXTS: Final = ("string", "varchar", "char")
_FLOATS: Final = ("float", "double")
_WHOLE: Final = ("byte", "short", "integer", "long")
_NUMBERS: Final = (*_FLOATS, *_WHOLE, "decimal", "void", "null")
_TYPE_NAMES: Final = {"tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long"}

_PLAIN: Final = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
_INFINITE: Final = r"^[+-]?inf(inity)?$"

Parsed: TypeAlias = tuple[Column, Column]
"""A parsed column, null if missing or unreadable, and the text of unreadable values, null elsewhere."""


def number_of(source: ClusterInput, name: str) -> Parsed:
    """Parse a column of numbers or texts as numbers, including non-finite ones, without negative zeros."""
    kind, column = _kind(source, name), F.col(quoted(name))
    if kind in _TEXTS:
        return _number_of_text(_stripped(column))
    if kind not in _NUMBERS:
        problem = f"column '{name}' of {source.display_name} holds {source.types[name]}"
        raise refusals.of_another_type(problem, "numbers")
    return _without_sign_of_zero(column.cast("double")), _no_text()


def label_of(
    source: ClusterInput, name: str, positive_value: str | None
) -> tuple[Column, Column, Column | None]:
    """Parse a column as labels, 1 or 0; without a positive text, it must be Boolean, numeric or text.

    Also returned is the text of negative labels that may mean a missing one, null elsewhere; None if there
    are no texts.
    """
    kind, column = _kind(source, name), F.col(quoted(name))
    if positive_value is not None:
        return _label_by_text(column, kind, positive_value)
    if kind == "boolean":
        return column.cast("long"), _no_text(), None
    if kind in _TEXTS:
        text = F.lower(_stripped(column))
        null = text.isNull() | text.isin("", "nan")
        digits = F.when(text == "true", F.lit("1")).when(text == "false", F.lit("0")).otherwise(text)
        number = F.when(digits.rlike(_PLAIN), digits.try_cast("double"))
    elif kind in _NUMBERS:
        number = column.cast("double")
        null = number.isNull() | F.isnan(number)
    else:
        problem = f"label column '{name}' of {source.display_name} holds {source.types[name]}"
        raise refusals.of_another_type(problem, "0/1 or true/false")
    value = F.when(number == 1.0, F.lit(1)).when(_without_sign_of_zero(number) == 0.0, F.lit(0))
    wrong = F.when(~null & value.isNull(), column.cast("string"))
    return F.when(~null, value).cast("long"), wrong, None


def class_of(source: ClusterInput, name: str, classes: Sequence[str]) -> Parsed:
    """Parse a column of class labels as class indices, compared as text."""
    column, kind = F.col(quoted(name)), _kind(source, name)
    if kind in _FLOATS:
        column = F.when(~F.isnan(column), column)
    text = _stripped(column.cast("string"))
    null = text.isNull() | (F.lower(text).isin("", "nan") & ~text.isin(*classes))
    index_by_text, ignores_case = class_spellings(classes)
    if ignores_case:
        text = F.lower(text)
    matched_class = None
    for spelling, class_index in index_by_text.items():
        is_class = _is_number(column, kind, spelling) if kind in _FLOATS else text == spelling
        matched_class = (F if matched_class is None else matched_class).when(is_class, F.lit(class_index))
    assert matched_class is not None  # there are at least two classes
    index = matched_class.cast("long")
    return index, F.when(~null & index.isNull(), column.cast("string"))


def text_of(source: ClusterInput, name: str) -> Column:
    """Parse a column as text, null if empty."""
    if name == INPUT:
        return F.lit(source.name)
    kind, column = _kind(source, name), F.col(quoted(name))
    if kind in TIMES:
        return text_of_time(source, name)
    is_whole = kind in _WHOLE or source.types[name].endswith(",0)")  # unsigned ones of 64 bits are decimals
    if not is_whole and kind not in (*_TEXTS, "boolean", "date", "void", "null"):
        raise DataError(
            f"column '{name}' of {source.display_name} holds {source.types[name]}",
            expected=words("strings or integers with --engine spark"),
        )
    text = _stripped(column.cast("string"))
    truth = F.lower(text)
    return F.when(truth.isin("true", "false"), truth).when(text != "", text)


def key_of(source: ClusterInput, name: str) -> Column:
    """Parse a key column as text, in which a whole number is one, whether it is written as 2 or as 2.0."""
    return F.regexp_replace(text_of(source, name), FLOATING_WHOLE, "$1$2")


def _kind(source: ClusterInput, name: str) -> str:
    kind = source.types[name].partition("(")[0]
    return _TYPE_NAMES.get(kind, kind)


def _number_of_text(text: Column) -> Parsed:
    lower, text = F.lower(text), _hundredths(text)
    infinite = F.when(lower.startswith("-"), F.lit(float("-inf"))).otherwise(F.lit(float("inf")))
    value = (
        F.when(text.rlike(_PLAIN), text.try_cast("double"))
        .when(lower.rlike(r"^[+-]?nan$"), F.lit(float("nan")))
        .when(lower.rlike(_INFINITE), infinite)
    )
    wrong = F.when(value.isNull() & (text != ""), text)
    return _without_sign_of_zero(value), wrong


def _hundredths(text: Column) -> Column:
    """Write numbers that a percent sign follows as decimals, of the same digits; all other texts stay."""
    sign, rest = (F.regexp_extract(text, PERCENT, group) for group in (1, 2))
    shifted = F.regexp_replace(F.concat(sign, F.lit("00"), rest), HUNDREDFOLD, "$1$2.$3$4$5")
    return F.when(text.rlike(PERCENT), shifted).otherwise(text)


def _label_by_text(column: Column, kind: str, positive_value: str) -> tuple[Column, Column, Column | None]:
    text = _stripped(column.cast("string"))
    lower = F.lower(text)
    null = text.isNull() | lower.isin("", "nan")
    spellings, ignores_case = positive_spellings(positive_value)
    if kind in _FLOATS:
        is_positive = pairwise(or_, [_is_number(column, kind, spelling) for spelling in spellings])
    else:
        is_positive = (lower if ignores_case else text).isin(*spellings)
    positive = F.coalesce(is_positive, F.lit(False))
    if kind in _TEXTS:
        null = (null | lower.rlike(_INFINITE)) & ~positive
    if kind in _FLOATS:
        null = null | F.isnan(column) | (F.abs(column) == float("inf"))
    value = F.when(~F.coalesce(null, F.lit(True)), positive.cast("long"))
    is_text = kind in _TEXTS
    placeholder = F.when(lower.isin(*NULLS) & ~positive, text) if is_text else None
    return value, _no_text(), placeholder


def _is_number(column: Column, kind: str, text: str) -> Column:
    """Whether the local engine writes a floating-point number as this text; Spark has another notation."""
    dtype = pl.Float32 if kind == "float" else pl.Float64
    number = pl.Series([text]).cast(dtype, strict=False)
    is_written_so = number.cast(pl.String)[0] == text
    return column == F.lit(number[0]).cast(kind) if is_written_so else F.lit(False)


def first_labels(inputs: Sequence[ClusterInput], column: str) -> list[str]:
    """Return the first texts of labels, by their order."""
    text = _stripped(F.col(quoted(column)).cast("string")).alias("text")
    with spark_errors("look at the labels"):
        labels = together([source.frame.select(text) for source in inputs])
        labelled = labels.where(~F.lower("text").isin("", "nan")).distinct().orderBy("text")
        return [str(row["text"]) for row in labelled.limit(refusals.LABELS_NAMED).toArrow().to_pylist()]


def _stripped(column: Column) -> Column:
    return F.regexp_replace(column, rf"^[{BLANKS}]+|[{BLANKS}]+$", "")


def _without_sign_of_zero(column: Column) -> Column:
    return column + F.lit(0.0)


def _no_text() -> Column:
    return F.lit(None).cast("string")


def oddity_of(source: ClusterInput, names: Sequence[str]) -> Column:
    """Say how Spark misread each row of a CSV file; null if it did not.

    Spark replaces bytes that are not UTF-8, and keeps carriage returns if the first line ends without one.
    """
    oddity = F.lit(None).cast("string")
    read = [F.col(quoted(name)) for name in dict.fromkeys(names) if name in source.columns]
    if not source.is_csv or not read:
        return oddity
    is_replaced = pairwise(or_, [column.contains("\ufffd") for column in read])
    oddity = F.when(is_replaced, F.lit("bytes that are not UTF-8"))
    if source.columns[-1] in names:
        return oddity.when(F.col(quoted(source.columns[-1])).endswith("\r"), F.lit("line ends of two kinds"))
    return oddity


_KEY: Final = "\0id"
"""Column of the ids as text; no column has this name."""


def with_labels(
    session: SparkSession, inputs: tuple[ClusterInput, ...], request: DataRequest
) -> tuple[ClusterInput, ...]:
    """Join the labels of a second file, in which each id has one label, to the inputs, if there is one."""
    labels, column = request.joined, request.roles.label
    if labels is None or column is None:
        return inputs
    second = input_of(session, labels.file, request.read)
    require_id(second.columns, second.display_name, labels.on)
    require_id(second.columns, second.display_name, column, option="label")
    for source in inputs:
        require_id(source.columns, source.display_name, labels.on)
        require_no_label(source.columns, source.display_name, column)
    by_id = second.frame.select(key_of(second, labels.on).alias(_KEY), F.col(quoted(column)))
    keyed = [source.frame.withColumn(_KEY, key_of(source, labels.on)) for source in inputs]
    with spark_errors("join the labels"):
        times = by_id.groupBy(_KEY).count()
        wrong = times.filter(F.col(_KEY).isNull() | (F.col("count") > 1))
        problem = only_row(wrong.agg(F.sum("count").alias("rows"), F.min(_KEY).alias("id")))
        if problem["rows"]:
            raise repeated_ids(labels, problem["rows"], problem["id"])
        used = together([frame.select(_KEY) for frame in keyed]).groupBy(_KEY).count()
        kinds = {"none": F.col("count").isNull(), "many": F.col("count") > 1}
        numbers = [F.count(F.when(is_so, 1)).alias(name) for name, is_so in kinds.items()]
        counts = only_row(by_id.join(used, _KEY, "left").agg(*numbers))
        if counts["none"] == times.count():
            raise no_match(labels)
    for sentence in unused_labels(labels, counts["none"], counts["many"]):
        caution("unused-labels", sentence)
    return tuple(
        replace(
            source,
            frame=frame.join(by_id, _KEY, "left").drop(_KEY),
            types={**source.types, column: second.types[column]},
            columns=(*source.columns, column),
        )
        for source, frame in zip(inputs, keyed, strict=True)
    )
