"""Two probabilities of the same rows, binary or by class, and standard errors of their difference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints, Matrix, ValueCounts, run_starts
from uqcli.base.records import dataclass
from uqcli.base.rows import ClassCounts
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.resampling import mean_with_error, resample
from uqcli.estimates.score_metrics import CLIP, LOSSES, is_bounded

SIDES = ("before", "after", "difference")


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Ranking of m pairs by one of the probabilities, which has v distinct values.

    ``order`` has the pairs in ascending order, ``starts`` the positions in it where a new value begins, shape
    (v,), and ``value_index`` the index of each pair's value.
    """

    order: Ints
    starts: Ints
    value_index: Ints

    @classmethod
    def from_values(cls, value: Floats) -> Ranking:
        """Rank pairs."""
        order = np.argsort(value, kind="stable")
        starts = run_starts(value[order])
        value_index = np.empty(len(value), dtype=np.int64)
        value_index[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(value)))
        return cls(order=order, starts=starts, value_index=value_index)

    def counts(self, value: Floats, positives: Ints, negatives: Ints) -> ValueCounts:
        """Return the tie-pooled counts of the probability."""
        count = np.add.reduceat((positives + negatives)[self.order], self.starts)
        hits = np.add.reduceat(positives[self.order], self.starts)
        present = count > 0
        return ValueCounts(
            value=value[self.order[self.starts]][present], count=count[present], positives=hits[present]
        )

    def placements(self, positives: Ints, negatives: Ints) -> tuple[Floats, Floats]:
        """Compute placements: negatives below each pair, positives above it, as shares; ties count half."""
        shares = []
        for times in (negatives, positives):
            weight_of_value = np.add.reduceat(times[self.order], self.starts)
            below = np.cumsum(weight_of_value) - weight_of_value
            shares.append(((below + weight_of_value / 2) / times.sum())[self.value_index])
        return shares[0], 1 - shares[1]


