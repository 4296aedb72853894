"""Two sets of class probabilities for the same labels, pooled: the multiclass ``PairedCounts``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from uqcli.base.class_counts import ClassCounts, Matrix
from uqcli.base.counts import Floats, Ints
from uqcli.base.records import dataclass
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.losses import CLIP
from uqcli.estimates.paired import SIDES, by_side, difference_weights, means_with_errors
from uqcli.estimates.resampling import resample


@dataclass(frozen=True, kw_only=True)
class PairedClassCounts:
    """Rows pooled by both sets of probabilities and by label, in an order independent of the row order.

    Attributes
    ----------
    before, after : float64, shape (m, C)
    label, count : int64, shape (m,)
        Class of each distinct row, and its multiplicity.
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
