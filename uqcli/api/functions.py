"""The functions for arrays, each the command of its docstring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, TypeVar

import numpy as np

from uqcli.api.arguments import (
    CLUSTER,
    DAY,
    GROUP,
    WEIGHT,
    Classes,
    amounts,
    by_group,
    is_by_class,
    present,
    rows_of,
    run,
)
from uqcli.api.fitted import (
    Boundary,
    ConformalSets,
    Fitted,
    Grid,
    Reported,
    Shift,
    ShiftWeights,
    as_rule,
    drawn_weights,
)
from uqcli.audit.report import Segment
from uqcli.base import defaults
from uqcli.base.choices import SampleGoal
from uqcli.base.counts import Bools, Floats
from uqcli.base.defaults import LABEL, SCORE, UNCERTAINTY
from uqcli.base.errors import DataError, UsageError
from uqcli.base.options import Intervals
from uqcli.base.records import dataclass
from uqcli.boundary.certificate_rows import PILOT, SAMPLED_ABOVE, SAMPLED_BELOW, TEST
from uqcli.calls import Result, in_one_run
from uqcli.engines.open import open_engine
from uqcli.engines.request import SAMPLED_FOR, SAMPLING_WEIGHT, DataRequest, in_memory
from uqcli.estimates.calibration_error import Rejected, ScoreBins
from uqcli.jobs.tables import Column, Decimal, by_name, decimal_text, is_frame, table_of
from uqcli.reports.document import Metrics
from uqcli.sample.certificate import prepare_certificate
from uqcli.sample.options import Population, SampleRequest
from uqcli.sample.report import AfterPilot
from uqcli.tce.options import MeasureOptions
from uqcli.tce.report import TceReport
from uqcli.tce.results import ClassResult, GroupResult
from uqcli.uncertainty.beta import Uncertainties
from uqcli.uncertainty.run import model_of


def find_boundary(
    score: Column | Classes,
    label: Column,
    *,
    uncertainty: Any = None,
    weight: Column | None = None,
    group: Column | None = None,
    cluster: Column | None = None,
    day: Column | None = None,
    classes: Sequence[str] | None = None,
    gain: Decimal | Column | None = None,
    cost: Decimal | Column | None = None,
    shift: Shift | None = None,
    pilot: Mapping[str, Column] | None = None,
    sampled_above: float | None = None,
    sampled_below: float | None = None,
    compare: bool = False,
    **options: Any,
) -> Boundary:
    """Find the best decision boundary on score x uncertainty under a constraint, as ``uqcli boundary``."""
    several = by_name(uncertainty) if is_frame(uncertainty) else present(**{UNCERTAINTY: uncertainty})
    more = {**several, **present(**{GROUP: group})}
    taken = dict.fromkeys((SCORE, UNCERTAINTY, LABEL, WEIGHT, GROUP, CLUSTER, DAY, *more))
    worth = amounts(taken, gain=gain, cost=cost)
    more |= {name: values for name, values in taken.items() if values is not None and name not in more}
    for name, edge in ((SAMPLED_ABOVE, sampled_above), (SAMPLED_BELOW, sampled_below)):
        if edge is not None:
            if options.get("certify") is None:
                raise UsageError(f"{name} is given without certify", remedy="add certify")
            more |= {name: np.full(len(label), edge), SAMPLED_FOR: [TEST] * len(label)}
    if group is not None and is_by_class(score):
        raise UsageError("group and class probabilities cannot be combined", remedy="leave one of them out")
    rows, named = rows_of(score, label, classes=classes, more=more, weight=weight, cluster=cluster, day=day)
    if several:
        named["uncertainty"] = [*several]
    elif "proba" not in named:
        named["uncertainty_bins"] = 1
    named |= by_group(group)
    without = () if group is not None or "proba" in named else ("bound", "min_group")
    named |= {"compare": compare or len(several) > 1, "shift": as_rule(shift), "pilot": pilot, **worth}
    result = run("boundary", in_memory(rows), {**options, **named}, without)
    if result.artifact is None:
        raise UsageError("no constraint given", expected="one such as precision")
    report = result.run_report
    return result.made(
        partial(
            Boundary,
            artifact=result.artifact,
            notes=tuple(report.payload()["notes"]),
            report=report,
            compared=report.compared[0] if report.compared else None,
            comparisons={column.uncertainty: column for column in report.compared},
        )
    )


def bin_counts(
    score: Column,
    label: Column,
    *,
    uncertainty: Column | None = None,
    weight: Column | None = None,
    **options: Any,
) -> Grid:
    """Count rows in a grid of score x uncertainty cells, as ``uqcli bin``."""
    rows, named = rows_of(score, label, uncertainty=uncertainty, weight=weight)
    if uncertainty is None and options.get("uncertainty_bins") is None:
        named["uncertainty_bins"] = 1
    result = run("bin", in_memory(rows), {**options, **named})
    return result.made(partial(Grid, artifact=result.artifact, notes=result.run_report.warnings))


def conformal_sets(
    probability: Classes,
    label: Column,
    *,
    classes: Sequence[str] | None = None,
    group: Column | None = None,
    cluster: Column | None = None,
    weight: Column | None = None,
    shift: Shift | None = None,
    target: Classes | None = None,
    randomize: bool = True,
    **options: Any,
) -> ConformalSets:
    """Find thresholds of prediction sets with guaranteed coverage, as ``uqcli conformal``."""
    more = present(**{GROUP: group})
    rows, named = rows_of(probability, label, classes=classes, more=more, weight=weight, cluster=cluster)
    named |= by_group(group)
    named |= {"no_randomize": not randomize, "shift": as_rule(shift)}
    named |= {} if target is None else {"target": rows_of(target, classes=classes)[0]}
    result = run("conformal", in_memory(rows), {**options, **named})
    return _fitted(result, ConformalSets)


FittedT = TypeVar("FittedT", bound=Fitted[Any])


def _fitted(result: Result, kind: type[FittedT]) -> FittedT:
    report = result.run_report
    notes = tuple(report.payload()["notes"])
    return result.made(partial(kind, artifact=result.artifact, notes=notes, report=report))


def shift_weights(
    probability: Classes,
    label: Column,
    target: Classes | None = None,
    *,
    classes: Sequence[str] | None = None,
    weight: Column | None = None,
    day: Column | None = None,
    target_day: Column | None = None,
    cluster: Column | None = None,
    target_cluster: Column | None = None,
    **options: Any,
) -> ShiftWeights:
    """Estimate class weights q/p from unlabelled target data, as ``uqcli shift``."""
    more, of_target = present(day=day, cluster=cluster), present(day=target_day, cluster=target_cluster)
    if target is not None and set(more) != set(of_target):
        raise UsageError(
            f"{' and '.join(more) or 'no day'} for the labelled rows, {' and '.join(of_target) or 'none'} "
            "for the target",
            expected="days, or clusters, of both or of neither",
        )
    rows, named = rows_of(probability, label, classes=classes, weight=weight, **more)
    if target is not None:
        named["target"], _ = rows_of(target, classes=classes, **of_target)
    return _fitted(run("shift", in_memory(rows), {**options, **named}), ShiftWeights)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CalibrationErrors(Reported):
    """Calibration errors of all rows, and by class and group if there are any."""

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
        """Counts, positive rates and mean scores of the bins; UsageError if there are many classes."""
        return self._single.bins

    @property
    def rejected(self) -> Rejected:
        """Rejected rows of each bin; see ``bins``. Rows with sampling weights are not tested."""
        if self._single.rejected is None:
            raise UsageError("rejected rows with sampling weights", expected="rows that count alike")
        return self._single.rejected

    @property
    def _single(self) -> ClassResult:
        parts = self.report.overall.classes
        if len(parts) > 1:
            raise UsageError("bins of several classes", expected="those of one, in by_class")
        return parts[0]


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
    audit: Any = None,
    **measured: Any,
) -> CalibrationErrors:
    """Measure the test-based calibration error, ECE and related errors, as ``uqcli tce``."""
    if options is not None and any(name in vars(options) for name in measured):
        raise UsageError("options and its attributes cannot be combined", remedy="leave one of them out")
    if options is not None:
        plain = MeasureOptions()
        given = {field.name: getattr(options, field.name) for field in fields(options)}
        measured |= {name: value for name, value in given.items() if value != getattr(plain, name)}
    segments = by_name(audit)
    more = {**segments, **present(**{GROUP: group})}
    weights = present(weight=weight, cluster=cluster, sampling_weight=sampling_weight)
    rows, named = rows_of(score, label, classes=classes, more=more, **weights)
    named |= by_group(group)
    named |= {"audit": [*segments]} if segments else {}
    result = run("tce", in_memory(rows), {**measured, **named})
    return result.made(partial(CalibrationErrors, report=result.run_report))


def classwise_calibration_error(
    probability: Classes,
    label: Column,
    *,
    weight: Column | None = None,
    options: MeasureOptions | None = None,
) -> CalibrationErrors:
    """Measure the errors of many classes, one-vs-rest, and their mean; see ``calibration_error``."""
    return calibration_error(probability, label, weight=weight, options=options)


def uncertainty_of(
    *, alpha1: Column | None = None, alpha0: Column | None = None, members: Any = None
) -> Uncertainties:
    """Compute score and uncertainties from Beta parameters or ensemble members, as ``uqcli uncertainty``."""
    columns = present(alpha1=alpha1, alpha0=alpha0)
    if isinstance(members, np.ndarray) and members.ndim == 2:
        members = list(members.T)
    elif is_frame(members):
        members = list(by_name(members).values())
    named = {f"member_{number}": member for number, member in enumerate(members or (), start=1)}
    given: dict[str, Any] = dict.fromkeys(("alpha1", "alpha0", "members")) | {name: name for name in columns}
    given |= {} if members is None else {"members": "member_*"}
    model = model_of(**given)
    data = DataRequest(inputs=in_memory(table_of({**columns, **named})), roles=model.roles)
    batches = open_engine(data.engine).batches(data)
    parts = [model.uncertainties(rows) for rows in batches]
    names = [each.name for each in fields(Uncertainties)]
    return Uncertainties(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


@dataclass(frozen=True, kw_only=True, repr=False)
class CertificateSample:
    """Rows to label for a certificate.

    Attributes
    ----------
    weight : float64, shape (n,)
        Sampling weights; 0 for rows that are not drawn.
    above, below
        Lowest score of the rows from which they were drawn, or highest one for ``max_omission``, as
        ``find_boundary`` takes it; the other is None.
    is_pilot
        Whether they are the pilot, after which the rest is drawn.
    notes
        How many labels are needed at least, and cautions.
    """

    weight: Floats
    above: float | None
    below: float | None
    is_pilot: bool
    notes: tuple[str, ...]

    @property
    def drawn(self) -> Bools:
        """Whether rows are drawn; bool, shape (n,)."""
        return self.weight > 0

    def labelled(self, score: Column, label: Column) -> dict[str, Column]:
        """Return the columns of the drawn rows, as ``pilot`` takes them; labels are of the drawn rows."""
        drawn, edge = np.flatnonzero(self.drawn), self.below if self.above is None else self.above
        if len(label) != len(drawn):
            raise DataError(f"{len(label)} labels of {len(drawn)} drawn rows", expected="one for each")
        return {
            SCORE: np.asarray(score)[drawn],
            LABEL: label,
            SAMPLING_WEIGHT: self.weight[drawn],
            SAMPLED_BELOW if self.above is None else SAMPLED_ABOVE: np.full(len(drawn), edge),
            SAMPLED_FOR: [PILOT if self.is_pilot else TEST] * len(drawn),
        }


def sample_for_certificate(
    score: Column,
    *,
    precision: Decimal | None = None,
    max_omission: Decimal | None = None,
    budget: int,
    pilot: Mapping[str, Column] | None = None,
    seed: int = defaults.SEED,
) -> CertificateSample:
    """Draw the rows to label for a certificate: a pilot, or with one the rest, as ``uqcli sample``."""
    bounds = present(precision=precision, max_omission=max_omission)
    texts: dict[str, Any] = {name: decimal_text(name, value) for name, value in bounds.items()}
    request = SampleRequest(
        population=Population(
            data=DataRequest(inputs=in_memory(table_of({SCORE: score}))), intervals=Intervals(seed=seed)
        ),
        for_=SampleGoal.CERTIFICATE,
        budget=budget,
        pilot=() if pilot is None else in_memory(table_of(by_name(pilot))),
        **{"precision": None, "max_omission": None, **texts},
    )
    return in_one_run(partial(_sampled, request))


def _sampled(request: SampleRequest) -> CertificateSample:
    report, _, _ = prepared = prepare_certificate(request)
    return CertificateSample(
        weight=drawn_weights(lambda _: prepared, request),
        above=None if report.bound.below else report.edge,
        below=report.edge if report.bound.below else None,
        is_pilot=not isinstance(report.stage, AfterPilot),
        notes=tuple(report.payload()["notes"]),
    )
