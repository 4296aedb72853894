"""Counts of decisions against labels, and the rates that are their ratios."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum
from typing import Final, Generic, TypeVar

import numpy as np

from uqcli.base.counts import Bools, Ints
from uqcli.base.records import dataclass

Number = TypeVar("Number", int, Ints)

Sums = tuple[tuple[int, ...], tuple[int, ...]]
"""Sum of each amount over some rows, and over the positive ones among them."""


class Decided(Enum):
    """Rows by what a rule does with them: it flags them, leaves them for a review, or clears them."""

    FLAGGED = "flagged"
    NOT_FLAGGED = "not flagged"
    CAUGHT = "flagged or reviewed"
    CLEARED = "cleared"
    REVIEWED = "reviewed"
    NOT_REVIEWED = "not reviewed"

    @property
    def others(self) -> Decided:
        """All other rows."""
        pairs = (
            (self.FLAGGED, self.NOT_FLAGGED),
            (self.CAUGHT, self.CLEARED),
            (self.REVIEWED, self.NOT_REVIEWED),
        )
        (pair,) = (pair for pair in pairs if self in pair)
        return pair[pair[0] is self]


Outcome = tuple[Decided, bool | None]
"""Rows of one decision and of one label, or of both if it is None."""


class Rate(StrEnum):
    """Share of some rows, whose numerator and denominator are whole numbers."""

    PRECISION = "precision"
    RECALL = "recall"
    FPR = "fpr"
    SPECIFICITY = "specificity"
    OMISSION = "omission"
    NPV = "npv"
    ALERTS = "alert_rate"
    CAUGHT = "caught"
    MISSED = "miss"
    REVIEWED = "review_share"

    @property
    def success(self) -> Outcome:
        """Rows of its numerator."""
        return _OUTCOMES[self][0]

    @property
    def failure(self) -> Outcome:
        """The other rows of its denominator, of the same decision or of the same label."""
        return _OUTCOMES[self][1]

    @property
    def rows(self) -> frozenset[Outcome]:
        """Rows that count for it, of which it shares the two kinds with the rate of the opposite event."""
        return frozenset(_OUTCOMES[self])

    @property
    def complement(self) -> Rate:
        """Rate of the opposite event in the same rows; a KeyError if it has no name."""
        return {outcomes[::-1]: rate for rate, outcomes in _OUTCOMES.items()}[_OUTCOMES[self]]

    @property
    def rises_with_flags(self) -> bool:
        """Whether more flagged rows raise the rate, always or as a rule, since fewer positives are missed."""
        return self.failure in {(Decided.NOT_FLAGGED, True), (Decided.CLEARED, True)}

    def outcomes(self, flagged: Bools, caught: Bools, positive: Bools) -> tuple[Bools, Bools]:
        """Return the rows that count for the rate, and those that succeed. Shape (n,)."""
        chosen = {Decided.FLAGGED: flagged, Decided.CAUGHT: caught, Decided.REVIEWED: caught & ~flagged}

        def rows_of(outcome: Outcome) -> Bools:
            decided, label = outcome
            rows = chosen[decided] if decided in chosen else ~chosen[decided.others]
            return rows if label is None else rows & (positive == label)

        succeeded = rows_of(self.success)
        return succeeded | rows_of(self.failure), succeeded


_OUTCOMES: Final[Mapping[Rate, tuple[Outcome, Outcome]]] = {
    Rate.PRECISION: ((Decided.FLAGGED, True), (Decided.FLAGGED, False)),
    Rate.RECALL: ((Decided.FLAGGED, True), (Decided.NOT_FLAGGED, True)),
    Rate.FPR: ((Decided.FLAGGED, False), (Decided.NOT_FLAGGED, False)),
    Rate.SPECIFICITY: ((Decided.NOT_FLAGGED, False), (Decided.FLAGGED, False)),
    Rate.OMISSION: ((Decided.CLEARED, True), (Decided.CLEARED, False)),
    Rate.NPV: ((Decided.CLEARED, False), (Decided.CLEARED, True)),
    Rate.ALERTS: ((Decided.FLAGGED, None), (Decided.NOT_FLAGGED, None)),
    Rate.CAUGHT: ((Decided.CAUGHT, True), (Decided.CLEARED, True)),
    Rate.MISSED: ((Decided.CLEARED, True), (Decided.CAUGHT, True)),
    Rate.REVIEWED: ((Decided.REVIEWED, None), (Decided.NOT_REVIEWED, None)),
}
"""Successes and failures of each rate; a new one is a line here and in ``Rate``."""


@dataclass(frozen=True, kw_only=True)
class Confusion(Generic[Number]):
    """Rows of a data set and those that a rule selects among them, by weight.

    The counts are integers, or arrays of shape (C,) with those of each cluster. With sampling weights they
    are sums of weights, in units. ``zones`` are the reviewed rows, and positives that are selected or
    reviewed; None without a review. There may be sums of amounts, over the selected and over all rows.
    """

    rows: Number
    positives: Number
    selected: Number
    true_positives: Number
    zones: tuple[Number, Number] | None = None
    sums_selected: Sums = ((), ())
    sums: Sums = ((), ())

    def trials(self, rate: Rate) -> tuple[Number, Number]:
        """Return the successes and the trials of a rate; without a review, no row is reviewed."""
        successes = self._number(*rate.success)
        return successes, successes + self._number(*rate.failure)

    def _number(self, decided: Decided, label: bool | None) -> Number:
        """Count rows of a decision and a label."""
        rows, positives = self._rows_and_positives(decided)
        if label is None:
            return rows
        return positives if label else rows - positives

    def _rows_and_positives(self, decided: Decided) -> tuple[Number, Number]:
        match decided:
            case Decided.FLAGGED:
                return self.selected, self.true_positives
            case Decided.CAUGHT:
                return self.handled
            case Decided.REVIEWED:
                handled, caught = self.handled
                return handled - self.selected, caught - self.true_positives
            case _:
                rows, positives = self._rows_and_positives(decided.others)
                return self.rows - rows, self.positives - positives

    @property
    def handled(self) -> tuple[Number, Number]:
        """Rows that are selected or reviewed, and the positives among them."""
        if self.zones is None:
            return self.selected, self.true_positives
        return self.selected + self.zones[0], self.zones[1]

    @property
    def precision(self: Confusion[int]) -> float | None:
        """Precision; None if nothing is selected."""
        return self.true_positives / self.selected if self.selected else None

    @property
    def recall(self: Confusion[int]) -> float | None:
        """Recall; None without positives."""
        return self.true_positives / self.positives if self.positives else None

    def __add__(self, other: Confusion[Number]) -> Confusion[Number]:
        """Add the counts of other rows, without zones and amounts."""
        return Confusion(
            rows=self.rows + other.rows,
            positives=self.positives + other.positives,
            selected=self.selected + other.selected,
            true_positives=self.true_positives + other.true_positives,
        )

    def __sub__(self, other: Confusion[Number]) -> Confusion[Number]:
        """Subtract the counts of some of the rows, without zones and amounts."""
        return Confusion(
            rows=self.rows - other.rows,
            positives=self.positives - other.positives,
            selected=self.selected - other.selected,
            true_positives=self.true_positives - other.true_positives,
        )


def cluster_numbers(counts: Confusion[Ints]) -> dict[str, int]:
    """Count clusters by metric: all, and those with flagged and with positive rows."""
    return {
        "clusters": len(counts.rows),
        "clusters_flagged": int(np.count_nonzero(counts.selected)),
        "clusters_positive": int(np.count_nonzero(counts.positives)),
    }
