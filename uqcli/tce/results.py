"""Calibration errors of all rows, groups and classes, for the report of ``uqcli tce``."""

from __future__ import annotations

from collections.abc import Mapping

from uqcli.base.records import dataclass
from uqcli.estimates.calibration_error import Diagram, Rejected, ScoreBins
from uqcli.reports.document import Metrics
from uqcli.tce.band import Band
from uqcli.tce.chance import NullDistribution


@dataclass(frozen=True, kw_only=True)
class ClassResult:
    """Calibration of one class against the others; without name, of the positive class.

    Attributes
    ----------
    rejected
        None if rows have sampling weights: tests need rows that count alike.
    band
        Simultaneous band of the calibration curve; None for groups, and with sampling weights.
    """

    name: str | None
    positives: int
    metrics: Metrics
    bins: ScoreBins
    rejected: Rejected | None
    diagram: Diagram
    band: Band | None = None


@dataclass(frozen=True, kw_only=True)
class GroupResult:
    """Calibration of all rows (no name) or one group, by weight; metrics are means over the classes.

    Attributes
    ----------
    tested
        Whether it has enough rows for the tests.
    if_calibrated
        Null distributions of errors, for calibrated probabilities; empty without draws.
    """

    name: str | None
    tested: bool
    rows: int
    metrics: Metrics
    if_calibrated: Mapping[str, NullDistribution]
    classes: tuple[ClassResult, ...]
