"""``uqcli tce``: whether a model's probabilities can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from uqcli import defaults
from uqcli.artifacts.models import Source
from uqcli.choices import EngineName, ScoreBinning
from uqcli.counts import Bools, Floats, Ints, ValueCounts, pool
from uqcli.document import Metrics
from uqcli.engines.protocol import LabelledRows
from uqcli.engines.request import PROBA, DataRequest
from uqcli.jobs.intervals import ResamplingPlan, check_bootstrap, check_confidence
from uqcli.jobs.labelled import open_table, read_labelled, require_probabilities, source_of, sum_notes
from uqcli.jobs.tce.chance import Chance, chance_of_classes, chance_of_scores, key_of
from uqcli.jobs.tce.measure import Measured, MeasureOptions, mean_metrics, measure, test_based_error
from uqcli.methods.bin.block_sizes import size_notes
from uqcli.methods.tce.calibrated_labels import ClassRows
from uqcli.methods.tce.diagram import diagram
from uqcli.reports.tce.parts import ClassPart, Part
from uqcli.reports.tce.report import TceParameters, TceReport

_OF_BINS = ("tce", "tce_q", "tce_v", "estimation_error", "within_bin_error")
"""Metrics that say nothing of a group too small to be tested."""


@dataclass(frozen=True, kw_only=True)
class TceOptions:
    """What is measured and how.

    Attributes
    ----------
    by
        Column whose groups are measured one by one, too.
    bootstrap
        Label draws and resamplings; 0 for none.
    seed
        Of the draws.
    """

    measure: MeasureOptions = MeasureOptions()
    by: str | None = None
    bootstrap: int = 0
    seed: int = 0
    confidence: float = defaults.CONFIDENCE

    @property
    def plan(self) -> ResamplingPlan:
        """How often is drawn."""
        return ResamplingPlan(replicates=self.bootstrap, seed=self.seed, confidence=self.confidence)


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

    def only(self, rows: Ints) -> _Rows:
        """Some of the rows, by their places."""
        return _Rows(
            problems=tuple(
                replace(each, score=each.score[rows], positive=each.positive[rows]) for each in self.problems
            ),
            weight=None if self.weight is None else self.weight[rows],
        )

    def counts(self) -> list[ValueCounts]:
        """Tie-pooled scores of each problem."""
        return [pool(each.score, each.positive, self.weight) for each in self.problems]

    def class_rows(self) -> ClassRows:
        """The rows of class probabilities that the problems are columns of."""
        label = np.stack([each.positive for each in self.problems], axis=1).argmax(axis=1)
        return ClassRows.of(np.stack([each.score for each in self.problems], axis=1), label, self.weight)


@dataclass(frozen=True, kw_only=True)
class _Group:
    """One group's rows, with their counts for each problem."""

    name: str
    rows: _Rows
    counts: list[ValueCounts]

    @property
    def size(self) -> int:
        """Rows by weight."""
        return self.counts[0].rows


def run(data: DataRequest, options: TceOptions, engine: EngineName) -> TceReport:
    """Measure the calibration error of labelled probabilities.

    Raises
    ------
    UsageError, DataError
        An option is out of range, a score is no probability, or the rows cannot be read.
    """
    _check(options)
    roles = replace(data.roles.without("uncertainty"), keys=() if options.by is None else (options.by,))
    read = _read(replace(data, roles=roles), options.by, engine)
    rows, counts, groups = read.rows, read.counts, read.groups
    own = [_with_bounds(each, options.measure) for each in counts]
    whole = _measured_part(None, rows, counts, [options.measure] * len(counts), options)
    sized = _equal_sizes(groups, options.measure)
    parts = tuple(_measured_group(each, sized, options) for each in groups)
    return TceReport(
        source=read.source,
        parameters=_parameters(data, options, own, sized, read.classes),
        whole=whole,
        tce_at_group_sizes=None if sized is None else _tce_under(counts, sized),
        groups=parts,
        warnings=(*_size_warnings(whole, own), *sum_notes(read.unnormalised)),
    )


@dataclass(frozen=True, kw_only=True)
class _Read:
    """What there is to measure.

    Attributes
    ----------
    rows
        None where counts are enough: no classes, no groups.
    """

    rows: _Rows | None
    counts: list[ValueCounts]
    groups: list[_Group]
    source: Source
    classes: tuple[str, ...] = ()
    unnormalised: float = 0.0


