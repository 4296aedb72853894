"""Evaluate calibrators on a test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from uqcli.base.counts import Ints, bin_of
from uqcli.base.errors import UsageError
from uqcli.base.options import ResamplingOptions, check_bootstrap
from uqcli.base.rows import Rows
from uqcli.base.wording import p_text
from uqcli.calibrate.maps.histogram import HistogramMap
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.calibrate.scale import Scale
from uqcli.comparison.figure import ReliabilityPanel
from uqcli.comparison.report import GROUP_HEADER, Comparison, group_cells, value_of
from uqcli.comparison.run import AnyPairedCounts, PairedRows, compare, minus
from uqcli.engines.probabilities import probabilities, require_probabilities
from uqcli.engines.protocol import ReadRows
from uqcli.engines.request import DataRequest
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.paired import ClusteredPairs, keyed_by_cluster
from uqcli.estimates.proportion import holm
from uqcli.estimates.resampling import MIN_CLASS_ROWS
from uqcli.estimates.survey import counted_by_weight, with_sampling_weights
from uqcli.evaluate.boundaries_report import EvaluateParameters
from uqcli.evaluate.calibrators_report import EvaluateCalibratorReport, MeasuredCalibrator
from uqcli.evaluate.difference_report import LOSSES_COMPARED, CalibratorDifference
from uqcli.evaluate.groups import EvaluatedGroup, GroupEvaluation, group_evaluation
from uqcli.evaluate.options import EvaluateRequest
from uqcli.reports.document import Claim, Metrics, in_order
from uqcli.rules.labelled import group_indices, labelled_request, read_labelled
from uqcli.rules.saved import Source
from uqcli.shift.rule import ShiftArtifact


def evaluate(
    request: EvaluateRequest, rules: Sequence[CalibratorArtifact], shift: ShiftArtifact | None
) -> EvaluateCalibratorReport:
    """Measure probabilities before and after each calibrator; a score that is no probability is a DataError.

    Calibrators share one pass over the inputs, unless they need different columns for a role.
    """
    if shift is not None:
        raise UsageError("--shift with calibrators", expected="rule files of kind boundary or conformal")
    requests = [
        data.grouped_by(request.by).clustered_by(request.cluster, days=request.days)
        for data in _requests(request, rules)
    ]
    check_bootstrap(request.resampling.bootstrap)
    is_sampled = request.sampling_weight is not None
    if request.sampling_weight is not None:
        requests = [with_sampling_weights(data, request.sampling_weight) for data in requests]
    plan = request.resampling
    results, after = [], []
    reliability: list[ReliabilityPanel] = []
    by_group: GroupEvaluation | None = None
    read: tuple[DataRequest, ReadRows, Source] | None = None
    for name, artifact, data in zip(request.artifacts, rules, requests, strict=True):
        if read is None or read[0] != data:
            read = (data, *read_labelled(data))
            rows_read = keyed_by_cluster(read[1], request.cluster)
        rows, source = rows_read, read[2]
        number = rows.size
        if is_sampled:
            rows = counted_by_weight(rows)
        if artifact.class_names:
            before = probabilities(rows, data.roles)
            calibrated, parts = artifact.calibrated_classes(before), []
        else:
            if not artifact.logit:
                require_probabilities(rows.score, source.columns["score"])
            before, output = Scale(real=artifact.logit).probability(rows.score), artifact.calibrated(rows)
            calibrated = output.probability
            parts = artifact.calibration_of_rows.rows_by_part(rows.uncertainty, output.leaf)
        pairs = PairedRows(rows=rows, before=before, after=calibrated, cluster=request.cluster)
        if not is_sampled:  # the bars of the diagram are intervals of rows that count alike
            rule_panels = pairs.panels(parts)
            reliability += (
                rule_panels if len(rules) == 1 else [replace(panel, title=name) for panel in rule_panels[:1]]
            )
        claim = None if is_sampled else _claim(name, artifact, rows, 1 - request.resampling.confidence)
        compared, clusters = pairs.compared(plan), pairs.clusters
        measured = MeasuredCalibrator(
            compared=_without_test(compared) if is_sampled else compared,
            rows=number,
            claim=claim if clusters is None else _untested(claim),
            clusters=None if clusters is None else len(clusters.times),
        )
        results.append((name, artifact, measured))
        if len(rules) == 2:
            after.append(pairs)
        if request.by is not None:
            by_group = _by_group(request, pairs, read[1], plan)
    assert read is not None  # there is at least one rule
    return EvaluateCalibratorReport(
        source=read[2],
        parameters=EvaluateParameters(
            confidence=request.resampling.confidence,
            on_invalid=request.data.on_invalid,
            positive=read[0].positive_value,
            **request.saved_dependence,
            sampling_weight=True if is_sampled else msgspec.UNSET,
        ),
        resampling=(request.resampling.bootstrap, request.resampling.seed),
        panels=tuple(reliability),
        results=tuple(results),
        claims=tuple(measured.claim for _, _, measured in results if measured.claim is not None),
        difference=_difference([measured.compared for _, _, measured in results], after, plan)
        if after
        else None,
        by_group=by_group,
    )


def _without_test(compared: Comparison) -> Comparison:
    """Remove the test-based calibration error, whose tests need rows that count alike."""
    return Comparison(
        before={**compared.before, "tce": None},
        after={**compared.after, "tce": None},
        difference={**compared.difference, "tce": None},
    )


def _by_group(
    request: EvaluateRequest, pairs: PairedRows, read: ReadRows, plan: ResamplingOptions
) -> GroupEvaluation:
    """Measure the calibrator in each group; no bound holds there, hence no test.

    ``pairs`` are the rows that were read, with the clusters and weights by which they count.
    """
    by = request.by or ""
    indices_by_name, results = dict(group_indices(read, by)), []
    for name in in_order(indices_by_name):
        indices = indices_by_name[name]
        size = read.rows.select(indices).size
        compared = pairs.select(indices).compared(plan)
        if request.sampling_weight is not None:
            compared = _without_test(compared)
        metrics = {**compared.metrics(), "rows": size}
        results.append(EvaluatedGroup(name=name, rows=size, metrics=metrics, cells=group_cells(compared)))
    return group_evaluation(by, results, GROUP_HEADER, "", 1 - plan.confidence)


def _untested(claim: Claim | None) -> Claim | None:
    """Return a claim about rows of clusters, which is not tested."""
    if claim is None:
        return None
    return replace(claim, met=None, sentence=f"{claim.name}: not tested with --cluster.")


def _claim(name: str, artifact: CalibratorArtifact, rows: Rows, level: float) -> Claim | None:
    """Test the stated error bounds of histogram bins at a level; None if there are none."""
    map_ = artifact.calibration
    if not isinstance(map_, HistogramMap) or artifact.weights is not None:
        return None
    claim = f"{name}: every bin's rate within its error"
    if artifact.unsealed:
        sentence = f"{name}: errors not tested: {artifact.unsealed}."
        return Claim(name=claim, met=None, sentence=sentence)
    bin_index = bin_of(artifact.scale.corrected(rows.score), np.array(map_.edges, dtype=np.float64))
    weight, bins = rows.weights(), len(map_.rate)
    count, positives = np.zeros(bins, dtype=np.int64), np.zeros(bins, dtype=np.int64)
    np.add.at(count, bin_index, weight)
    np.add.at(positives, bin_index[rows.labels], weight[rows.labels])
    p_values = error_p_values(positives, count, map_.rate, map_.error)
    if not p_values:
        return Claim(name=claim, met=None, sentence=f"{claim}: not tested, no bin has rows.")
    worst = min(p_values, key=lambda index: p_values[index])
    consistent = p_values[worst] > level
    worst_rate = (
        f"{positives[worst] / count[worst]:.4f}, stated {map_.rate[worst]:.4f} +- {map_.error[worst]:.4f}"
    )
    outcome = "consistent" if consistent else "rejected"
    return Claim(
        name=claim,
        met=consistent,
        sentence=f"{claim}: {outcome}. Worst is bin {worst + 1}: rate {worst_rate} "
        f"({p_text(p_values[worst])} for all bins together).",
    )


def error_p_values(
    positives: Ints, count: Ints, rate: Sequence[float], error: Sequence[float | None]
) -> dict[int, float]:
    """Test by bin whether the true rate is within its error bound; return the p-values adjusted by Holm.

    The p-values are exact and two-sided: doubled binomial tails at the nearer end of each range.
    ``positives`` and ``count`` are those of each of M bins in new data. Rates and error bounds are those of
    the rule, None for a bin without calibration rows. There is a p-value, by the index of the bin, for bins
    with new rows and an error bound.
    """
    from scipy.special import bdtr, bdtrc

    p_values = {}
    for bin_index, (k, n, bin_rate, error_bound) in enumerate(
        zip(positives.tolist(), count.tolist(), rate, error, strict=True)
    ):
        if n and error_bound is not None:
            low, high = max(0.0, bin_rate - error_bound), min(1.0, bin_rate + error_bound)
            lower_tail = float(bdtr(float(k), n, low)) if k < n else 1.0
            upper_tail = float(bdtrc(k - 1.0, n, high)) if k > 0 else 1.0
            p_values[bin_index] = min(1.0, 2 * min(lower_tail, upper_tail))
    return holm(p_values)


def _requests(request: EvaluateRequest, rules: Sequence[CalibratorArtifact]) -> list[DataRequest]:
    """Return the data requests of the calibrators; a single one if the same rows suit all of them."""
    classes = [rule.class_names for rule in rules]
    if any(classes):
        if not all(classes):
            raise UsageError(
                "a calibrator of classes beside one of a score", remedy="evaluate them one at a time"
            )
        return [labelled_request(request.data, request.columns, [rule]) for rule in rules]
    try:
        return [labelled_request(request.data, request.columns, rules)] * len(rules)
    except UsageError:
        return [labelled_request(request.data, request.columns, [rule]) for rule in rules]


def _difference(
    compared: Sequence[Comparison], after: Sequence[PairedRows], plan: ResamplingOptions
) -> CalibratorDifference:
    """Compute the difference of two calibrators; paired if one pass covers both."""
    first, second = after
    first_metrics, second_metrics = (comparison.after for comparison in compared)
    values = {
        name: minus(value_of(second_metrics[name]), value_of(first_metrics[name])) for name in first_metrics
    }
    paired = first.rows is second.rows
    resampled: Metrics = {}
    if paired and plan.bootstrap:
        pairs = replace(first, before=first.after, after=second.after)
        resampled = resampled_losses(pairs.counts, plan, pairs.clusters)
    without_interval = {name: Estimate(value=values[name]) for name in LOSSES_COMPARED}
    return CalibratorDifference(
        compared=Comparison(
            before=first_metrics, after=second_metrics, difference={**values, **without_interval, **resampled}
        ),
        paired=paired,
        resampled=plan.bootstrap > 0,
    )


def resampled_losses(
    paired_counts: AnyPairedCounts, plan: ResamplingOptions, clusters: ClusteredPairs | None = None
) -> Metrics:
    """Compute the differences with intervals; none if few rows differ, where 95 % intervals covered 47 %."""
    if (clusters or paired_counts).rows_that_differ() < MIN_CLASS_ROWS:
        return {}
    difference = compare(paired_counts, plan, clusters).difference
    return {name: difference[name] for name in LOSSES_COMPARED}
