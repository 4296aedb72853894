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
from uqcli.base.operating_system import quote
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
from uqcli.sample.report import CertificateSampleReport, SampleReport
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
    prepared = prepare_certificate if request.for_ is SampleGoal.CERTIFICATE else prepare
    report: SampleReport | CertificateSampleReport
    with reusable_streams():
        try:
            report, data, added = prepared(request)
        except MissingColumnError as error:
            if not request.label_may_be_missing or f"{LABEL_OPTION}.{request.label}" not in error.roles:
                raise
            report, data, added = prepared(replace(request, label=None, keep_labelled=False))
        if added is None:
            return Result(report=report, artifact=None)
        name = next(iter(added.types))  # the weight
        summary = stream(data, added, request.output, name)
    return Result(report=replace(report, labels=summary.selected - report.kept), artifact=None)


def prepare(request: SampleRequest) -> tuple[SampleReport, DataRequest, AddedColumns | None]:
    """Read the rows once, and choose how they are drawn.

    Returns the plan, the request for a second pass, and the weights to add there: 0 for rows that are not
    drawn. None without a budget.
    """
    _check(request)
    reader = _Reader.of(request)
    data = replace(request.data, roles=reader.roles)
    batches = open_engine(data.engine).batches(data)
    counter, first = RateCounter(), FirstRows(request.budget or 1)
    for rows in batches:
        flagged = reader.flagged(rows)
        labelled = reader.labelled(rows)
        counter.add(reader.steps(rows), flagged, labelled)
        if request.for_ is SampleGoal.PRECISION:
            drawn = flagged & ~labelled
            alone, draw = np.zeros(int(drawn.sum()), dtype=np.int64), -reader.draws(rows)[drawn]
            first.add(alone, alone, draw, positions_of(rows)[drawn], alone + 1)
    population = counter.result()
    report = _planned(request, reader, population, source_of(batches.summary))
    if request.budget is None:
        return report, data, None
    name, cuts = f"{request.output.prefix}{SAMPLING_WEIGHT}", first.cuts(1)
    design = recall_design(population, request.budget)
    unlabelled = population.flagged - population.flagged_labelled

    def weights(rows: Rows) -> dict[str, Floats]:
        flagged, labelled = reader.flagged(rows), reader.labelled(rows)
        if request.for_ is SampleGoal.RECALL:
            probability = design.of_rows(reader.steps(rows), flagged)
            drawn = np.where(reader.draws(rows) < probability, inverse(probability), 0.0)
            kept = labelled
        else:
            group = np.where(flagged & ~labelled, 0, -1)
            taken = cuts.takes(group, np.zeros_like(group), -reader.draws(rows), rows.position)
            drawn = np.where(taken, inverse(cuts.taken / unlabelled), 0.0)
            kept = labelled & flagged
        return {name: np.where(labelled, kept & request.keep_labelled, drawn)}

    return report, data, AddedColumns(types={name: "float64"}, compute=weights)


