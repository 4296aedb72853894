"""Evaluate prediction sets on a test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.draws import Purpose, generator
from uqcli.base.errors import UsageError
from uqcli.base.exact_numbers import decimal
from uqcli.base.rows import Rows
from uqcli.conformal.rule import ConformalArtifact
from uqcli.engines.probabilities import label_indices
from uqcli.engines.request import DataRequest
from uqcli.estimates.confusion import Rate
from uqcli.estimates.design import CLEARED, FLAGGED, Design, differ, flags
from uqcli.estimates.estimate import Estimate, interval
from uqcli.evaluate.boundaries_report import EvaluateParameters
from uqcli.evaluate.conformal_sets_report import EvaluateConformalReport, SetMetrics
from uqcli.evaluate.coverage_test import CoveredRows, judge
from uqcli.evaluate.decisions import DecisionTally, Table, Units
from uqcli.evaluate.difference_report import SetDifference
from uqcli.evaluate.groups import EvaluatedGroup, GroupEvaluation, group_evaluation
from uqcli.evaluate.options import EvaluateRequest
from uqcli.rules.labelled import ClassReader, labelled_request
from uqcli.rules.saved import Source
from uqcli.shift.rule import ShiftArtifact
from uqcli.shift.target import coverage_draws, percentiles


class _Tally:
    """Rows and covered rows by class, set size and group."""

    def __init__(self, artifact: ConformalArtifact, cluster: str | None) -> None:
        classes, groups = len(artifact.classes), artifact.groups
        self.by_class, self.by_size, self.by_group = (
            CoveredRows(parts, has_clusters=cluster is not None)
            for parts in (classes, classes + 1, 1 + (0 if groups is None else len(groups.names)))
        )
        self.total_set_size_by_class = np.zeros(classes, dtype=np.int64)
        self._cluster = cluster

    def add(self, label: Ints, inside: np.ndarray, rows: Rows, group: Ints | None) -> Bools:
        """Count rows; return the mask of covered ones."""
        weight, size = rows.weights(), inside.sum(axis=1)
        cluster = None if self._cluster is None else rows.groups[self._cluster]
        covered: Bools = inside[np.arange(len(label)), label]
        self.by_class.add(label, weight, covered, cluster)
        self.by_size.add(size, weight, covered, cluster)
        np.add.at(self.total_set_size_by_class, label, weight * size)
        if group is not None:
            self.by_group.add(group, weight, covered, cluster)
        return covered


def evaluate(
    request: EvaluateRequest, rules: Sequence[ConformalArtifact], shift: ShiftArtifact | None
) -> EvaluateConformalReport:
    """Count covered rows, in one pass per rule, or in a single pass for two rules with the same columns.

    Raises
    ------
    UsageError, DataError
        Columns or classes differ, or the rows cannot be read.
    """
    _check_listed_columns(request, rules)
    requests = [
        labelled_request(request.data, request.columns, [artifact])
        .grouped_by(request.by)
        .clustered_by(request.cluster, days=request.days)
        for artifact in rules
    ]
    levels: Mapping[str, Mapping[str, int]] = {}
    measured: list[SetMetrics] = []
    source = Source(rows=0, positives=None, dropped=0, columns={})
    paired = len(rules) == 2 and _in_one_order(requests[0]) == _in_one_order(requests[1])
    decisions = DecisionTally(len(rules), Units(request.by, request.cluster))
    group_sizes = Table()
    rules_with_requests = list(zip(rules, requests, strict=True))
    for batch in [rules_with_requests] if paired else [[single] for single in rules_with_requests]:
        joint = decisions if paired or request.by is not None else None
        tallies, source, levels = _counted(batch, joint, group_sizes)
        for (artifact, _), tally in zip(batch, tallies, strict=True):
            measured.append(_metrics(artifact, tally, request, shift))
    by_group = None
    if request.by is not None:
        groups = decisions.by_group(levels[request.by], request.resampling.confidence, request.units)
        sizes = {name: group_sizes.sums[levels[request.by][name]] for name in groups}
        by_group = _by_group(rules[0], groups, sizes, request, shifted=shift is not None)
    joint_design = decisions.of_all(request.resampling.confidence, request.units) if paired else None
    return EvaluateConformalReport(
        source=source,
        parameters=EvaluateParameters(
            confidence=request.resampling.confidence,
            on_invalid=request.data.on_invalid,
            positive=requests[-1].positive_value,
            seed=None if shift is None else request.resampling.seed,
            **request.saved_dependence,
        ),
        results=tuple(zip(request.artifacts, rules, measured, strict=True)),
        difference=_difference(measured, joint_design) if len(rules) == 2 else None,
        by_group=by_group,
    )


def _by_group(
    artifact: ConformalArtifact,
    groups: Mapping[str, Design],
    sizes: Mapping[str, Ints],
    request: EvaluateRequest,
    *,
    shifted: bool,
) -> GroupEvaluation:
    """Measure each group, and test whether the sets cover as much there as is guaranteed overall.

    Parameters
    ----------
    groups
        Rows by whether they are covered.
    sizes
        Sum of set sizes, and empty sets.
    """
    bound = 1 - decimal("alpha", artifact.parameters.alpha)
    is_tested = not shifted and not artifact.unsealed
    results = []
    for name, design in groups.items():
        coverage, rows = design.share(flags(0)), design.rows()
        size, empty = sizes[name].tolist()
        results.append(
            EvaluatedGroup(
                name=name,
                rows=rows,
                metrics={
                    "coverage": coverage,
                    "mean_set_size": size / rows,
                    "empty": empty / rows,
                    "rows": rows,
                },
                cells=(interval(coverage), f"{size / rows:.3f}", f"{100 * empty / rows:.2f} %"),
                rate=coverage if is_tested else None,
                bounded=design.bounded(Rate.ALERTS, 0, bound, upper=False) if is_tested else None,
            )
        )
    return group_evaluation(
        request.by or "",
        results,
        ("coverage", "mean set size", "empty sets"),
        f"coverage >= {float(bound):g}" if is_tested else "",
        1 - request.resampling.confidence,
        units=request.units if request.cluster is not None else "",
    )


def _difference(measured: Sequence[SetMetrics], joint: Design | None) -> SetDifference:
    """Compute the difference of two rules; paired if both read the same columns, hence the same rows."""
    first, second = measured
    size = Estimate(value=second.mean_set_size - first.mean_set_size)
    if joint is None:
        covered = (second.coverage.value or 0.0) - (first.coverage.value or 0.0)
        return SetDifference(coverage=Estimate(value=covered), disagreements=None, mean_set_size=size)
    return SetDifference(
        coverage=joint.difference(flags(0), flags(1)),
        disagreements=joint.rows(differ(flags(0), flags(1))),
        mean_set_size=size,
    )


def _check_listed_columns(request: EvaluateRequest, rules: Sequence[ConformalArtifact]) -> None:
    """Refuse a list of columns whose class order is ambiguous: no option names the classes of the list."""
    proba = request.columns.proba
    if proba is None or "*" in proba.columns or proba.names is not None:
        return
    if len({tuple(rule.classes) for rule in rules}) > 1:
        raise UsageError(
            f"--proba '{proba.columns}' with rules whose classes are in different orders",
            expected="the class of each column",
            remedy="add --classes",
        )


def _in_one_order(request: DataRequest) -> DataRequest:
    """Sort the classes, so that rules with the same columns in another order share a pass."""
    classes = dict(sorted(request.roles.classes.items()))
    return replace(request, roles=replace(request.roles, classes=classes))


def _counted(
    batch: Sequence[tuple[ConformalArtifact, DataRequest]],
    decisions: DecisionTally | None,
    group_sizes: Table,
) -> tuple[list[_Tally], Source, Mapping[str, Mapping[str, int]]]:
    """Read the rows once, with labels in the first rule's class order; each rule counts in its own."""
    artifacts = [artifact for artifact, _ in batch]
    tallies = [_Tally(artifact, batch[0][1].roles.cluster) for artifact in artifacts]
    sets = [artifact.sets(data.roles) for artifact, data in batch]
    own_class_index = [
        np.array([artifact.classes.index(name) for name in artifacts[0].classes]) for artifact in artifacts
    ]
    reader = ClassReader(batch[0][1])
    for rows in reader:
        label = label_indices(rows)
        covered = [
            tally.add(class_index[label], sets_of(rows), rows, artifact.group_of(rows))
            for artifact, tally, sets_of, class_index in zip(
                artifacts, tallies, sets, own_class_index, strict=True
            )
        ]
        if decisions is None:
            continue
        zones = [np.where(mask, FLAGGED, CLEARED) for mask in covered]
        decisions.add(replace(rows, positive=np.zeros(len(rows), dtype=np.bool_)), zones)
        if decisions.by is not None:
            size, weight, group = sets[0](rows).sum(axis=1), rows.weights(), rows.groups[decisions.by]
            for column, numbers in enumerate((size, size == 0)):
                group_sizes.add(group, np.full(len(rows), column), weight * numbers)
    return tallies, reader.source, reader.levels


