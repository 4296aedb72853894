"""``uqcli tce``: whether a model's probabilities can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from uqcli import defaults
from uqcli.choices import EngineName, ScoreBinning
from uqcli.counts import Bools, Floats, Ints, SortedRows, ValueCounts, pool
from uqcli.engines.classes import PROBA
from uqcli.engines.protocol import DataRequest, LabelledRows
from uqcli.jobs.intervals import check_bootstrap, check_confidence, resampled_estimate
from uqcli.jobs.labelled import read_labelled, require_probabilities, sum_notes
from uqcli.jobs.measure import Measured, MeasureOptions, mean_metrics, measure
from uqcli.methods.binning.registry import size_notes
from uqcli.methods.metrics.bootstrap import bounds_of, resampled_weights
from uqcli.methods.metrics.calibration_error import directions
from uqcli.methods.metrics.diagram import diagram
from uqcli.reports.document import Estimate, Metric
from uqcli.reports.tce import ClassPart, Part, TceParameters, TceReport

_Resampled = Sequence[Mapping[str, float]]
"""Metrics of each problem in one resampling of the rows."""


@dataclass(frozen=True, kw_only=True)
class TceOptions:
    """What is measured and how.

    Attributes
    ----------
    by
        Column whose groups are measured one by one, too.
    bootstrap
        Replicates of the bootstrap; 0 for no intervals.
    seed
        Of its draws.
    """

    measure: MeasureOptions = MeasureOptions()
    by: str | None = None
    bootstrap: int = 0
    seed: int = 0
    confidence: float = defaults.CONFIDENCE


@dataclass(frozen=True, kw_only=True)
class _Problem:
    """Rows under one question: whether the label is this class.

    Attributes
    ----------
    name
        The class, or None where labels are positive or not.
    score : float64, positive : bool, shape (n,)
    """

    name: str | None
    score: Floats
    positive: Bools


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """All rows, or one group's: every problem has the same ones."""

    problems: tuple[_Problem, ...]
    weight: Ints | None
    position: Ints | None

    def only(self, rows: Ints) -> _Rows:
        """Some of the rows, by their places."""
        return _Rows(
            problems=tuple(
                replace(each, score=each.score[rows], positive=each.positive[rows]) for each in self.problems
            ),
            weight=None if self.weight is None else self.weight[rows],
            position=None if self.position is None else self.position[rows],
        )


def run(data: DataRequest, options: TceOptions, engine: EngineName) -> TceReport:
    """Measure the calibration error of labelled probabilities.

    Raises
    ------
    UsageError, DataError
        An option is out of range, a score is no probability, or the rows cannot be read.
    """
    _check(options)
    roles = replace(data.roles.without("uncertainty"), keys=() if options.by is None else (options.by,))
    needed = replace(data, roles=roles, keep_position=options.bootstrap > 0)
    labelled, source = read_labelled(needed, engine)
    rows = _rows(labelled)
    named = list(_groups(labelled, options.by))
    resampled = _resample(rows, [None, *(places for _, places in named)], options)
    whole = _measure_part(None, rows, resampled[0], options)
    groups = tuple(
        _measure_part(name, rows.only(places), drawn, options)
        for (name, places), drawn in zip(named, resampled[1:], strict=True)
    )
    return TceReport(
        source=source,
        parameters=_parameters(data, options, whole.rows, labelled.classes),
        whole=whole,
        groups=groups,
        warnings=(*_size_warnings(whole, options), *sum_notes(labelled.unnormalised)),
    )


def _check(options: TceOptions) -> None:
    options.measure.check()
    check_confidence(options.confidence)
    check_bootstrap(options.bootstrap)


def _rows(labelled: LabelledRows) -> _Rows:
    if labelled.label_class is not None:
        problems = tuple(
            _Problem(name=name, score=labelled.numbers[PROBA + name], positive=labelled.label_class == number)
            for number, name in enumerate(labelled.classes)
        )
    else:
        assert labelled.positive is not None  # the roles name a label
        score = labelled.numbers["score"]
        require_probabilities(score, labelled.facts.columns["score"])
        problems = (_Problem(name=None, score=score, positive=labelled.positive),)
    return _Rows(problems=problems, weight=labelled.weight, position=labelled.position)


