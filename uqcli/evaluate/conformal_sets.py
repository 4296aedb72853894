"""Evaluate prediction sets on a test set, and test whether covered rows contradict their guarantee."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from uqcli.base.choices import ConformalMode
from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.draws import Purpose, generator
from uqcli.base.errors import UsageError
from uqcli.base.exact_numbers import decimal
from uqcli.base.rows import Rows
from uqcli.base.running.messages import caution
from uqcli.base.wording import percent, rows_of
from uqcli.conformal.coverage import (
    clustered_p_value,
    coverage_p_value,
    effective_rows,
    independent_share,
    shifted_p_value,
)
from uqcli.conformal.rule import ConformalArtifact
from uqcli.engines.probabilities import label_indices
from uqcli.engines.request import DataRequest
from uqcli.estimates.confusion import Rate
from uqcli.estimates.design import CLEARED, FLAGGED, Design, differ, flags
from uqcli.estimates.estimate import Estimate, interval
from uqcli.estimates.proportion import BoundedRate, holm, proportion_estimate
from uqcli.estimates.survey import MIN_CLUSTERS, proportion_interval
from uqcli.estimates.unit_trials import UnitTrials
from uqcli.evaluate.conformal_sets_report import (
    CoverageTest,
    EvaluateConformalReport,
    SetDifference,
    SetMetrics,
)
from uqcli.evaluate.decisions import DecisionTally, units_of
from uqcli.evaluate.groups import BoundedGroup, EvaluatedGroup, GroupEvaluation, group_evaluation
from uqcli.evaluate.options import EvaluateRequest
from uqcli.evaluate.report import EvaluatedPart, EvaluateParameters
from uqcli.kernels.units import UnitTable
from uqcli.rules.labelled import ClassReader, labelled_request
from uqcli.rules.saved import Source, given
from uqcli.shift.rule import ShiftArtifact, coverage_draws, percentiles


class _Tally:
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
    """Count covered rows, in one pass per rule, or in a single pass for two rules with the same columns."""
    _check_listed_columns(request, rules)
    requests = [rows_to_read(request, artifact) for artifact in rules]
    levels: Mapping[str, Mapping[str, int]] = {}
    measured: list[SetMetrics] = []
    source = Source(rows=0, positives=None, dropped=0, columns={})
    paired = len(rules) == 2 and _in_one_order(requests[0]) == _in_one_order(requests[1])
    decisions = DecisionTally(len(rules), units_of(request.by, request.cluster))
    group_sizes, share = UnitTable(), 1.0
    rules_with_requests = list(zip(rules, requests, strict=True))
    for batch in [rules_with_requests] if paired else [[single] for single in rules_with_requests]:
        joint = decisions if paired or request.by is not None else None
        tallies, source, levels = _counted(batch, joint, group_sizes, request.by)
        share = min(share, *(tally.by_class.independent_share() for tally in tallies))
        for (artifact, _), tally in zip(batch, tallies, strict=True):
            measured.append(_metrics(artifact, tally, request, shift))
    parts = list[EvaluatedPart]()
    if request.by is not None:
        groups = decisions.by_group(levels[request.by], request.resampling.confidence, request.units)
        sizes = {name: group_sizes.sums[levels[request.by][name]] for name in groups}
        parts.append(_by_group(rules[0], groups, sizes, request, shifted=shift is not None, share=share))
    if len(rules) == 2:
        design = decisions.of_all(request.resampling.confidence, request.units) if paired else None
        parts.append(_difference(measured, design))
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
        parts=parts,
    )


def _by_group(
    artifact: ConformalArtifact,
    groups: Mapping[str, Design],
    sizes: Mapping[str, Ints],
    request: EvaluateRequest,
    *,
    shifted: bool,
    share: float,
) -> GroupEvaluation:
    """Measure each group, and test whether the sets cover as much there as is guaranteed overall.

    Groups have rows by whether they are covered; sizes are the sum of set sizes, and empty sets. ``share`` of
    the rows count as independent.
    """
    bound = 1 - decimal("alpha", artifact.parameters.alpha)
    is_tested = not shifted and not artifact.unsealed and artifact.parameters.alpha_by_class is None
    by = request.by or ""
    results = []
    for name, design in groups.items():
        coverage, rows = design.share(flags(0)), design.rows()
        size, empty = sizes[name].tolist()
        group = EvaluatedGroup(
            name=name,
            rows=rows,
            metrics={"coverage": coverage, "mean_set_size": size / rows, "empty": empty / rows, "rows": rows},
            cells=(interval(coverage), f"{size / rows:.3f}", percent(empty / rows)),
        )
        if is_tested:
            chances = artifact.chances(by, name, share)
            bounded = design.bounded(Rate.ALERTS, 0, bound, upper=False, chances=chances)
            group = BoundedGroup(**vars(group), rate=coverage, bounded=bounded)
        results.append(group)
    return group_evaluation(
        by,
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


def rows_to_read(request: EvaluateRequest, rule: ConformalArtifact) -> DataRequest:
    """Return the request for rows of a rule, also of an audit."""
    data = labelled_request(request.data, request.columns, [rule])
    return data.grouped_by(request.by).clustered_by(request.cluster, days=request.days)


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
    group_sizes: UnitTable,
    by: str | None,
) -> tuple[list[_Tally], Source, Mapping[str, Mapping[str, int]]]:
    """Read the rows once, with labels in the first rule's class order; each rule counts in its own."""
    artifacts = [artifact for artifact, _ in batch]
    tallies = [_Tally(artifact, batch[0][1].roles.cluster) for artifact in artifacts]
    sets = [artifact.sets(data.roles) for artifact, data in batch]
    own_class_index = [
        np.array([artifact.classes.index(name) for name in artifacts[0].classes]) for artifact in artifacts
    ]
    nearly, near = [artifact.nearly(data.roles) for artifact, data in batch], 0
    reader = ClassReader(batch[0][1])
    for rows in reader:
        label = label_indices(rows)
        near += int(rows.weights()[np.any([changes(rows) for changes in nearly], axis=0)].sum())
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
        if by is not None:
            size, weight, group = sets[0](rows).sum(axis=1), rows.weights(), rows.groups[by]
            for column, numbers in enumerate((size, size == 0)):
                group_sizes.add(group, np.full(len(rows), column), weight * numbers)
    if near:
        caution(
            "near-thresholds",
            f"{rows_of(near)} {'is' if near == 1 else 'are'} within one 32-bit unit of a threshold. Their "
            "sets may differ between 32-bit columns and text: fit sets with --method lac if you use both.",
        )
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
        clusters=None if clusters is None else int(np.count_nonzero(clusters.of(None)[1])),
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


