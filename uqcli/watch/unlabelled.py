"""Compare new rows without labels with the calibration rows of a boundary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from uqcli.base import defaults
from uqcli.base.counts import Bools, Floats, Ints, PooledScores
from uqcli.base.errors import UsageError
from uqcli.base.rows import Rows
from uqcli.boundary.calibration_rows import DriftCells
from uqcli.boundary.rule import ZONES, BoundaryArtifact, drift_cells
from uqcli.boundary.rule_groups import as_decided
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.engines.columns import key_named_by
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import outside as outside_of
from uqcli.estimates.flagged_rows import flagged_interval
from uqcli.rules.codec import load_kind
from uqcli.rules.labelled import source_of
from uqcli.rules.saved import Saved, given
from uqcli.shift.mixture import MixtureTest, UnitCounts, same_shares
from uqcli.shift.target_weights import SavedShift, load_shift, target_weights_of
from uqcli.watch.before_labels import BeforeLabels, expected_before_labels
from uqcli.watch.days import days_of
from uqcli.watch.drift import homogeneity, population_stability
from uqcli.watch.options import WatchRequest
from uqcli.watch.unlabelled_report import UnlabelledReport


def compare_unlabelled(request: WatchRequest, rule: Saved) -> UnlabelledReport:
    """Compare the counts, the flagged share and the ranges of new rows with those of the calibration rows.

    Raises
    ------
    UsageError, DataError
        The rule has no reference, or the rows cannot be read.
    """
    if not isinstance(rule, BoundaryArtifact) or (reference := given(rule.reference)) is None:
        raise UsageError(
            "rows without labels, and a rule without counts of its calibration rows",
            expected="a label column, or a boundary that was fitted on rows by this version",
            remedy="name the label with --label, or fit the rule again",
        )
    data = as_decided(replace(request.data, roles=rule.reads(request.columns)), rule)
    if request.day is not None:
        data = replace(data, roles=replace(data.roles, keys=(*data.roles.keys, request.day)))
    expectation = None
    if request.calibrator is not None:
        expectation = Expectation(request.calibrator, rule, request.shift)
    by_day = DriftCells(len(rule.thresholds))
    batches = open_engine(data.engine).batches(data)
    count = np.zeros_like(np.array(reference.count, dtype=np.int64))
    edges = np.array(rule.uncertainty_edges, dtype=np.float64)
    flagged_before, rows_before = rule.fit.flagged
    selected = outside = 0
    for rows in _naming_days(batches, request.day):
        scored = rows.usable()
        weight = scored.weights()  # an engine may pool equal rows
        places = reference.places(edges, scored.score, scored.uncertainty)
        np.add.at(count, places, weight)
        if request.day is not None:
            by_day.add(scored.groups[request.day], places, weight)
        flagged = rule.zones(scored) == ZONES.index("flag")
        selected += int(weight[flagged].sum())
        if expectation is not None:
            expectation.add(scored.score, flagged, weight)
        outside += int(weight[outside_of(scored, batches.roles, rule.ranges)].sum())
    total = int(count.sum())
    old = np.array(reference.count, dtype=np.int64)
    if request.day is None:
        drift_p, untested = homogeneity(old.ravel(), count.ravel()).p_value, ""
    else:
        levels = batches.levels[request.day]
        names = days_of(list(levels), request.day, 0, ()).names
        number = {name: index for index, name in enumerate(sorted(set(names.values())))}
        day_of = np.array([number[names[text]] for text in levels], dtype=np.int64)
        test = drift_between_days(rule, by_day.counts(day_of), len(levels), request.day)
        drift_p, untested = test.p_value, test.reason
    stability = population_stability(old.ravel(), count.ravel())
    explained = None  # its rows would be independent
    if request.day is None:
        explained = flagged_interval(*rule.fit.flagged, total, request.confidence)
    return UnlabelledReport(
        source=source_of(batches.summary),
        on_invalid=data.on_invalid,
        rows=total,
        selected=selected,
        explained=explained,
        usual=flagged_before / rows_before,
        outside=outside,
        psi=stability.value,
        psi_without_drift=stability.without_drift,
        drift_p=drift_p,
        drift_untested=untested,
        day=request.day,
        expected=None if expectation is None else expectation.result(request.confidence),
        confidence=request.confidence,
    )


def _naming_days(batches: Iterable[Rows], day: str | None) -> Iterator[Rows]:
    """Iterate over rows; the error of a missing column of days names its option."""
    with key_named_by(day, "--day"):
        yield from batches


def drift_between_days(rule: BoundaryArtifact, new: UnitCounts, texts: int, day: str) -> MixtureTest:
    """Test whether new rows have the cell shares of the calibration rows, by the covariance between days.

    Without the days of the calibration rows nothing is known about the error of their shares.

    Parameters
    ----------
    texts
        Distinct texts of the column of days.
    """
    reference = given(rule.reference)
    assert reference is not None  # its caller refuses such rules
    between = given(reference.between)
    has_units = day in (rule.columns.get("cluster"), rule.columns.get("day"))
    if not has_units or between is None:
        reason = f"how much its calibration rows vary between days is unknown; fit it with --day {day}"
        return MixtureTest(p_value=None, reason=reason)
    if texts != new.present and rule.columns.get("cluster") == day:
        reason = f"column '{day}' has {texts:,} texts on {new.present:,} days, while its clusters are texts"
        return MixtureTest(p_value=None, reason=reason)
    cells, old = drift_cells(len(rule.thresholds)), np.zeros(new.shape[2], dtype=np.int64)
    np.add.at(old, cells, np.array(reference.count, dtype=np.int64))
    return same_shares(old, np.array(between.covariance), between.units, new)


SEVERAL_THRESHOLDS: Final = "the rule decides by more than the score"


class Expectation:
    """New rows by score, counted while they are read, beside the calibration rows of a calibrator.

    Raises
    ------
    UsageError, ArtifactError
        The calibrator has no calibration counts, or reads another column.
    """

    def __init__(self, path: str, rule: BoundaryArtifact, shift: SavedShift | None) -> None:
        calibrator = load_kind(path, CalibratorArtifact)
        counts = given(calibrator.calibration_counts)
        if counts is None:
            raise UsageError(
                f"'{path}' has no calibration counts by score",
                expected="a calibrator of scores that this version fitted",
                remedy="fit it again",
            )
        fitted_on, decided_by = calibrator.columns["score"], rule.columns.get("score")
        if fitted_on != decided_by:
            raise UsageError(
                f"'{path}' was fitted on column '{fitted_on}'",
                expected=f"column '{decided_by}'" if decided_by else "a rule of one score",
                remedy="fit a calibrator for this rule",
            )
        self._calibration = counts.counts
        positive = calibrator.parameters.positive
        self._target = None if shift is None else target_weights_of(load_shift(shift), positive)
        thresholds = set(rule.thresholds).union(*(group.thresholds for group in rule.group_rules.values()))
        self._has_one_threshold = len(thresholds) == 1
        self._flagged, self._everything = PooledScores(), PooledScores()

    def add(self, score: Floats, flagged: Bools, weight: Ints) -> None:
        """Count new rows, each as often as its weight."""
        self._flagged.add(score[flagged], weight[flagged])
        self._everything.add(score, weight)

    def result(self, confidence: float) -> BeforeLabels:
        """Return what to expect of the rows so far.

        Notes
        -----
        The rate of a score is that of all rows with it. A rule that also looks at the uncertainty picks
        the better ones of them, and a group has its own rate. Neither can be stated from the score alone.
        """
        if not self._has_one_threshold:
            return BeforeLabels(precision=None, recall=None, reason=SEVERAL_THRESHOLDS)
        weights = None if self._target is None else self._target.class_weights
        if weights is not None and weights.refuted:
            return BeforeLabels(precision=None, recall=None, reason=weights.refuted)
        return expected_before_labels(
            self._calibration,
            self._flagged.counts(),
            self._everything.counts(),
            defaults.SEED,
            confidence,
            weights=None if weights is None else (weights.negative, weights.positive),
            weight_draws=None if self._target is None else self._target.draws,
        )
