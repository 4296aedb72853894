"""``uqcli evaluate``: evaluate rules on a test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from uqcli.artifacts.codec import load
from uqcli.artifacts.saved import Saved
from uqcli.choices import ArtifactKind
from uqcli.engines.open import reusable_streams
from uqcli.errors import ArtifactError, UsageError
from uqcli.jobs.evaluate.request import EvaluateRequest
from uqcli.jobs.intervals import check_confidence
from uqcli.jobs.labelled import refuse_keep
from uqcli.jobs.result import Result
from uqcli.jobs.target_weights import load_shift
from uqcli.reports.evaluate.groups import ReportByGroup
from uqcli.stores.address import safe_address

EVALUATION_MODULES: Final[Mapping[ArtifactKind, str]] = MappingProxyType(
    {
        ArtifactKind.BOUNDARY: "boundaries",
        ArtifactKind.CALIBRATOR: "calibrators",
        ArtifactKind.CONFORMAL: "conformal_sets",
    }
)
"""Kinds that can be evaluated, with the module of this package whose function ``evaluate`` does it."""


def run(request: EvaluateRequest) -> Result[ReportByGroup, None]:
    """Evaluate rules of one kind.

    Raises
    ------
    UsageError, DataError, ArtifactError
        An option does not apply, or the rules or rows cannot be read.
    """
    check_confidence(request.confidence)
    refuse_keep(request.data.on_invalid)
    if not request.artifacts:
        inputs = request.data.inputs
        raise UsageError(
            f"no rule file among {', '.join(inputs)}" if inputs else "no rule file given",
            expected="at least one argument that ends in .json",
            remedy="rename the rule file, if it has another ending" if inputs else "",
        )
    rules = request.rules or tuple(map(load, request.artifacts))
    request = replace(request, artifacts=tuple(map(safe_address, request.artifacts)))
    if request.by is not None and len(rules) > 1:
        raise UsageError(f"--by with {len(rules)} rule files", expected="one rule file")
    _refuse_with_cluster(request)
    shift = None if request.shift is None else load_shift(request.shift)
    kind = _common_kind(request.artifacts, rules)
    if kind is not ArtifactKind.CALIBRATOR:
        # bootstrap 0 is always accepted, and metrics in target data use the seed
        useless = (*(("bootstrap",) if request.bootstrap else ()), *(() if shift is not None else ("seed",)))
        request.columns.refuse(useless, f"with a rule file of kind {kind}")
    if request.utility is not None and kind is not ArtifactKind.BOUNDARY:
        raise UsageError(f"--gain and --cost with a rule file of kind {kind}", expected="kind boundary")
    if request.sampling_weight is not None:
        _refuse_with_sampling_weights(request, kind)
    measure: Any = import_module(f"uqcli.jobs.evaluate.{EVALUATION_MODULES[kind]}").evaluate
    several_passes = len(rules) > 1 or bool(request.audit) or request.data.may_lack_labels
    with reusable_streams() if several_passes else nullcontext():  # each rule may read the rows
        audited = None
        if request.audit:
            from uqcli.jobs.evaluate.audit import audit

            audited = audit(request, rules)
        report = measure(request, rules, shift)
        return Result(report=report if audited is None else replace(report, audit=audited), artifact=None)


def _refuse_with_cluster(request: EvaluateRequest) -> None:
    """Refuse options whose intervals and tests are of independent rows.

    Raises
    ------
    UsageError
        One is given with ``--cluster`` or ``--day``.
    """
    others = {
        "--by": request.by,
        "--shift": request.shift,
        "--audit": request.audit,
        "--sampling-weight": request.sampling_weight,
    }
    for option, value in others.items():
        if request.cluster is not None and value:
            raise UsageError(
                f"{option} with {request.option}",
                expected="one of them, since the other one tests independent rows",
            )


def _refuse_with_sampling_weights(request: EvaluateRequest, kind: ArtifactKind) -> None:
    """Refuse sampling weights where rows must count alike.

    Raises
    ------
    UsageError

    Raises
    ------
    UsageError
        Message names what cannot use them.
    """
    useless = {
        f"a rule file of kind {kind}": kind is ArtifactKind.CONFORMAL,
        "--by": request.by is not None,
        "--audit": bool(request.audit),
        "--bootstrap": request.bootstrap > 0,
        "--shift": request.shift is not None,
        "--gain and --cost": request.utility is not None,
    }
    for name, is_given in useless.items():
        if is_given:
            raise UsageError(
                f"--sampling-weight with {name}",
                expected="a boundary or a calibrator, measured on all rows",
                remedy="its tests need rows that count alike; --weight is for counts of rows",
            )


def _common_kind(names: Sequence[str], rules: Sequence[Saved]) -> ArtifactKind:
    for name, rule in zip(names, rules, strict=True):
        if rule.kind not in EVALUATION_MODULES:
            raise ArtifactError(
                f"'{name}' is a rule file of kind {rule.kind}",
                expected="kind boundary, calibrator or conformal",
            )
    if len({rule.kind for rule in rules}) > 1:
        raise UsageError(
            "rule files of different kinds", expected="one kind", remedy="evaluate them one at a time"
        )
    return rules[0].kind
