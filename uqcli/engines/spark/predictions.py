"""Rows of class probabilities as predictions, by Spark expressions (see uqcli.engines.predictions)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from uqcli.engines.spark.read import Column, Frame

SCORE: Final = "score"
"""Column of the largest probability."""

CLASS: Final = "class"
"""Column of the name of the predicted class."""


def with_predictions(frame: Frame, probabilities: Sequence[Column], classes: Sequence[str]) -> Frame:
    """Add the columns ``SCORE`` and ``CLASS``, and change ``y`` from the class index to whether it is right.

    Arrays keep the plan shallow for any number of classes. A row without a label keeps a null ``y``. A row of
    unusable probabilities is no error here.
    """
    from pyspark.sql import functions as F  # noqa: N812

    frame = frame.withColumn("probabilities", F.array(*probabilities))
    frame = frame.withColumn(SCORE, F.array_max("probabilities"))
    # the position of the first of equal probabilities, counted from 1
    position = F.array_position("probabilities", F.col(SCORE))
    frame = frame.withColumn("predicted", (position - F.lit(1)).cast("int")).drop("probabilities")
    is_right = F.coalesce(F.col("y") == F.col("predicted"), F.lit(False)).cast("long")
    names = F.array(*map(F.lit, classes))
    return frame.withColumns(
        {CLASS: F.get(names, F.col("predicted")), "y": F.when(F.col("y").isNotNull(), is_right)}
    )
