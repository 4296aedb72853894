"""Rows with sampling weights, given in a column."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from uqcli.base.counts import Floats
from uqcli.base.rows import Rows
from uqcli.base.running.messages import caution
from uqcli.base.sampling_weights import as_counts, refuse_unusable
from uqcli.engines import refusals
from uqcli.engines.request import DataRequest

SAMPLING_WEIGHT: Final = "sampling_weight"
"""Role of the column of sampling weights."""

_LEAST: Final = 0.999
"""Least sampling weight, after rounding."""


def with_sampling_weights(data: DataRequest, column: str) -> DataRequest:
    """Return the request that also reads a column of sampling weights."""
    roles = data.roles
    return replace(data, roles=replace(roles, numbers={**roles.numbers, SAMPLING_WEIGHT: column}))


def counted_by_weight(rows: Rows) -> Rows:
    """Let rows count in proportion to their sampling weights, for metrics without tests and intervals."""
    weight = rows.numbers[SAMPLING_WEIGHT]
    check_weights(weight)
    counts = as_counts(weight, rows.weight) if weight.any() else None
    if counts is None or not counts.any():
        raise refusals.no_weight()
    return replace(rows, weight=counts)


def check_weights(weight: Floats) -> None:
    """Refuse unusable weights, and caution of those that no probability gives."""
    refuse_unusable(weight)
    if ((weight > 0) & (weight < _LEAST)).any():
        caution(
            "some sampling weights are below 1, but 1 / a probability is at least 1: "
            "check the column of --sampling-weight."
        )
