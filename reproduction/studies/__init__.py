"""The studies, in the order of the page."""

from __future__ import annotations

from reproduction.studies import (
    bias,
    bins,
    mixes,
    noise,
    promises,
    recalibration,
    recall,
    shift,
    sizes,
    truth,
    undersampling,
)
from reproduction.study import Study

STUDIES: tuple[Study, ...] = (
    bins.STUDY,
    mixes.STUDY,
    noise.STUDY,
    sizes.STUDY,
    truth.STUDY,
    bias.STUDY,
    recall.STUDY,
    undersampling.STUDY,
    shift.STUDY,
    recalibration.STUDY,
    promises.STUDY,
)