@dataclass(frozen=True, kw_only=True)
class PairedCounts:
    """Rows pooled by both probabilities, in ascending order; shape (m,)."""

    before: Floats
    after: Floats
    positives: Ints
    negatives: Ints

    @classmethod
    def from_predictions(
        cls, before: Floats, after: Floats, positive: Bools, weight: Ints | None
    ) -> PairedCounts:
        """Pool rows; arrays of shape (n,), weight None for 1 each."""
        multiplicity = np.ones(len(before), dtype=np.int64) if weight is None else weight
        present = np.flatnonzero(multiplicity > 0)
        order = present[np.lexsort((after[present], before[present]))]
        first, second = before[order], after[order]
        starts_pair = np.ones(len(order), dtype=np.bool_)
        starts_pair[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
        starts = np.flatnonzero(starts_pair)
        hits = np.add.reduceat(np.where(positive[order], multiplicity[order], 0), starts)
        return cls(
            before=first[starts],
            after=second[starts],
            positives=hits,
            negatives=np.add.reduceat(multiplicity[order], starts) - hits,
        )

    @property
    def min_class_rows(self) -> int:
        """Number of rows of the minority class."""
        return min(int(self.positives.sum()), int(self.negatives.sum()))

    def resampled(self, random: np.random.Generator) -> PairedCounts:
        """Bootstrap resampling; pairs that are not drawn keep their place, with zero rows."""
        counts = resample(np.concatenate([self.positives, self.negatives]), random)
        positives, negatives = np.split(counts, 2)
        sample = PairedCounts(before=self.before, after=self.after, positives=positives, negatives=negatives)
        sample.__dict__.update(_rankings=self._rankings, _losses=self._losses)  # independent of the counts
        return sample

    @cached_property
    def _rankings(self) -> tuple[Ranking, Ranking]:
        return Ranking.from_values(self.before), Ranking.from_values(self.after)

    @cached_property
    def _losses(self) -> Mapping[str, Mapping[str, Floats | None]]:
        """Losses per pair (positives, then negatives) by name and side; None if one row may dominate them."""
        losses = {}
        for name, loss in LOSSES.items():
            before, after = np.concatenate(loss(self.before)), np.concatenate(loss(self.after))
            bounded = is_bounded(name, self.before), is_bounded(name, self.after)
            losses[name] = by_side(before, after, bounded)
        return losses

    def rows_that_differ(self) -> float:
        """Compute the effective number of rows that differ in either class; return the smaller one."""
        pair_weights = difference_weights(np.abs(self.after - self.before), self.positives + self.negatives)
        return min(
            float((pair_weights * multiplicity).sum()) for multiplicity in (self.positives, self.negatives)
        )

    def counts(self) -> tuple[ValueCounts, ValueCounts]:
        """Return the tie-pooled counts of both probabilities."""
        first, second = self._rankings
        return (
            first.counts(self.before, self.positives, self.negatives),
            second.counts(self.after, self.positives, self.negatives),
        )

    def with_errors(self) -> dict[str, dict[str, Estimate]]:
        """Compute the mean losses and the log-odds of the AUC with standard errors, by name and side.

        Differences of the AUC are not transformed.
        """
        times = np.concatenate([self.positives, self.negatives])
        weights = times.astype(np.float64)  # once for all losses
        return means_with_errors(self._losses, weights) | {"auc": self._auc(weights)}

    def _auc(self, weights: Floats) -> dict[str, Estimate]:
        """Compute the AUC with standard errors from the variances of the placements (DeLong et al. 1988)."""
        if min(self.positives.sum(), self.negatives.sum()) == 0:
            return dict.fromkeys(SIDES, Estimate(value=None))
        first, second = (ranking.placements(self.positives, self.negatives) for ranking in self._rankings)
        placements_by_side = (first, second, (second[0] - first[0], second[1] - first[1]))
        class_weights = np.split(weights, 2)
        before, after, difference = (
            _auc_with_error(*placements, *class_weights) for placements in placements_by_side
        )
        return {"before": log_odds_of(before), "after": log_odds_of(after), "difference": difference}


def by_side(before: Floats, after: Floats, bounded: tuple[bool, bool]) -> dict[str, Floats | None]:
    """Name the losses by side, with their difference; None if a single row may dominate the mean."""
    losses, is_defined = (before, after, after - before), (*bounded, all(bounded))
    return {
        side: loss if defined else None for side, loss, defined in zip(SIDES, losses, is_defined, strict=True)
    }


def means_with_errors(
    losses: Mapping[str, Mapping[str, Floats | None]], weights: Floats
) -> dict[str, dict[str, Estimate]]:
    """Compute the mean losses by name and side, with standard errors."""
    return {
        name: {
            side: Estimate(value=None) if loss is None else mean_with_error(loss, weights)
            for side, loss in losses_by_side.items()
        }
        for name, losses_by_side in losses.items()
    }


def difference_weights(differences: Floats, times: Ints) -> Floats:
    """Compute the weight of each pair, from 0 to 1, in the effective number of rows that differ.

    A pair at the typical distance between the two probabilities (the self-weighted mean, as in Kish 1965) has
    weight 1. A pair with a small distance has a weight near 0.
    """
    if not differences.any():
        return np.zeros(len(differences))
    differences = differences / differences.max()  # squares of tiny numbers underflow to 0
    weighted = differences * times
    pair_weights: Floats = np.minimum(1.0, differences * (weighted.sum() / (differences * weighted).sum()))
    return pair_weights


def _auc_with_error(
    positive_values: Floats, negative_values: Floats, positives: Floats, negatives: Floats
) -> Estimate:
    positive_mean, negative_mean = (
        mean_with_error(positive_values, positives),
        mean_with_error(negative_values, negatives),
    )
    return Estimate(
        value=positive_mean.value, error=math.hypot(positive_mean.error or 0.0, negative_mean.error or 0.0)
    )


def log_odds_of(auc: Estimate) -> Estimate:
    """Transform an AUC and its error to log-odds, whose distribution is less skewed near 1."""
    if auc.value is None or auc.error is None or not 0 < auc.value < 1:
        return Estimate(value=None)
    slope = auc.value * (1 - auc.value)
    return Estimate(value=math.log(auc.value / (1 - auc.value)), error=auc.error / slope)


@dataclass(frozen=True, kw_only=True)
class PairedClassCounts:
    """Rows pooled by both sets of probabilities and by label, in an order independent of the row order.

    Probabilities have shape (m, C); the class of each distinct row, and its multiplicity, shape (m,).
    """

    before: Matrix
    after: Matrix
    label: Ints
    count: Ints

    @classmethod
    def from_predictions(
        cls, before: Matrix, after: Matrix, label: Ints, weight: Ints | None
    ) -> PairedClassCounts:
        """Pool rows; matrices of shape (n, C), weight None for 1 each."""
        paired = ClassCounts.from_rows(np.concatenate([before, after], axis=1), label, weight)
        first, second = np.split(paired.probability, 2, axis=1)
        return cls(before=first, after=second, label=paired.label, count=paired.count)

    @property
    def min_class_rows(self) -> int:
        """Number of rows of the rarest class."""
        rows = np.bincount(self.label, weights=self.count, minlength=self.before.shape[1])
        return int(rows.min())

    @cached_property
    def sides(self) -> tuple[ClassCounts, ClassCounts]:
        """Pooled counts of both sets of probabilities."""
        first, second = (
            ClassCounts.from_rows(probabilities, self.label, self.count)
            for probabilities in (self.before, self.after)
        )
        return first, second

    def resampled(self, random: np.random.Generator) -> PairedClassCounts:
        """Bootstrap resampling; rows that are not drawn keep their place, with count zero."""
        sample = PairedClassCounts(
            before=self.before, after=self.after, label=self.label, count=resample(self.count, random)
        )
        sample.__dict__.update(_row_losses=self._row_losses)  # independent of the counts
        return sample

    @cached_property
    def _row_losses(self) -> Mapping[str, tuple[Floats, Floats]]:
        """Losses of each distinct row before and after, by name."""
        return losses_of_labels(self.before, self.after, self.label)

    def rows_that_differ(self) -> float:
        """Compute the effective number of rows that differ in each class; return the smallest."""
        row_weights = difference_weights(np.abs(self.after - self.before).sum(axis=1) / 2, self.count)
        class_weight = np.bincount(
            self.label, weights=row_weights * self.count, minlength=self.before.shape[1]
        )
        return float(class_weight.min())

    def with_errors(self) -> dict[str, dict[str, Estimate]]:
        """Compute the mean losses with standard errors, by name and side."""
        losses = bounded_losses(self._row_losses, self.before, self.after)
        return means_with_errors(losses, self.count.astype(np.float64))

    def losses(self) -> dict[str, dict[str, float]]:
        """Compute the mean losses by side and name, with or without a valid standard error."""
        total = self.count.sum()
        return {
            side: {
                name: float((before_after[index] * self.count).sum() / total)
                for name, before_after in self._row_losses.items()
            }
            for index, side in enumerate(SIDES[:2])
        }


def losses_of_labels(before: Matrix, after: Matrix, label: Ints) -> dict[str, tuple[Floats, Floats]]:
    """Compute the losses of rows before and after, by name; matrices of shape (n, C)."""
    return {
        "log_loss": (_label_log_loss(before, label), _label_log_loss(after, label)),
        "brier": (_squared_error(before, label), _squared_error(after, label)),
    }


def bounded_losses(
    losses: Mapping[str, tuple[Floats, Floats]], before: Matrix, after: Matrix
) -> dict[str, dict[str, Floats | None]]:
    """Return ``losses_of_labels`` by name and side; None where a single row may dominate the mean."""
    is_bounded = {"log_loss": (bool(before.min() > CLIP), bool(after.min() > CLIP)), "brier": (True, True)}
    return {name: by_side(*before_after, is_bounded[name]) for name, before_after in losses.items()}


def _squared_error(probability: Matrix, label: Ints) -> Floats:
    """Compute the mean over the classes of ``(p - y)^2``: the mean of the classes' Brier scores."""
    error = probability.copy()
    error[np.arange(len(label)), label] -= 1
    loss: Floats = (error**2).mean(axis=1)
    return loss


def _label_log_loss(probability: Matrix, label: Ints) -> Floats:
    """Compute ``-ln`` of the label's probability in nats, clipped to at least 1e-15."""
    loss: Floats = -np.log(np.clip(probability[np.arange(len(label)), label], CLIP, 1))
    return loss
