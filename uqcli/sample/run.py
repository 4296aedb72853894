"""``uqcli sample``: draw the rows to label, or state how many labels are needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from uqcli.base.choices import SampleGoal
from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.draws import Purpose, uniforms
from uqcli.base.errors import DataError, UsageError, words
from uqcli.base.options import check_confidence
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.sampling_weights import inverse
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.search.thresholds import FirstRows
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.engines.columns import MissingColumnError
from uqcli.engines.open import open_engine, reusable_streams
from uqcli.engines.probabilities import positions_of, require_probabilities
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import SAMPLING_WEIGHT, DataRequest, Roles
from uqcli.rules.codec import load_kind
from uqcli.rules.columns import NewColumns
from uqcli.rules.labelled import refuse_keep, source_of
from uqcli.rules.result import Result, stream
from uqcli.rules.saved import Source, roles_of
from uqcli.sample.certificate import LABEL_OPTION, label_feature, prepare_certificate, refuse_cluster
from uqcli.sample.options import SampleRequest
from uqcli.sample.report import AllTooFew, CertificateSampleReport, Labels, SampleReport
from uqcli.sample.sampling import (
    RateCounter,
    RatedRows,
    labels_for,
    precision_width,
    recall_design,
    steps,
    uniform_design,
)


def run(request: SampleRequest) -> Result[SampleReport | CertificateSampleReport, None]:
    """Draw the rows in a second pass, or only plan."""
    prepared: Callable[[SampleRequest], tuple[Any, ...]] = prepare
    if request.for_ is SampleGoal.CERTIFICATE:
        prepared = prepare_certificate
    elif request.plan is not None:
        prepared = plan
    with reusable_streams():
        try:
            report, *drawn = prepared(request)
        except MissingColumnError as error:
            is_needed = not request.population.label_may_be_missing
            if is_needed or f"{LABEL_OPTION}.{request.label}" not in error.roles:
                raise
            report, *drawn = prepared(replace(request, label=None, keep_labelled=False))
        if not drawn:
            return Result(report=report, artifact=None)
        data, added = drawn
        name = next(iter(added.types))  # the weight
        summary = stream(data, added, request.output, name)
    return Result(report=report.written(summary.selected), artifact=None)


def plan(request: SampleRequest) -> tuple[SampleReport]:
    """Read the rows, and return how many labels are needed."""
    _check(request)
    reader = _Reader.of(request)
    rows, _, source = _rows_read(reader, request.population.data, request.for_, 1)
    return (_planned(request, reader, rows, source),)


def prepare(request: SampleRequest) -> tuple[SampleReport, DataRequest, AddedColumns]:
    """Read the rows once, and choose how they are drawn.

    Returns the plan, the request for a second pass, and the weights to add there: 0 for rows that are not
    drawn.
    """
    _check(request)
    reader, goal, budget, keeps = (
        _Reader.of(request),
        request.for_,
        request.budget or 1,
        request.keep_labelled,
    )
    population, first, source = _rows_read(reader, request.population.data, goal, budget)
    report = _planned(request, reader, population, source)
    name, cuts = f"{request.output.prefix}{SAMPLING_WEIGHT}", first.cuts(1)
    design = recall_design(population, budget)
    unlabelled = population.flagged - population.flagged_labelled

    def weights(rows: Rows) -> dict[str, Floats]:
        flagged, labelled = reader.flagged(rows), reader.labelled(rows)
        if goal is SampleGoal.RECALL:
            probability = design.of_rows(reader.steps(rows), flagged)
            drawn = np.where(reader.draws(rows) < probability, inverse(probability), 0.0)
            kept = labelled
        else:
            group = np.where(flagged & ~labelled, 0, -1)
            taken = cuts.takes(group, np.zeros_like(group), -reader.draws(rows), rows.position)
            drawn = np.where(taken, inverse(cuts.taken / unlabelled), 0.0)
            kept = labelled & flagged
        return {name: np.where(labelled, kept & keeps, drawn)}

    data = replace(request.population.data, roles=reader.roles)
    return report, data, AddedColumns(types={name: "float64"}, compute=weights)


def _rows_read(
    reader: _Reader, data: DataRequest, goal: SampleGoal, budget: int
) -> tuple[RatedRows, FirstRows, Source]:
    """Count the rows, and find those to draw for the precision."""
    batches = open_engine(data.engine).batches(replace(data, roles=reader.roles))
    counter, first = RateCounter(), FirstRows(budget)
    for rows in batches:
        flagged = reader.flagged(rows)
        labelled = reader.labelled(rows)
        counter.add(reader.steps(rows), flagged, labelled)
        if goal is SampleGoal.PRECISION:
            drawn = flagged & ~labelled
            alone, draw = np.zeros(int(drawn.sum()), dtype=np.int64), -reader.draws(rows)[drawn]
            first.add(alone, alone, draw, positions_of(rows)[drawn], alone + 1)
    return counter.result(), first, source_of(batches.summary)


def _check(request: SampleRequest) -> None:
    data = request.population.data
    check_confidence(request.population.intervals.confidence)
    refuse_keep(data.on_invalid)
    refuse_cluster(data.engine)
    given = [each for each in (request.budget, request.plan) if each is not None]
    if not given:
        raise UsageError(
            words("neither --budget nor --plan is given"), remedy=words("give --budget N or --plan WIDTH")
        )
    if len(given) > 1:
        raise UsageError(words("--budget and --plan cannot be combined"), remedy="leave one of them out")
    if request.plan is not None and not 0 < request.plan < 1:
        raise UsageError(words("--plan {:g}", request.plan), expected="a width between 0 and 1, such as 0.1")
    if request.keep_labelled and not request.labels:
        raise UsageError(words("--keep-labelled without --label"), expected="the column of the labels")
    if request.calibrator is not None and request.for_ is SampleGoal.PRECISION:
        raise UsageError(words("--calibrator with --for precision"), expected=words("--for recall"))


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """Decides, rates and draws rows, and says which have a label; where no rates are needed, they are 0."""

    rule: BoundaryArtifact
    roles: Roles
    seed: int
    flagged: Callable[[Rows], Bools]
    steps: Callable[[Rows], Ints]
    labelled: Callable[[Rows], Bools]

    @classmethod
    def of(cls, request: SampleRequest) -> _Reader:
        """Load the rules, and name the columns that they read."""
        population, for_recall = request.population, request.for_ is SampleGoal.RECALL
        rule = load_kind(population.rule, BoundaryArtifact)
        if rule.class_names and for_recall:
            raise UsageError(
                words("--for recall with a rule of predicted classes"), expected=words("--for precision")
            )
        names = [] if request.calibrator is None else [request.calibrator]
        calibrators = [load_kind(name, CalibratorArtifact) for name in names]
        if any(calibrator.class_names for calibrator in calibrators):
            raise UsageError("the calibrator reads class probabilities", expected="one of scores")
        roles = roles_of([rule, *calibrators], population.columns, labelled=False)
        labelled: Callable[[Rows], Bools] = partial(_none, dtype=np.bool_)
        for label in request.labels:
            roles = replace(roles, features=(*roles.features, label_feature(label)))
            labelled = partial(_has_label, label=label)
        form, rated = NewColumns(), partial(_none, dtype=np.int64)
        if for_recall:
            rates = [_column_of(calibrator.adds(roles, form), "calibrated") for calibrator in calibrators]
            (rate,) = rates or [partial(_scores, column=roles.numbers["score"])]
            rated = partial(_steps, rate=rate)
        flagged = _column_of(rule.adds(roles, form), "decision")
        return cls(
            rule=rule,
            roles=roles,
            seed=population.intervals.seed,
            flagged=flagged,
            steps=rated,
            labelled=labelled,
        )

    def draws(self, rows: Rows) -> Floats:
        """Draw a uniform number for each row."""
        return uniforms(positions_of(rows), self.seed, Purpose.SAMPLE)


def _column_of(added: AddedColumns, name: str) -> Callable[[Rows], Any]:
    return lambda rows: added.compute(rows)[name]


def _none(rows: Rows, dtype: Any) -> Any:
    return np.zeros(len(rows), dtype=dtype)


def _has_label(rows: Rows, label: str) -> Bools:
    has_label: Bools = rows.features[label].value >= 0
    return has_label


def _steps(rows: Rows, rate: Callable[[Rows], Floats]) -> Ints:
    """Return the steps of the rates (see uqcli.sample.sampling.steps)."""
    return steps(np.clip(rows.filled(rate(rows), 0.5), 0.0, 1.0)) if len(rows) else _none(rows, np.int64)


def _scores(rows: Rows, column: str) -> Floats:
    """Return scores that are rates themselves."""
    score = rows.filled(rows.score, 0.5)
    require_probabilities(score, column, remedy=words("give --calibrator FILE"))
    return score


def _planned(request: SampleRequest, reader: _Reader, population: RatedRows, source: Source) -> SampleReport:
    """Return how many labels are needed or drawn, and what they will show."""
    flagged, confidence = population.flagged, request.population.intervals.confidence
    if flagged == 0:
        raise DataError("no row is flagged", expected="at least one", remedy="check the columns and the rule")
    for_recall = request.for_ is SampleGoal.RECALL
    labelled = population.rows_labelled if for_recall else population.flagged_labelled
    most = (population.rows if for_recall else flagged) - labelled
    if most == 0:
        raise DataError(
            f"every {'row' if for_recall else 'flagged row'} has a label in '{request.label}'",
            expected="rows to label, in which it is null",
        )
    expected = population.recall if for_recall else reader.rule.fit.precision or 0.0
    if for_recall and not 0 < expected < 1:
        raise DataError(
            f"recall is {expected:g} by the rates of the rows",
            expected="positives to expect among flagged and among cleared rows",
        )
    unlabelled = population.rows - population.rows_labelled

    def width(labels: int) -> float:
        if not for_recall:
            return precision_width(population, expected, labels, confidence)
        return recall_design(population, labels).width(confidence)

    def uniform_width(labels: int) -> float:
        if not for_recall:
            return precision_width(population, expected, labels * most / unlabelled, confidence)
        return uniform_design(population, labels).width(confidence)

    needed = min(request.budget or 0, most) if request.plan is None else labels_for(width, request.plan, most)
    labels = AllTooFew()
    if needed is not None:
        shown = width(needed)
        uniform = labels_for(uniform_width, shown, unlabelled)
        labels = Labels(number=needed, width=shown, uniform=uniform)
    return SampleReport(
        source=source,
        request=request,
        rule=reader.rule,
        rows=population.rows,
        selected=flagged,
        expected=expected,
        labels=labels,
        labelled=labelled,
    )
