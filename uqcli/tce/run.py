"""``uqcli tce``: measure and test the calibration of probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from functools import partial

import msgspec
import numpy as np

from uqcli.audit.report import Audit
from uqcli.audit.run import audit_scores, pooled_outcomes, with_audited
from uqcli.base import defaults
from uqcli.base.blockwise import VALUES_PER_PART
from uqcli.base.choices import ScoreBinning
from uqcli.base.counts import Ints, ValueCounts, merge, pool
from uqcli.base.errors import Opt, UsageError, words
from uqcli.base.notices import Notice
from uqcli.base.options import caution_confidence, check_bootstrap, check_confidence
from uqcli.base.records import dataclass
from uqcli.base.rows import ClassCounts, Rows
from uqcli.base.running.concurrency import parallel_map
from uqcli.base.running.memory import is_scarce
from uqcli.base.sampling_weights import as_counts
from uqcli.engines.open import DISTINCT_SCORES, GROUPED_SCORES, require_memory
from uqcli.engines.probabilities import label_indices, require_probabilities
from uqcli.engines.protocol import CountTable, Partition
from uqcli.engines.request import PROBA, DataRequest
from uqcli.estimates.allowed import AUDIT, CLUSTERS, ERRORS, NO_RESAMPLES, REFUSED, WEIGHTS
from uqcli.estimates.binning import BinSizes, size_notes
from uqcli.estimates.calibration_error import counting_rows, mean_metrics
from uqcli.estimates.score_metrics import REVERSED, certain_misses, is_reversed
from uqcli.estimates.survey import SAMPLING_WEIGHT, counted_by_weight, with_sampling_weights
from uqcli.reports.document import Metrics
from uqcli.rules.labelled import group_indices, open_table, read_labelled, source_of, sum_notes
from uqcli.rules.result import Result
from uqcli.rules.saved import Source
from uqcli.tce.band import BAND_METRICS, Band, BlockLimits, calibration_band
from uqcli.tce.chance import Undrawn, Values, chance_of_classes, chance_of_scores, key_of
from uqcli.tce.clusters import ClusteredScores, errors_of_clusters, tested_clusters
from uqcli.tce.measure import Measured, measure, test_based_error
from uqcli.tce.options import MeasureOptions, TceRequest
from uqcli.tce.part_tests import PartTest, calibration_p_values
from uqcli.tce.parts import (
    ByWeight,
    Classes,
    Clusters,
    Groups,
    OneScore,
    Tests,
    audited,
    cautions,
    chance_of,
    drawn_tests,
    sizes_of_groups,
)
from uqcli.tce.report import TceParameters, TcePart, TceReport
from uqcli.tce.results import ClassResult, GroupResult, with_tests

_BINNED_METRICS = ("tce", "tce_q", "tce_v", "estimation_error", "within_bin_error")
"""Metrics that are omitted for a group too small to be tested."""


@dataclass(frozen=True, kw_only=True)
class _Group:
    """All rows, or those of a group.

    Attributes
    ----------
    name
        None for all rows.
    counts
        Tie-pooled scores of each binary problem: positive or not, or each class one-vs-rest.
    indices
        Row indices.
    """

    name: str | None
    counts: list[ValueCounts]
    indices: Ints | slice = field(default_factory=lambda: slice(None))

    @property
    def size(self) -> int:
        """Total weight."""
        return self.counts[0].rows


def run(request: TceRequest, table: CountTable | None = None) -> Result[TceReport, None]:
    """Measure the calibration errors of labelled probabilities.

    Parameters
    ----------
    table
        Table of the rows, if it is open already.

    Raises
    ------
    UsageError, DataError
        An option is out of range, a score is not a probability, or the rows cannot be read.
    """
    _check(request)
    if request.sampling.sampling_weight is not None:
        return _run_weighted(request, request.sampling.sampling_weight)
    if request.data.roles.cluster is not None:
        return _run_clustered(request)
    data = request.data.without("uncertainty").grouped_by(request.by)
    if request.audit:
        if data.roles.class_columns is not None:
            raise UsageError(
                words("--audit with --proba"),
                expected="one score",
                remedy=words("audit a class: --score p_X --positive X"),
            )
        data = with_audited(data, request.audit)
    read = _read(data, request.by, table)
    counts = read.overall.counts
    own_options = [_with_bounds(count, request.measure) for count in counts]
    overall = _measured_part(read.overall, read, [request.measure] * len(counts), request)
    group_options = _equal_sizes(read.groups, request.measure)
    group_results = [_measured_group(group, read, group_options, request) for group in read.groups]
    tests = _tests_of_parts([read.overall, *read.groups], read.classes, request.resampling.seed)
    (overall, *group_results), is_drawn = with_tests([overall, *group_results], tests)
    parameters = _with_seed(
        _parameters(request, own_options, group_options, read.classes), request, is_drawn=is_drawn
    )
    tests_of_all = Tests(source=read.source, parameters=parameters, overall=overall, groups=group_results)
    warnings = (
        *_reversed(counts),
        *certain_misses(counts),
        *sum_notes(read.unnormalised),
        *_size_warnings(overall, request.measure.sizes, own_options),
    )
    parts = [tests_of_all, *chance_of(overall), cautions(warnings)]
    if group_results:
        tce = _tce_under(counts, group_options) if group_options else None
        parts.append(_grouped(request, overall, group_results, tce))
        parts += sizes_of_groups(parameters)
    if is_drawn and not overall.if_calibrated:
        parts.append(drawn_tests())
    if request.audit:
        parts.append(audited(_audited(read.rows, request)))
    return _result(read.source, parameters, overall, group_results, parts)


def _result(
    source: Source,
    parameters: TceParameters,
    overall: GroupResult,
    groups: Sequence[GroupResult],
    parts: Sequence[TcePart],
) -> Result[TceReport, None]:
    """Report what was measured, with the part of the score or of the classes."""
    problem: TcePart = OneScore(source=source, binning=parameters.binning, overall=overall)
    if parameters.classes is not None:
        problem = Classes(overall=overall)
    report = TceReport(
        source=source, parameters=parameters, overall=overall, groups=tuple(groups), parts=[*parts, problem]
    )
    return Result(report=report, artifact=None)


def _grouped(
    request: TceRequest, overall: GroupResult, groups: Sequence[GroupResult], tce: float | None
) -> TcePart:
    return Groups(by=request.by or "", overall=overall, groups=groups, tce=tce)


def _run_clustered(request: TceRequest) -> Result[TceReport, None]:
    """Measure the calibration errors of a score whose rows depend on each other within clusters."""
    for option, given in ((Opt("by"), request.has_groups), (Opt("audit"), bool(request.audit))):
        if given:
            raise UsageError(
                words("{} and --cluster cannot be combined", option), remedy="leave one of them out"
            )
    scores = ClusteredScores.read(request.data.without("uncertainty"))
    drawn = scores.drawn(request.resampling.seed)
    of_drawn = measure(drawn, request.measure)
    errors, chance, notes = errors_of_clusters(scores, drawn, of_drawn, request.measure, request.resampling)
    own_options = [_with_bounds(drawn, request.measure)]
    band = calibration_band(drawn, _confidence_of_each(1, request))
    values: Values = {**errors, **shown_by(band, of_drawn.metrics)}
    test = tested_clusters(scores, drawn, key_of(None), request.resampling.seed)
    metrics = chance.completed(values)
    overall = GroupResult(
        name=None,
        tested=True,
        rows=scores.counts.rows,
        metrics=metrics,
        if_calibrated=chance.if_calibrated,
        classes=(_class_part(None, drawn, of_drawn, band, metrics),),
    )
    (overall,), _ = with_tests([overall], {} if test is None else {0: test})
    parameters = msgspec.structs.replace(
        _parameters(request, own_options, (), ()),
        cluster=request.data.roles.cluster,
        seed=request.resampling.seed,
    )
    warnings = (
        *_reversed([scores.counts]),
        *certain_misses([scores.counts]),
        *_size_warnings(overall, request.measure.sizes, own_options),
    )
    parts = [
        Tests(source=scores.source, parameters=parameters, overall=overall, groups=()),
        Clusters(number=drawn.rows, notes=notes),
        *chance_of(overall),
        cautions(warnings),
    ]
    return _result(scores.source, parameters, overall, (), parts)


def _run_weighted(request: TceRequest, column: str) -> Result[TceReport, None]:
    """Measure the calibration errors of rows with sampling weights; nothing is tested."""
    refused = (
        (Opt("audit"), bool(request.audit), REFUSED[WEIGHTS, AUDIT]),
        (
            Opt("cluster"),
            request.data.roles.cluster is not None,
            REFUSED[f"{CLUSTERS} and {WEIGHTS}", ERRORS],
        ),
        (Opt("bootstrap"), request.resampling.bootstrap > 0, NO_RESAMPLES),
    )
    for option, given, why in refused:
        if given:
            raise UsageError(words("{} and {} cannot be combined", option, WEIGHTS), remedy=why)
    data = with_sampling_weights(request.data.without("uncertainty").grouped_by(request.by), column)
    read, source = read_labelled(data)
    if not read.classes:
        require_probabilities(read.rows.score, source.columns["score"])
    if request.measure.binning is ScoreBinning.PAVA_BC:  # it sizes its bins for tests
        request = replace(request, measure=replace(request.measure, binning=ScoreBinning.EQUISPACED))
    counted = replace(read, rows=counted_by_weight(read.rows))
    groups = [
        _weighted_part(name, read.rows.select(indices), read.classes, request, {})
        for name, indices in group_indices(counted, request.by)
    ]
    overall = _weighted_part(None, read.rows, read.classes, request, dict.fromkeys(BAND_METRICS))
    (overall, *groups), _ = with_tests([overall, *groups], {})
    parameters = msgspec.structs.replace(
        _parameters(request, [request.measure], (), read.classes), alpha=None, test=None, sampling_weight=True
    )
    parts = [ByWeight(source=source, overall=overall), cautions(sum_notes(read.unnormalised))]
    if groups:
        parts.append(_grouped(request, overall, groups, None))
    return _result(source, parameters, overall, groups, parts)


def _weighted_part(
    name: str | None, rows: Rows, classes: tuple[str, ...], request: TceRequest, unknown: Values
) -> GroupResult:
    """Measure all rows (no name) or a group by sampling weight; ``unknown`` are metrics of all rows."""
    counted = _by_weight(rows)
    present = counted.weights() > 0
    problems = [
        (weighted, alike, measure(weighted, request.measure, tests=False))
        for weighted, alike in zip(
            _counts(counted, classes), _counts(rows.select(present), classes), strict=True
        )
    ]
    values: list[Values] = [{**measured.metrics, **unknown} for _, _, measured in problems]
    return GroupResult(
        name=name,
        tested=False,
        rows=rows.size,
        metrics=mean_metrics(values),
        if_calibrated={},
        classes=tuple(
            _class_part(class_name, weighted, _counting(measured, alike), None, metrics)
            for class_name, (weighted, alike, measured), metrics in zip(
                classes or [None], problems, values, strict=True
            )
        ),
    )


def _by_weight(rows: Rows) -> Rows:
    """Let rows count in proportion to their sampling weights, in the smallest whole numbers that do.

    Equal weights thus give the bits of rows without weights.
    """
    times = rows.weights()
    weight = as_counts(rows.numbers[SAMPLING_WEIGHT], times) // np.maximum(times, 1)
    return replace(rows, weight=weight // max(1, int(np.gcd.reduce(weight))) * times)


def _counting(measured: Measured, rows: ValueCounts) -> Measured:
    """Let the bins of metrics by weight count rows."""
    return replace(
        measured, bins=counting_rows(measured.bins, rows), equispaced=counting_rows(measured.equispaced, rows)
    )


@dataclass(frozen=True, kw_only=True)
class _Read:
    """Data to measure.

    Attributes
    ----------
    rows
        Rows of class probabilities or of audited columns; without columns if counts suffice.
    classes
        Empty for a binary label.
    """

    rows: Rows
    overall: _Group
    groups: list[_Group]
    source: Source
    classes: tuple[str, ...] = ()
    unnormalised: float = 0.0


def _read(data: DataRequest, by: str | None, table: CountTable | None = None) -> _Read:
    if data.roles.class_columns is None and not data.roles.features:
        if table is None:
            require_memory(data, DISTINCT_SCORES if by is None else GROUPED_SCORES)
            table = open_table(data, uses_uncertainty=False)
        parts = table.pooled(Partition(groups=data.roles.keys))
        total = merge(parts) if len(parts) > 1 else parts[0]  # which is already pooled
        require_probabilities(total.ends, table.summary.columns["score"])
        names = () if by is None else table.groups(by)
        return _Read(
            rows=Rows(numbers={}),
            overall=_Group(name=None, counts=[total]),
            groups=[_Group(name=name, counts=[part]) for name, part in zip(names, parts, strict=False)],
            source=source_of(table.summary),
        )
    read, source = read_labelled(data)
    rows = replace(read.rows, groups={})
    if not read.classes:
        require_probabilities(rows.score, source.columns["score"])
    return _Read(
        rows=rows,
        overall=_Group(name=None, counts=_counts(rows, read.classes)),
        groups=[
            _Group(name=name, counts=_counts(rows.select(indices), read.classes), indices=indices)
            for name, indices in group_indices(read, by)
        ],
        source=source,
        classes=read.classes,
        unnormalised=read.unnormalised,
    )


def _audited(rows: Rows, request: TceRequest) -> Audit:
    outcomes, score = pooled_outcomes(rows, request.audit, rows.labels)
    return audit_scores(outcomes, score, request.measure.alpha)


def _counts(rows: Rows, classes: tuple[str, ...]) -> list[ValueCounts]:
    """Return the counts of the score, or the one-vs-rest counts of each class."""
    if not classes:
        return [rows.counts(rows.score)]
    label = label_indices(rows)
    return [
        pool(rows.numbers[PROBA + name], label == class_index, rows.weight)
        for class_index, name in enumerate(classes)
    ]


def _check(request: TceRequest) -> None:
    request.measure.check()
    caution_confidence("--alpha", request.measure.alpha)
    check_confidence(request.resampling.confidence)
    check_bootstrap(request.resampling.bootstrap)


def _with_bounds(counts: ValueCounts, options: MeasureOptions) -> MeasureOptions:
    """Fix the bin sizes to those of the default rule for these rows."""
    n_min, n_max = options.sizes.bounds(counts)
    return replace(options, n_min=n_min, n_max=n_max)


def _is_tested(group: _Group, options: MeasureOptions) -> bool:
    return group.size >= max(defaults.MIN_GROUP_ROWS, options.n_min or 0)


def _equal_sizes(groups: Sequence[_Group], options: MeasureOptions) -> list[MeasureOptions]:
    """Return the common bin sizes of all groups for each binary problem; none if no group is tested.

    Larger bins detect smaller errors, so with its own sizes the largest group would always be the worst. All
    groups use the sizes of the smallest.
    """
    tested = [group for group in groups if _is_tested(group, options)]
    if not tested:
        return []
    smallest = min(tested, key=lambda group: (group.size, group.name))
    return [_with_bounds(count, options) for count in smallest.counts]


def _tce_under(counts: Sequence[ValueCounts], options: Sequence[MeasureOptions]) -> float:
    values = [
        test_based_error(class_counts, class_options)
        for class_counts, class_options in zip(counts, options, strict=True)
    ]
    return sum(values) / len(values)


def _measured_group(
    group: _Group, read: _Read, group_options: list[MeasureOptions], request: TceRequest
) -> GroupResult:
    if _is_tested(group, request.measure):
        return _measured_part(group, read, group_options, request)
    measure = replace(request.measure, n_min=None, n_max=None)
    return _measured_part(group, read, [measure] * len(group.counts), request, tested=False)


def _measured_part(
    group: _Group, read: _Read, options: Sequence[MeasureOptions], request: TceRequest, *, tested: bool = True
) -> GroupResult:
    name, counts = group.name, group.counts
    if name is None:
        confidence = _confidence_of_each(len(counts), request)
        band_of = partial(calibration_band, confidence=confidence, limits=BlockLimits())
        tasks: Iterator[Callable[[], Measured | Band]] = (
            task
            for problem in zip(counts, options, strict=True)
            for task in (partial(measure, *problem), partial(band_of, problem[0]))
        )
        # the many short steps of few values wait longer for Python's lock than threads save
        are_few = max(len(count.value) for count in counts) <= VALUES_PER_PART
        mapped = map if are_few or is_scarce() else parallel_map
        results = list(mapped(lambda task: task(), tasks))
        measured = [result for result in results if isinstance(result, Measured)]
        bands = [result for result in results if isinstance(result, Band)]
    else:
        measured, bands = list(map(measure, counts, options)), []
    values: list[Values] = [dict(result_of_class.metrics) for result_of_class in measured]
    if not tested:
        values = [{**metrics, **dict.fromkeys(_BINNED_METRICS)} for metrics in values]
    means: Values = mean_metrics(values)
    if bands:
        values, means = _with_bands(bands, values, means)
    chance = Undrawn()
    chances: Sequence[Undrawn] = [chance] * len(values)
    if request.resampling.bootstrap and not read.classes:
        chance = chance_of_scores(counts[0], values[0], options[0], request.resampling, key_of(name))
        chances = [chance]
    elif request.resampling.bootstrap:
        class_counts = _class_counts(read.rows.select(group.indices), read.classes)
        chances, chance = chance_of_classes(
            class_counts, values, means, options, plan=request.resampling, key=key_of(name)
        )
    band_of_each: Sequence[Band | None] = bands or [None] * len(values)
    problems = zip(read.classes or [None], counts, measured, band_of_each, values, chances, strict=True)
    return GroupResult(
        name=name,
        tested=tested,
        rows=counts[0].rows,
        metrics=chance.completed(means),
        if_calibrated=chance.if_calibrated,
        classes=tuple(
            _class_part(class_name, pooled, result, band, class_chance.completed(value))
            for class_name, pooled, result, band, value, class_chance in problems
        ),
    )


def _class_counts(rows: Rows, classes: tuple[str, ...]) -> ClassCounts:
    probability = np.stack([rows.numbers[PROBA + name] for name in classes], axis=1)
    return ClassCounts.from_rows(probability, label_indices(rows), rows.weight)


def _tests_of_parts(groups: Sequence[_Group], classes: tuple[str, ...], seed: int) -> dict[int, PartTest]:
    """Test each class of all rows and of each group, by position; a single score is one class."""
    parts = [
        (counts, (*key_of(group.name), *(() if name is None else key_of(name))))
        for group in groups
        for name, counts in zip(classes or [None], group.counts, strict=True)
    ]
    counts_of = {position: counts for position, (counts, _) in enumerate(parts)}
    return calibration_p_values(counts_of, {position: key for position, (_, key) in enumerate(parts)}, seed)


def _with_seed(parameters: TceParameters, request: TceRequest, *, is_drawn: bool) -> TceParameters:
    """Note the seed if labels were drawn."""
    seed = request.resampling.seed if is_drawn else parameters.seed
    return msgspec.structs.replace(parameters, seed=seed)


def _confidence_of_each(problems: int, request: TceRequest) -> float:
    """Return the confidence of the band of each binary problem such that all are valid together."""
    return 1 - (1 - request.resampling.confidence) / problems


def _with_bands(
    bands: Sequence[Band], values: Sequence[Values], means: Values
) -> tuple[list[Values], Values]:
    """Add what the bands show to the metrics of each binary problem, and to their means."""
    shown = [shown_by(band, metrics) for band, metrics in zip(bands, values, strict=True)]
    largest = {name: _largest([metrics[name] for metrics in shown]) for name in shown[0]}
    return [{**value, **more} for value, more in zip(values, shown, strict=True)], {**means, **largest}


def shown_by(band: Band, metrics: Values) -> dict[str, float | None]:
    """Return what a band shows; nothing is excluded by an upper limit that the mean error exceeds.

    The limit takes for granted that rates rise with the score.
    """
    shown, error = band.metrics(), metrics["ece"]
    within = shown["within"]
    if within is not None and error is not None and error > within:
        shown["within"] = None
    return shown


def _largest(values: Sequence[float | None]) -> float | None:
    """Return the largest value; None if one is undefined."""
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


def _class_part(
    name: str | None, counts: ValueCounts, result: Measured, band: Band | None, metrics: Metrics
) -> ClassResult:
    return ClassResult(
        name=name,
        positives=int(result.bins.positives.sum()),
        metrics=metrics,
        counts=counts,
        bins=result.bins,
        equispaced=result.equispaced,
        rejected=result.rejected,
        band=band,
    )


def _parameters(
    request: TceRequest,
    own_options: Sequence[MeasureOptions],
    group_options: Sequence[MeasureOptions],
    classes: tuple[str, ...],
) -> TceParameters:
    options = request.measure
    n_min, n_max = _common_sizes(own_options)
    group_n_min, group_n_max = _common_sizes(group_options)
    return TceParameters(
        binning=options.binning,
        bin_sizes=options.bin_sizes if options.binning is ScoreBinning.PAVA_BC else None,
        n_min=n_min,
        n_max=n_max,
        group_n_min=group_n_min,
        group_n_max=group_n_max,
        n_bins=options.n_bins,
        alpha=options.alpha,
        test=options.test,
        classes=list(classes) or None,
        by=request.by,
        audit=list(request.audit) or None,
        bootstrap=request.resampling.bootstrap,
        seed=request.resampling.seed if request.resampling.bootstrap else None,
        confidence=request.resampling.confidence,
        on_invalid=request.data.on_invalid,
        positive=request.data.positive_value,
    )


def _common_sizes(options: Sequence[MeasureOptions]) -> tuple[int | None, int | None]:
    """Return the least and the largest bin size of all classes; None without, or where they differ."""
    least, largest = {option.n_min for option in options}, {option.n_max for option in options}
    is_sized = bool(options) and options[0].binning is ScoreBinning.PAVA_BC
    return (
        least.pop() if is_sized and len(least) == 1 else None,
        largest.pop() if is_sized and len(largest) == 1 else None,
    )


def _reversed(counts: Sequence[ValueCounts]) -> list[Notice]:
    """Caution that a score ranks the wrong way; of class probabilities none is said to."""
    is_single = len(counts) == 1
    return [Notice("reversed-score", REVERSED)] if is_single and is_reversed(counts[0]) else []


def _size_warnings(
    overall: GroupResult, sizes: BinSizes, own_options: Sequence[MeasureOptions]
) -> list[Notice]:
    if own_options[0].binning is not ScoreBinning.PAVA_BC:
        return []
    notes = [
        Notice(note.key, f"Class {label_class.name}: {note}") if label_class.name is not None else note
        for label_class, class_options in zip(overall.classes, own_options, strict=True)
        for note in size_notes(
            label_class.bins.count, sizes, class_options.n_min or 1, class_options.n_max or 1
        )
    ]
    return list(dict.fromkeys(notes))
