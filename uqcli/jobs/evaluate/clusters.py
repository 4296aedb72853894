"""Counts of boundaries by cluster of dependent rows, and their differences over clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from uqcli.counts import Bools, Ints
from uqcli.document import Estimate
from uqcli.jobs.evaluate.groups import GroupTally
from uqcli.methods.survey import ratio_difference
from uqcli.reports.evaluate.boundaries import ClusterNumbers
from uqcli.reports.evaluate.difference import BoundaryDifference
from uqcli.rows import Rows

Number = TypeVar("Number", int, Ints)


@dataclass(frozen=True, kw_only=True)
class Tally(Generic[Number]):
    """Integer counts, by weight: of all rows, or arrays of shape (C,) with those of each cluster.

    Attributes
    ----------
    flagged, handled
        Rows and positives that each rule flags, and that it flags or leaves for review.
    common_flagged, common_handled
        The same for the rows on which all rules agree.
    """

    rows: Number
    positives: Number
    flagged: tuple[tuple[Number, Number], ...]
    handled: tuple[tuple[Number, Number], ...]
    common_flagged: tuple[Number, Number]
    common_handled: tuple[Number, Number]


ClusterTally = Tally[Ints]
Ratio = Callable[[ClusterTally], tuple[Ints, Ints]]
"""Function from counts to the numerator and the denominator of a rate."""


class ClusterSums:
    """Sums of rows by cluster, for a number of rules."""

    def __init__(self, cluster: str, rules: int) -> None:
        self.cluster = cluster
        self._rules = rules
        self._sums = GroupTally(2 + 4 * rules + 4)

    def add(self, rows: Rows, flagged: Sequence[Bools], handled: Sequence[Bools]) -> None:
        """Add rows, and which of them each rule flags, and flags or reviews."""
        weight, positive = rows.weights(), rows.labels
        masks = [*flagged, *handled, np.all(flagged, axis=0), np.all(handled, axis=0)]
        columns = [weight, weight * positive]
        columns += [weight * part for mask in masks for part in (mask, mask & positive)]
        self._sums.add(rows.groups[self.cluster], *columns)

    def tally(self) -> ClusterTally:
        """Return the counts of the clusters with rows of positive weight."""
        table = self._sums.sums
        rows, positives, *pairs = table[table[:, 0] > 0].T
        counts = list(zip(pairs[::2], pairs[1::2], strict=True))
        return ClusterTally(
            rows=rows,
            positives=positives,
            flagged=tuple(counts[: self._rules]),
            handled=tuple(counts[self._rules : -2]),
            common_flagged=counts[-2],
            common_handled=counts[-1],
        )


def numbers_of(tally: ClusterTally, rule: int) -> ClusterNumbers:
    """Count the clusters with rows that matter to the rates of a rule."""
    return ClusterNumbers(
        clusters=len(tally.rows),
        clusters_flagged=int(np.count_nonzero(tally.flagged[rule][0])),
        clusters_positive=int(np.count_nonzero(tally.positives)),
    )


def difference_over_clusters(tally: ClusterTally, confidence: float) -> BoundaryDifference:
    """Compute the differences of two rules, second less first, from the variance between clusters."""
    (first_rows, first_hits), (second_rows, second_hits) = tally.flagged
    common_rows, common_hits = (int(counts.sum()) for counts in tally.common_flagged)
    recall = caught_difference(tally.flagged, tally.positives, confidence)
    precision = ratio_difference((first_hits, first_rows), (second_hits, second_rows), confidence)
    selected = ratio_difference((first_rows, tally.rows), (second_rows, tally.rows), confidence)
    disagreements, disagreements_positive = (
        int(first.sum() + second.sum()) - 2 * common
        for first, second, common in (
            (first_rows, second_rows, common_rows),
            (first_hits, second_hits, common_hits),
        )
    )
    return BoundaryDifference(
        recall=recall,
        precision=precision,
        selected=replace(
            selected.times(int(tally.rows.sum())), value=int(second_rows.sum() - first_rows.sum())
        ),
        recall_p=recall.p_value,
        selected_p=selected.p_value,
        disagreements=disagreements,
        disagreements_positive=disagreements_positive,
    )


def caught_difference(taken: Sequence[tuple[Ints, Ints]], positives: Ints, confidence: float) -> Estimate:
    """Compute the difference of the shares of positives that two rules take."""
    (_, first), (_, second) = taken
    return ratio_difference((first, positives), (second, positives), confidence)
