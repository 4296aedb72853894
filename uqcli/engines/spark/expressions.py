"""Functions of Spark, and expressions of many columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from uqcli.engines.spark.read import Column

__all__ = ["F", "pairwise"]

if TYPE_CHECKING:
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it
else:

    class _Functions:
        """Loads Spark's functions when one is first used, since its client is an optional part."""

        def __getattr__(self, name: str) -> Any:
            from pyspark.sql import functions

            return getattr(functions, name)

    F = _Functions()


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
