"""The studies, in the order of the page."""

from __future__ import annotations

from reproduction.studies import (
    bias,
    bins,
    example,
    heterogeneous,
    mixes,
    noise,
    promises,
    recall,
    sizes,
    truth,
    uci,
)
from reproduction.study import Study

STUDIES: tuple[Study, ...] = (
    bins.STUDY,
    mixes.STUDY,
    noise.STUDY,
    sizes.STUDY,
    truth.STUDY,
    uci.STUDY,
    bias.STUDY,
    recall.STUDY,
    example.STUDY,
    heterogeneous.STUDY,
    promises.STUDY,
)
