"""Audit of a rule by segment: what it promises overall, tested on every value and pair of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from uqcli.audit.report import Audit
from uqcli.audit.run import audit_rate, audit_scores, pooled_outcomes, with_audited
from uqcli.base.counts import Bools, Floats
from uqcli.base.errors import UsageError, listed_words, words
from uqcli.base.exact_numbers import decimal
from uqcli.base.rows import Rows
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.search.constraint_kinds import PROMISED
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.conformal.coverage import independent_share
from uqcli.conformal.rule import ConformalArtifact
from uqcli.engines.probabilities import label_indices
from uqcli.estimates.unit_trials import UnitTrials
from uqcli.evaluate import boundaries, calibrators, conformal_sets
from uqcli.evaluate.options import Dependence, EvaluateRequest
from uqcli.rules.labelled import read_labelled
from uqcli.rules.saved import Saved

_STEP: Final = 1 << 16
"""Rows whose prediction sets are made at a time."""


def audit(request: EvaluateRequest, rules: Sequence[Saved]) -> Audit:
    """Test the segments of a rule; several rules, or nothing to test, are a UsageError."""
    if len(rules) > 1:
        raise UsageError(words("--audit with {} rule files", len(rules)), expected="one rule file")
    (rule,) = rules
    if isinstance(rule, CalibratorArtifact):
        return _of_probabilities(request, rule)
    if isinstance(rule, ConformalArtifact):
        return _of_sets(request, rule)
    assert isinstance(rule, BoundaryArtifact)  # the only other kind to evaluate
    return _of_decisions(request, rule)


def _of_probabilities(request: EvaluateRequest, rule: CalibratorArtifact) -> Audit:
    if rule.class_names:
        raise UsageError(words("--audit with a calibrator of classes"), expected="a calibrator of one score")
    if request.dependent.is_known:
        raise UsageError(
            words("--audit of probabilities and {} cannot be combined", request.dependent.option),
            remedy="a test of errors over few clusters does not hold its level at many segments",
        )
    (data,) = calibrators.rows_to_read(request, [rule])
    read, _ = read_labelled(with_audited(data, request.audit))
    calibrated = read.rows.scored(rule.calibrated(read.rows).probability)
    outcomes, score = pooled_outcomes(calibrated, request.audit, read.rows.labels)
    return audit_scores(outcomes, score, 1 - request.confidence)


def _of_sets(request: EvaluateRequest, rule: ConformalArtifact) -> Audit:
    if rule.parameters.alpha_by_class is not None:
        raise UsageError(
            words("--audit of sets with alphas by class"), expected="the same alpha for all classes"
        )
    audited = with_audited(conformal_sets.rows_to_read(request, rule), request.audit)
    read, _ = read_labelled(audited)
    inside = _covered(read.rows, rule.sets(audited.roles))
    bound, share = 1 - decimal("alpha", rule.parameters.alpha), 1.0
    if request.dependent.column is not None:
        trials, cluster = UnitTrials(), read.rows.groups[request.dependent.column]
        trials.add(np.zeros_like(cluster), cluster, read.rows.weight, inside)
        share = independent_share(*trials.of(None))
    return _tested(read.rows, inside, request, bound, "covered", chances=rule.chances("", share=share))


def _covered(rows: Rows, sets: Callable[[Rows], np.ndarray]) -> Bools:
    """Return whether the set of each row has its label, shape (n,)."""
    starts = range(0, len(rows), _STEP)
    parts = (rows.select(np.arange(first, min(first + _STEP, len(rows)))) for first in starts)
    return np.concatenate([sets(part)[np.arange(len(part)), label_indices(part)] for part in parts])


def _of_decisions(request: EvaluateRequest, rule: BoundaryArtifact) -> Audit:
    """Test the target of each segment: precision of flagged rows, recall of positives, and so on."""
    if rule.unsealed:
        raise UsageError(words("--audit: target not tested: {}", rule.unsealed))
    constraint = rule.constraint.parsed()
    _, data = boundaries.rows_to_read(request, [rule])
    read, source = read_labelled(with_audited(data, request.audit))
    column = source.columns.get("cluster", source.columns.get("day"))
    request = replace(request, dependent=Dependence(column=column))
    rows = read.rows
    flagged, positive = rule.decide(rows), rows.labels
    if read.summary.unlabelled and not constraint.is_proportion_of_flagged:
        raise UsageError(
            f"{read.summary.unlabelled} rows without a label",
            expected="a label in every row to audit another target than precision",
        )
    if not constraint.rates:
        targets = [rate if rule.name == rate else rule.options for rate, rule in PROMISED.items()]
        raise UsageError(
            words("--audit with a rule for {}", constraint.text()),
            expected=words("a target of {}", listed_words([*targets, "a share of rows"], "or")),
        )
    trials, success = constraint.rates[0].outcomes(flagged, flagged, positive)
    bound, what, upper = constraint.numbers[0], constraint.success, constraint.is_upper
    units = "flagged rows" if constraint.is_proportion_of_flagged else constraint.trials
    tested = _tested(rows.select(trials), success[trials], request, bound, what, upper=upper)
    return replace(tested, units=units)


def _tested(
    rows: Rows,
    success: Bools,
    request: EvaluateRequest,
    bound: Fraction,
    what: str,
    *,
    upper: bool = False,
    chances: Floats | None = None,
) -> Audit:
    constant = replace(rows, numbers={"score": np.zeros(len(rows))})
    outcomes, _ = pooled_outcomes(constant, request.audit, success, request.dependent.column)
    level = 1 - request.confidence
    return audit_rate(outcomes, bound, level, what, upper=upper, chances=chances)
