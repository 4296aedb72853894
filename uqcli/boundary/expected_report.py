"""Expected precision and recall of boundaries, as metrics and for tables."""

from __future__ import annotations

from collections.abc import Mapping

from uqcli.base.wording import share
from uqcli.boundary.expected import Expected
from uqcli.estimates.estimate import Estimate
from uqcli.shift.target import BinaryWeights


def expected_metrics(
    expected: Expected | None, class_weights: BinaryWeights | None = None
) -> Mapping[str, Estimate | None]:
    """Return the expected precision and recall, under class weights if given.

    None if not estimated, or if the class weights are refuted.
    """
    if expected is None or (class_weights is not None and class_weights.refuted):
        return {"precision": None, "recall": None}
    precision = expected.precision
    if class_weights is not None:
        ends = (precision.value, precision.low, precision.high)
        value, low, high = (class_weights.precision(end) for end in ends)
        precision = Estimate(value=value, low=low, high=high)
    return {"precision": precision, "recall": expected.recall}


def expected_cells(expected: Expected | None) -> tuple[str, str]:
    """Format the expected recall and precision for a table."""
    if expected is None:
        return "", ""
    return share(expected.recall.value), share(expected.precision.value)
