"""Two rows of class probabilities for the same labels, pooled: ``PairedCounts`` for many classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from uqcli.class_counts import ClassCounts, Matrix
from uqcli.counts import Floats, Ints
from uqcli.methods.evaluate.paired import SIDES
from uqcli.methods.losses import CLIP
from uqcli.methods.resampling import WithError, mean_with_error, resample

Loss: TypeAlias = Callable[[Matrix, Ints], Floats]
"""From probabilities of shape (m, C) and labels to what each row loses."""


@dataclass(frozen=True, kw_only=True)
class PairedClassCounts:
    """Rows pooled by both rows of probabilities and by label, in an order that is theirs alone.

    Attributes
    ----------
    before, after : float64, shape (m, C)
    label, count : int64, shape (m,)
        Class of each distinct row, and how often it occurs.
    """

    before: Matrix
    after: Matrix
    label: Ints
    count: Ints

    @classmethod
    def of(cls, before: Matrix, after: Matrix, label: Ints, weight: Ints | None) -> PairedClassCounts:
        """Pool rows; matrices of shape (n, C), weight None for 1 each."""
        both = ClassCounts.of(np.concatenate([before, after], axis=1), label, weight)
        first, second = np.split(both.probability, 2, axis=1)
        return cls(before=first, after=second, label=both.label, count=both.count)

    @property
    def least_of_a_class(self) -> int:
        """Rows of the rarest class."""
        rows = np.bincount(self.label, weights=self.count, minlength=self.before.shape[1])
        return int(rows.min())

    def sides(self) -> tuple[ClassCounts, ClassCounts]:
        """Counts of both rows of probabilities."""
        first, second = (ClassCounts.of(each, self.label, self.count) for each in (self.before, self.after))
        return first, second

    def resampled(self, random: np.random.Generator) -> PairedClassCounts:
        """As many rows drawn with replacement; those that are not drawn stay, with no rows."""
        again = PairedClassCounts(
            before=self.before, after=self.after, label=self.label, count=resample(self.count, random)
        )
        again.__dict__.update(_losses=self._losses)  # they need no counts
        return again

    @cached_property
    def _losses(self) -> Mapping[str, Mapping[str, Floats | None]]:
        """By name and side, of each distinct row; None where a single row decides the mean."""
        found = {}
        for name, loss in (("brier", _squared_error), ("log_loss", _surprise)):
            before, after = loss(self.before, self.label), loss(self.after, self.label)
            bounded = [name != "log_loss" or bool(each.min() > CLIP) for each in (self.before, self.after)]
            lines, holds = (before, after, after - before), (*bounded, all(bounded))
            found[name] = {
                side: line if held else None for side, line, held in zip(SIDES, lines, holds, strict=True)
            }
        return found

    def rows_apart(self) -> float:
        """How many rows of the rarest class tell the two apart, each as far as it does (see PairedCounts)."""
        apart = np.abs(self.after - self.before).sum(axis=1) / 2
        if not apart.any():
            return 0.0
        apart /= apart.max()
        all_apart = apart * self.count
        counted = np.minimum(1.0, apart * (all_apart.sum() / (apart * all_apart).sum()))
        of_class = np.bincount(self.label, weights=counted * self.count, minlength=self.before.shape[1])
        return float(of_class.min())

    def with_errors(self) -> dict[str, dict[str, WithError]]:
        """Mean losses by name, of each side and of their difference."""
        weights = self.count.astype(np.float64)
        return {
            name: {
                side: WithError(value=None, error=None) if line is None else mean_with_error(line, weights)
                for side, line in lines.items()
            }
            for name, lines in self._losses.items()
        }

    def losses(self) -> dict[str, dict[str, float]]:
        """Mean losses by side and name, whether or not they have an error."""
        return {
            side: {
                "log_loss": self._mean(_surprise, probability),
                "brier": self._mean(_squared_error, probability),
            }
            for side, probability in (("before", self.before), ("after", self.after))
        }

    def _mean(self, loss: Loss, probability: Matrix) -> float:
        return float((loss(probability, self.label) * self.count).sum() / self.count.sum())


def _squared_error(probability: Matrix, label: Ints) -> Floats:
    """Mean over the classes of ``(p - y)^2``: the mean of the classes' Brier scores."""
    error = probability.copy()
    error[np.arange(len(label)), label] -= 1
    found: Floats = (error**2).mean(axis=1)
    return found


def _surprise(probability: Matrix, label: Ints) -> Floats:
    """``-ln`` of the label's probability, clipped as for one score, in nats."""
    found: Floats = -np.log(np.clip(probability[np.arange(len(label)), label], CLIP, 1))
    return found
