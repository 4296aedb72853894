"""Evaluate prediction sets on a test set, and test whether covered rows contradict their guarantee."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from uqcli.base.choices import ConformalMode
from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.draws import Purpose, generator
from uqcli.base.errors import UsageError, words
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
from uqcli.estimates.design import CLEARED, FLAGGED, differ, flags
from uqcli.estimates.estimate import Estimate, interval
from uqcli.estimates.proportion import BoundedRate, holm, proportion_estimate
from uqcli.estimates.survey import MIN_CLUSTERS, proportion_interval
from uqcli.estimates.unit_trials import UnitTrials
from uqcli.evaluate.conformal_sets_report import (
    CoverageTest,
    EvaluateConformalReport,
    PairedDifference,
    SetDifference,
    SetMetrics,
    SetMetricsOnTarget,
    TestedCoverage,
)
from uqcli.evaluate.decisions import DecisionTally, Levels, units_of
from uqcli.evaluate.groups import BoundedGroup, EvaluatedGroup, group_evaluation
from uqcli.evaluate.options import EvaluateRequest
from uqcli.evaluate.report import EvaluatedPart, EvaluateParameters
from uqcli.kernels.units import UnitTable
from uqcli.rules.labelled import ClassReader, labelled_request
from uqcli.rules.saved import Source, given
from uqcli.shift.rule import ShiftArtifact, coverage_draws, percentiles


class _Tally:
    def __init__(self, artifact: ConformalArtifact, cluster: str | None) -> None:
        self.groups = [] if artifact.groups is None else [artifact.groups]
        self.group_names = [name for groups in self.groups for name in (*groups.names, "(other)")]
        classes = len(artifact.classes)
        self.by_class, self.by_size, self.by_group = (
            CoveredRows(parts) if cluster is None else CoveredClusters(parts, cluster)
            for parts in (classes, classes + 1, len(self.group_names))
        )
        self.total_set_size_by_class = np.zeros(classes, dtype=np.int64)

    def add(self, label: Ints, inside: np.ndarray, rows: Rows) -> Bools:
        """Count rows; return the mask of covered ones."""
        size = inside.sum(axis=1)
        covered: Bools = inside[np.arange(len(label)), label]
        self.by_class.add(label, rows, covered)
        self.by_size.add(size, rows, covered)
        np.add.at(self.total_set_size_by_class, label, rows.weights() * size)
        for groups in self.groups:
            self.by_group.add(groups.of_row(rows), rows, covered)
        return covered


class _Apart:
    """Rules are counted each on its own."""

    def add(self, rows: Rows, covered: Sequence[Bools], inside: np.ndarray) -> None:
        """Count rows, by whether the set of each rule has the label, and the sets of the first rule."""

    def parts(self, measured: Sequence[SetMetrics], levels: Levels) -> Iterator[EvaluatedPart]:  # noqa: ARG002
        """Yield what is known of groups, or of the difference of two rules."""
        if len(measured) == 2:
            first, second = measured
            covered = (second.coverage.value or 0.0) - (first.coverage.value or 0.0)
            size = second.mean_set_size - first.mean_set_size
            yield SetDifference(coverage=Estimate(value=covered), mean_set_size=Estimate(value=size))


class _Paired(_Apart):
    """Two rules read the same columns, hence the same rows."""

    def __init__(self, rules: int, request: EvaluateRequest) -> None:
        self.request, self.confidence = request, request.confidence
        self.decisions = DecisionTally(rules, units_of(request.groups.by, request.dependent.column))

    def add(self, rows: Rows, covered: Sequence[Bools], inside: np.ndarray) -> None:  # noqa: ARG002
        zones = [np.where(mask, FLAGGED, CLEARED) for mask in covered]
        self.decisions.add(replace(rows, positive=np.zeros(len(rows), dtype=np.bool_)), zones)

    def parts(self, measured: Sequence[SetMetrics], levels: Levels) -> Iterator[EvaluatedPart]:  # noqa: ARG002
        joint, (first, second) = (
            self.decisions.of_all(self.confidence, self.request.dependent.units),
            measured,
        )
        yield PairedDifference(
            coverage=joint.difference(flags(0), flags(1)),
            disagreements=joint.rows(differ(flags(0), flags(1))),
            mean_set_size=Estimate(value=second.mean_set_size - first.mean_set_size),
        )


class _ByGroup(_Paired):
    """A single rule is also counted by group."""

    def __init__(
        self, artifact: ConformalArtifact, by: str, request: EvaluateRequest, priors: _SamePriors
    ) -> None:
        super().__init__(1, request)
        self.by, self.artifact, self.sizes, self.priors = by, artifact, UnitTable(), priors

    def add(self, rows: Rows, covered: Sequence[Bools], inside: np.ndarray) -> None:
        super().add(rows, covered, inside)
        size, weight, group = inside.sum(axis=1), rows.weights(), rows.groups[self.by]
        for column, numbers in enumerate((size, size == 0)):
            self.sizes.add(group, np.full(len(rows), column), weight * numbers)

    def parts(self, measured: Sequence[SetMetrics], levels: Levels) -> Iterator[EvaluatedPart]:
        """Measure each group, and test whether the sets cover as much there as is guaranteed overall."""
        artifact, request = self.artifact, self.request
        bound = 1 - decimal("alpha", artifact.parameters.alpha)
        has_guarantee = not artifact.unsealed and artifact.parameters.alpha_by_class is None
        is_tested = has_guarantee and not self.priors.are_others
        results = []
        designs = self.decisions.by_group(levels[self.by], self.confidence, request.dependent.units)
        for name, design in designs.items():
            coverage, rows = design.share(flags(0)), design.rows()
            size, empty = self.sizes.sums[levels[self.by][name]].tolist()
            metrics = {"mean_set_size": size / rows, "empty": empty / rows, "rows": rows}
            group = EvaluatedGroup(
                name=name,
                rows=rows,
                metrics={"coverage": coverage, **metrics},
                cells=(interval(coverage), f"{size / rows:.3f}", percent(empty / rows)),
            )
            if is_tested:
                chances = artifact.chances(self.by, name, measured[0].independent_share)
                bounded = design.bounded(Rate.ALERTS, 0, bound, upper=False, chances=chances)
                group = BoundedGroup(**vars(group), rate=coverage, bounded=bounded)
            results.append(group)
        yield group_evaluation(
            self.by,
            results,
            ("coverage", "mean set size", "empty sets"),
            f"coverage >= {float(bound):g}" if is_tested else "",
            1 - self.confidence,
            units="" if not request.dependent.is_known else request.dependent.units,
        )


class _SamePriors:
    """New rows have the class priors of the test set."""

    are_others = False
    seed: int | None = None
    refuted = ""

    def measured(self, measured: SetMetrics, artifact: ConformalArtifact, tally: _Tally) -> SetMetrics:  # noqa: ARG002
        """Add the metrics under the class priors of the target data."""
        return measured

    def tested(
        self, artifact: ConformalArtifact, tally: _Tally, rows: int, alpha: Fraction, level: float
    ) -> CoverageTest:
        """Test sets for target data as if these were its rows, unless their classes contradict it."""
        if _is_like_source(tally.by_class.rows, artifact.weights or []):
            return CoverageTest(
                unit="target", untested_reason="these rows have the class priors of the source data"
            )
        return _tested("target", {"": tally.by_class.p_value(None, rows, alpha)}, level)


class _TargetPriors(_SamePriors):
    """New rows have the class priors of target data, to which rows are weighted."""

    are_others = True

    def __init__(self, shift: ShiftArtifact, request: EvaluateRequest) -> None:
        self._shift, self.seed, self.refuted = shift, request.resampling.seed, shift.refuted
        self._confidence = request.confidence

    def _draws(self, artifact: ConformalArtifact, tally: _Tally) -> Floats:
        """Draw the coverage in the target data from draws of the class weights; shape (B,)."""
        self._shift.weights_for(artifact.classes)
        draws = self._shift.draws_for(artifact.classes)
        if not len(draws) or self.refuted:
            return np.empty(0)
        random = generator(self.seed or 0, Purpose.TARGET, 0)
        return coverage_draws(draws, tally.by_class.rows, tally.by_class.covered, random)

    def measured(self, measured: SetMetrics, artifact: ConformalArtifact, tally: _Tally) -> SetMetrics:
        if self.refuted:
            refuted = Estimate(value=None, reason=self.refuted)
            return SetMetricsOnTarget(**vars(measured), target=refuted, target_size=None)
        weights = np.array(self._shift.weights_for(artifact.classes))
        mass = weights * tally.by_class.rows
        if mass.sum() == 0:
            raise UsageError("no row is of a class that the target has", expected="rows of its classes")
        covered = float((weights * tally.by_class.covered).sum() / mass.sum())
        low, high = percentiles(self._draws(artifact, tally), self._confidence) or (None, None)
        size = float((weights * tally.total_set_size_by_class).sum() / mass.sum())
        target = Estimate(value=covered, low=low, high=high)
        return SetMetricsOnTarget(**vars(measured), target=target, target_size=size)

    def tested(
        self, artifact: ConformalArtifact, tally: _Tally, rows: int, alpha: Fraction, level: float
    ) -> CoverageTest:
        draws = self._draws(artifact, tally)
        random = generator(self.seed or 0, Purpose.TARGET, 1)
        p_values = {"": shifted_p_value(draws, rows, alpha, random)} if len(draws) else {}
        return _tested("target", p_values, level)


def evaluate(
    request: EvaluateRequest, rules: Sequence[ConformalArtifact], shift: ShiftArtifact | None
) -> EvaluateConformalReport:
    """Count covered rows, in one pass per rule, or in a single pass for two rules with the same columns."""
    _check_listed_columns(request, rules)
    priors = _SamePriors() if shift is None else _TargetPriors(shift, request)
    requests = [rows_to_read(request, artifact) for artifact in rules]
    levels: Levels = {}
    measured: list[SetMetrics] = []
    source = Source(rows=0, positives=None, dropped=0, columns={})
    each = list(zip(rules, requests, strict=True))
    batches = [[single] for single in each]
    joint = _Apart() if request.groups.by is None else _ByGroup(rules[0], request.groups.by, request, priors)
    if len(rules) == 2 and _in_one_order(requests[0]) == _in_one_order(requests[1]):
        batches, joint = [each], _Paired(2, request)
    for batch in batches:
        tallies, source, levels = _counted(batch, joint)
        for (artifact, _), tally in zip(batch, tallies, strict=True):
            measured.append(_metrics(artifact, tally, request, priors))
    return EvaluateConformalReport(
        source=source,
        parameters=EvaluateParameters(
            confidence=request.confidence,
            on_invalid=request.data.on_invalid,
            positive=requests[-1].positive_value,
            seed=priors.seed,
            **request.dependent.saved,
        ),
        results=tuple(zip(request.artifacts, rules, measured, strict=True)),
        parts=list(joint.parts(measured, levels)),
    )


def rows_to_read(request: EvaluateRequest, rule: ConformalArtifact) -> DataRequest:
    """Return the request for rows of a rule, also of an audit."""
    data = labelled_request(request.data, request.columns, [rule])
    return data.grouped_by(request.groups.by).clustered_by(
        request.dependent.column, days=request.dependent.days
    )


def _check_listed_columns(request: EvaluateRequest, rules: Sequence[ConformalArtifact]) -> None:
    """Refuse a list of columns whose class order is ambiguous: no option names the classes of the list."""
    proba = request.columns.proba
    if proba is None or "*" in proba.columns or proba.names:
        return
    if len({tuple(rule.classes) for rule in rules}) > 1:
        raise UsageError(
            words("--proba '{}' with rules whose classes are in different orders", proba.columns),
            expected="the class of each column",
            remedy=words("add --classes"),
        )


def _in_one_order(request: DataRequest) -> DataRequest:
    """Sort the classes, so that rules with the same columns in another order share a pass."""
    classes = dict(sorted(request.roles.classes.items()))
    return replace(request, roles=replace(request.roles, classes=classes))


def _counted(
    batch: Sequence[tuple[ConformalArtifact, DataRequest]], joint: _Apart
) -> tuple[list[_Tally], Source, Levels]:
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
        label, inside = label_indices(rows), [sets_of(rows) for sets_of in sets]
        near += int(rows.weights()[np.any([changes(rows) for changes in nearly], axis=0)].sum())
        covered = [
            tally.add(class_index[label], own, rows)
            for tally, own, class_index in zip(tallies, inside, own_class_index, strict=True)
        ]
        joint.add(rows, covered, inside[0])
    if near:
        caution(
            "near-thresholds",
            f"{rows_of(near)} {'is' if near == 1 else 'are'} within one 32-bit unit of a threshold. Their "
            "sets may differ between 32-bit columns and text: fit sets with --method lac if you use both.",
        )
    return tallies, reader.source, reader.levels


def _metrics(
    artifact: ConformalArtifact, tally: _Tally, request: EvaluateRequest, priors: _SamePriors
) -> SetMetrics:
    confidence = request.confidence
    sizes = tally.by_size.rows
    rows = int(sizes.sum())
    by_size = tally.by_size.estimates(map(str, range(len(sizes))), confidence)
    measured = SetMetrics(
        coverage=tally.by_class.estimate(None, confidence),
        mean_set_size=float((sizes * np.arange(len(sizes))).sum()) / rows,
        empty=int(sizes[0]) / rows,
        by_class=tally.by_class.estimates(artifact.classes, confidence),
        by_size={size: estimate for size, estimate in by_size.items() if sizes[int(size)]},
        by_group=tally.by_group.estimates(tally.group_names, confidence),
        sizes={str(size): count for size, count in enumerate(sizes.tolist()) if count},
        rows=rows,
        is_calibration_set=tally.by_class.rows.tolist() == artifact.calibration_rows,
        clusters=tally.by_class.clusters(),
        independent_share=tally.by_class.independent_share(),
        test=judge(artifact, tally, priors, 1 - confidence),
    )
    return priors.measured(measured, artifact, tally)


class CoveredRows:
    """Rows and covered rows, by weight, of each class, set size or group; int64, shape (parts,)."""

    has_clusters = False

    def __init__(self, parts: int) -> None:
        self.rows = np.zeros(parts, dtype=np.int64)
        self.covered = np.zeros(parts, dtype=np.int64)

    def add(self, part: Ints, rows: Rows, covered: Bools) -> None:
        """Count rows; arrays of shape (n,)."""
        weight = rows.weights()
        np.add.at(self.rows, part, weight)
        np.add.at(self.covered, part[covered], weight[covered])

    def estimate(self, part: int | None, confidence: float) -> Estimate:
        """Return the coverage of a part, or of all rows; undefined for zero rows."""
        return proportion_estimate(*self._counts_of(part), confidence)

    def estimates(self, names: Iterable[str], confidence: float) -> dict[str, Estimate]:
        """Return the coverage of each part, by its name."""
        return {name: self.estimate(part, confidence) for part, name in enumerate(names)}

    def clusters(self) -> Sequence[int]:
        """Return the number of clusters with rows; empty if rows are independent."""
        return ()

    def independent_share(self) -> float:
        """Return how many independent rows all rows count as, as a share."""
        return 1.0

    def p_value(
        self,
        part: int | None,
        calibration_rows: int,
        alpha: Fraction,
        *,
        are_independent: bool = False,  # noqa: ARG002
    ) -> float | None:
        """Test the guarantee of a part, or of all rows; None for zero rows or too few clusters.

        Unless they ``are_independent``, calibration rows count as fewer, in proportion to the new rows.
        """
        covered, rows = self._counts_of(part)
        return coverage_p_value(covered, rows, calibration_rows, alpha) if rows else None

    def _counts_of(self, part: int | None) -> tuple[int, int]:
        chosen = slice(None) if part is None else slice(part, part + 1)
        return int(self.covered[chosen].sum()), int(self.rows[chosen].sum())


class CoveredClusters(CoveredRows):
    """The same of rows that depend on each other within clusters."""

    has_clusters = True

    def __init__(self, parts: int, cluster: str) -> None:
        super().__init__(parts)
        self._trials, self._cluster = UnitTrials(), cluster

    def add(self, part: Ints, rows: Rows, covered: Bools) -> None:
        """See CoveredRows."""
        super().add(part, rows, covered)
        self._trials.add(part, rows.groups[self._cluster], rows.weights(), covered)

    def estimate(self, part: int | None, confidence: float) -> Estimate:
        """See CoveredRows."""
        return proportion_interval(*self._trials.of(part), confidence)

    def clusters(self) -> Sequence[int]:
        """See CoveredRows."""
        return [int(np.count_nonzero(self._trials.of(None)[1]))]

    def independent_share(self) -> float:
        """See CoveredRows."""
        return independent_share(*self._trials.of(None))

    def p_value(
        self, part: int | None, calibration_rows: int, alpha: Fraction, *, are_independent: bool = False
    ) -> float | None:
        """See CoveredRows."""
        counts = self._trials.of(part)
        share = 1.0 if are_independent else independent_share(*counts)
        return clustered_p_value(*counts, math.floor(calibration_rows * share), alpha)


def judge(artifact: ConformalArtifact, tally: _Tally, priors: _SamePriors, level: float) -> CoverageTest:
    """Test the guarantee on these rows, where ``level`` is the probability of rejecting a valid guarantee."""
    if artifact.unsealed:
        return CoverageTest(unit="", untested_reason=artifact.unsealed)
    alpha, by_class = decimal("alpha", artifact.parameters.alpha), tally.by_class
    calibration = artifact.calibration_rows or _in_proportion(artifact, by_class.rows)
    if artifact.mode is not ConformalMode.LABEL_SHIFT:
        return _on_rows(artifact, tally, calibration, alpha, level=level)
    if by_class.has_clusters or priors.refuted:
        why = "its test assumes independent rows" if by_class.has_clusters else priors.refuted
        return CoverageTest(unit="target", untested_reason=why)
    missed = (by_class.rows - by_class.covered, by_class.rows)
    rows = effective_rows(calibration, artifact.weights or [], *missed, alpha)
    return priors.tested(artifact, tally, rows, alpha, level)


def _on_rows(
    artifact: ConformalArtifact, tally: _Tally, calibration: Sequence[int], alpha: Fraction, *, level: float
) -> CoverageTest:
    """Test the guarantee of each class or group, or of all rows, by name."""
    by_class, by_group = tally.by_class, tally.by_group
    independent, known = artifact.independent_rows, given(artifact.dependence) is not None
    if artifact.mode is ConformalMode.LABEL_CONDITIONAL:
        unit, own = "class", artifact.parameters.alpha_by_class or {}
        alphas = [decimal("alpha", own[name]) if name in own else alpha for name in artifact.classes]
        classes = enumerate(zip(artifact.classes, calibration, alphas, strict=True))
        p_values = {
            name: by_class.p_value(part, independent(name, rows), own_alpha, are_independent=known)
            for part, (name, rows, own_alpha) in classes
        }
    elif tally.groups:
        unit, own_groups = "group", tally.groups[0]
        of_group = own_groups.calibration_rows or _in_proportion(artifact, by_group.rows[:-1])
        groups = enumerate(zip(own_groups.names, of_group, strict=True))
        p_values = {
            name: by_group.p_value(part, independent(name, rows), alpha, are_independent=known)
            for part, (name, rows) in groups
        }
    else:
        rows = independent(None, sum(calibration))
        unit, p_values = "", {"": by_class.p_value(None, rows, alpha, are_independent=known)}
    few = f"fewer than {MIN_CLUSTERS} clusters" if by_class.has_clusters else ""
    below = () if unit or few else _classes_below(artifact, by_class, level)
    return _tested(unit, p_values, level, few=few, classes_below=below)


def _is_like_source(rows_of_class: Ints, weights: Sequence[float]) -> bool:
    """Whether the class counts are a hundred times as likely in the source as in the target data."""
    present = [(int(rows), weight) for rows, weight in zip(rows_of_class, weights, strict=True) if rows]
    if any(weight == 0 for _, weight in present):
        return True
    return math.fsum(rows * math.log(weight) for rows, weight in present) < -math.log(100)


def _in_proportion(artifact: ConformalArtifact, rows: Ints) -> list[int]:
    """Divide the calibration rows in proportion to new rows, since old files have their total only."""
    return [int(row) * artifact.source.rows // max(1, int(rows.sum())) for row in rows]


def _tested(
    unit: str,
    p_values: Mapping[str, float | None],
    level: float,
    *,
    few: str = "",
    classes_below: tuple[str, ...] = (),
) -> CoverageTest:
    """Test the guarantee by p-values, if there are any; ``few`` says why there are none."""
    known = {name: p_value for name, p_value in p_values.items() if p_value is not None}
    if not known:
        return CoverageTest(unit=unit, untested_reason=few)
    adjusted = holm(known)
    below = (name for name, p_value in adjusted.items() if p_value <= level)
    return TestedCoverage(
        unit=unit,
        p_values=adjusted,
        below=tuple(sorted(below, key=lambda name: known[name])),
        worst=min(known, key=lambda name: (known[name], name)),
        classes_below=classes_below,
    )


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