def _metrics(
    artifact: ConformalArtifact, tally: _Tally, request: EvaluateRequest, shift: ShiftArtifact | None
) -> SetMetrics:
    confidence, seed = request.resampling.confidence, request.resampling.seed
    sizes, clusters = tally.by_size.rows, tally.by_class.clusters
    rows = int(sizes.sum())
    by_size = tally.by_size.estimates(map(str, range(len(sizes))), confidence)
    group_names = () if artifact.groups is None else (*artifact.groups.names, "(other)")
    draws = None if shift is None else _coverage_in_target(artifact, tally, shift, seed)
    return SetMetrics(
        coverage=tally.by_class.estimate(None, confidence),
        mean_set_size=float((sizes * np.arange(len(sizes))).sum()) / rows,
        empty=int(sizes[0]) / rows,
        by_class=tally.by_class.estimates(artifact.classes, confidence),
        by_size={size: estimate for size, estimate in by_size.items() if sizes[int(size)]},
        by_group=tally.by_group.estimates(group_names, confidence),
        sizes={str(size): count for size, count in enumerate(sizes.tolist()) if count},
        target=None if shift is None else _in_target(artifact, tally, shift, draws, confidence),
        rows=rows,
        is_calibration_set=tally.by_class.rows.tolist() == artifact.calibration_rows,
        clusters=None if clusters is None else int(np.count_nonzero(clusters.of_all()[1])),
        test=judge(
            artifact,
            tally.by_class,
            tally.by_group,
            draws,
            shifted=shift is not None,
            level=1 - confidence,
            seed=seed,
            refuted="" if shift is None else shift.refuted,
        ),
    )


