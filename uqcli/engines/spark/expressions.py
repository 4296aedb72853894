"""Expressions of many columns, which nest little: messages and query planners limit their depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from uqcli.engines.spark.read import Column


def pairwise(operation: Callable[[Column, Column], Column], columns: Sequence[Column]) -> Column:
    """Combine at least one column by an associative operation.

    Examples
    --------
    >>> pairwise(lambda left, right: f"({left} {right})", ["a", "b", "c"])
    '((a b) c)'
    """
    while len(columns) > 1:
        pairs = [columns[index : index + 2] for index in range(0, len(columns), 2)]
        columns = [operation(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return columns[0]


def sum_in_order(columns: Sequence[Column]) -> Column:
    """Add numbers from the first to the last, since other orders may round differently."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.aggregate(F.array(*columns), F.lit(0.0), lambda total, value: total + value)
