"""Rows with sampling weights, given in a column or by the labels that are missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

import numpy as np

from uqcli.artifacts.boundary import ZONES, BoundaryArtifact
from uqcli.counts import Floats, Ints, ValueCounts, bin_of
from uqcli.document import Estimate, count, rows_of
from uqcli.engines import refusals
from uqcli.engines.open import open_engine
from uqcli.engines.request import DataRequest
from uqcli.jobs.evaluate.groups import GroupTally
from uqcli.jobs.pooled_scores import PooledScores
from uqcli.jobs.rule_groups import groups_of
from uqcli.methods.evaluate.labelled_share import CHANGE_LEVEL, ScoreCell, changes, score_cells
from uqcli.methods.evaluate.weighted import Chooses, Decisions, WeightedRows
from uqcli.methods.multiple import holm
from uqcli.reports.evaluate.boundaries import MIN_UNFLAGGED, MeasuredBoundary, Totals, unknown
from uqcli.reports.evaluate.difference import BoundaryDifference
from uqcli.rows import Rows
from uqcli.running.remarks import caution
from uqcli.sampling_weights import UNITS, WeightSums, as_counts, refuse_unusable, units

SAMPLING_WEIGHT: Final = "sampling_weight"
"""Role of the column of sampling weights."""

_FLAGGED, _CLEARED = ZONES.index("flag"), ZONES.index("clear")


def with_sampling_weights(data: DataRequest, column: str) -> DataRequest:
    """Return the request that also reads a column of sampling weights."""
    roles = data.roles
    return replace(data, roles=replace(roles, numbers={**roles.numbers, SAMPLING_WEIGHT: column}))


def counted_by_weight(rows: Rows) -> Rows:
    """Let rows count in proportion to their sampling weights, for metrics without tests and intervals.

    Raises
    ------
    DataError
        A weight is negative or too large, or all are 0.
    """
    weight = rows.numbers[SAMPLING_WEIGHT]
    _check_weights(weight)
    if not weight.any():
        raise refusals.no_weight()
    return replace(rows, weight=as_counts(weight, rows.weight))


def _check_weights(weight: Floats) -> None:
    """Refuse unusable weights, and caution of those that no probability gives.

    Raises
    ------
    DataError
        A weight is negative or too large.
    """
    refuse_unusable(weight)
    if ((weight > 0) & (weight < _LEAST)).any():
        caution(
            "some sampling weights are below 1, but 1 / a probability is at least 1: "
            "check the column of --sampling-weight."
        )


_LEAST: Final = 0.999
"""Least sampling weight, after rounding."""


@dataclass
class SampledRows:
    """Sums of sampling weights, added up while rows are read."""

    sums: dict[tuple[Decisions, bool], WeightSums] = field(default_factory=dict)

    def add(self, rows: Rows, zones: Sequence[Ints]) -> None:
        """Add rows.

        Raises
        ------
        DataError
            A weight is negative or too large.
        """
        weight = rows.numbers[SAMPLING_WEIGHT]
        _check_weights(weight)
        in_units, code = units(weight), _codes(zones)
        for number in np.unique(code).tolist():
            for label in (False, True):
                key = _decisions(number, len(zones)), label
                mask = (code == number) & (rows.labels == label)
                added = WeightSums.of(in_units, mask, rows.weight)
                self.sums[key] = self.sums.get(key, WeightSums()) + added

    def result(self) -> WeightedRows:
        """Return the rows so far."""
        return WeightedRows(sums=self.sums)


@dataclass(frozen=True, kw_only=True)
class LabelledInPart:
    """Labelled rows, weighted for all rows.

    Attributes
    ----------
    rows
        Rows weighted within cells of decision and score.
    unlabelled
        Decisions of which no row has a label.
    uneven
        Decisions whose labelled share changes with the score, so that labelled rows must be weighted.
    varying
        Decisions whose labelled share still changes with the score inside a cell.
    halving
        Those of them for which it changes by more than a factor of two.
    by_group
        Rows of each group, if requested.
    """

    rows: WeightedRows
    unlabelled: tuple[Decisions, ...] = ()
    uneven: tuple[Decisions, ...] = ()
    varying: tuple[Decisions, ...] = ()
    halving: tuple[Decisions, ...] = ()
    by_group: Mapping[int, WeightedRows] = field(default_factory=dict)


def weighted_within_cells(
    data: DataRequest, rules: Sequence[BoundaryArtifact], by: str | None = None
) -> list[LabelledInPart]:
    """Weight the labelled rows of cells of decision and score, so that they stand for all rows.

    Cells are those of all rules together if each decision has a label, else of each rule by itself.

    Parameters
    ----------
    by
        Key of the groups to sum up as well, in the same cells; for a single rule.

    Returns
    -------
    One for all rules together, or one for each rule.
    """
    together = _weighted(data, rules, by)
    if len(rules) == 1 or not together.unlabelled:
        return [together]
    return [_weighted(data, [rule], None) for rule in rules]


def _weighted(data: DataRequest, rules: Sequence[BoundaryArtifact], by: str | None) -> LabelledInPart:
    """Find the cells of all rows, then read the labelled ones."""
    cells, uneven = _cells(data, rules)
    tallies = {number: GroupTally(2 * len(of_code)) for number, of_code in cells.items()}
    for rows in open_engine(data.engine).batches(data):
        code = _codes([rule.zones(rows) for rule in rules])
        group = np.zeros(len(rows), dtype=np.int64) if by is None else groups_of(rows, by)
        for number in set(np.unique(code).tolist()) & set(cells):
            inside = np.flatnonzero(code == number)
            edges = np.array([cell.first for cell in cells[number][1:]])
            column = 2 * bin_of(rows.score[inside], edges) + rows.labels[inside]
            tallies[number].add_at(group[inside], column, rows.weights()[inside])
    sums: dict[tuple[Decisions, bool], WeightSums] = {}
    by_group: dict[int, dict[tuple[Decisions, bool], WeightSums]] = {}
    for number, of_code in cells.items():
        decisions, counted = _decisions(number, len(rules)), tallies[number].sums.reshape(-1, len(of_code), 2)
        for index, of_group in enumerate(counted.tolist()):
            parts = by_group.setdefault(index, {})
            for cell, by_label in zip(of_code, of_group, strict=True):
                for label, size in zip((False, True), by_label, strict=True):
                    for total in (sums, parts):
                        before = total.get((decisions, label), WeightSums())
                        total[decisions, label] = before + WeightSums.alike(size, _unit(cell))
    every = [(number, cell) for number, of_code in cells.items() for cell in of_code]
    adjusted = holm({place: cell.change_p for place, (_, cell) in enumerate(every)})
    varying = [every[place] for place, p_value in adjusted.items() if p_value < CHANGE_LEVEL]

    def decisions_of(numbers: Iterable[int]) -> tuple[Decisions, ...]:
        return tuple(_decisions(number, len(rules)) for number in sorted(set(numbers)))

    return LabelledInPart(
        rows=WeightedRows(sums=sums),
        unlabelled=decisions_of(number for number, of_code in cells.items() if not any(map(_unit, of_code))),
        uneven=decisions_of(uneven),
        varying=decisions_of(number for number, _ in varying),
        halving=decisions_of(number for number, cell in varying if cell.halves_differ),
        by_group={index: WeightedRows(sums=parts) for index, parts in by_group.items() if by is not None},
    )


def _cells(
    data: DataRequest, rules: Sequence[BoundaryArtifact]
) -> tuple[dict[int, list[ScoreCell]], list[int]]:
    """Find the cells of all rows, with and without a label, by the number of their decisions.

    Returns
    -------
    Cells, and the numbers of the decisions whose labelled share changes with the score.
    """
    request = replace(data, roles=replace(data.roles, label=None), positive_value=None)
    every, labelled = (_scores(part, rules) for part in (request, data))
    cells, uneven = {}, []
    for number, counts in sorted(every.items()):
        with_label = np.zeros(len(counts.value), dtype=np.int64)
        if number in labelled:
            places = np.searchsorted(counts.value, labelled[number].value)
            with_label[places] = labelled[number].count
        if len(counts.value):  # else all have weight 0
            cells[number] = score_cells(counts.value, counts.count, with_label)
            uneven += [number] if changes(counts.count, with_label) else []
    return cells, uneven


def _scores(data: DataRequest, rules: Sequence[BoundaryArtifact]) -> dict[int, ValueCounts]:
    """Pool the scores of rows by the number of their decisions."""
    scores: dict[int, PooledScores] = {}
    for rows in open_engine(data.engine).batches(data):
        code = _codes([rule.zones(rows) for rule in rules])
        for number in np.unique(code).tolist():
            inside = code == number
            weight = None if rows.weight is None else rows.weight[inside]
            scores.setdefault(number, PooledScores()).add(rows.score[inside], weight)
    return {number: pooled.counts() for number, pooled in scores.items()}


def _unit(cell: ScoreCell) -> int:
    """Return the weight of a labelled row, in units; 0 if there is none."""
    return (2 * UNITS * cell.rows + cell.labelled) // (2 * cell.labelled) if cell.labelled else 0


def _codes(zones: Sequence[Ints]) -> Ints:
    """Number the decisions of all rules together; int64, shape (n,)."""
    code = np.zeros(len(zones[0]), dtype=np.int64)
    for zone in zones:
        code = code * len(ZONES) + zone
    return code


def _decisions(code: int, rules: int) -> Decisions:
    return tuple(code // len(ZONES) ** power % len(ZONES) for power in reversed(range(rules)))


def by_weight(
    measured: MeasuredBoundary,
    weighted: LabelledInPart,
    index: int,
    odds: Fraction | None,
    confidence: float,
) -> MeasuredBoundary:
    """Replace the rates of a rule by those of rows with sampling weights.

    Parameters
    ----------
    measured
        Rates that count rows by weight alone.
    index
        Place of the rule among those whose decisions are in ``weighted``.
    odds
        Odds of the net benefit, if it is measured; None if they are infinite.
    """
    rows = weighted.rows

    def flagged(decisions: Decisions) -> bool:
        return decisions[index] == _FLAGGED

    def caught(decisions: Decisions) -> bool:
        return decisions[index] != _CLEARED

    def doubted(rate: Estimate, varying: Sequence[Decisions]) -> Estimate:
        return replace(rate, reason=SHARE_CHANGES) if varying and not rate.reason else rate

    def over_all_rows(chosen: Chooses, *, positive: bool) -> Estimate:
        others = rows.total(lambda decisions: not chosen(decisions)).rows
        if reason := _reason(measured, others, weighted):
            return unknown(reason)
        return doubted(rows.share(chosen, confidence, positive=positive), weighted.varying)

    benefit = measured.net_benefit
    if benefit is not None:
        why = _reason(measured, rows.total(lambda decisions: not flagged(decisions)).rows, weighted)
        benefit = unknown(why)
        if odds is not None and not why:
            benefit = rows.net_benefit(flagged, odds, confidence)
    precision = doubted(rows.precision(flagged, confidence), tuple(filter(flagged, weighted.varying)))
    if any(map(flagged, weighted.unlabelled)):
        precision = unknown("no flagged row has a label")
    elif any(map(flagged, weighted.halving)):
        precision = unknown(SHARE_DOUBLES)
    zones = measured.zones
    if zones is not None:
        zones = replace(
            zones,
            caught=over_all_rows(caught, positive=True),
            miss=over_all_rows(lambda decisions: not caught(decisions), positive=True),
            review_share=rows.share(lambda decisions: flagged(decisions) < caught(decisions), confidence),
        )
    return replace(
        measured,
        precision=precision,
        recall=over_all_rows(flagged, positive=True),
        fpr=over_all_rows(flagged, positive=False),
        zones=zones,
        net_benefit=benefit,
        alert_rate=rows.share(flagged, confidence),
        weighted=Totals(
            rows=rows.total().total,
            positives=rows.total(positive=True).total,
            selected=rows.total(flagged).total,
            true_positives=rows.total(flagged, positive=True).total,
        ),
    )


SHARE_CHANGES: Final = "the labelled share still changes with the score among rows of similar scores"
SHARE_DOUBLES: Final = f"{SHARE_CHANGES}, by more than a factor of two"
"""Why rates are unreliable, or unknown, that need labelled rows to stand for the others."""


def _reason(measured: MeasuredBoundary, others: int, weighted: LabelledInPart) -> str:
    """Return why a rate of all rows is unknown; empty if it is known."""
    if others < MIN_UNFLAGGED:
        return too_few_labels(measured.unlabelled, others)
    if weighted.unlabelled:
        return "no row with one of the decisions has a label"
    return SHARE_DOUBLES if weighted.halving else ""


def too_few_labels(unlabelled: int, others: int) -> str:
    """State that too few rows that are not flagged have a label."""
    if not unlabelled:
        return f"only {rows_of(others)} of the file not flagged ({MIN_UNFLAGGED} needed)"
    only = f"only {count(others)} of the unflagged rows have one ({MIN_UNFLAGGED} needed)"
    return f"{rows_of(unlabelled)} without a label, and {only}"


def weighted_difference(rows: WeightedRows, confidence: float) -> BoundaryDifference:
    """Compute the differences of two rules on rows with sampling weights."""

    def first(decisions: Decisions) -> bool:
        return decisions[0] == _FLAGGED

    def second(decisions: Decisions) -> bool:
        return decisions[1] == _FLAGGED

    recall = rows.difference(first, second, confidence, positive=True)
    selected = rows.difference(first, second, confidence)
    return BoundaryDifference(
        recall=recall,
        precision=rows.precision_difference(first, second, confidence),
        selected=selected.times(rows.total().total / UNITS),
        recall_p=recall.p_value,
        selected_p=selected.p_value,
        disagreements=rows.total(lambda decisions: first(decisions) != second(decisions)).rows,
        disagreements_positive=rows.total(
            lambda decisions: first(decisions) != second(decisions), positive=True
        ).rows,
    )


def weighted_caught_difference(rows: WeightedRows, confidence: float) -> Estimate:
    """Compute the difference of the positives that two rules flag or leave for review."""
    return rows.difference(
        lambda decisions: decisions[0] != _CLEARED,
        lambda decisions: decisions[1] != _CLEARED,
        confidence,
        positive=True,
    )


def weighted_benefit_difference(rows: WeightedRows, odds: Fraction, confidence: float) -> Estimate:
    """Compute the difference of the net benefits of two rules on rows with sampling weights."""

    def flags(index: int) -> Chooses:
        return lambda decisions: decisions[index] == _FLAGGED

    return rows.net_benefit_difference(flags(0), flags(1), odds, confidence)
