"""Proper losses of probabilities, and their means with standard errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from uqcli.counts import Floats, ValueCounts
from uqcli.methods.resampling import WithError, mean_with_error

CLIP = 1e-15
"""Probabilities are this far from 0 and 1 where a surprise is taken."""

Loss = Callable[[Floats], tuple[Floats, Floats]]
"""From probabilities to what a positive and what another row loses at them."""


def squared_error(probability: Floats) -> tuple[Floats, Floats]:
    """``(1 - p)^2`` and ``p^2``."""
    return (1 - probability) ** 2, probability**2


def surprise(probability: Floats) -> tuple[Floats, Floats]:
    """``-ln p`` and ``-ln(1 - p)`` of probabilities clipped to [1e-15, 1 - 1e-15], in nats."""
    clipped = np.clip(probability, CLIP, 1 - CLIP)
    return -np.log(clipped), -np.log1p(-clipped)


LOSSES: Final[Mapping[str, Loss]] = MappingProxyType({"brier": squared_error, "log_loss": surprise})
"""By the name of the metric that is their mean."""


def is_bounded(name: str, probability: Floats) -> bool:
    """Whether no single row can decide a mean loss: a surprise at 0 or 1 is as large as its clipping lets it.

    No interval holds its level where that happens to one row in many: most samples do not show it.
    """
    return name != "log_loss" or bool(probability.min() > CLIP and probability.max() < 1 - CLIP)


def mean_loss(counts: ValueCounts, name: str) -> WithError:
    """Mean loss of tie-pooled probabilities, with its standard error where no single row decides it."""
    loss = LOSSES[name]
    if not is_bounded(name, counts.value):
        return WithError(value=None, error=None)
    if_positive, if_negative = loss(counts.value)
    negatives = counts.count - counts.positives
    return mean_with_error(
        np.concatenate([if_positive, if_negative]), np.concatenate([counts.positives, negatives])
    )
