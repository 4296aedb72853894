"""Columns for evaluating rules: their own, unless others are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from uqcli.artifacts.boundary import BoundaryArtifact
from uqcli.artifacts.calibrator import CalibratorArtifact
from uqcli.artifacts.saved import roles_of
from uqcli.defaults import LABEL
from uqcli.engines.request import DataRequest
from uqcli.errors import UsageError
from uqcli.jobs.evaluate.request import EvaluateRequest

TwoClasses = BoundaryArtifact | CalibratorArtifact


def labelled_request(request: EvaluateRequest, rules: Sequence[TwoClasses]) -> DataRequest:
    """Return the data request with the columns of all given rules.

    Raises
    ------
    UsageError
        The rules name different columns, or different positive labels.
    """
    roles = roles_of(rules, request.columns, labelled=True)
    return replace(
        request.data,
        roles=replace(roles, label=roles.label or LABEL),
        positive_value=_positive_value(request, rules),
    )


def _positive_value(request: EvaluateRequest, rules: Sequence[TwoClasses]) -> str | None:
    if rules[0].class_names and request.data.positive_value is not None:
        raise UsageError("--positive with labels that name classes", expected="none")
    if request.data.positive_value is not None:
        return request.data.positive_value
    values = {rule.parameters.positive for rule in rules}
    if len(values) > 1:
        raise UsageError("the rules name different positive labels", remedy="give --positive VALUE")
    return next(iter(values))
