"""Labels from a second file, joined to the rows of the inputs by the text of an id."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from uqcli.base.running.cautions import caution
from uqcli.engines.columns import require_id, require_no_label
from uqcli.engines.refusals import no_match, repeated_ids, unused_labels
from uqcli.engines.request import DataRequest
from uqcli.engines.spark.expressions import F
from uqcli.engines.spark.read import ClusterInput, input_of, only_row, quoted, together
from uqcli.engines.spark.session import spark_errors
from uqcli.engines.spark.values import text_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEY: Final = "\0id"
"""Column of the ids as text; no column has this name."""


def with_labels(
    session: SparkSession, inputs: tuple[ClusterInput, ...], request: DataRequest
) -> tuple[ClusterInput, ...]:
    """Join the labels of a second file to the inputs, if there is one.

    Raises
    ------
    DataError
        A column is missing, an id is empty or repeated, or no label belongs to a row.
    """
    labels, column = request.joined, request.roles.label
    if labels is None or column is None:
        return inputs
    second = input_of(session, labels.file, request.read)
    require_id(second.columns, second.display_name, labels.on)
    require_id(second.columns, second.display_name, column, option="label")
    for source in inputs:
        require_id(source.columns, source.display_name, labels.on)
        require_no_label(source.columns, source.display_name, column)
    by_id = second.frame.select(text_of(second, labels.on).alias(_KEY), F.col(quoted(column)))
    keyed = [source.frame.withColumn(_KEY, text_of(source, labels.on)) for source in inputs]
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
        caution(sentence)
    return tuple(
        replace(
            source,
            frame=frame.join(by_id, _KEY, "left").drop(_KEY),
            types={**source.types, column: second.types[column]},
            columns=(*source.columns, column),
        )
        for source, frame in zip(inputs, keyed, strict=True)
    )
