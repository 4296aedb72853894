"""Rows of one group of a key column on the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from uqcli.engines.spark.check import CheckedFrame, WeightedGroupSize
from uqcli.engines.spark.session import spark_errors


def group_of(checked: CheckedFrame, column: str, name: str) -> CheckedFrame:
    """Return the checked rows of one group of a key column; spans stay those of all rows."""
    from pyspark.sql import functions as F  # noqa: N812

    size = _sizes_of(checked, column)[name]
    inside = F.col(checked.keys[column]) == F.lit(name)
    return replace(
        checked,
        frame=checked.frame.filter(inside),
        usable=checked.usable.filter(inside),
        summary=checked.summary.of_groups(size),
        rows=size.counted,
        size=size.size,
        levels={column: (name,)},
        sizes={column: {name: size}},
    )


def _sizes_of(checked: CheckedFrame, column: str) -> Mapping[str, WeightedGroupSize]:
    """Count the rows of every group of a key column, in one pass."""
    from pyspark.sql import functions as F  # noqa: N812

    if column not in checked.sizes:
        key = checked.keys[column]
        totals = {
            "rows": F.lit(1),
            "positives": F.when(F.col("y") == 1, 1).otherwise(0),
            "counted": F.when(F.col("w") > 0, 1).otherwise(0),
            "size": F.col("w"),
        }
        aggregations = [F.sum(total).cast("long").alias(name) for name, total in totals.items()]
        with spark_errors("count the rows of each group"):
            groups = checked.usable.groupBy(key).agg(*aggregations).toArrow().to_pylist()
        checked.sizes[column] = {
            group[key]: WeightedGroupSize(**{name: group[name] for name in totals}) for group in groups
        }
    return checked.sizes[column]
