"""Exact tie-pooled counts: rows are grouped on the cluster, distinct values come here."""

from __future__ import annotations

from typing import Final

import numpy as np

from uqcli.counts import Floats, Ints, ValueCounts
from uqcli.engines import refusals
from uqcli.engines.spark.check import CheckedFrame
from uqcli.engines.spark.read import Column, Frame
from uqcli.engines.spark.session import spark_errors
from uqcli.errors import DataError

MOST_VALUES: Final = 1 << 24
"""Distinct values of all bins that may come here: 0.4 GB, and a few times that while they are sorted."""


def counting_frame(checked: CheckedFrame, role: str, by: Floats) -> Frame:
    """Columns v (the role's numbers), y, w, and u (uncertainty) where it divides the rows."""
    from pyspark.sql import functions as F  # noqa: N812

    columns = [F.col(checked.names[role]).alias("v"), F.col("y"), F.col("w")]
    if len(by):
        columns.append(F.col(checked.names["uncertainty"]).alias("u"))
    return checked.frame.select(*columns)


def bin_column(by: Floats) -> Column:
    """Number of each row's uncertainty bin: the edges at or below it."""
    from pyspark.sql import functions as F  # noqa: N812

    above = [(F.col("u") >= F.lit(edge)).cast("long") for edge in by.tolist()]
    while len(above) > 1:  # in pairs: a chain of many sums would be too deep for the cluster
        above = [sum(above[at + 1 : at + 2], above[at]) for at in range(0, len(above), 2)]
    return above[0] if above else F.lit(0).cast("long")


def pooled_by(checked: CheckedFrame, role: str, by: Floats) -> tuple[ValueCounts, ...]:
    """Exact tie-pooled counts of a column in each uncertainty bin.

    Raises
    ------
    DataError
        There are more distinct values than may come here, or the inputs have changed.
    """
    from pyspark.sql import functions as F  # noqa: N812

    frame = counting_frame(checked, role, by)
    rows = frame.select(bin_column(by).alias("bin"), F.col("v").alias("value"), "y", "w")
    with spark_errors("count the rows"):
        found = pooled(rows, len(by) + 1, most=checked.rows)
    require_same(checked, sum(part.rows for part in found))
    return found


def pooled(rows: Frame, bins: int, most: int) -> tuple[ValueCounts, ...]:
    """Counts of rows with columns bin, value, y and w, of which there are so many at most."""
    from pyspark.sql import functions as F  # noqa: N812

    grouped = rows.groupBy("bin", "value").agg(
        F.sum("w").alias("n"), F.sum(F.col("w") * F.col("y")).alias("p")
    )
    if most > MOST_VALUES:
        values = int(grouped.agg(F.count(F.lit(1)).alias("values")).toArrow().to_pylist()[0]["values"])
        if values > MOST_VALUES:
            raise DataError(
                f"there are {values:,} distinct values to bring together",
                expected=f"at most {MOST_VALUES:,} from a cluster",
                remedy="round the scores to fewer decimals, or ask for bins: --score-bins N, "
                "or a --method or --binning that counts in bins",
            )
    table = grouped.toArrow()
    names = ("bin", "value", "n", "p")
    number, value, count, positives = (table.column(name).to_numpy() for name in names)
    order = np.lexsort([value, number])
    cuts = np.searchsorted(number[order], np.arange(bins + 1))
    return tuple(
        _counts(value[rows], count[rows], positives[rows]) for rows in np.split(order, cuts[1:-1].tolist())
    )


def _counts(value: Floats, count: Ints, positives: Ints) -> ValueCounts:
    return ValueCounts(
        value=value.astype(np.float64), count=count.astype(np.int64), positives=positives.astype(np.int64)
    )


def require_same(checked: CheckedFrame, size: int) -> None:
    """Refuse counts of other rows than those that were checked.

    Raises
    ------
    DataError
        The inputs have changed.
    """
    if size != checked.size:
        raise refusals.inputs_changed()


def no_counts() -> ValueCounts:
    """Of no rows."""
    none = np.zeros(0, dtype=np.int64)
    return ValueCounts(value=np.zeros(0), count=none, positives=none)