def _groups(labelled: LabelledRows, by: str | None) -> Iterator[tuple[str, Ints]]:
    """Names of the groups whose rows weigh something, with the places of their rows."""
    if by is None:
        return
    groups = labelled.groups[by]
    order = np.argsort(groups.number, kind="stable")
    cuts = np.searchsorted(groups.number[order], np.arange(len(groups.names) + 1))
    for number, name in enumerate(groups.names):
        places = order[cuts[number] : cuts[number + 1]]
        if labelled.weight is None or labelled.weight[places].any():
            yield name, places


def _measure_part(
    name: str | None, rows: _Rows, resampled: Sequence[_Resampled], options: TceOptions
) -> Part:
    counts = [pool(each.score, each.positive, rows.weight) for each in rows.problems]
    how = options.measure if name is None else options.measure.for_part(counts[0].rows)
    measured = [measure(each, how) for each in counts]
    classes = tuple(
        _class_part(problem, pooled, result, [each[number] for each in resampled], options)
        for number, (problem, pooled, result) in enumerate(zip(rows.problems, counts, measured, strict=True))
    )
    means = [mean_metrics(each) for each in resampled]
    return Part(
        name=name,
        rows=counts[0].rows,
        metrics=_estimates(mean_metrics([each.metrics for each in measured]), means, options),
        classes=classes,
    )


def _class_part(
    problem: _Problem,
    counts: ValueCounts,
    result: Measured,
    resampled: Sequence[Mapping[str, float]],
    options: TceOptions,
) -> ClassPart:
    too_high, too_low = directions(counts, result.bins, result.rejected)
    return ClassPart(
        name=problem.name,
        positives=int(counts.positives.sum()),
        metrics=_estimates(result.metrics, resampled, options),
        bins=result.bins,
        rejected=result.rejected,
        too_high=too_high,
        too_low=too_low,
        diagram=diagram(counts, result.bins, result.equispaced),
    )


def _resample(rows: _Rows, parts: Sequence[Ints | None], options: TceOptions) -> list[list[_Resampled]]:
    """For each part the metrics of its problems, resampling after resampling of all rows."""
    results: list[list[_Resampled]] = [[] for _ in parts]
    if not options.bootstrap:
        return results
    assert rows.position is not None  # asked for with the bootstrap
    ordered = [
        [
            SortedRows.of(each.score, each.positive)
            for each in (rows if part is None else rows.only(part)).problems
        ]
        for part in parts
    ]
    for replicate in range(options.bootstrap):
        weight = resampled_weights(rows.position, rows.weight, options.seed, replicate)
        for part, problems, result in zip(parts, ordered, results, strict=True):
            drawn = weight if part is None else weight[part]
            if drawn.any():
                counts = [each.counts(drawn) for each in problems]
                how = options.measure.for_part(counts[0].rows)
                result.append([measure(each, how).metrics for each in counts])
    return results


def _estimates(
    metrics: Mapping[str, float], resampled: Sequence[Mapping[str, float]], options: TceOptions
) -> dict[str, Metric]:
    if not options.bootstrap:
        return dict(metrics)
    result: dict[str, Metric] = {}
    for name, value in metrics.items():
        drawn = [each[name] for each in resampled]
        found = resampled_estimate(value, drawn, options.confidence, bounds_of(name))
        result[name] = found or Estimate(value=value, low=value, high=value)
    return result


def _parameters(data: DataRequest, options: TceOptions, rows: int, classes: tuple[str, ...]) -> TceParameters:
    how = options.measure
    n_min, n_max = how.sizes.bounds(rows) if how.binning is ScoreBinning.PAVA_BC else (None, None)
    return TceParameters(
        binning=how.binning,
        n_min=n_min,
        n_max=n_max,
        n_bins=how.n_bins,
        alpha=how.alpha,
        test=how.test,
        classes=list(classes) or None,
        by=options.by,
        bootstrap=options.bootstrap,
        seed=options.seed if options.bootstrap else None,
        confidence=options.confidence if options.bootstrap else None,
        on_invalid=data.on_invalid,
        positive=data.positive_value,
    )


def _size_warnings(whole: Part, options: TceOptions) -> list[str]:
    if options.measure.binning is not ScoreBinning.PAVA_BC:
        return []
    n_min, n_max = options.measure.sizes.bounds(whole.rows)
    notes = [
        f"Class {each.name}: {note}" if each.name is not None else note
        for each in whole.classes
        for note in size_notes(each.bins.count, n_min, n_max)
    ]
    return list(dict.fromkeys(notes))