def _check(request: SampleRequest) -> None:
    check_confidence(request.intervals.confidence)
    refuse_keep(request.data.on_invalid)
    refuse_cluster(request.data.engine)
    if (request.budget is None) == (request.plan is None):
        if request.budget is None:
            raise UsageError(
                words("neither --budget nor --plan is given"), remedy=words("give --budget N or --plan WIDTH")
            )
        raise UsageError(words("--budget and --plan cannot be combined"), remedy="leave one of them out")
    if request.plan is not None and not 0 < request.plan < 1:
        raise UsageError(words("--plan {:g}", request.plan), expected="a width between 0 and 1, such as 0.1")
    if request.keep_labelled and request.label is None:
        raise UsageError(words("--keep-labelled without --label"), expected="the column of the labels")
    if request.calibrator is not None and request.for_ is SampleGoal.PRECISION:
        raise UsageError(words("--calibrator with --for precision"), expected=words("--for recall"))


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """Decides, rates and draws rows; ``rates``, at which rows are positive, is None if not needed."""

    rule: BoundaryArtifact
    roles: Roles
    seed: int
    flagged: Callable[[Rows], Bools]
    rates: Callable[[Rows], Floats] | None
    label: str | None

    @classmethod
    def of(cls, request: SampleRequest) -> _Reader:
        """Load the rules, and name the columns that they read."""
        rule = request.rule
        if isinstance(rule, str):
            rule = load_kind(rule, BoundaryArtifact)
        assert rule is not None  # only a certificate needs none
        if rule.class_names and request.for_ is SampleGoal.RECALL:
            raise UsageError(
                words("--for recall with a rule of predicted classes"), expected=words("--for precision")
            )
        calibrator = request.calibrator
        if isinstance(calibrator, str):
            calibrator = load_kind(calibrator, CalibratorArtifact)
        if calibrator is not None and calibrator.class_names:
            raise UsageError("the calibrator reads class probabilities", expected="one of scores")
        rules = [rule] if calibrator is None else [rule, calibrator]
        roles = roles_of(rules, request.columns, labelled=False)
        if request.label is not None:
            roles = replace(roles, features=(*roles.features, label_feature(request.label)))
        form, rates = NewColumns(), None
        if calibrator is not None:
            rates = _column_of(calibrator.adds(roles, form), "calibrated")
        elif request.for_ is SampleGoal.RECALL:
            rates = partial(_scores, column=roles.numbers["score"])
        flagged = _column_of(rule.adds(roles, form), "decision")
        return cls(
            rule=rule,
            roles=roles,
            seed=request.intervals.seed,
            flagged=flagged,
            rates=rates,
            label=request.label,
        )

    def labelled(self, rows: Rows) -> Bools:
        """Whether rows have a label."""
        if self.label is None:
            return np.zeros(len(rows), dtype=np.bool_)
        has_label: Bools = rows.features[self.label].value >= 0
        return has_label

    def steps(self, rows: Rows) -> Ints:
        """Return the steps of the rates (see uqcli.sample.sampling.steps), 0 without rates."""
        if self.rates is None or len(rows) == 0:
            return np.zeros(len(rows), dtype=np.int64)
        return steps(np.clip(rows.filled(self.rates(rows), 0.5), 0.0, 1.0))

    def draws(self, rows: Rows) -> Floats:
        """Draw a uniform number for each row."""
        return uniforms(positions_of(rows), self.seed, Purpose.SAMPLE)


def _column_of(added: AddedColumns, name: str) -> Callable[[Rows], Any]:
    return lambda rows: added.compute(rows)[name]


def _scores(rows: Rows, column: str) -> Floats:
    """Return scores that are rates themselves."""
    score = rows.filled(rows.score, 0.5)
    require_probabilities(score, column, remedy="give --calibrator FILE")
    return score


def _planned(request: SampleRequest, reader: _Reader, population: RatedRows, source: Source) -> SampleReport:
    """Return how many labels are needed or drawn, and what they will show."""
    flagged, confidence = population.flagged, request.intervals.confidence
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

    def width(labels: int) -> float:
        if not for_recall:
            return precision_width(population, expected, labels, confidence)
        return recall_design(population, labels).width(confidence)

    def uniform_width(labels: int) -> float:
        if not for_recall:
            unlabelled = population.rows - population.rows_labelled
            return precision_width(population, expected, labels * most / unlabelled, confidence)
        return uniform_design(population, labels).width(confidence)

    if request.plan is None:
        labels: int | None = min(request.budget or 0, most)
    else:
        labels = labels_for(width, request.plan, most)
    shown = None if labels is None else width(labels)
    return SampleReport(
        source=source,
        goal=str(request.for_),
        budget=request.budget,
        plan=request.plan,
        seed=request.intervals.seed,
        confidence=confidence,
        on_invalid=request.data.on_invalid,
        keep_labelled=request.keep_labelled,
        rule=reader.rule,
        rows=population.rows,
        selected=flagged,
        labels=labels,
        expected=expected,
        width=shown,
        is_calibrated=request.calibrator is not None,
        uniform=None
        if shown is None
        else labels_for(uniform_width, shown, population.rows - population.rows_labelled),
        labelled=None if request.label is None else labelled,
        files=(
            quote(request.rule) if isinstance(request.rule, str) else "RULE.json",
            quote(request.output.output or "FILE"),
        ),
    )
