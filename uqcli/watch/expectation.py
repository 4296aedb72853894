"""Precision and recall to expect of new rows, from the calibration counts of a calibrator."""

from __future__ import annotations

from dataclasses import field
from typing import Final

import msgspec

from uqcli.base import defaults
from uqcli.base.counts import Bools, Floats, Ints, ValueCounts
from uqcli.base.errors import UsageError
from uqcli.base.pooled_scores import PooledScores
from uqcli.base.records import dataclass
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.rules.codec import load_kind
from uqcli.shift.target_weights import TargetWeights, load_shift, target_weights_of
from uqcli.watch.before_labels import BeforeLabels, expected_before_labels
from uqcli.watch.options import WatchRequest

SEVERAL_THRESHOLDS: Final = "the rule decides by more than the score"


@dataclass(kw_only=True)
class Expectation:
    """New rows by score, counted while they are read, beside the calibration rows of a calibrator."""

    calibration: ValueCounts
    has_one_threshold: bool
    target: TargetWeights | None
    flagged: PooledScores = field(default_factory=PooledScores)
    everything: PooledScores = field(default_factory=PooledScores)

    @classmethod
    def of(cls, request: WatchRequest, rule: BoundaryArtifact) -> Expectation | None:
        """Load the calibrator and the class weights; None if no calibrator is named.

        Raises
        ------
        UsageError, ArtifactError
            The calibrator has no calibration counts, or reads another column.
        """
        if request.calibrator is None:
            return None
        calibrator = load_kind(request.calibrator, CalibratorArtifact)
        if isinstance(calibrator.calibration_counts, msgspec.UnsetType):
            raise UsageError(
                f"'{request.calibrator}' has no calibration counts by score",
                expected="a calibrator of scores that this version fitted",
                remedy="fit it again",
            )
        fitted_on, decided_by = calibrator.columns["score"], rule.columns.get("score")
        if fitted_on != decided_by:
            raise UsageError(
                f"'{request.calibrator}' was fitted on column '{fitted_on}'",
                expected=f"column '{decided_by}'" if decided_by else "a rule of one score",
                remedy="fit a calibrator for this rule",
            )
        positive = calibrator.parameters.positive
        return cls(
            calibration=calibrator.calibration_counts.counts,
            has_one_threshold=_has_one_threshold(rule),
            target=None if request.shift is None else target_weights_of(load_shift(request.shift), positive),
        )

    def add(self, score: Floats, flagged: Bools, weight: Ints) -> None:
        """Count new rows, each as often as its weight."""
        self.flagged.add(score[flagged], weight[flagged])
        self.everything.add(score, weight)

    def result(self, confidence: float) -> BeforeLabels:
        """Return what to expect of the rows so far.

        Notes
        -----
        The rate of a score is that of all rows with it. A rule that also looks at the uncertainty picks
        the better ones of them, and a group has its own rate. Neither can be stated from the score alone.
        """
        if not self.has_one_threshold:
            return BeforeLabels(precision=None, recall=None, reason=SEVERAL_THRESHOLDS)
        weights = None if self.target is None else self.target.class_weights
        if weights is not None and weights.refuted:
            return BeforeLabels(precision=None, recall=None, reason=weights.refuted)
        return expected_before_labels(
            self.calibration,
            self.flagged.counts(),
            self.everything.counts(),
            defaults.SEED,
            confidence,
            weights=None if weights is None else (weights.negative, weights.positive),
            weight_draws=None if self.target is None else self.target.draws,
        )


def _has_one_threshold(rule: BoundaryArtifact) -> bool:
    thresholds = set(rule.thresholds)
    if not isinstance(rule.groups, msgspec.UnsetType):
        thresholds.update(*(group.thresholds for group in rule.groups.values()))
    return len(thresholds) == 1
