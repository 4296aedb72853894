"""``uqcli overview``: what is in a file, and what can be done with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

from uqcli.base.defaults import CONFIDENCE
from uqcli.base.errors import DataError, UsageError, words
from uqcli.base.running.concurrency import Threads
from uqcli.boundary.dependent_columns import AlikeRows
from uqcli.boundary.options import BoundaryRequest, Target
from uqcli.boundary.run import run as find_boundary
from uqcli.boundary.run import run_targets
from uqcli.boundary.targets_report import TargetsReport
from uqcli.engines.open import CLUSTERED, FIRST_LOOK, require_memory, reusable_streams
from uqcli.engines.protocol import ALL_ROWS
from uqcli.engines.refusals import FormError
from uqcli.engines.request import DataRequest, dependence
from uqcli.estimates.score_metrics import auc, average_precision, ranks_below_chance
from uqcli.overview.columns import FoundColumns, with_found_columns
from uqcli.overview.first_rows import first_rows_by_day
from uqcli.overview.options import OverviewRequest
from uqcli.overview.parts import (
    Alike,
    Calibration,
    Comparison,
    FirstRows,
    NoProbabilities,
    Percentages,
    Reversed,
    Scores,
    Targets,
    found_columns,
    proposed,
)
from uqcli.overview.report import OverviewPart, OverviewReport
from uqcli.rules.labelled import open_table, source_of
from uqcli.rules.result import Result
from uqcli.tce.options import TceRequest
from uqcli.tce.run import run as measure_calibration


def run(request: OverviewRequest) -> Result[OverviewReport, None]:
    """Look at labelled rows: their scores, calibration, the rules they allow, and what is odd.

    The rows are read once; a test of uncertainties and an audit read them again. If the rows of one day or
    customer turn out to be alike, the rules are found again with ranges that allow for it.

    Raises
    ------
    UsageError, DataError
        The rows cannot be read, or an audit is requested of scores that are no probabilities.
    """
    with reusable_streams(), _as_asked(request.data):
        request, found = with_found_columns(request)
        data = request.data
        require_memory(data, FIRST_LOOK)
        table = open_table(data, uses_uncertainty=False)
        (counts,) = table.pooled(ALL_ROWS)
        score = Scores(
            source=source_of(table.summary),
            rows=counts.rows,
            positives=int(counts.positives.sum()),
            lowest=float(counts.value[0]),
            highest=float(counts.value[-1]),
            distinct=len(counts.value),
        )
        if request.audit and not score.is_probability:
            raise UsageError(
                words("--audit of scores that are no probabilities"),
                expected="scores from 0 to 1",
                remedy=words("audit a rule: uqcli evaluate RULE.json INPUT --audit COL"),
            )
        calibration: list[OverviewPart] = [NoProbabilities()]
        with Threads(1) as thread:  # it ranks while this one measures
            ranking = [thread.submit(metric, counts) for metric in (auc, average_precision)]
            if score.is_probability:
                tce = TceRequest(data=data, audit=request.audit)
                calibration = [Calibration(report=measure_calibration(tce, table).report)]
            one_threshold = BoundaryRequest(data=data).with_one_threshold()
            targets = run_targets(one_threshold, table).report
        area, mean_precision = (result.result() for result in ranking)
        score = replace(score, auc=area, average_precision=mean_precision)
        is_turned = ranks_below_chance(counts, area)
        alike = [_possible(rows, data) for report in targets.reports for rows in report.alike][:1]
        parameters: dict[str, object] = {
            "on_invalid": data.on_invalid,
            "positive": data.positive_value,
            "confidence": CONFIDENCE,
            "seed": targets.seed,
        }
        for rows in alike:
            if rows.takes_option:
                data = data.clustered_by(rows.column, days=rows.days)
                targets = run_targets(one_threshold.on(data)).report
                parameters[dependence(days=rows.days)] = rows.column
        by_day = [*_first_rows(request.data, found, score)]
        uncertainty = [*_uncertainty(replace(request, data=data), targets, found)]
    return Result(
        report=OverviewReport(
            source=score.source,
            parameters=parameters,
            content=found,
            parts=[
                score,
                *([Percentages()] if score.lowest >= 0 and 1 < score.highest <= 100 else []),
                *([Reversed(options="" if score.is_probability else "--logit ")] if is_turned else []),
                *calibration,
                Targets(report=targets, content=found, auc=area),
                *by_day,
                *uncertainty,
                *(Alike(alike=rows, rate=score.prevalence) for rows in alike),
                *found_columns(found, data.positive_value or ""),
            ],
        ),
        artifact=None,
    )


def _first_rows(data: DataRequest, found: FoundColumns, score: Scores) -> Iterator[OverviewPart]:
    """Yield the part of several numbers of alerts a day, if the file has days with more rows."""
    for day in found.dates[:1]:
        if numbers := first_rows_by_day(data, day, score.rows, labelled=not score.source.dropped):
            yield FirstRows(day=day, numbers=numbers)


def _possible(alike: AlikeRows, data: DataRequest) -> AlikeRows:
    """Return rows that are alike, which cannot be taken together if that needs more memory than is free."""
    try:
        require_memory(data.clustered_by(alike.column, days=alike.days), CLUSTERED)
    except DataError:
        return replace(alike, takes_option=False)
    return alike


@contextmanager
def _as_asked(data: DataRequest) -> Iterator[None]:
    """Let errors be about what was asked for, and name a command that takes class probabilities."""
    try:
        yield
    except FormError as error:
        error.requests.append(data)
        found, _, remedy = error.words
        elsewhere = (
            part.replace("or give ", "or take uqcli tce with ") if following == "--proba" else part
            for part, following in pairwise((*words("{}", remedy), ""))
        )
        error.reword(found, tuple(elsewhere))
        raise


def _uncertainty(
    request: OverviewRequest, targets: TargetsReport, content: FoundColumns
) -> Iterator[OverviewPart]:
    """Test the uncertainties at the advised target, or propose columns that could be one."""
    chosen = targets.advised
    if not request.uncertainties or chosen is None:
        yield proposed(content)
        return
    compared = BoundaryRequest(
        data=request.data.with_uncertainty(request.uncertainties[0]),
        target=Target(constraint=chosen.constraint),
        compared=request.uncertainties,
    )
    yield Comparison(report=find_boundary(compared).report)
