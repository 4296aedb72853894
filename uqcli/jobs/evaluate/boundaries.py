"""Evaluate boundaries on a test set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np

from uqcli.artifacts.boundary import PREDICTED_CLASS, ZONES, BoundaryArtifact
from uqcli.artifacts.shift import ShiftArtifact
from uqcli.choices import ConstraintKind, ReviewKind
from uqcli.counts import Bools
from uqcli.defaults import CONFIDENCE, LOWEST
from uqcli.document import Claim, Estimate, money, p_text
from uqcli.draws import Purpose, generator
from uqcli.engines import refusals
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import SourceSummary
from uqcli.engines.request import PREDICTED, DataRequest
from uqcli.errors import UsageError
from uqcli.jobs.dependent_columns import dependence_caution
from uqcli.jobs.evaluate.clusters import (
    ClusterSums,
    ClusterTally,
    Tally,
    caught_difference,
    difference_over_clusters,
    numbers_of,
)
from uqcli.jobs.evaluate.columns import labelled_request
from uqcli.jobs.evaluate.difference import difference_of
from uqcli.jobs.evaluate.groups import GroupResult, GroupTally, group_evaluation
from uqcli.jobs.evaluate.request import EvaluateRequest
from uqcli.jobs.evaluate.value import ValueTally, utility_of
from uqcli.jobs.evaluate.weighted import (
    LabelledInPart,
    SampledRows,
    by_weight,
    too_few_labels,
    weighted_benefit_difference,
    weighted_caught_difference,
    weighted_difference,
    weighted_within_cells,
    with_sampling_weights,
)
from uqcli.jobs.labelled import source_of
from uqcli.jobs.rule_groups import as_decided, groups_of, own_key, own_levels
from uqcli.jobs.target_weights import TargetWeights, target_weights_of
from uqcli.methods.boundary.constraint import Constraint, parse_constraint
from uqcli.methods.evaluate.difference import Chosen, PairedSelections
from uqcli.methods.evaluate.groups import BoundedRate
from uqcli.methods.evaluate.net_benefit import net_benefit_difference, net_benefit_estimate
from uqcli.methods.evaluate.weighted import WeightedRows
from uqcli.methods.proportion import proportion_estimate
from uqcli.methods.shift.target import precision_interval
from uqcli.methods.survey import proportion_interval
from uqcli.reports.evaluate.boundaries import (
    GROUP_HEADER,
    MIN_UNFLAGGED,
    UNKNOWN,
    EvaluateParameters,
    EvaluateReport,
    MeasuredBoundary,
    MeasuredZones,
    group_cells,
    unknown,
)
from uqcli.reports.evaluate.difference import BoundaryDifference
from uqcli.reports.evaluate.groups import GroupEvaluation
from uqcli.reports.evaluate.value import MeasuredValue
from uqcli.rows import Rows

_FLAGGED, _CLEARED = ZONES.index("flag"), ZONES.index("clear")


_AllRows = Tally[int]


def evaluate(
    request: EvaluateRequest, rules: Sequence[BoundaryArtifact], shift: ShiftArtifact | None
) -> EvaluateReport:
    """Count decisions and labels in one pass.

    Raises
    ------
    UsageError, DataError
        Columns differ, the rows cannot be read, or every weight is 0.
    """
    _refuse_different_classes(rules)
    by, data = _rows_to_read(request, rules)
    sampled = None
    if request.sampling_weight is not None:
        data, sampled, by = with_sampling_weights(data, request.sampling_weight), SampledRows(), None
    target = None if shift is None else target_weights_of(shift, data.positive_value)
    utility = utility_of(rules, request.utility) if sampled is None else None
    values = None
    if utility is not None:
        data, values = data.with_amounts(utility.amounts), ValueTally(utility=utility, rules=len(rules))
    by_group = None if by is None else (by, GroupTally(6))
    tally, summary, levels, sums = _count(data, rules, by_group, values, sampled=sampled)
    if sums is not None:
        request = replace(request, cluster=sums.cluster, days="day" in summary.columns)
    if tally.rows == 0 or (sampled is not None and sampled.result().total().total == 0):
        raise refusals.no_weight()
    clusters = None if sums is None else sums.tally()
    measured = _measured(tally, rules, summary.unlabelled, request, target, clusters=clusters)
    weighted = None if sampled is None else [LabelledInPart(rows=sampled.result(), unlabelled=())]
    if weighted is None and summary.unlabelled and clusters is None:
        weighted = weighted_within_cells(data, rules, by)
    if weighted is not None:
        measured = _by_weight(measured, rules, weighted, request.confidence)
    if values is not None:
        measured = [
            replace(result, value=_with_what_is_known(values.measured(index, request.confidence), [result]))
            for index, result in enumerate(measured)
        ]
    found = list(zip(request.artifacts, rules, measured, strict=True))
    groups = None
    if by_group is not None and by is not None:
        indices = levels.get(by) or own_levels(rules[0])
        counts, parts = by_group[1].of_names(indices), None
        if weighted is not None:
            parts = {
                name: replace(weighted[0], rows=weighted[0].by_group[indices[name]], by_group={})
                for name in counts
            }
        groups = _by_group(
            rules[0],
            counts,
            replace(request, by=by),
            target,
            unlabelled=summary.unlabelled,
            weighted=parts,
        )
    alike = "" if clusters is not None else dependence_caution(data, rules[0], lambda _: request.takes_option)
    claims = tuple(_claim(*result) for result in found)
    if groups is not None and by == own_key(rules[0]):
        claims = tuple(_in_each(claim, groups) for claim in claims)
    reviews = tuple(_review_claim(*result) for result in found)
    results = tuple(
        (name, rule, replace(measured, promise_broken=_broken(claim, review)))
        for (name, rule, measured), claim, review in zip(found, claims, reviews, strict=True)
    )
    difference = None
    if len(rules) == 2:
        joint = (
            None if weighted is None else weighted[0].rows if len(weighted) == 1 else WeightedRows(sums={})
        )
        difference = _difference(
            tally, measured, values, request.confidence, clusters=clusters, weighted=joint
        )
        net_benefit = _net_benefit_difference(tally, rules, measured, request.confidence, joint)
        difference = replace(difference, net_benefit=net_benefit)
    return EvaluateReport(
        source=source_of(summary),
        parameters=EvaluateParameters(
            confidence=request.confidence,
            on_invalid=data.on_invalid,
            positive=data.positive_value,
            seed=None if shift is None else request.seed,
            **request.saved_dependence,
            sampling_weight=msgspec.UNSET if sampled is None else True,
        ),
        results=results,
        claims=claims,
        review_claims=tuple(review for review in reviews if review is not None),
        difference=difference,
        by_group=groups,
        alike=alike,
    )


def _rows_to_read(
    request: EvaluateRequest, rules: Sequence[BoundaryArtifact]
) -> tuple[str | None, DataRequest]:
    """Return the key of groups that are measured, and the request for rows.

    Raises
    ------
    UsageError
        Rows within groups depend on each other.
    """
    by = request.by or (own_key(rules[0]) if len(rules) == 1 else None)
    if by is not None and request.cluster is not None:
        raise UsageError(
            f"{request.option} with a rule that has a target in each group",
            expected="one with a single target",
        )
    # rows without a group have the rule of all rows, so that the rule's own groups are no key
    data = labelled_request(request, rules).grouped_by(None if by == PREDICTED else request.by)
    data = data.clustered_by(request.cluster, days=request.days)
    if by is None and request.takes_option:
        data = replace(data, roles=replace(data.roles, adopts=True))
    return by, as_decided(data, rules[0])


def _by_weight(
    measured: Sequence[MeasuredBoundary],
    rules: Sequence[BoundaryArtifact],
    weighted: Sequence[LabelledInPart],
    confidence: float,
) -> list[MeasuredBoundary]:
    """Replace rates by those of weighted rows, of all rules together or of each by itself."""
    together = len(weighted) < len(measured)
    return [
        by_weight(
            one,
            weighted[0 if together else index],
            index if together else 0,
            rule.constraint.parsed().odds if rule.constraint.parsed().sets_odds else None,
            confidence,
        )
        for index, (one, rule) in enumerate(zip(measured, rules, strict=True))
    ]


def _refuse_different_classes(rules: Sequence[BoundaryArtifact]) -> None:
    """Refuse rules that predict different classes.

    Raises
    ------
    UsageError
        Their classes differ.
    """
    if len({tuple(rule.class_names) for rule in rules}) > 1:
        raise UsageError(
            "the rules have different classes", expected="the same", remedy="evaluate each alone"
        )


def _in_each(claim: Claim, groups: GroupEvaluation) -> Claim:
    """Replace the claim about all rows by that about each group."""
    if groups.worst is None:
        return replace(claim, met=None, sentence=f"{claim.name} is tested in no group: {groups.no_test()}.")
    return replace(claim, met=not groups.broken, sentence=f"{claim.name} is tested in each group.")


def _by_group(
    artifact: BoundaryArtifact,
    counts: Mapping[str, Sequence[int]],
    request: EvaluateRequest,
    target: TargetWeights | None,
    *,
    unlabelled: int,
    weighted: Mapping[str, LabelledInPart] | None,
) -> GroupEvaluation:
    """Measure each group, and test the target of the rule there.

    Parameters
    ----------
    counts
        Rows, positives, and the rows and positives that are flagged, and flagged or reviewed, by group.
    weighted
        Labelled rows of each group with their weights; None if no label is missing.
    """
    constraint = replace(artifact.constraint.parsed(), recall=None)
    results, reason = {}, _untested_groups(artifact, constraint, target, weighted)
    for name, (rows, positives, *flagged_and_handled) in counts.items():
        selected, true_positives, handled, caught = flagged_and_handled
        tally = _AllRows(
            rows=rows,
            positives=positives,
            flagged=((selected, true_positives),),
            handled=((handled, caught),),
            common_flagged=(selected, true_positives),
            common_handled=(handled, caught),
        )
        (labelled,) = _measured(tally, [artifact], unlabelled, request, target, in_group=True)
        measured = labelled
        if weighted is not None:
            (measured,) = _by_weight([labelled], [artifact], [weighted[name]], request.confidence)
        has_target = request.by != own_key(artifact) or name in artifact.promising_groups
        rate = _bounded_rate(constraint, labelled) if not reason and has_target else None
        if rate is not None and rate[1] == UNKNOWN:
            rate = None
        results[name] = GroupResult(
            rows=rows,
            metrics=measured.metrics(),
            cells=group_cells(measured),
            rate=rate,
            has_target=has_target,
            reason=reason,
        )
    is_named = weighted is not None or any(result.rate for result in results.values())
    bound = constraint.text() if is_named and constraint.kind is not ConstraintKind.UTILITY else ""
    by = PREDICTED_CLASS if request.by == PREDICTED else request.by or ""
    return group_evaluation(
        by, results, GROUP_HEADER, bound, 1 - request.confidence, labels_missing=weighted is not None
    )


def _untested_groups(
    artifact: BoundaryArtifact,
    constraint: Constraint,
    target: TargetWeights | None,
    weighted: Mapping[str, LabelledInPart] | None,
) -> str:
    """Return why groups are not tested; empty if they are.

    Labelled flagged rows show the precision, if labels were given at random among the flagged rows of a
    group. Other rates compare rows whose chances of a label differ.
    """
    if artifact.unsealed:
        return artifact.unsealed
    if target is not None:
        return "the class priors of the target data are those of all rows together"
    if weighted is not None and constraint.kind is not ConstraintKind.PRECISION:
        return "labels are missing"
    if any((_FLAGGED,) in rows.uneven for rows in (weighted or {}).values()):
        return "the labelled share of flagged rows changes with the score"
    return ""


def _bounded_rate(constraint: Constraint, measured: MeasuredBoundary) -> tuple[BoundedRate, Estimate] | None:
    """Return the rate that a constraint bounds; None if it bounds none."""
    totals = measured.totals
    match constraint.kind:
        case ConstraintKind.PRECISION:
            successes, trials, estimate = totals.true_positives, totals.selected, measured.precision
        case ConstraintKind.RECALL:
            successes, trials, estimate = totals.true_positives, totals.positives, measured.recall
        case ConstraintKind.MAX_FPR:
            false_positives = totals.selected - totals.true_positives
            successes, trials, estimate = false_positives, totals.rows - totals.positives, measured.fpr
        case ConstraintKind.MAX_SELECTED if constraint.relative:
            successes, trials, estimate = totals.selected, totals.rows, measured.alert_rate
        case _:
            return None
    bound, *_ = constraint.numbers
    rate = BoundedRate(successes=successes, trials=trials, bound=bound, upper=constraint.is_upper)
    return rate, estimate


def _count(
    data: DataRequest,
    rules: Sequence[BoundaryArtifact],
    by_group: tuple[str, GroupTally] | None,
    values: ValueTally | None,
    *,
    sampled: SampledRows | None,
) -> tuple[_AllRows, SourceSummary, Mapping[str, Mapping[str, int]], ClusterSums | None]:
    """Count all rows and, if requested, groups and values; also return the group indices by name, and sums.

    The sums are those of each cluster; None if rows are independent.
    """
    none = ((0, 0),) * len(rules)
    tally = _AllRows(
        rows=0,
        positives=0,
        flagged=none,
        handled=none,
        common_flagged=(0, 0),
        common_handled=(0, 0),
    )
    batches, clusters = open_engine(data.engine).batches(data), None
    for rows in batches:
        if clusters is None and batches.roles.cluster is not None:
            clusters = ClusterSums(batches.roles.cluster, len(rules))
        positive = rows.labels
        zones = [rule.zones(rows) for rule in rules]
        flagged = [zone == _FLAGGED for zone in zones]
        handled = [zone != _CLEARED for zone in zones]
        tally = _AllRows(
            rows=tally.rows + rows.size,
            positives=tally.positives + _total(rows, positive),
            flagged=_added(tally.flagged, rows, flagged),
            handled=_added(tally.handled, rows, handled),
            common_flagged=_added([tally.common_flagged], rows, [np.all(flagged, axis=0)])[0],
            common_handled=_added([tally.common_handled], rows, [np.all(handled, axis=0)])[0],
        )
        if values is not None:
            values.add(rows, flagged)
        if clusters is not None:
            clusters.add(rows, flagged, handled)
        if sampled is not None:
            sampled.add(rows, zones)
        if by_group is not None:
            weight = rows.weights()
            masks = (positive, flagged[0], flagged[0] & positive, handled[0], handled[0] & positive)
            by, sums = by_group
            sums.add(groups_of(rows, by), weight, *(weight * mask for mask in masks))
    return tally, batches.summary, batches.levels, clusters


def _added(
    counts: Sequence[tuple[int, int]], rows: Rows, masks: Sequence[Bools]
) -> tuple[tuple[int, int], ...]:
    """Add the rows of each mask, and the positive ones, to counts."""
    return tuple(
        (total + _total(rows, mask), positives + _total(rows, mask & rows.labels))
        for (total, positives), mask in zip(counts, masks, strict=True)
    )


def _total(rows: Rows, mask: Bools) -> int:
    return int(np.count_nonzero(mask)) if rows.weight is None else int(rows.weight[mask].sum())


def _measured(
    tally: _AllRows,
    rules: Sequence[BoundaryArtifact],
    unlabelled: int,
    request: EvaluateRequest,
    target: TargetWeights | None,
    *,
    clusters: ClusterTally | None = None,
    in_group: bool = False,
) -> list[MeasuredBoundary]:
    """Measure each rule by counts, of all rows or of a group."""
    confidence = request.confidence

    def reason(rule: BoundaryArtifact, taken: int) -> str:
        """Return why a rate of all rows is unknown, if too few others than the taken ones have a label."""
        if unlabelled and clusters is not None:
            return f"{unlabelled:,} rows have no label, which {request.option} cannot make up for"
        others = tally.rows - taken
        if unlabelled and others < MIN_UNFLAGGED:
            return too_few_labels(unlabelled, others)
        only_taken = others == 0 and not in_group and not _takes_all(rule)
        return "the file has flagged rows only" if only_taken else ""

    def rate(ratio: Callable[[Tally[Any]], tuple[Any, Any]]) -> Estimate:
        """Estimate a rate of rows, or of clusters of rows."""
        if clusters is not None:
            return proportion_interval(*ratio(clusters), confidence, request.units)
        return proportion_estimate(*ratio(tally), confidence)

    def over_all_rows(
        rule: BoundaryArtifact, ratio: Callable[[Tally[Any]], tuple[Any, Any]], taken: int
    ) -> Estimate:
        """Estimate a rate whose rows are not only the taken ones."""
        why = reason(rule, taken)
        return unknown(why) if why else rate(ratio)

    def net_benefit(rule: BoundaryArtifact, selected: int, true_positives: int) -> Estimate | None:
        """Estimate the net benefit at the odds of the constraint; None if it sets none."""
        constraint = rule.constraint.parsed()
        if not constraint.sets_odds or target is not None:  # the odds concern the target class priors
            return None
        why = reason(rule, selected)
        if constraint.odds is None or why:
            return unknown(why)
        flagged = Chosen(positives=true_positives, negatives=selected - true_positives)
        estimate = net_benefit_estimate(flagged, tally.rows, constraint.odds, confidence)
        return estimate if clusters is None else _alone(estimate)

    def zones(index: int) -> MeasuredZones:
        """Measure the zones of a rule with a review."""
        handled, selected = tally.handled[index][0], tally.flagged[index][0]
        return MeasuredZones(
            caught=over_all_rows(rules[index], lambda of: (of.handled[index][1], of.positives), handled),
            review_share=rate(lambda of: (of.handled[index][0] - of.flagged[index][0], of.rows)),
            miss=over_all_rows(
                rules[index], lambda of: (of.positives - of.handled[index][1], of.positives), handled
            ),
            reviewed=handled - selected,
        )

    def of_rule(index: int) -> MeasuredBoundary:
        """Measure a rule."""
        rule, (selected, true_positives) = rules[index], tally.flagged[index]
        return MeasuredBoundary(
            precision=rate(lambda of: of.flagged[index][::-1]),
            recall=over_all_rows(rule, lambda of: (of.flagged[index][1], of.positives), selected),
            fpr=over_all_rows(
                rule,
                lambda of: (of.flagged[index][0] - of.flagged[index][1], of.rows - of.positives),
                selected,
            ),
            alert_rate=rate(lambda of: (of.flagged[index][0], of.rows)),
            unlabelled=unlabelled,
            selected=selected,
            true_positives=true_positives,
            rows=tally.rows,
            positives=tally.positives,
            target_precision=None
            if target is None
            else _in_target(target, true_positives, selected, request),
            zones=zones(index) if rule.has_zones else None,
            net_benefit=net_benefit(rule, selected, true_positives),
            clusters=None if clusters is None else numbers_of(clusters, index),
        )

    return [of_rule(index) for index in range(len(rules))]


def _takes_all(rule: BoundaryArtifact) -> bool:
    """Whether a rule flags every row, whatever its score."""
    others = [threshold for group in rule.group_rules.values() for threshold in group.thresholds]
    return {*rule.thresholds, *others} == {LOWEST}


def _difference(
    tally: _AllRows,
    measured: Sequence[MeasuredBoundary],
    values: ValueTally | None,
    confidence: float,
    *,
    clusters: ClusterTally | None,
    weighted: WeightedRows | None,
) -> BoundaryDifference:
    """Compute the differences of two rules.

    Parameters
    ----------
    weighted
        Rows with sampling weights, none if they do not show a difference; None if rows count by weight alone.
    """
    have_zones = all(result.zones is not None for result in measured)
    if clusters is not None:
        difference = difference_over_clusters(clusters, confidence)
        if have_zones:
            caught = caught_difference(clusters.handled, clusters.positives, confidence)
            difference = replace(difference, caught=caught, caught_p=caught.p_value)
    elif weighted is not None:
        difference = weighted_difference(weighted, confidence)
        if have_zones:
            caught = weighted_caught_difference(weighted, confidence)
            difference = replace(difference, caught=caught, caught_p=caught.p_value)
    else:
        difference = difference_of(
            _paired(tally.flagged, tally.common_flagged), tally.rows, tally.positives, confidence
        )
    if have_zones and clusters is None and weighted is None:
        handled = difference_of(
            _paired(tally.handled, tally.common_handled), tally.rows, tally.positives, confidence
        )
        difference = replace(difference, caught=handled.recall, caught_p=handled.recall_p)
    if values is not None:
        difference = replace(difference, value=_with_what_is_known(values.difference(confidence), measured))
    if UNKNOWN in [result.recall for result in measured]:
        difference = replace(difference, recall=UNKNOWN, recall_p=None)
    if UNKNOWN in [result.zones.caught for result in measured if result.zones is not None]:
        difference = replace(difference, caught=UNKNOWN, caught_p=None)
    return difference


def _with_what_is_known(value: MeasuredValue, measured: Sequence[MeasuredBoundary]) -> MeasuredValue:
    """Remove intervals of single rows, and the gain caught if rows without a label would count."""
    if measured[0].clusters is not None:
        value = MeasuredValue(value=_alone(value.value), value_caught=_alone(value.value_caught))
    if UNKNOWN in [result.recall for result in measured] or any(result.weighted for result in measured):
        return replace(value, value_caught=UNKNOWN)
    return value


def _alone(estimate: Estimate) -> Estimate:
    """Remove the interval."""
    return Estimate(value=estimate.value)


def _net_benefit_difference(
    tally: _AllRows,
    rules: Sequence[BoundaryArtifact],
    measured: Sequence[MeasuredBoundary],
    confidence: float,
    weighted: WeightedRows | None,
) -> Estimate | None:
    """Estimate the difference of two net benefits; None unless both rules have one at the same odds."""
    estimates = [result.net_benefit for result in measured]
    odds, other = (rule.constraint.parsed().odds for rule in rules)
    if None in estimates or odds != other:
        return None
    if odds is None or UNKNOWN in estimates or (weighted is not None and not weighted.sums):
        return UNKNOWN
    if weighted is not None:
        return weighted_benefit_difference(weighted, odds, confidence)
    paired = _paired(tally.flagged, tally.common_flagged)
    difference = net_benefit_difference(paired, tally.rows, odds, confidence)
    return difference if measured[0].clusters is None else _alone(difference)


def _paired(counts: Sequence[tuple[int, int]], common: tuple[int, int]) -> PairedSelections:
    """Return what each of two rules selects alone, and what both select."""
    rows, positives = common
    lost, gained = (Chosen(positives=p - positives, negatives=n - rows - (p - positives)) for n, p in counts)
    return PairedSelections(
        lost=lost, kept=Chosen(positives=positives, negatives=rows - positives), gained=gained
    )


def _in_target(
    target: TargetWeights, true_positives: int, selected: int, request: EvaluateRequest
) -> Estimate:
    """Estimate the precision under target class priors; its interval includes the error of the weights."""
    value = target.class_weights.precision(true_positives / selected if selected else None)
    if target.draws is None or target.class_weights.refuted:
        return Estimate(value=value, reason=target.class_weights.refuted)
    random = generator(request.seed, Purpose.TARGET)
    counts = true_positives, selected - true_positives
    low, high = precision_interval(target.draws, *counts, request.confidence, random)
    return Estimate(value=value, low=low, high=high)


def _claim(name: str, artifact: BoundaryArtifact, measured: MeasuredBoundary) -> Claim:
    """State whether the test rows contradict the target of a boundary."""
    constraint = artifact.constraint.parsed()
    is_kept, sentence = _outcome(artifact, replace(constraint, recall=None), measured)
    if constraint.recall is not None:
        recall = parse_constraint(ConstraintKind.RECALL, constraint.recall)
        is_kept, sentence = _both((is_kept, sentence), _outcome(artifact, recall, measured))
    if artifact.unsealed:
        is_kept, sentence = None, f"target not tested: {artifact.unsealed}."
    elif untested := _untested(artifact, measured):
        is_kept, sentence = None, f"{constraint.text()} not tested: {untested}."
    fixed = constraint.kind is ConstraintKind.UTILITY or (
        constraint.kind is ConstraintKind.MAX_SELECTED and not constraint.relative
    )
    target = f"{name}: {constraint.text()}"
    return Claim(name=target, met=is_kept, sentence=f"{name}: {sentence}", about_new_data=not fixed)


def _untested(artifact: BoundaryArtifact, measured: MeasuredBoundary) -> str:
    """Return why a certificate is not tested; empty if it is, or if there is none."""
    if artifact.certified is None or measured.weighted is None:
        return ""
    return "the exact test of a certificate needs rows that count alike"


def _review_claim(name: str, artifact: BoundaryArtifact, measured: MeasuredBoundary) -> Claim | None:
    """State whether the test rows contradict the limit of the review; None without a review."""
    review, zones = artifact.review, measured.zones
    if review is None or zones is None:
        return None
    limit = review.limit
    text = limit.text()
    fixed = limit.kind is ReviewKind.REVIEW and not limit.relative
    if untested := artifact.unsealed or _untested(artifact, measured):
        outcome: _Outcome = None, f"{text} not tested: {untested}."
    elif fixed:
        outcome = None, f"{zones.reviewed} reviewed; {text} when it was fitted."
    elif limit.kind is ReviewKind.REVIEW:
        total = measured.totals.rows
        reviewed = (
            zones.reviewed if measured.weighted is None else round((zones.review_share.value or 0) * total)
        )
        tested = BoundedRate(successes=reviewed, trials=total, bound=limit.number, upper=True)
        outcome = _share_outcome(text, tested, zones.review_share)
    else:
        total = measured.totals.positives
        missed = round((zones.miss.value or 0) * total)
        tested = BoundedRate(successes=missed, trials=total, bound=limit.number, upper=True)
        rate = text if artifact.certified is None else f"miss rate <= {float(limit.number):g}"
        outcome = _rate_outcome(artifact, rate, tested, zones.miss, clustered=measured.clusters is not None)
    met, sentence = outcome
    return Claim(name=f"{name}: {text}", met=met, sentence=f"{name}: {sentence}", about_new_data=not fixed)


def _broken(claim: Claim, review: Claim | None) -> int | None:
    """Return 1 if a promise is broken, 0 if none is, and None if none is tested.

    Each of at most two promises is tested at half the level.
    """
    tested = [promise.broken for promise in (claim, review) if promise and promise.broken is not None]
    return max(tested, default=None)


_Outcome = tuple[bool | None, str]
"""Whether the rows are consistent with a target (None if it is not tested), and a sentence on it."""


def _outcome(artifact: BoundaryArtifact, constraint: Constraint, measured: MeasuredBoundary) -> _Outcome:
    text, is_precision = constraint.text(), constraint.kind is ConstraintKind.PRECISION
    if constraint.kind is ConstraintKind.UTILITY:
        value = None if measured.value is None else measured.value.value.value
        return None, f"value {money(value)}."
    if is_precision and measured.target_precision is not None:
        return _target_outcome(constraint, measured.target_precision, constraint.numbers[0])
    bounded = _bounded_rate(constraint, measured)
    if bounded is None:  # a number of rows
        share = 100 * measured.selected_share
        return None, f"{measured.selected} flagged ({share:.2f} %); {text} when it was fitted."
    rate, estimate = bounded
    if constraint.kind is ConstraintKind.MAX_SELECTED:  # which is never certified
        return _share_outcome(text, rate, estimate)
    clustered = measured.clusters is not None
    is_kept, sentence = _rate_outcome(artifact, text, rate, estimate, clustered=clustered)
    if is_precision and not isinstance(artifact.target, msgspec.UnsetType):
        sentence = f"{sentence.rstrip('.')}, if these rows are target data (if not, give --shift)."
    return is_kept, sentence


def _both(first: _Outcome, second: _Outcome) -> _Outcome:
    """Join the tests of two promises, each at half the level."""
    tested = [is_kept for is_kept, _ in (first, second) if is_kept is not None]
    return all(tested) if tested else None, f"{first[1].rstrip('.')}; {second[1]}"


def _rate_outcome(
    artifact: BoundaryArtifact, text: str, rate: BoundedRate, estimate: Estimate, *, clustered: bool
) -> _Outcome:
    """Test a target, or what a certificate guarantees by the exact one-sided test of independent rows."""
    certificate = artifact.certified
    p_value = None if certificate is None else rate.p_value()
    clustered = clustered or (certificate is not None and certificate.is_of_clusters)
    tested = _meets_bound(rate, estimate)
    if certificate is None or p_value is None or clustered or tested is None:
        return _share_outcome(text, rate, estimate)
    certified, promises = f"certified {text}", max(certificate.promises, 1 + (artifact.review is not None))
    if p_value > (1 - CONFIDENCE) / promises:
        met, significant = tested
        return True, _sentence(certified, met=met, significant=significant)
    return False, (
        f"misses {certified} ({p_text(p_value)}, exact one-sided test). The data have changed, or the "
        f"certificate is one of the {100 * certificate.delta:g} % that fail."
    )


def _share_outcome(text: str, rate: BoundedRate, estimate: Estimate) -> _Outcome:
    tested = _meets_bound(rate, estimate)
    if tested is None:
        reason = "no row counts for it"
        if rate.trials:
            reason = estimate.reason or "too few unflagged rows have a label"
            if estimate != UNKNOWN:  # but there is no interval
                reason = estimate.reason or "too few clusters"
        return None, f"{text} not tested: {reason}."
    met, significant = tested
    return met or not significant, _sentence(text, met=met, significant=significant)


def _meets_bound(rate: BoundedRate, estimate: Estimate) -> tuple[bool, bool] | None:
    """Whether a rate meets its bound, and whether significantly; None without trials or an interval."""
    if rate.trials == 0 or estimate.low is None or estimate.high is None:
        return None
    value = Fraction(rate.successes, rate.trials)
    low, high = Fraction(estimate.low), Fraction(estimate.high)
    if rate.upper:
        return value <= rate.bound, high <= rate.bound or low > rate.bound
    return value >= rate.bound, low >= rate.bound or high < rate.bound


def _target_outcome(constraint: Constraint, estimate: Estimate, bound: Fraction) -> _Outcome:
    """Test the bound under the class priors of the target data, which are estimates themselves."""
    subject = f"{constraint.text()} on target data"
    if estimate.value is None:
        return None, f"{subject} not tested: {estimate.reason or 'no row is flagged'}."
    met = Fraction(estimate.value) >= bound
    if estimate.low is None or estimate.high is None:
        return (
            None,
            f"{'above' if met else 'below'} {subject}; not tested, as the class weights have no draws.",
        )
    significant = estimate.low >= bound or estimate.high < bound
    return met or not significant, _sentence(subject, met=met, significant=significant)


def _sentence(target: str, *, met: bool, significant: bool) -> str:
    if not significant:
        return f"consistent with {target}."
    return f"{'meets' if met else 'misses'} {target} (significant)."