def _read(data: DataRequest, by: str | None, engine: EngineName) -> _Read:
    if by is None and data.roles.class_columns is None:
        table = open_table(data, engine, looks_at_uncertainty=False)
        counts = list(table.pooled(np.empty(0)))
        require_probabilities(counts[0].value, table.facts.columns["score"])
        return _Read(rows=None, counts=counts, groups=[], source=source_of(table.facts))
    labelled, source = read_labelled(data, engine)
    rows = _rows(labelled)
    groups = [
        _Group(name=name, rows=part, counts=part.counts())
        for name, places in _places(labelled, by)
        for part in (rows.only(places),)
    ]
    return _Read(
        rows=rows,
        counts=rows.counts(),
        groups=groups,
        source=source,
        classes=labelled.classes,
        unnormalised=labelled.unnormalised,
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
    return _Rows(problems=problems, weight=labelled.weight)


def _places(labelled: LabelledRows, by: str | None) -> Iterator[tuple[str, Ints]]:
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


def _with_bounds(counts: ValueCounts, options: MeasureOptions) -> MeasureOptions:
    """The options with the sizes of bins that the rule gives for these rows."""
    n_min, n_max = options.blocks.bounds(counts)
    return replace(options, n_min=n_min, n_max=n_max)


def _is_tested(group: _Group, options: MeasureOptions) -> bool:
    return group.size >= max(defaults.LEAST_GROUP, options.n_min or 0)


def _equal_sizes(groups: Sequence[_Group], options: MeasureOptions) -> list[MeasureOptions] | None:
    """For each problem the sizes of bins at which all groups are tested; None where there is none to test.

    Larger bins find smaller errors: with sizes of their own the largest group would always be the worst. All
    groups take the sizes of the smallest one.
    """
    tested = [each for each in groups if _is_tested(each, options)]
    if not tested:
        return None
    smallest = min(tested, key=lambda each: (each.size, each.name))
    return [_with_bounds(each, options) for each in smallest.counts]


def _tce_under(counts: Sequence[ValueCounts], options: Sequence[MeasureOptions]) -> float:
    """Mean over the problems of the test-based calibration error."""
    values = [test_based_error(each, how) for each, how in zip(counts, options, strict=True)]
    return sum(values) / len(values)


def _measured_group(group: _Group, sized: list[MeasureOptions] | None, options: TceOptions) -> Part:
    if sized is not None and _is_tested(group, options.measure):
        return _measured_part(group.name, group.rows, group.counts, sized, options)
    without = replace(options.measure, n_min=None, n_max=None)
    return _measured_part(
        group.name, group.rows, group.counts, [without] * len(group.counts), options, tested=False
    )


def _measured_part(
    name: str | None,
    rows: _Rows | None,
    counts: Sequence[ValueCounts],
    how: Sequence[MeasureOptions],
    options: TceOptions,
    *,
    tested: bool = True,
) -> Part:
    measured = [measure(each, sizes) for each, sizes in zip(counts, how, strict=True)]
    values = [dict(each.metrics) for each in measured]
    if not tested:
        values = [{**each, **dict.fromkeys(_OF_BINS)} for each in values]
    means = mean_metrics(values)
    chances: Sequence[Chance | None] = [None] * len(values)
    chance: Chance | None = None
    names = [None] if rows is None else [each.name for each in rows.problems]
    if options.bootstrap and names == [None]:
        chance = chance_of_scores(counts[0], values[0], how[0], options.plan, key_of(name))
        chances = [chance]
    elif options.bootstrap and rows is not None:
        drawn = rows.class_rows()
        chances, chance = chance_of_classes(drawn, values, means, how, plan=options.plan, key=key_of(name))
    problems = zip(names, counts, measured, values, chances, strict=True)
    return Part(
        name=name,
        tested=tested,
        rows=counts[0].rows,
        metrics=means if chance is None else chance.completed(means),
        if_calibrated={} if chance is None else chance.if_calibrated,
        classes=tuple(
            _class_part(of_class, pooled, result, value if of_it is None else of_it.completed(value))
            for of_class, pooled, result, value, of_it in problems
        ),
    )


def _class_part(name: str | None, counts: ValueCounts, result: Measured, metrics: Metrics) -> ClassPart:
    return ClassPart(
        name=name,
        positives=int(counts.positives.sum()),
        metrics=metrics,
        bins=result.bins,
        rejected=result.rejected,
        diagram=diagram(counts, result.bins, result.equispaced),
    )


def _parameters(
    data: DataRequest,
    options: TceOptions,
    own: Sequence[MeasureOptions],
    sized: Sequence[MeasureOptions] | None,
    classes: tuple[str, ...],
) -> TceParameters:
    how = options.measure
    by_size = how.binning is ScoreBinning.PAVA_BC
    return TceParameters(
        binning=how.binning,
        bin_sizes=how.bin_sizes if by_size else None,
        n_min=_common([each.n_min for each in own]) if by_size else None,
        n_max=_common([each.n_max for each in own]) if by_size else None,
        group_n_min=_common([each.n_min for each in sized]) if by_size and sized else None,
        group_n_max=_common([each.n_max for each in sized]) if by_size and sized else None,
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


def _common(sizes: Sequence[int | None]) -> int | None:
    """The size that all classes have; None where they differ."""
    return sizes[0] if len(set(sizes)) == 1 else None


def _size_warnings(whole: Part, own: Sequence[MeasureOptions]) -> list[str]:
    if own[0].binning is not ScoreBinning.PAVA_BC:
        return []
    notes = [
        f"Class {each.name}: {note}" if each.name is not None else note
        for each, how in zip(whole.classes, own, strict=True)
        for note in size_notes(each.bins.count, how.n_min or 1, how.n_max or 1)
    ]
    return list(dict.fromkeys(notes))
