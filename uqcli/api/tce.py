"""Measure calibration errors of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from uqcli.api.arguments import CLUSTER, GROUP, Classes, add_columns, as_one_run, class_rows, options_of
from uqcli.api.reported import Reported
from uqcli.audit.report import Segment
from uqcli.base import defaults
from uqcli.base.errors import UsageError
from uqcli.base.options import ResamplingOptions
from uqcli.base.records import dataclass
from uqcli.estimates.calibration_error import Rejected, ScoreBins
from uqcli.estimates.survey import SAMPLING_WEIGHT
from uqcli.jobs.tables import Column, by_name
from uqcli.reports.document import Metrics
from uqcli.tce.options import MeasureOptions, TceRequest
from uqcli.tce.report import TceReport
from uqcli.tce.results import ClassResult, GroupResult
from uqcli.tce.run import run


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CalibrationErrors(Reported):
    """Calibration errors of all rows, and by class and group if there are any; see ``Reported``."""

    report: TceReport

    @property
    def metrics(self) -> Metrics:
        """Metrics by the keys of ``uqcli tce --json``; class means if there are many classes."""
        return self.report.metrics

    @property
    def by_class(self) -> Mapping[str, ClassResult]:
        """Metrics, bins and reliability diagram of each class, one-vs-rest; empty for a single score."""
        return {part.name: part for part in self.report.overall.classes if part.name is not None}

    @property
    def by_group(self) -> Mapping[str, GroupResult]:
        """Metrics by group."""
        return {str(part.name): part for part in self.report.groups}

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Tests of all segments, the most significant first; empty without ``audit``."""
        return () if self.report.audit is None else self.report.audit.segments

    @property
    def bins(self) -> ScoreBins:
        """Counts, positive rates and mean scores of the bins."""
        return self._single.bins

    @property
    def rejected(self) -> Rejected:
        """Rejected rows of each bin; see ``bins``."""
        rejected = self._single.rejected
        if rejected is None:
            raise UsageError("rejected rows with sampling weights", expected="rows that count alike")
        return rejected

    @property
    def _single(self) -> ClassResult:
        parts = self.report.overall.classes
        if len(parts) > 1:
            raise UsageError("bins of several classes", expected="those of one, in by_class")
        return parts[0]


@as_one_run
def calibration_error(
    score: Classes,
    label: Column,
    *,
    weight: Column | None = None,
    options: MeasureOptions | None = None,
    classes: Sequence[str] | None = None,
    group: Column | None = None,
    cluster: Column | None = None,
    sampling_weight: Column | None = None,
    audit: Mapping[str, Column] | None = None,
    bootstrap: int = 0,
    confidence: float = defaults.CONFIDENCE,
    seed: int = defaults.SEED,
    **measured: Any,
) -> CalibrationErrors:
    """Measure the test-based calibration error, ECE and related errors [TCE sec. 3]."""
    if options is not None and measured:
        raise UsageError("options and its attributes cannot be combined", remedy="leave one of them out")
    more = by_name(audit)
    segments = tuple(more)
    by, clusters, sampling = add_columns(
        more, [(GROUP, group), (CLUSTER, cluster), (SAMPLING_WEIGHT, sampling_weight)]
    )
    result = run(
        TceRequest(
            data=class_rows(score, label, classes=classes, weight=weight, more=more).clustered_by(clusters),
            measure=options or options_of(MeasureOptions, measured),
            by=by,
            audit=segments,
            resampling=ResamplingOptions(bootstrap=bootstrap, seed=seed, confidence=confidence),
            sampling_weight=sampling,
        )
    )
    return CalibrationErrors(report=result.report)


def classwise_calibration_error(
    probability: Classes,
    label: Column,
    *,
    weight: Column | None = None,
    options: MeasureOptions | None = None,
) -> CalibrationErrors:
    """Measure the errors of many classes, one-vs-rest, and their mean; see ``calibration_error``."""
    return calibration_error(probability, label, weight=weight, options=options)