class CoveredRows:
    """Rows and covered rows, by weight, of each class, set size or group; int64, shape (parts,).

    There are those of clusters also if rows depend on each other.
    """

    def __init__(self, parts: int, *, has_clusters: bool) -> None:
        self.rows = np.zeros(parts, dtype=np.int64)
        self.covered = np.zeros(parts, dtype=np.int64)
        self.clusters = UnitTrials() if has_clusters else None

    def add(self, part: Ints, weight: Ints, covered: Bools, cluster: Ints | None) -> None:
        """Count rows; arrays of shape (n,)."""
        np.add.at(self.rows, part, weight)
        np.add.at(self.covered, part[covered], weight[covered])
        if self.clusters is not None and cluster is not None:
            self.clusters.add(part, cluster, weight, covered)

    def estimate(self, part: int | None, confidence: float) -> Estimate:
        """Return the coverage of a part, or of all rows; undefined for zero rows."""
        if self.clusters is not None:
            return proportion_interval(*self.clusters.of(part), confidence)
        return proportion_estimate(*self._counts_of(part), confidence)

    def estimates(self, names: Iterable[str], confidence: float) -> dict[str, Estimate]:
        """Return the coverage of each part, by its name."""
        return {name: self.estimate(part, confidence) for part, name in enumerate(names)}

    def independent_share(self) -> float:
        """Return how many independent rows all rows count as, as a share."""
        return 1.0 if self.clusters is None else independent_share(*self.clusters.of(None))

    def p_value(
        self, part: int | None, calibration_rows: int, alpha: Fraction, *, are_independent: bool = False
    ) -> float | None:
        """Test the guarantee of a part, or of all rows; None for zero rows or too few clusters.

        Unless they ``are_independent``, calibration rows count as fewer, in proportion to the new rows.
        """
        if self.clusters is not None:
            counts = self.clusters.of(part)
            share = 1.0 if are_independent else independent_share(*counts)
            return clustered_p_value(*counts, math.floor(calibration_rows * share), alpha)
        covered, rows = self._counts_of(part)
        return coverage_p_value(covered, rows, calibration_rows, alpha) if rows else None

    def _counts_of(self, part: int | None) -> tuple[int, int]:
        chosen = slice(None) if part is None else slice(part, part + 1)
        return int(self.covered[chosen].sum()), int(self.rows[chosen].sum())


