"""``uqcli sample``: draw the rows to label, or state how many labels are needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from uqcli import defaults
from uqcli.artifacts.boundary import BoundaryArtifact
from uqcli.artifacts.calibrator import CalibratorArtifact
from uqcli.artifacts.codec import load_kind
from uqcli.artifacts.columns import ColumnOverrides, NewColumns
from uqcli.artifacts.saved import Source, roles_of
from uqcli.choices import EngineName, SampleGoal
from uqcli.counts import Bools, Floats, Ints
from uqcli.draws import Purpose, check_seed, uniforms
from uqcli.engines.open import open_engine, reusable_streams
from uqcli.engines.probabilities import positions_of, require_probabilities
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import DataRequest, Roles
from uqcli.errors import DataError, UsageError
from uqcli.jobs.intervals import check_confidence
from uqcli.jobs.labelled import refuse_keep, source_of
from uqcli.jobs.result import Result
from uqcli.jobs.stream.output import RowsOutput, stream
from uqcli.methods.boundary.capacity import FirstRows
from uqcli.methods.stream.sampling import (
    RateCounter,
    RatedRows,
    labels_for,
    precision_width,
    recall_design,
    steps,
    uniform_design,
)
from uqcli.reports.stream.sample import SampleParameters, SampleReport
from uqcli.rows import Rows
from uqcli.sampling_weights import inverse

NAME = "sampling_weight"
"""Name of the added column, after the prefix."""


@dataclass(frozen=True, kw_only=True)
class SampleRequest:
    """Request to draw rows, or to plan how many to draw.

    Attributes
    ----------
    data
        Rows; their columns are those of the rule, unless given in ``columns``.
    rule
        Path of a boundary, or the boundary itself.
    goal
        What the labels are for.
    budget
        Number of rows to draw; for recall, on average. None to plan.
    width
        Width of the interval to plan for; None to draw.
    calibrator
        Calibrator for recall, or its path; None if the scores are rates.
    """

    data: DataRequest
    rule: str | BoundaryArtifact
    goal: SampleGoal
    budget: int | None = None
    width: float | None = None
    calibrator: str | CalibratorArtifact | None = None
    output: RowsOutput = RowsOutput()
    columns: ColumnOverrides = ColumnOverrides()
    seed: int = defaults.SEED
    confidence: float = defaults.CONFIDENCE


def run(request: SampleRequest) -> Result[SampleReport, None]:
    """Draw the rows in a second pass, or only plan.

    Raises
    ------
    UsageError, DataError, ArtifactError
        An option does not apply, or the rules or rows cannot be read.
    """
    with reusable_streams():
        report, data, added = prepare(request)
        if added is None:
            return Result(report=report, artifact=None)
        (name,) = added.types
        summary = stream(data, added, request.output, name)
    return Result(report=replace(report, labels=summary.selected), artifact=None)


def prepare(request: SampleRequest) -> tuple[SampleReport, DataRequest, AddedColumns | None]:
    """Read the rows once, and choose how they are drawn.

    Returns
    -------
    The plan, the request for a second pass, and the weights to add there: 0 for rows that are not drawn. None
    without a budget.

    Raises
    ------
    UsageError, DataError, ArtifactError
        As for ``run``.
    """
    _check(request)
    reader = _Reader.of(request)
    data = replace(request.data, roles=reader.roles)
    batches = open_engine(data.engine).batches(data)
    counter, first = RateCounter(), FirstRows(request.budget or 1)
    for rows in batches:
        flagged = reader.flagged(rows)
        counter.add(reader.steps(rows), flagged)
        if request.goal is SampleGoal.PRECISION:
            alone, draw = np.zeros(int(flagged.sum()), dtype=np.int64), -reader.draws(rows)[flagged]
            first.add(alone, alone, draw, positions_of(rows)[flagged], alone + 1)
    population = counter.result()
    report = _planned(request, reader, population, source_of(batches.summary))
    if request.budget is None:
        return report, data, None
    name, cuts = f"{request.output.prefix}{NAME}", first.cuts(1)
    design = recall_design(population, request.budget)

    def weights(rows: Rows) -> dict[str, Floats]:
        flagged = reader.flagged(rows)
        if request.goal is SampleGoal.RECALL:
            probability = design.of_rows(reader.steps(rows), flagged)
            taken = reader.draws(rows) < probability
            return {name: np.where(taken, inverse(probability), 0.0)}
        group = np.where(flagged, 0, -1)
        taken = cuts.takes(group, np.zeros_like(group), -reader.draws(rows), rows.position)
        return {name: np.where(taken, inverse(cuts.taken / population.flagged), 0.0)}

    return report, data, AddedColumns(types={name: "float64"}, compute=weights)


def _check(request: SampleRequest) -> None:
    """Refuse options that exclude each other or are out of range."""
    check_seed(request.seed)
    check_confidence(request.confidence)
    refuse_keep(request.data.on_invalid)
    if (request.budget is None) == (request.width is None):
        raise UsageError("--budget and --plan", expected="one of them")
    if request.width is not None and not 0 < request.width < 1:
        raise UsageError(f"--plan {request.width:g}", expected="a width between 0 and 1, such as 0.1")
    if request.calibrator is not None and request.goal is SampleGoal.PRECISION:
        raise UsageError("--calibrator with --for precision", expected="--for recall")
    if request.data.engine is EngineName.SPARK:
        raise UsageError(
            "a cluster has no row order, which the random draws of sample need", expected="--engine polars"
        )


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """Decides, rates and draws rows.

    Attributes
    ----------
    flagged
        Function from rows to decisions; bool, shape (n,).
    rates
        Function from rows to the rates at which they are positive; None if rates are not needed.
    """

    rule: BoundaryArtifact
    roles: Roles
    seed: int
    flagged: Callable[[Rows], Bools]
    rates: Callable[[Rows], Floats] | None

    @classmethod
    def of(cls, request: SampleRequest) -> _Reader:
        """Load the rules, and name the columns that they read."""
        rule = request.rule
        if isinstance(rule, str):
            rule = load_kind(rule, BoundaryArtifact)
        if rule.class_names and request.goal is SampleGoal.RECALL:
            raise UsageError("--for recall with a rule of predicted classes", expected="--for precision")
        calibrator = request.calibrator
        if isinstance(calibrator, str):
            calibrator = load_kind(calibrator, CalibratorArtifact)
        if calibrator is not None and calibrator.class_names:
            raise UsageError("the calibrator reads class probabilities", expected="one of scores")
        rules = [rule] if calibrator is None else [rule, calibrator]
        roles = roles_of(rules, request.columns, labelled=False)
        form, rates = NewColumns(), None
        if calibrator is not None:
            rates = _column_of(calibrator.adds(roles, form), "calibrated")
        elif request.goal is SampleGoal.RECALL:
            rates = partial(_scores, column=roles.numbers["score"])
        flagged = _column_of(rule.adds(roles, form), "decision")
        return cls(rule=rule, roles=roles, seed=request.seed, flagged=flagged, rates=rates)

    def steps(self, rows: Rows) -> Ints:
        """Return the steps of the rates (see uqcli.methods.stream.sampling.steps), 0 without rates."""
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
    flagged, confidence = population.flagged, request.confidence
    if flagged == 0:
        raise DataError("no row is flagged", expected="at least one", remedy="check the columns and the rule")
    for_recall = request.goal is SampleGoal.RECALL
    expected = population.recall if for_recall else reader.rule.fit.precision or 0.0
    if for_recall and not 0 < expected < 1:
        raise DataError(
            f"recall is {expected:g} by the rates of the rows",
            expected="positives to expect among flagged and among cleared rows",
        )

    def width(labels: int) -> float:
        if not for_recall:
            return precision_width(expected, labels, confidence)
        return recall_design(population, labels).width(confidence)

    def uniform_width(labels: int) -> float:
        if not for_recall:
            return precision_width(expected, labels * flagged / population.rows, confidence)
        return uniform_design(population, labels).width(confidence)

    most = population.rows if for_recall else flagged
    if request.width is None:
        labels: int | None = min(request.budget or 0, most)
    else:
        labels = labels_for(width, request.width, most)
    shown = None if labels is None else width(labels)
    return SampleReport(
        source=source,
        parameters=SampleParameters(
            goal=str(request.goal),
            budget=request.budget,
            plan=request.width,
            seed=request.seed,
            confidence=confidence,
            on_invalid=request.data.on_invalid,
        ),
        rule=reader.rule,
        rows=population.rows,
        selected=flagged,
        labels=labels,
        expected=expected,
        width=shown,
        is_calibrated=request.calibrator is not None,
        uniform=None if shown is None else labels_for(uniform_width, shown, population.rows),
    )
