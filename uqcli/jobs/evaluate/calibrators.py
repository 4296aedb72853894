"""How saved calibrators do on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from uqcli.artifacts.models import CalibratorArtifact, Source
from uqcli.counts import Ints
from uqcli.engines.protocol import LabelledRows
from uqcli.engines.request import DataRequest
from uqcli.jobs.before_after import panels
from uqcli.jobs.compare import ComparedRows, compare
from uqcli.jobs.evaluate.request import EvaluateOptions
from uqcli.jobs.intervals import ResamplingPlan, check_bootstrap
from uqcli.jobs.labelled import read_labelled, require_probabilities
from uqcli.jobs.models import calibrated_by
from uqcli.methods.calibrate.scale import Scale
from uqcli.reports.before_after import ReliabilityPanel
from uqcli.reports.evaluate.boundaries import EvaluateParameters
from uqcli.reports.evaluate.calibrators import EvaluateCalibratorReport


def evaluate_calibrators(
    names: Sequence[str],
    artifacts: Sequence[CalibratorArtifact],
    requests: Sequence[DataRequest],
    options: EvaluateOptions,
) -> EvaluateCalibratorReport:
    """Measure probabilities before and after each calibrator.

    Calibrators that look at the same columns share one reading of the inputs.

    Raises
    ------
    UsageError, DataError
        An option is out of range, the rows cannot be read, or a score is no probability.
    """
    check_bootstrap(options.bootstrap)
    plan = ResamplingPlan(replicates=options.bootstrap, seed=options.seed, confidence=options.confidence)
    results = []
    shown: list[ReliabilityPanel] = []
    read: tuple[DataRequest, LabelledRows, Source] | None = None
    for name, artifact, request in zip(names, artifacts, requests, strict=True):
        if read is None or read[0] != request:
            read = (request, *read_labelled(request, options.engine))
        _, rows, source = read
        if not artifact.logit:
            require_probabilities(rows.numbers["score"], source.columns["score"])
        compared, leaf = _compared(rows, artifact)
        parts = panels(compared, artifact.calibration, rows.numbers.get("uncertainty"), leaf)
        shown += parts if len(artifacts) == 1 else [replace(parts[0], title=name)]
        results.append((name, artifact, compare(compared, plan)))
    assert read is not None  # there is an artifact
    return EvaluateCalibratorReport(
        source=read[2],
        parameters=EvaluateParameters(
            confidence=options.confidence, on_invalid=options.on_invalid, positive=read[0].positive_value
        ),
        resampling=(options.bootstrap, options.seed),
        panels=tuple(shown),
        results=tuple(results),
    )


def _compared(rows: LabelledRows, artifact: CalibratorArtifact) -> tuple[ComparedRows, Ints | None]:
    """Probabilities before and after, and the rows' leaves where there are any."""
    score, uncertainty = rows.numbers["score"], rows.numbers.get("uncertainty")
    features = {name: feature.value for name, feature in rows.features.items()}
    found = calibrated_by(artifact, score, uncertainty, features)
    assert rows.positive is not None  # the roles name a label of two classes
    compared = ComparedRows(
        before=Scale(real=artifact.logit).probability(score),
        after=found.probability,
        positive=rows.positive,
        weight=rows.weight,
    )
    return compared, found.leaf
