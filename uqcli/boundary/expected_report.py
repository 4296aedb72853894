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


def expectation(expected: Mapping[str, Estimate | None], where: str = "new data", between: str = "") -> str:
    """State what to expect of precision and recall, each with its range if it has one.

    Parameters
    ----------
    between
        The clusters or days whose differences the ranges allow for; empty if rows are independent.

    Examples
    --------
    >>> precision = Estimate(value=0.699, low=0.684, high=0.713)
    >>> expectation({"precision": precision, "recall": Estimate(value=0.5)})
    'On new data expect precision 0.70 (90 % range 0.68 to 0.71) and recall 0.50.'
    """
    parts: list[str] = []
    for name, estimate in expected.items():
        if estimate is None or estimate.value is None:
            continue
        values = (estimate.value, estimate.low, estimate.high)
        known = [value for value in values if value is not None]
        low, value, high = min(known), estimate.value, max(known)
        digits = 2 if (high - low >= 0.01 or len(known) == 1) and 0.05 <= value <= 0.95 else 3
        text = f"{name} {value:.{digits}f}"
        if len(known) == len(values):
            stated = "90 % range " if not parts else ""
            allowing = f", allowing for differences between {between}" if between and not parts else ""
            text = f"{text} ({stated}{low:.{digits}f} to {high:.{digits}f}{allowing})"
        parts.append(text)
    return f"On {where} expect {' and '.join(parts)}." if parts else ""


def expected_cells(expected: Expected | None) -> tuple[str, str]:
    """Format the expected recall and precision for a table."""
    if expected is None:
        return "", ""
    return share(expected.recall.value), share(expected.precision.value)
