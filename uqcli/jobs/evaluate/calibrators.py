"""How saved calibrators do on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from uqcli.artifacts.calibrator import CalibratorArtifact
from uqcli.artifacts.saved import Source
from uqcli.artifacts.shift import ShiftArtifact
from uqcli.counts import Floats
from uqcli.document import Estimate, Metrics
from uqcli.engines.probabilities import require_probabilities
from uqcli.engines.protocol import ReadRows
from uqcli.engines.request import DataRequest
from uqcli.errors import UsageError
from uqcli.jobs.before_after import panels
from uqcli.jobs.compare import compare, minus
from uqcli.jobs.evaluate.columns import labelled_rows
from uqcli.jobs.evaluate.request import EvaluateRequest
from uqcli.jobs.intervals import ResamplingPlan, check_bootstrap
from uqcli.jobs.labelled import read_labelled
from uqcli.methods.calibrate.scale import Scale
from uqcli.methods.evaluate.paired import PairedCounts
from uqcli.methods.resampling import LEAST_OF_A_CLASS
from uqcli.reports.before_after import ReliabilityPanel
from uqcli.reports.comparison import Comparison, value_of
from uqcli.reports.evaluate.boundaries import EvaluateParameters
from uqcli.reports.evaluate.calibrators import EvaluateCalibratorReport
from uqcli.reports.evaluate.difference import LOSSES_COMPARED, CalibratorDifference
from uqcli.rows import Rows


def evaluate(
    request: EvaluateRequest, models: Sequence[CalibratorArtifact], shift: ShiftArtifact | None
) -> EvaluateCalibratorReport:
    """Measure probabilities before and after each calibrator.

    Calibrators share one reading of the inputs, unless they want other columns for the same role.

    Raises
    ------
    UsageError, DataError
        An option is out of range, the rows cannot be read, or a score is no probability.
    """
    if shift is not None:
        raise UsageError("--shift with calibrators", expected="boundary or conformal artifacts")
    requests = _requests(request, models)
    check_bootstrap(request.bootstrap)
    plan = ResamplingPlan(replicates=request.bootstrap, seed=request.seed, confidence=request.confidence)
    results, after = [], []
    shown: list[ReliabilityPanel] = []
    read: tuple[DataRequest, ReadRows, Source] | None = None
    for name, artifact, data in zip(request.artifacts, models, requests, strict=True):
        if read is None or read[0] != data:
            read = (data, *read_labelled(data))
        rows, source = read[1].rows, read[2]
        if not artifact.logit:
            require_probabilities(rows.score, source.columns["score"])
        before, found = Scale(real=artifact.logit).probability(rows.score), artifact.calibrated(rows)
        parts = panels(rows, before, found.probability, artifact.calibration, found.leaf)
        shown += parts if len(models) == 1 else [replace(parts[0], title=name)]
        pairs = PairedCounts.of(before, found.probability, rows.labels, rows.weight)
        results.append((name, artifact, compare(pairs, plan)))
        if len(models) == 2:
            after.append((rows, found.probability))
    assert read is not None  # there is an artifact
    return EvaluateCalibratorReport(
        source=read[2],
        parameters=EvaluateParameters(
            confidence=request.confidence, on_invalid=request.data.on_invalid, positive=read[0].positive_value
        ),
        resampling=(request.bootstrap, request.seed),
        panels=tuple(shown),
        results=tuple(results),
        difference=_difference([compared for _, _, compared in results], after, plan) if after else None,
    )


def _requests(request: EvaluateRequest, models: Sequence[CalibratorArtifact]) -> list[DataRequest]:
    """What each is measured on: the same rows where one reading has what all of them look at."""
    try:
        return [labelled_rows(request, models)] * len(models)
    except UsageError:
        return [labelled_rows(request, [each]) for each in models]


def _difference(
    compared: Sequence[Comparison], after: Sequence[tuple[Rows, Floats]], plan: ResamplingPlan
) -> CalibratorDifference:
    """Of what two calibrators make; paired where one reading had what both look at."""
    (rows, first), (others, second) = after
    one, other = (each.after for each in compared)
    values = {name: minus(value_of(other[name]), value_of(one[name])) for name in one}
    paired = rows is others
    pairs = PairedCounts.of(first, second, rows.labels, rows.weight) if paired else None
    resampled = {} if pairs is None or not plan.replicates else resampled_losses(pairs, plan)
    without = {name: Estimate(value=values[name], low=None, high=None) for name in LOSSES_COMPARED}
    return CalibratorDifference(
        compared=Comparison(before=one, after=other, difference={**values, **without, **resampled}),
        paired=paired,
        resampled=plan.replicates > 0,
    )


def resampled_losses(pairs: PairedCounts, plan: ResamplingPlan) -> Metrics:
    """Differences with intervals; none where few rows tell the two apart, as they held 47 % of 95 there."""
    if pairs.rows_apart() < LEAST_OF_A_CLASS:
        return {}
    difference = compare(pairs, plan).difference
    return {name: difference[name] for name in LOSSES_COMPARED}
