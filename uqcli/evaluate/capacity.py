"""Boundaries whose first rows of each group are flagged, up to a number, as ``apply --top`` flags them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from uqcli.base import defaults
from uqcli.base.choices import Algorithm, AlgorithmChoice, ArtifactKind, EngineName
from uqcli.base.counts import Bools, Ints
from uqcli.base.errors import Opt, UsageError, words
from uqcli.base.operating_system import quote
from uqcli.base.rows import Rows
from uqcli.boundary.capacity import Capacity, find_capacity
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_file import ZONES, BoundaryParameters, Fit, SavedConstraint
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.engines.request import DataRequest, Roles
from uqcli.evaluate.measured_boundary import TestedRule
from uqcli.evaluate.options import EvaluateRequest
from uqcli.evaluate.parts.first_rows import FirstRows, flagged_first
from uqcli.evaluate.parts.one import OneRuleByCapacity
from uqcli.evaluate.statements import Remark
from uqcli.rules.saved import Saved, Source


class FirstRowsRule(BoundaryArtifact, frozen=True, kw_only=True, dict=True):
    """A boundary that orders rows, of which the first ones are flagged, whatever its thresholds."""

    capacity: Capacity | None = None

    by_thresholds: ClassVar[bool] = False

    def decide(self, rows: Rows) -> Bools:
        """See BoundaryArtifact."""
        return _of(self).takes(rows)

    def zones(self, rows: Rows) -> Ints:
        """See BoundaryArtifact."""
        return np.where(self.decide(rows), 0, len(ZONES) - 1)


def order_of_scores(request: EvaluateRequest, top: int) -> EvaluateRequest:
    """Add a rule that orders rows by their score alone, which no file has, under the name of its column."""
    score = request.columns.score or defaults.SCORE
    constraint = SavedConstraint.of(constraint_from(max_selected=str(top)))
    rule = BoundaryArtifact(
        kind=ArtifactKind.BOUNDARY,
        source=Source(rows=0, positives=0, dropped=0, columns={"score": score}),
        parameters=BoundaryParameters(
            algorithm=AlgorithmChoice(Algorithm.ST),
            binning=None,
            uncertainty_bins=1,
            score_bins="all",
            constraint=constraint,
            on_invalid=request.data.on_invalid,
            positive=None,
        ),
        algorithm=Algorithm.ST,
        constraint=constraint,
        uncertainty_edges=[],
        thresholds=[None],
        fit=Fit(selected=0, true_positives=0, rows=0, positives=0, precision=0.0, recall=0.0),
    )
    return replace(request, artifacts=(score,), rules=(rule,))


def refuse_combinations(request: EvaluateRequest, rules: Sequence[Saved]) -> None:
    """Refuse what flags other rows than ``apply --top`` does, or needs thresholds."""
    kind = rules[0].kind
    if kind is not ArtifactKind.BOUNDARY:
        raise UsageError(words("--top with a rule file of kind {}", kind), expected="a boundary")
    if any(rule.class_names for rule in rules):
        raise UsageError(words("--top with a rule of predicted classes"), expected="a rule of one score")
    if request.data.engine is EngineName.SPARK:
        raise UsageError(
            words("--top with --engine spark"), expected="rows in order", remedy=words("use --engine polars")
        )
    others = {
        Opt("shift"): (request.has_shift, "the order of the rows is that of this file"),
        Opt("audit"): (bool(request.audit), "segments are tested for the target of the thresholds"),
        Opt("sampling-weight"): (request.is_sampled, "the first rows of a sample are not those of all rows"),
        Opt("unlabelled"): (
            request.unlabelled is not None,
            "give all rows in one file, some without a label",
        ),
        Opt("calibrator"): (request.calibrator is not None, "rates of the first rows need their labels"),
    }
    for option, (is_given, why) in others.items():
        if is_given:
            raise UsageError(words("{} and {} cannot be combined", Opt("top"), option), remedy=why)


def with_groups_as_clusters(request: EvaluateRequest) -> EvaluateRequest:
    """Let the rows of a group depend on each other, unless the request names another column."""
    if request.per is None or request.cluster is not None:
        return request
    return replace(request, cluster=request.per, days=False)


def by_capacity(
    request: EvaluateRequest, rules: Sequence[BoundaryArtifact], data: DataRequest, top: int
) -> tuple[list[FirstRowsRule], DataRequest]:
    """Find the first rows by the order of each rule.

    Returns the rules that flag them, and the request for labelled rows with what these rules read.
    """
    if data.roles.weight is not None:
        raise UsageError(
            words("--top with a column of row counts ('{}')", data.roles.weight),
            expected="one row for each case, which is flagged or not",
            remedy=words("add --no-weight"),
        )
    if request.per is not None and request.per == data.roles.label:
        raise UsageError(
            words("--per and --label both name the column '{}'", request.per), expected="different columns"
        )
    for rule in rules:
        rule.place_of(Rows(numbers=dict.fromkeys(data.roles.all_numbers(), np.empty(0))))  # before any row
    found = []
    for rule in rules:
        every = replace(request.data, roles=_read_by(rule, data.roles), positive_value=None)
        found.append(find_capacity(every, rule, top, request.per))
        found[-1].caution_of_ties()
    names = list(dict.fromkeys(name for capacity in found for name in capacity.levels))
    found = [capacity.in_order_of(names) for capacity in found]
    ranked = [
        FirstRowsRule(**{name: getattr(rule, name) for name in rule.__struct_fields__}, capacity=capacity)
        for rule, capacity in zip(rules, found, strict=True)
    ]
    return ranked, found[0].second_pass(data)


def _read_by(rule: BoundaryArtifact, roles: Roles) -> Roles:
    """Return the columns that a rule reads of new rows, which need not have those of other rules."""
    read = ("score", "uncertainty") if rule.needs_uncertainty else ("score",)
    numbers = {role: roles.numbers[role] for role in read}
    return Roles(numbers=numbers, turned=roles.turned, features=rule.features())


def named(request: EvaluateRequest, rules: Sequence[BoundaryArtifact]) -> EvaluateRequest:
    """Name the clusters that are the groups of a capacity."""
    if request.per is None or request.cluster != request.per or request.days:
        return request
    return replace(request, grouped=_of(rules[0]).units)


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
    options = f" --top {capacity.top}" + ("" if capacity.per is None else f" --per {quote(capacity.per)}")
    return OneRuleByCapacity(
        tested=tested, dropped=dropped, confidence=confidence, first=capacity.first_rows, options=options
    )


def _of(rule: BoundaryArtifact) -> Capacity:
    assert isinstance(rule, FirstRowsRule)
    assert rule.capacity is not None
    return rule.capacity