def _coverage_in_target(
    artifact: ConformalArtifact, tally: _Tally, shift: ShiftArtifact, seed: int
) -> Floats | None:
    """Draw the coverage in the target data from draws of the class weights; None without draws."""
    shift.weights_for(artifact.classes)
    draws = shift.draws_for(artifact.classes)
    if draws is None or shift.refuted:
        return None
    return coverage_draws(
        draws, tally.by_class.rows, tally.by_class.covered, generator(seed, Purpose.TARGET, 0)
    )


def _in_target(
    artifact: ConformalArtifact, tally: _Tally, shift: ShiftArtifact, draws: Floats | None, confidence: float
) -> tuple[Estimate, float | None]:
    """Compute the coverage and mean set size under the target data's class priors; None if refuted."""
    if shift.refuted:
        return Estimate(value=None, reason=shift.refuted), None
    weights = np.array(shift.weights_for(artifact.classes))
    mass = weights * tally.by_class.rows
    if mass.sum() == 0:
        raise UsageError("no row is of a class that the target has", expected="rows of its classes")
    covered = float((weights * tally.by_class.covered).sum() / mass.sum())
    low, high = (None if draws is None else percentiles(draws, confidence)) or (None, None)
    size = float((weights * tally.total_set_size_by_class).sum() / mass.sum())
    return Estimate(value=covered, low=low, high=high), size
