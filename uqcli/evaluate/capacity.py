"""Boundaries whose first rows of each group are flagged, up to a number, as ``apply --top`` flags them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from uqcli.base import defaults
from uqcli.base.choices import ArtifactKind
from uqcli.base.errors import Opt, UsageError, words
from uqcli.base.rows import Rows
from uqcli.boundary.capacity import Capacity, FirstRowsRule, find_capacity, order_of_scores, refuse_unranked
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.engines.request import DataRequest, Roles
from uqcli.evaluate.measured_boundary import TestedRule
from uqcli.evaluate.options import Dependence, EvaluateRequest
from uqcli.evaluate.parts.first_rows import FirstRows, flagged_first
from uqcli.evaluate.parts.one import OneRuleByCapacity
from uqcli.evaluate.statements import Remark
from uqcli.rules.saved import Saved


def with_order_of_scores(request: EvaluateRequest, top: int) -> EvaluateRequest:
    """Add a rule that orders rows by their score alone, which no file has, under the name of its column."""
    score = request.columns.named.get("score", defaults.SCORE)
    rule = order_of_scores(score, top, request.data.on_invalid)
    return replace(request, artifacts=(score,), rules=(rule,))


def refuse_combinations(request: EvaluateRequest, rules: Sequence[Saved]) -> None:
    """Refuse what flags other rows than ``apply --top`` does, or needs thresholds."""
    kind = rules[0].kind
    if kind is not ArtifactKind.BOUNDARY:
        raise UsageError(words("--top with a rule file of kind {}", kind), expected="a boundary")
    if any(rule.class_names for rule in rules):
        raise UsageError(words("--top with a rule of predicted classes"), expected="a rule of one score")
    others = {
        Opt("shift"): (request.has_shift, "the order of the rows is that of this file"),
        Opt("audit"): (bool(request.audit), "segments are tested for the target of the thresholds"),
        Opt("sampling-weight"): (
            request.labelled.are_sampled,
            "the first rows of a sample are not those of all rows",
        ),
        Opt("unlabelled"): (
            request.labelled.have_file_of_all,
            "give all rows in one file, some without a label",
        ),
        Opt("calibrator"): (request.labelled.have_calibrator, "rates of the first rows need their labels"),
    }
    for option, (is_given, why) in others.items():
        if is_given:
            raise UsageError(words("{} and {} cannot be combined", Opt("top"), option), remedy=why)


def with_groups_as_clusters(request: EvaluateRequest) -> EvaluateRequest:
    """Let the rows of a group depend on each other, unless the request names another column."""
    if request.dependent.is_known:
        return request
    return replace(request, dependent=Dependence(column=request.first.per))


def by_capacity(
    request: EvaluateRequest, rules: Sequence[BoundaryArtifact], data: DataRequest, top: int
) -> tuple[list[FirstRowsRule], DataRequest]:
    """Find the first rows by the order of each rule.

    Returns the rules that flag them, and the request for labelled rows with what these rules read.
    """
    refuse_unranked(data, request.first.per)
    for rule in rules:
        rule.place_of(Rows(numbers=dict.fromkeys(data.roles.all_numbers(), np.empty(0))))  # before any row
    found = []
    for rule in rules:
        every = replace(request.data, roles=_read_by(rule, data.roles), positive_value=None)
        found.append(find_capacity(every, rule, top, request.first.per))
        found[-1].caution_of_ties()
    names = list(dict.fromkeys(name for capacity in found for name in capacity.levels))
    found = [capacity.in_order_of(names) for capacity in found]
    ranked = [FirstRowsRule.of(rule, capacity) for rule, capacity in zip(rules, found, strict=True)]
    return ranked, found[0].second_pass(data)


def _read_by(rule: BoundaryArtifact, roles: Roles) -> Roles:
    """Return the columns that a rule reads of new rows, which need not have those of other rules."""
    read = ("score", "uncertainty") if rule.needs_uncertainty else ("score",)
    numbers = {role: roles.numbers[role] for role in read}
    return Roles(numbers=numbers, turned=roles.turned, features=rule.features())


def named(dependent: Dependence, per: str | None, rules: Sequence[BoundaryArtifact]) -> Dependence:
    """Name the clusters that are the groups of a capacity."""
    if not dependent.is_known or dependent.column != per or dependent.days:
        return dependent
    return replace(dependent, grouped=_of(rules[0]).units)


def measured_rows(rules: Sequence[BoundaryArtifact]) -> Remark:
    """Return the part of the rows that are measured, which are those of the same groups for all rules."""
    capacity = _of(rules[0])
    return flagged_first(capacity.first_rows, capacity.fewer)


def flagged_of_groups(rule: BoundaryArtifact) -> list[FirstRows]:
    """Return the part of the flagged rows of each group; none if thresholds decide."""
    if not isinstance(rule, FirstRowsRule):
        return []
    capacity = _of(rule)
    return [FirstRows(taken=capacity.cuts.taken.tolist(), ties=capacity.tied)]


def one_rule(capacity: Capacity, tested: TestedRule, dropped: int, confidence: float) -> OneRuleByCapacity:
    """Return the part of a single rule."""
    return OneRuleByCapacity(
        tested=tested,
        dropped=dropped,
        confidence=confidence,
        first=capacity.first_rows,
        options=capacity.options_beside(tested.rule.first),
    )


def _of(rule: BoundaryArtifact) -> Capacity:
    assert isinstance(rule, FirstRowsRule)
    return rule.ranking
