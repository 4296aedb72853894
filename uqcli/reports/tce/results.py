"""What the report of ``uqcli tce`` says of: all rows, groups and classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from uqcli.document import Metrics
from uqcli.methods.tce.calibrated_labels import NullDistribution
from uqcli.methods.tce.calibration_error import Rejected, ScoreBins
from uqcli.methods.tce.diagram import Diagram


@dataclass(frozen=True, kw_only=True)
class ClassResult:
    """Rows under one question: whether the label is this class; without name, whether it is positive."""

    name: str | None
    positives: int
    metrics: Metrics
    bins: ScoreBins
    rejected: Rejected
    diagram: Diagram


@dataclass(frozen=True, kw_only=True)
class GroupResult:
    """All rows (no name) or one group, by weight; its metrics are means over the classes.

    Attributes
    ----------
    tested
        Whether it is large enough for tests to say something.
    if_calibrated
        What errors come to where the probabilities are right; empty without draws.
    """

    name: str | None
    tested: bool
    rows: int
    metrics: Metrics
    if_calibrated: Mapping[str, NullDistribution]
    classes: tuple[ClassResult, ...]
