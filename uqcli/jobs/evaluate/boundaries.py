"""Evaluate boundaries on a test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import msgspec
import numpy as np

from uqcli.artifacts.boundary import BoundaryArtifact, SavedCertificate
from uqcli.artifacts.shift import ShiftArtifact
from uqcli.choices import ConstraintKind
from uqcli.defaults import CONFIDENCE
from uqcli.document import Claim, Estimate, ExactEstimate, p_text
from uqcli.draws import Purpose, generator
from uqcli.engines import refusals
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import SourceSummary
from uqcli.engines.request import DataRequest
from uqcli.jobs.evaluate.columns import labelled_request
from uqcli.jobs.evaluate.difference import difference_of
from uqcli.jobs.evaluate.groups import GroupResult, GroupTally, group_evaluation
from uqcli.jobs.evaluate.request import EvaluateRequest
from uqcli.jobs.intervals import proportion_estimate
from uqcli.jobs.labelled import source_of
from uqcli.jobs.target_weights import TargetWeights, target_weights_of
from uqcli.methods.boundary.constraint import Constraint, parse_constraint
from uqcli.methods.evaluate.difference import Chosen, PairedSelections
from uqcli.methods.evaluate.groups import BoundedRate
from uqcli.methods.shift.target import precision_interval
from uqcli.reports.evaluate.boundaries import (
    GROUP_HEADER,
    MIN_UNFLAGGED,
    UNKNOWN,
    EvaluateParameters,
    EvaluateReport,
    MeasuredBoundary,
    group_cells,
)
from uqcli.reports.evaluate.difference import BoundaryDifference
from uqcli.reports.evaluate.groups import GroupEvaluation
from uqcli.rows import Rows


@dataclass(frozen=True, kw_only=True)
class _Tally:
    """Integer counts, by weight; ``selected`` and ``true_positives`` have one entry per rule.

    With two rules, the rows that both flag are also counted.
    """

    rows: int
    positives: int
    selected: tuple[int, ...]
    true_positives: tuple[int, ...]
    common: int
    common_positives: int


def evaluate(
    request: EvaluateRequest, rules: Sequence[BoundaryArtifact], shift: ShiftArtifact | None
) -> EvaluateReport:
    """Count decisions and labels in one pass.

    Raises
    ------
    UsageError, DataError
        Columns differ, the rows cannot be read, or every weight is 0.
    """
    data = labelled_request(request, rules).grouped_by(request.by)
    target = None if shift is None else target_weights_of(shift, data.positive_value)
    by_group = None if request.by is None else GroupTally(4)
    tally, summary, levels = _count(data, rules, by_group)
    if tally.rows == 0:
        raise refusals.no_weight()
    measured = _measured(tally, summary.unlabelled, request, target)
    found = list(zip(request.artifacts, rules, measured, strict=True))
    claims = tuple(_claim(*result, request.confidence) for result in found)
    results = tuple(
        (name, rule, replace(measured, promise_broken=claim.broken))
        for (name, rule, measured), claim in zip(found, claims, strict=True)
    )
    return EvaluateReport(
        source=source_of(summary),
        parameters=EvaluateParameters(
            confidence=request.confidence,
            on_invalid=data.on_invalid,
            positive=data.positive_value,
            seed=None if shift is None else request.seed,
        ),
        results=results,
        claims=claims,
        difference=_difference(tally, measured, request.confidence) if len(rules) == 2 else None,
        by_group=None
        if by_group is None or request.by is None
        else _by_group(rules[0], by_group.of_names(levels[request.by]), summary.unlabelled, request, target),
    )


def _by_group(
    artifact: BoundaryArtifact,
    counts: Mapping[str, Sequence[int]],
    unlabelled: int,
    request: EvaluateRequest,
    target: TargetWeights | None,
) -> GroupEvaluation:
    """Measure each group, and test the target of the rule there.

    Parameters
    ----------
    counts
        Rows, positives, selected rows and true positives by group.
    """
    constraint = parse_constraint(artifact.constraint.kind, artifact.constraint.value)
    results, is_tested = {}, target is None and not artifact.unsealed
    for name, (rows, positives, selected, true_positives) in counts.items():
        tally = _Tally(
            rows=rows,
            positives=positives,
            selected=(selected,),
            true_positives=(true_positives,),
            common=0,
            common_positives=0,
        )
        (measured,) = _measured(tally, unlabelled, request, target)
        rate = _bounded_rate(constraint, measured, request.confidence) if is_tested else None
        results[name] = GroupResult(
            rows=rows, metrics=measured.metrics(), cells=group_cells(measured), rate=rate
        )
    bound = constraint.text() if any(result.rate for result in results.values()) else ""
    return group_evaluation(request.by or "", results, GROUP_HEADER, bound, 1 - request.confidence)


def _bounded_rate(
    constraint: Constraint, measured: MeasuredBoundary, confidence: float
) -> tuple[BoundedRate, Estimate] | None:
    """Return the rate that a constraint bounds; None if it bounds none, or if it is unknown."""
    false_positives = measured.selected - measured.true_positives
    negatives = measured.rows - measured.positives
    estimate: Estimate
    match constraint.kind:
        case ConstraintKind.PRECISION:
            counts, estimate, upper = (measured.true_positives, measured.selected), measured.precision, False
        case ConstraintKind.RECALL:
            counts, estimate, upper = (measured.true_positives, measured.positives), measured.recall, False
        case ConstraintKind.MAX_FPR:
            counts, estimate, upper = (false_positives, negatives), measured.fpr, True
        case ConstraintKind.MAX_SELECTED if constraint.relative:
            counts, upper = (measured.selected, measured.rows), True
            estimate = proportion_estimate(*counts, confidence)
        case _:
            return None
    if estimate == UNKNOWN:
        return None
    successes, trials = counts
    (bound,) = constraint.numbers
    return BoundedRate(successes=successes, trials=trials, bound=bound, upper=upper), estimate


def _count(
    data: DataRequest, rules: Sequence[BoundaryArtifact], by_group: GroupTally | None
) -> tuple[_Tally, SourceSummary, Mapping[str, Mapping[str, int]]]:
    """Count all rows and, if requested, those of each group; also return the group indices by name."""
    none = (0,) * len(rules)
    tally = _Tally(
        rows=0,
        positives=0,
        selected=none,
        true_positives=none,
        common=0,
        common_positives=0,
    )
    batches = open_engine(data.engine).batches(data)
    for rows in batches:
        positive = rows.labels
        decided = [rule.decide(rows) for rule in rules]
        common = decided[0] & decided[1] if len(rules) == 2 else None
        tally = _Tally(
            rows=tally.rows + rows.size,
            positives=tally.positives + _total(rows, positive),
            selected=tuple(s + _total(rows, d) for s, d in zip(tally.selected, decided, strict=True)),
            true_positives=tuple(
                t + _total(rows, d & positive) for t, d in zip(tally.true_positives, decided, strict=True)
            ),
            common=0 if common is None else tally.common + _total(rows, common),
            common_positives=0
            if common is None
            else tally.common_positives + _total(rows, common & positive),
        )
        if by_group is not None:
            weight, flagged = rows.weights(), decided[0]
            columns = (weight, weight * positive, weight * flagged, weight * (flagged & positive))
            (group,) = rows.groups.values()
            by_group.add(group, *columns)
    return tally, batches.summary, batches.levels


def _total(rows: Rows, mask: np.ndarray) -> int:
    return int(np.count_nonzero(mask)) if rows.weight is None else int(rows.weight[mask].sum())


def _measured(
    tally: _Tally, unlabelled: int, request: EvaluateRequest, target: TargetWeights | None
) -> list[MeasuredBoundary]:
    negatives, confidence = tally.rows - tally.positives, request.confidence

    def recall_or_fpr(successes: int, trials: int, selected: int) -> Estimate:
        """Estimate recall or the false-positive rate; unknown if too few unflagged rows have a label."""
        if unlabelled and tally.rows - selected < MIN_UNFLAGGED:
            return UNKNOWN
        return proportion_estimate(successes, trials, confidence)

    return [
        MeasuredBoundary(
            precision=proportion_estimate(true_positives, selected, confidence),
            recall=recall_or_fpr(true_positives, tally.positives, selected),
            fpr=recall_or_fpr(selected - true_positives, negatives, selected),
            unlabelled=unlabelled,
            selected=selected,
            true_positives=true_positives,
            rows=tally.rows,
            positives=tally.positives,
            target_precision=None
            if target is None
            else _in_target(target, true_positives, selected, request),
        )
        for selected, true_positives in zip(tally.selected, tally.true_positives, strict=True)
    ]


def _difference(tally: _Tally, measured: Sequence[MeasuredBoundary], confidence: float) -> BoundaryDifference:
    lost, gained = (
        Chosen(
            positives=positives - tally.common_positives,
            negatives=selected - tally.common - (positives - tally.common_positives),
        )
        for selected, positives in zip(tally.selected, tally.true_positives, strict=True)
    )
    common = Chosen(positives=tally.common_positives, negatives=tally.common - tally.common_positives)
    pair = PairedSelections(lost=lost, kept=common, gained=gained)
    difference = difference_of(pair, tally.rows, tally.positives, confidence)
    if UNKNOWN in [result.recall for result in measured]:
        return replace(difference, recall=UNKNOWN, recall_p=None)
    return difference


def _in_target(
    target: TargetWeights, true_positives: int, selected: int, request: EvaluateRequest
) -> Estimate:
    """Estimate the precision under target class priors; its interval includes the error of the weights."""
    value = target.class_weights.precision(true_positives / selected if selected else None)
    if target.draws is None:
        return Estimate(value=value, low=None, high=None)
    random = generator(request.seed, Purpose.TARGET)
    counts = true_positives, selected - true_positives
    low, high = precision_interval(target.draws, *counts, request.confidence, random)
    return Estimate(value=value, low=low, high=high)


def _claim(name: str, artifact: BoundaryArtifact, measured: MeasuredBoundary, confidence: float) -> Claim:
    """State whether the test rows contradict the target of a boundary."""
    constraint = parse_constraint(artifact.constraint.kind, artifact.constraint.value)
    is_kept, sentence = _outcome(artifact, constraint, measured, confidence)
    if artifact.unsealed:
        is_kept, sentence = None, f"target not tested: {artifact.unsealed}."
    fixed = constraint.kind is ConstraintKind.UTILITY or (
        constraint.kind is ConstraintKind.MAX_SELECTED and not constraint.relative
    )
    target = f"{name}: {constraint.text()}"
    return Claim(name=target, met=is_kept, sentence=f"{name}: {sentence}", about_new_data=not fixed)


_Outcome = tuple[bool | None, str]
"""Whether the rows are consistent with a target (None if it is not tested), and a sentence on it."""


def _outcome(
    artifact: BoundaryArtifact, constraint: Constraint, measured: MeasuredBoundary, confidence: float
) -> _Outcome:
    match constraint.kind:
        case ConstraintKind.PRECISION:
            return _precision_outcome(artifact, constraint, measured)
        case ConstraintKind.RECALL:
            counts = (measured.true_positives, measured.positives)
            return _share_outcome(constraint, measured.recall, counts)
        case ConstraintKind.MAX_FPR:
            counts = (measured.selected - measured.true_positives, measured.rows - measured.positives)
            return _share_outcome(constraint, measured.fpr, counts)
        case ConstraintKind.MAX_SELECTED if constraint.relative:
            share_of_rows = proportion_estimate(measured.selected, measured.rows, confidence)
            return _share_outcome(constraint, share_of_rows, (measured.selected, measured.rows))
        case ConstraintKind.MAX_SELECTED:
            share = 100 * measured.selected / measured.rows
            return (
                None,
                f"{measured.selected} flagged ({share:.2f} %); {constraint.text()} when it was fitted.",
            )
        case ConstraintKind.UTILITY:
            value = float(constraint.objective(measured.true_positives, measured.selected))
            return None, f"utility {value:,.6g} ({constraint.value})."


def _precision_outcome(
    artifact: BoundaryArtifact, constraint: Constraint, measured: MeasuredBoundary
) -> _Outcome:
    counts, (bound,) = (measured.true_positives, measured.selected), constraint.numbers
    if measured.target_precision is not None:
        return _target_outcome(constraint, measured.target_precision, bound)
    if artifact.certified is not None and measured.selected:
        return _certificate_outcome(constraint, artifact.certified, measured)
    is_kept, sentence = _share_outcome(constraint, measured.precision, counts)
    if isinstance(artifact.target, msgspec.UnsetType):
        return is_kept, sentence
    return is_kept, f"{sentence.rstrip('.')}, if these rows are target data (if not, give --shift)."


def _certificate_outcome(
    constraint: Constraint, certificate: SavedCertificate, measured: MeasuredBoundary
) -> _Outcome:
    """Test a certificate on new data by the exact one-sided test."""
    from scipy.special import bdtr

    true_positives, selected = counts = measured.true_positives, measured.selected
    p_value = float(bdtr(float(true_positives), selected, float(constraint.numbers[0])))
    certified = f"certified {constraint.text()}"
    if p_value > 1 - CONFIDENCE:
        met, significant = _meets_bound(constraint, measured.precision, counts)
        return True, _sentence(certified, met=met, significant=significant)
    return False, (
        f"misses {certified} ({p_text(p_value)}, exact one-sided test). The data have changed, or the "
        f"certificate is one of the {100 * certificate.delta:g} % that fail."
    )


def _share_outcome(constraint: Constraint, estimate: Estimate, counts: tuple[int, int]) -> _Outcome:
    if counts[1] == 0 or not isinstance(estimate, ExactEstimate):
        reason = "too few unflagged rows have a label" if counts[1] else "no row counts for it"
        return None, f"{constraint.text()} not tested: {reason}."
    met, significant = _meets_bound(constraint, estimate, counts)
    return met or not significant, _sentence(constraint.text(), met=met, significant=significant)


def _meets_bound(
    constraint: Constraint, estimate: ExactEstimate, counts: tuple[int, int]
) -> tuple[bool, bool]:
    """Whether a share (successes / trials) meets its bound, and whether significantly."""
    (bound, *_), (successes, trials) = constraint.numbers, counts
    value, low, high = Fraction(successes, trials), Fraction(estimate.low), Fraction(estimate.high)
    if constraint.kind in (ConstraintKind.MAX_FPR, ConstraintKind.MAX_SELECTED):
        return value <= bound, high <= bound or low > bound
    return value >= bound, low >= bound or high < bound


def _target_outcome(constraint: Constraint, estimate: Estimate, bound: Fraction) -> _Outcome:
    """Test the bound under the class priors of the target data, which are estimates themselves."""
    subject = f"{constraint.text()} on target data"
    if estimate.value is None:
        return None, f"{subject} not tested: no row is flagged."
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
