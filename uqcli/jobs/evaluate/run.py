"""``uqcli evaluate``: how saved models do on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from uqcli.artifacts.codec import load, load_kind
from uqcli.artifacts.models import (
    Artifact,
    BoundaryArtifact,
    CalibratorArtifact,
    ConformalArtifact,
    ShiftArtifact,
)
from uqcli.defaults import LABEL
from uqcli.document import Report
from uqcli.engines.request import DataRequest
from uqcli.errors import ArtifactError, UsageError
from uqcli.jobs.evaluate.boundaries import evaluate_boundaries
from uqcli.jobs.evaluate.calibrators import evaluate_calibrators
from uqcli.jobs.evaluate.conformal_sets import evaluate_conformal
from uqcli.jobs.evaluate.request import EvaluateOptions
from uqcli.jobs.intervals import check_confidence
from uqcli.jobs.labelled import refuse_keep
from uqcli.jobs.models import roles_of


def run(options: EvaluateOptions) -> Report:
    """Measure models of one kind.

    Raises
    ------
    UsageError, DataError, ArtifactError
        See the parts.
    """
    check_confidence(options.confidence)
    refuse_keep(options.on_invalid)
    if not options.artifacts:
        raise UsageError("no artifact given", expected="at least one argument that ends in .json")
    artifacts = [load(name) for name in options.artifacts]
    shift = None if options.shift is None else load_kind(options.shift, ShiftArtifact)
    boundaries = [each for each in artifacts if isinstance(each, BoundaryArtifact)]
    calibrators = [each for each in artifacts if isinstance(each, CalibratorArtifact)]
    conformal = [each for each in artifacts if isinstance(each, ConformalArtifact)]
    _require_one_kind(options.artifacts, artifacts, max(len(boundaries), len(calibrators), len(conformal)))
    if not calibrators:
        # nothing asked for is nothing refused, and measures in a target are drawn
        useless = (*(("bootstrap",) if options.bootstrap else ()), *(() if shift is not None else ("seed",)))
        options.columns.refuse(useless, f"with a {artifacts[0].kind} artifact")
    if conformal:
        return evaluate_conformal(options.artifacts, conformal, options, shift)
    if boundaries:
        return evaluate_boundaries(options.artifacts, boundaries, _request(options, boundaries), options)
    if shift is not None:
        raise UsageError("--shift with calibrators", expected="boundary or conformal artifacts")
    requests = [_request(options, [each]) for each in calibrators]
    return evaluate_calibrators(options.artifacts, calibrators, requests, options)


def _require_one_kind(names: Sequence[str], artifacts: Sequence[Artifact], alike: int) -> None:
    for name, artifact in zip(names, artifacts, strict=True):
        if not isinstance(artifact, BoundaryArtifact | CalibratorArtifact | ConformalArtifact):
            raise ArtifactError(
                f"'{name}' is a {artifact.kind} artifact",
                expected="a boundary, calibrator or conformal artifact",
            )
    if alike < len(artifacts):
        raise UsageError("artifacts of different kinds", expected="one kind", remedy="take them one by one")


def _request(
    options: EvaluateOptions, artifacts: Sequence[BoundaryArtifact | CalibratorArtifact]
) -> DataRequest:
    roles = roles_of(artifacts, options.columns, labelled=True)
    return DataRequest(
        inputs=options.inputs,
        roles=replace(roles, label=roles.label or LABEL),
        read=options.read,
        on_invalid=options.on_invalid,
        positive_value=_positive_value(options, artifacts),
    )


def _positive_value(
    options: EvaluateOptions, artifacts: Sequence[BoundaryArtifact | CalibratorArtifact]
) -> str | None:
    if options.positive_value is not None:
        return options.positive_value
    values = {artifact.parameters.positive for artifact in artifacts}
    if len(values) > 1:
        raise UsageError("the artifacts name different positive labels", remedy="give --positive VALUE")
    return next(iter(values))
