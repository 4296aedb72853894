"""Counts of decisions against labels, and the rates that are their ratios."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeVar

import numpy as np

from uqcli.base.counts import Bools, Ints
from uqcli.base.records import dataclass

Number = TypeVar("Number", int, Ints)

Sums = tuple[tuple[int, ...], tuple[int, ...]]
"""Sum of each amount over some rows, and over the positive ones among them."""


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
    REVIEWED = "review_share"

    @property
    def complement(self) -> Rate:
        """Rate of the opposite event in the same rows; a KeyError if it has no name."""
        return {
            Rate.FPR: Rate.SPECIFICITY,
            Rate.SPECIFICITY: Rate.FPR,
            Rate.OMISSION: Rate.NPV,
            Rate.NPV: Rate.OMISSION,
        }[self]

    @property
    def event(self) -> Rate:
        """Rate that is estimated for it: itself, or for a specificity the rate of the opposite event."""
        return self.complement if self is Rate.SPECIFICITY else self

    @property
    def rises_with_flags(self) -> bool:
        """Whether more flagged rows raise the rate, always or as a rule, since fewer positives are missed."""
        return self in {Rate.RECALL, Rate.NPV}

    def outcomes(self, flagged: Bools, positive: Bools) -> tuple[Bools, Bools]:  # noqa: PLR0911
        """Return the rows that count for the rate, and where these succeed; without a review. Shape (n,)."""
        match self:
            case Rate.PRECISION:
                return flagged, positive
            case Rate.RECALL | Rate.CAUGHT:
                return positive, flagged
            case Rate.FPR:
                return ~positive, flagged
            case Rate.SPECIFICITY:
                return ~positive, ~flagged
            case Rate.OMISSION:
                return ~flagged, positive
            case Rate.NPV:
                return ~flagged, ~positive
            case Rate.ALERTS:
                return np.ones_like(flagged), flagged
            case Rate.REVIEWED:
                return np.ones_like(flagged), np.zeros_like(flagged)


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

    def trials(self, rate: Rate) -> tuple[Number, Number]:  # noqa: PLR0911  one for each rate
        """Return the successes and the trials of a rate; without a review, no row is reviewed."""
        match rate:
            case Rate.PRECISION:
                return self.true_positives, self.selected
            case Rate.RECALL:
                return self.true_positives, self.positives
            case Rate.FPR:
                return self.selected - self.true_positives, self.rows - self.positives
            case Rate.SPECIFICITY:
                negatives = self.rows - self.positives
                return negatives - (self.selected - self.true_positives), negatives
            case Rate.OMISSION:
                handled, caught = self.handled
                return self.positives - caught, self.rows - handled
            case Rate.NPV:
                omitted, cleared = self.trials(Rate.OMISSION)
                return cleared - omitted, cleared
            case Rate.ALERTS:
                return self.selected, self.rows
            case Rate.CAUGHT:
                return self.true_positives if self.zones is None else self.zones[1], self.positives
            case Rate.REVIEWED:
                return self.rows - self.rows if self.zones is None else self.zones[0], self.rows

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
