"""Collect distinct rows with their weights, for methods that need single rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

import numpy as np

from uqcli.base.amounts import amounts_of
from uqcli.base.counts import Feature, Ints
from uqcli.base.defaults import ROWS_PER_PART
from uqcli.base.errors import DataError
from uqcli.base.rows import Rows
from uqcli.engines.probabilities import levels_of
from uqcli.engines.protocol import ReadRows, SourceSummary
from uqcli.engines.request import PREDICTED, DataRequest, Roles
from uqcli.engines.spark.check import CheckedFrame, checked
from uqcli.engines.spark.expressions import F
from uqcli.engines.spark.pooling import require_same
from uqcli.engines.spark.read import only_row
from uqcli.engines.spark.session import session_of, spark_errors

R = TypeVar("R")

MAX_NUMBERS: Final = 1 << 26
"""Maximum number of values in collected distinct rows: half a gigabyte."""


def distinct_rows(checked: CheckedFrame) -> tuple[Rows, dict[str, dict[str, int]]]:
    """Collect usable rows of positive weight, equal ones pooled; also the index of each key's texts.

    Raises
    ------
    DataError
        There are too many distinct rows to collect, or the inputs have changed.
    """
    numbers = [*checked.names.values(), *checked.features.values()]
    names = [*numbers, *checked.amounts, "y", *checked.keys.values()]
    single = checked.frame
    for name in checked.amounts:
        single = single.withColumn(name, (F.col(name) / F.col("w")).cast("long"))
    grouped = single.groupBy(*names).agg(F.sum("w").alias("w"))
    max_rows = MAX_NUMBERS // (len(names) + 1)
    with spark_errors("bring rows together"):
        if checked.rows > max_rows:
            size = int(only_row(grouped.agg(F.count(F.lit(1)).alias("rows")))["rows"])
            _refuse_many(size, max_rows)
        table = grouped.toArrow()
    columns = {name: table.column(name).to_numpy() for name in (*numbers, *checked.amounts, "y", "w")}
    levels: dict[str, dict[str, int]] = {}
    groups: dict[str, Ints] = {}
    for key, name in checked.keys.items():
        texts, codes = np.unique(np.array(table.column(name).to_pylist(), dtype=object), return_inverse=True)
        known = levels_of(checked.roles) if key == PREDICTED else {}  # rules number classes in their order
        levels[key] = known or {text: code for code, text in enumerate(texts.tolist())}
        groups[key] = np.array([levels[key][text] for text in texts.tolist()], dtype=np.int64)[codes]
    rows = _rows(checked, columns, groups)
    require_same(checked, rows.size)
    return rows, levels


def _rows(checked: CheckedFrame, columns: Mapping[str, Any], groups: Mapping[str, Ints]) -> Rows:
    """Return the rows in an order that depends only on their content."""
    roles, label = checked.roles, columns["y"].astype(np.int64)
    features = {
        feature.name: Feature(levels=feature.levels, value=columns[checked.features[feature.name]])
        for feature in roles.features
    }
    amounts = dict(zip(roles.amounts, (columns[name] for name in checked.amounts), strict=True))
    numbers = [*(columns[name] for name in checked.names.values()), *amounts.values()]
    keys = [*(feature.value for feature in features.values()), *groups.values(), label, *numbers]
    order = np.lexsort(keys)
    return Rows(
        numbers={role: columns[name].astype(np.float64) for role, name in checked.names.items()}
        | {role: amounts_of(units) for role, units in amounts.items()},
        positive=label == 1 if roles.is_binary else None,
        label_class=None if roles.label is None or roles.is_binary else label,
        weight=columns["w"].astype(np.int64),
        groups=groups,
        features=features,
    ).select(order)


def _refuse_many(size: int, max_rows: int) -> None:
    if size > max_rows:
        raise DataError(
            f"there are {size:,} distinct rows to collect",
            expected=f"at most {max_rows:,} from a cluster",
            remedy="read the files with --engine polars",
        )


def read_rows(request: DataRequest) -> ReadRows:
    """Read all requested columns of all rows."""
    frame = checked(session_of(request.spark), request)
    rows, levels = distinct_rows(frame)
    return ReadRows(
        rows=rows,
        summary=frame.summary,
        classes=tuple(frame.roles.classes),
        group_names={key: tuple(index_by_text) for key, index_by_text in levels.items()},
        unnormalised=frame.unnormalised,
    )


class DistinctBatches:
    """Batches of distinct rows (see uqcli.engines.protocol.CheckedBatches), without positions."""

    def __init__(self, request: DataRequest) -> None:
        self._request = request
        self._summary: SourceSummary | None = None
        self.roles: Roles = request.roles
        self.dropped = 0
        self.levels: Mapping[str, Mapping[str, int]] = {}
        self.unnormalised = 0.0

    @property
    def summary(self) -> SourceSummary:
        """Summary of the rows read."""
        assert self._summary is not None  # known after the iteration
        return self._summary

    def mapped(self, work: Callable[[Rows], R]) -> Iterator[R]:
        """Map a function over batches."""
        return map(work, self)

    def __iter__(self) -> Iterator[Rows]:
        """Iterate over batches."""
        frame = checked(session_of(self._request.spark), self._request)
        self.roles, self._summary = frame.roles, frame.summary
        rows, self.levels = distinct_rows(frame)
        self.dropped, self.unnormalised = frame.summary.dropped, frame.unnormalised
        for start in range(0, len(rows), ROWS_PER_PART):
            yield rows.select(np.arange(start, min(len(rows), start + ROWS_PER_PART)))