def judge(
    artifact: ConformalArtifact,
    by_class: CoveredRows,
    by_group: CoveredRows,
    coverage: Floats | None,
    *,
    shifted: bool,
    level: float,
    seed: int,
    refuted: str = "",
) -> CoverageTest:
    """Test the guarantee on these rows, where ``level`` is the probability of rejecting a valid guarantee.

    ``coverage`` has draws of the coverage in target data, float64 of shape (B,). Rows are weighted to target
    data if ``shifted``; if not, sets for target data are tested as if these were its rows. ``refuted`` says
    why the class weights say nothing about target data; empty if nothing is against them.
    """
    if artifact.unsealed:
        return _untested("", artifact.unsealed)
    alpha = decimal("alpha", artifact.parameters.alpha)
    calibration = artifact.calibration_rows or _in_proportion(artifact, by_class.rows)
    if artifact.mode is not ConformalMode.LABEL_SHIFT:
        return _on_rows(artifact, by_class, by_group, calibration, alpha, level=level)
    if refuted or by_class.clusters is not None:
        return _untested(
            "target", refuted if by_class.clusters is None else "its test assumes independent rows"
        )
    missed = (by_class.rows - by_class.covered, by_class.rows)
    rows = effective_rows(calibration, artifact.weights or [], *missed, alpha)
    if not shifted:  # these are taken as target data unless their classes contradict it
        if _is_like_source(by_class.rows, artifact.weights or []):
            return _untested("target", "these rows have the class priors of the source data")
        return _tested("target", {"": by_class.p_value(None, rows, alpha)}, level)
    p_values: dict[str, float | None] = {}
    if coverage is not None and len(coverage):
        random = generator(seed, Purpose.TARGET, 1)
        p_values = {"": shifted_p_value(coverage, rows, alpha, random)}
    return _tested("target", p_values, level)


def _on_rows(
    artifact: ConformalArtifact,
    by_class: CoveredRows,
    by_group: CoveredRows,
    calibration: Sequence[int],
    alpha: Fraction,
    *,
    level: float,
) -> CoverageTest:
    """Test the guarantee of each class or group, or of all rows, by name."""
    independent, known = artifact.independent_rows, given(artifact.dependence) is not None
    if artifact.mode is ConformalMode.LABEL_CONDITIONAL:
        unit, own = "class", artifact.parameters.alpha_by_class or {}
        alphas = [decimal("alpha", own[name]) if name in own else alpha for name in artifact.classes]
        classes = enumerate(zip(artifact.classes, calibration, alphas, strict=True))
        p_values = {
            name: by_class.p_value(part, independent(name, rows), own_alpha, are_independent=known)
            for part, (name, rows, own_alpha) in classes
        }
    elif artifact.groups is not None:
        unit, names = "group", artifact.groups.names
        of_group = artifact.groups.calibration_rows or _in_proportion(artifact, by_group.rows[:-1])
        groups = enumerate(zip(names, of_group, strict=True))
        p_values = {
            name: by_group.p_value(part, independent(name, rows), alpha, are_independent=known)
            for part, (name, rows) in groups
        }
    else:
        rows = independent(None, sum(calibration))
        unit, p_values = "", {"": by_class.p_value(None, rows, alpha, are_independent=known)}
    test = _tested(unit, p_values, level)
    if by_class.clusters is not None:
        return test if test.p_values else _untested(unit, f"fewer than {MIN_CLUSTERS} clusters")
    return test if unit else replace(test, classes_below=_classes_below(artifact, by_class, level))


def _is_like_source(rows_of_class: Ints, weights: Sequence[float]) -> bool:
    """Whether the class counts are a hundred times as likely in the source as in the target data."""
    present = [(int(rows), weight) for rows, weight in zip(rows_of_class, weights, strict=True) if rows]
    if any(weight == 0 for _, weight in present):
        return True
    return math.fsum(rows * math.log(weight) for rows, weight in present) < -math.log(100)


def _in_proportion(artifact: ConformalArtifact, rows: Ints) -> list[int]:
    """Divide the calibration rows in proportion to new rows, since old files have their total only."""
    return [int(row) * artifact.source.rows // max(1, int(rows.sum())) for row in rows]


def _tested(unit: str, p_values: Mapping[str, float | None], level: float) -> CoverageTest:
    known = {name: p_value for name, p_value in p_values.items() if p_value is not None}
    adjusted = holm(known)
    below = (name for name, p_value in adjusted.items() if p_value <= level)
    return CoverageTest(
        unit=unit,
        p_values=adjusted,
        below=tuple(sorted(below, key=lambda name: known[name])),
        worst=min(known, key=lambda name: (known[name], name), default=None),
    )


def _untested(unit: str, reason: str) -> CoverageTest:
    return CoverageTest(unit=unit, p_values={}, untested_reason=reason)


def _classes_below(artifact: ConformalArtifact, by_class: CoveredRows, level: float) -> tuple[str, ...]:
    """Return classes whose coverage is significantly below the overall guarantee (Holm)."""
    bound, chances = 1 - decimal("alpha", artifact.parameters.alpha), artifact.chances("")
    counts = zip(artifact.classes, by_class.covered.tolist(), by_class.rows.tolist(), strict=True)
    rates = {
        name: BoundedRate(successes=covered, trials=rows, bound=bound, chances=chances)
        for name, covered, rows in counts
        if rows
    }
    adjusted = holm({name: rate.p_value() or 0.0 for name, rate in rates.items()})
    return tuple(
        sorted((name for name, p in adjusted.items() if p <= level), key=lambda name: adjusted[name])
    )
