"""``uqcli evaluate``: evaluate rules on a test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from uqcli.base.choices import ArtifactKind
from uqcli.base.errors import ArtifactError, InShell, Opt, UsageError, Words, words
from uqcli.base.options import FirstRowsOptions, check_confidence
from uqcli.engines.open import reusable_streams
from uqcli.estimates.allowed import AUDIT, CALIBRATORS, CLUSTERS, NO_RESAMPLES, REFUSED, SETS, SHIFT, WEIGHTS
from uqcli.evaluate.options import EvaluateRequest
from uqcli.evaluate.report import AuditedSegments, ReportByGroup
from uqcli.rules.codec import load
from uqcli.rules.labelled import refuse_keep
from uqcli.rules.result import Result
from uqcli.rules.saved import Saved
from uqcli.shift.rule import load_shift
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
    """Evaluate rules of one kind."""
    check_confidence(request.confidence)
    refuse_keep(request.data.on_invalid)
    request = _with_order_of_scores(request)
    if not request.artifacts:
        inputs = request.data.inputs
        raise UsageError(
            f"no rule file among {', '.join(inputs)}" if inputs else "no rule file given",
            expected=InShell(
                "at least one argument that ends in .json", "a saved rule first: its path, or a result's rule"
            ),
            remedy=InShell("rename the rule file, if it has another ending", "") if inputs else "",
        )
    rules = request.rules or tuple(map(load, request.artifacts))
    request = replace(request, artifacts=tuple(map(safe_address, request.artifacts)))
    request = _with_rows_of_rules(request, rules)
    if request.groups.has_groups and len(rules) > 1:
        raise UsageError(words("--by with {} rule files", len(rules)), expected="one rule file")
    kind = _common_kind(request.artifacts, rules)
    _refuse_combinations(request, kind)
    _refuse_first_rows(request, rules)
    refuses_weights = request.audit or request.has_shift or request.resampling.bootstrap
    takes_weights = kind is not ArtifactKind.CONFORMAL and not refuses_weights
    request = replace(request, data=replace(request.data, takes_weights=takes_weights))
    shift = None if request.target.shift is None else load_shift(request.target.shift)
    if kind is not ArtifactKind.CALIBRATOR:
        # bootstrap 0 is always accepted, and metrics in target data use the seed
        useless = (
            *(("bootstrap",) if request.resampling.bootstrap else ()),
            *(() if request.has_shift else ("seed",)),
        )
        request.columns.refuse(useless, f"with a rule file of kind {kind}")
    if request.utility is not None and kind is not ArtifactKind.BOUNDARY:
        raise UsageError(
            words("--gain and --cost with a rule file of kind {}", kind), expected="kind boundary"
        )
    measure: Any = import_module(f"uqcli.evaluate.{EVALUATION_MODULES[kind]}").evaluate
    _refuse_assisted(request, rules)
    once = len(rules) == 1 and not request.audit and not request.first.are_asked
    several_passes = not once or request.data.may_lack_labels or request.labelled.are_assisted
    with reusable_streams() if several_passes else nullcontext():  # each rule may read the rows
        audited = []
        if request.audit:
            from uqcli.evaluate.audit import audit

            audited.append(AuditedSegments(audit=audit(request, rules)))
        report = measure(request, rules, shift)
        return Result(report=replace(report, parts=(*report.parts, *audited)), artifact=None)


def _with_order_of_scores(request: EvaluateRequest) -> EvaluateRequest:
    """Add the rule that orders rows by a score, if their first ones are measured without a rule file."""
    top = request.first.top
    if top is None or request.artifacts or not request.data.inputs:
        return request
    from uqcli.evaluate.capacity import with_order_of_scores

    return with_order_of_scores(request, top)


def _with_rows_of_rules(request: EvaluateRequest, rules: Sequence[Saved]) -> EvaluateRequest:
    """Measure the first rows that the rules flag, unless others are asked for; they must be the same."""
    from uqcli.boundary.rule_file import SavedBoundary

    own = [rule.first if isinstance(rule, SavedBoundary) else FirstRowsOptions() for rule in rules]
    asked = {request.first.of_rule(each) for each in own}
    if len(asked) > 1:
        raise UsageError(
            "the rules flag different first rows, or one has thresholds",
            expected="the same number of each group",
            remedy=words("give --top N --per COLUMN, by which all are measured"),
        )
    return replace(request, first=asked.pop())


def _refuse_first_rows(request: EvaluateRequest, rules: Sequence[Saved]) -> None:
    """Refuse rules and rows whose first ones are not those that ``apply --top`` flags."""
    if not request.first.are_asked:
        return
    from uqcli.evaluate.capacity import refuse_combinations

    refuse_combinations(request, rules)


def _refuse_combinations(request: EvaluateRequest, kind: ArtifactKind) -> None:
    """Refuse what cannot be measured of rows that depend on each other, or do not count alike."""
    designs: dict[str, Words | bool] = {
        CLUSTERS: request.dependent.is_known and request.dependent.option,
        WEIGHTS: request.labelled.are_sampled and WEIGHTS,
        SHIFT: request.has_shift and SHIFT,
    }
    subjects = {
        AUDIT: bool(request.audit) and Opt("audit"),
        CALIBRATORS: kind is ArtifactKind.CALIBRATOR and f"a rule file of kind {kind}",
        SETS: kind is ArtifactKind.CONFORMAL and f"a rule file of kind {kind}",
    }
    both = f"{CLUSTERS} and {WEIGHTS}"
    designs[both] = (
        designs[CLUSTERS] and designs[WEIGHTS] and words("{} and {}", request.dependent.option, WEIGHTS)
    )
    for (design, subject), why in REFUSED.items():
        option, other = designs[design], {**subjects, SHIFT: designs[SHIFT]}.get(subject)
        if option and other:
            raise UsageError(words("{} and {} cannot be combined", option, other), remedy=why)
    if request.labelled.are_sampled and request.resampling.bootstrap:
        raise UsageError(words("--sampling-weight and --bootstrap cannot be combined"), remedy=NO_RESAMPLES)


def _refuse_assisted(request: EvaluateRequest, rules: Sequence[Saved]) -> None:
    """Refuse probabilities of rows without a label where no estimate uses them."""
    if not request.labelled.are_assisted:
        return
    option = Opt("calibrator") if not request.labelled.have_file_of_all else Opt("unlabelled")
    rule = rules[0]
    others = {
        f"{len(rules)} rule files": len(rules) > 1,
        f"a rule file of kind {rule.kind}": rule.kind is not ArtifactKind.BOUNDARY,
        "a rule of predicted classes": bool(rule.class_names),
        Opt("shift"): request.has_shift,
        Opt("audit"): bool(request.audit),
    }
    for other, is_given in others.items():
        if is_given:
            raise UsageError(
                words("{} and {} cannot be combined", option, other), remedy="leave one of them out"
            )
    if not request.labelled.have_file_of_all and request.labelled.are_sampled:
        raise UsageError(
            words("--calibrator and --sampling-weight without --unlabelled"),
            expected=words("--unlabelled FILE with all rows from which the labelled ones were drawn"),
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
